// schedule.js - when an observer measures and when it quantizes: phases of use, and a schedule over the steps of training.
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';
import { nullable, readFields } from '../problems.js';

/**
 * @typedef {object} Schedule steps of training, from 0
 * @property {number} [enableObserver] first step that measures; default 0
 * @property {number} [enableFakeQuantize] first step that quantizes, not before the observer's; default 0
 * @property {number | null} [disableObserver] first step that measures no more; default never
 */

/** @typedef {{ observing: boolean, fakeQuantizing: boolean }} Switches */
/** @typedef {'calibration' | 'training'} Phase */

/** Switches of each phase; of none: what was measured is used. @type {Record<'weight' | 'activation', Record<Phase | 'rest', Switches>>} */
export const PHASES = {
	weight: {
		rest: { observing: false, fakeQuantizing: true },
		calibration: { observing: true, fakeQuantizing: true },
		training: { observing: true, fakeQuantizing: true },
	},
	// Activations are calibrated on what the unquantized model computes.
	activation: {
		rest: { observing: false, fakeQuantizing: true },
		calibration: { observing: true, fakeQuantizing: false },
		training: { observing: true, fakeQuantizing: true },
	},
};

/** @type {import('../problems.js').Reader<number>} */
const readStep = (step, at) =>
	Number.isSafeInteger(step) && step >= 0 ? step : at.fail(`expected a step, 0 or more; got ${shown(step)}`);

/**
 * Reads steps that come one after the other, under whatever names.
 * @param {string} on @param {string} quantize @param {string} off
 * @returns {import('../problems.js').Reader<Record<string, any>>}
 */
export function scheduleReader(on, quantize, off) {
	const start = { default: 0, read: readStep };
	const fields = { [on]: start, [quantize]: start, [off]: { default: null, read: nullable(readStep) } };
	return (json, at) => {
		const steps = readFields(fields, json, at);
		if (!steps) return undefined;
		const { [on]: first, [quantize]: second, [off]: last } = steps;
		if (second < first) at.add(quantize, `expected ${first} (${on}) or more, got ${second}`);
		if (last !== null && (last <= first || last < second))
			at.add(off, `expected null, or a step after ${first} and not before ${second}; got ${last}`);
		return steps;
	};
}

/** @type {import('../problems.js').Reader<Schedule>} */
export const readSchedule = scheduleReader('enableObserver', 'enableFakeQuantize', 'disableObserver');

/** @param {Schedule} schedule @param {number} step @returns {Switches} */
export function switchesAt({ enableObserver = 0, enableFakeQuantize = 0, disableObserver = null }, step) {
	return {
		observing: enableObserver <= step && step < (disableObserver ?? Infinity),
		fakeQuantizing: step >= enableFakeQuantize,
	};
}
