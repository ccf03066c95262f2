// calculators.js - how the ranges of many batches become one: small rules, by name.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { shown } from '../errors.js';

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

const FIELDS = ['calculator', 'constant', 'range'];

/** What is wrong with what an observer is to do. @param {any} field @returns {Generator<{ name: string, message: string }>} name: of a part, with a dot */
export function* observerProblems(field) {
	if (!field || typeof field !== 'object' || Array.isArray(field)) {
		yield { name: '', message: `expected { ${FIELDS.join(', ')} }, got ${shown(field)}` };
		return;
	}
	for (const name of Object.keys(field))
		if (!FIELDS.includes(name)) yield { name: `.${name}`, message: `unknown field; expected ${FIELDS.join(', ')}` };
	const { calculator, constant, range } = field;
	if (typeof calculator !== 'string' || !Object.hasOwn(MERGE, calculator))
		yield { name: '.calculator', message: `expected ${Object.keys(MERGE).join(', ')}; got ${shown(calculator)}` };
	if (constant !== undefined && !(typeof constant === 'number' && constant > 0 && constant <= 1))
		yield { name: '.constant', message: `expected a number above 0, at most 1; got ${shown(constant)}` };
	if (range === undefined) return;
	const legal = Array.isArray(range) && range.length === 2 && range.every((x) => x === null || Number.isFinite(x));
	if (!legal || range[0] > 0 || range[1] < 0 || (range[0] === 0 && range[1] === 0))
		yield {
			name: '.range',
			message: `expected [low, high] around 0, null for an end that is measured; got ${shown(range)}`,
		};
	else if (calculator === 'dynamic') yield { name: '.range', message: 'dynamic measures each batch: it takes none' };
}

/** Folds the ranges of the next batch into what there is. @param {string} calculator @param {Ranges | null} running @param {Ranges} batch @param {{ dtype: string, constant: number }} how */
export const merged = (calculator, running, batch, how) => (running ? MERGE[calculator](running, batch, how) : batch);
