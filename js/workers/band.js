// band.js - the work on one band, on whichever thread: what it was given and what it made on the way is freed.
// SPDX-License-Identifier: MIT

import { perform } from '../arrays/task.js';
import { discard } from './discard.js';

/**
 * @param {import('../arrays/task.js').Task} task
 * @param {Uint8Array[]} inputs given away
 * @returns {import('../arrays/task.js').Done}
 */
export function band(task, inputs) {
	const made = task.first ? [perform(task.first, inputs).bytes] : inputs;
	const done = perform(task, made);
	discard(inputs);
	// Nothing, if these are the inputs: they are detached.
	discard(made);
	return done;
}
