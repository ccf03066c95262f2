// schedule.js - when an observer measures and when it quantizes: phases of use, and a schedule over the steps of training.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';

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

const FIELDS = ['enableObserver', 'enableFakeQuantize', 'disableObserver'];

/** @param {any} schedule @returns {asserts schedule is Schedule} */
export function checkSchedule(schedule) {
	/** @param {string} name @param {string} message */
	const refuse = (name, message) => {
		throw new BlockQuantError('bad-argument', `schedule${name}: ${message}`);
	};
	if (!schedule || typeof schedule !== 'object') refuse('', `expected an object, got ${shown(schedule)}`);
	for (const name of Object.keys(schedule))
		if (!FIELDS.includes(name)) refuse(`.${name}`, `unknown field; expected ${FIELDS.join(', ')}`);
	const { enableObserver: on = 0, enableFakeQuantize: quantize = 0, disableObserver: off = null } = schedule;
	if (!Number.isSafeInteger(on) || on < 0) refuse('.enableObserver', `expected a step from 0, got ${shown(on)}`);
	if (!Number.isSafeInteger(quantize) || quantize < on)
		refuse('.enableFakeQuantize', `expected a step from ${on}, the observer's; got ${shown(quantize)}`);
	if (off !== null && !(Number.isSafeInteger(off) && off > on && off >= quantize))
		refuse(
			'.disableObserver',
			`expected null, or a step after ${on} and not before ${quantize}; got ${shown(off)}`,
		);
}

/** @param {Schedule} schedule @param {number} step @returns {Switches} */
export function switchesAt({ enableObserver = 0, enableFakeQuantize = 0, disableObserver = null }, step) {
	return {
		observing: enableObserver <= step && step < (disableObserver ?? Infinity),
		fakeQuantizing: step >= enableFakeQuantize,
	};
}
