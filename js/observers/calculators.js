// calculators.js - how the ranges of many batches become one: small rules, by name.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { shown } from '../errors.js';
import { fraction, readFields, word } from '../problems.js';

/**
 * What an observer does with the ranges of batches; carried by a scheme, used by createObserver().
 * @typedef {object} ObserverField
 * @property {string} calculator `static`: the last batch's; `moving_average`; `global_minmax`; `dynamic`: each batch its own, always
 * @property {number} [constant] weight of a new batch in a moving average, 0.01 by default
 * @property {[number | null, number | null]} [range] ends that are fixed instead of measured
 */

/** @typedef {{ lo: Float32Array, hi: Float32Array }} Ranges one for each block */

/** @type {Record<string, (running: Ranges, batch: Ranges, how: { dtype: string, constant: number }) => Ranges>} */
const MERGE = {
	static: (_, batch) => batch,
	dynamic: (_, batch) => batch,
	moving_average(running, batch, { dtype, constant }) {
		theCore().average(dtype, constant, batch.lo, running.lo);
		theCore().average(dtype, constant, batch.hi, running.hi);
		return running;
	},
	global_minmax: (running, batch) => ({
		lo: running.lo.map((low, i) => Math.min(low, batch.lo[i])),
		hi: running.hi.map((high, i) => Math.max(high, batch.hi[i])),
	}),
};

/** Of numbers that float32 holds. @param {unknown} x */
export const isFloat32 = (x) => typeof x === 'number' && Number.isFinite(Math.fround(x));

/** Two ends around 0, null for one that is measured. @type {import('../problems.js').Reader<[number | null, number | null]>} */
function readRange(range, at) {
	const legal = Array.isArray(range) && range.length === 2 && range.every((x) => x === null || isFloat32(x));
	if (legal && range[0] <= 0 && range[1] >= 0 && (range[0] !== 0 || range[1] !== 0))
		return /** @type {[number | null, number | null]} */ (range);
	return at.fail(`expected [low, high] around 0, null for an end that is measured; got ${shown(range)}`);
}

export const OBSERVER = {
	calculator: { read: word(Object.keys(MERGE)) },
	constant: { default: undefined, read: fraction },
	range: { default: undefined, read: readRange },
};

/** What an observer is to do. @type {import('../problems.js').Reader<ObserverField>} */
export function readObserver(json, at) {
	const { calculator, constant, range } = readFields(OBSERVER, json, at) ?? {};
	if (range && calculator === 'dynamic') at.add('range', 'dynamic measures each batch: it takes none');
	return { calculator, constant, range };
}

/** Folds the ranges of the next batch into what there is. @param {string} calculator @param {Ranges | null} running @param {Ranges} batch @param {{ dtype: string, constant: number }} how */
export const merged = (calculator, running, batch, how) => (running ? MERGE[calculator](running, batch, how) : batch);
