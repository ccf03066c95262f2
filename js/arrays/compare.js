// compare.js - how far decoded weights are from their original.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';

/**
 * @typedef {object} Comparison
 * @property {number} mse mean squared error
 * @property {number} rmse its root
 * @property {number} maxAbs largest absolute error
 * @property {number} sqnrDb signal to quantization noise, in dB; Infinity where nothing differs
 * @property {number} cosine of the angle between the two; 1 where both are zero
 */

/** Adds up errors band by band. Sums are float64, in order. */
export class Comparer {
	#sums = new Float64Array(5);
	#count = 0;

	/** @param {Float32Array} reference @param {Float32Array} other */
	add(reference, other) {
		theCore().compare(reference, other, this.#sums);
		this.#count += reference.length;
	}

	/** @returns {Comparison} */
	result() {
		const [error, a, b, product, maxAbs] = this.#sums;
		const mse = this.#count ? error / this.#count : 0;
		const norms = Math.sqrt(a) * Math.sqrt(b);
		return {
			mse,
			rmse: Math.sqrt(mse),
			maxAbs,
			sqnrDb: error ? 10 * Math.log10(a / error) : Infinity,
			cosine: norms ? product / norms : a === b ? 1 : 0,
		};
	}
}

const MAX_VALUES = 2 ** 20;

/**
 * Compares two arrays of weights of the same length.
 * @param {Float32Array} a the reference
 * @param {Float32Array} b
 * @returns {Comparison}
 * @throws {BlockQuantError} bad-argument, not-initialized
 */
export function compare(a, b) {
	if (!(a instanceof Float32Array) || !(b instanceof Float32Array))
		throw new BlockQuantError('bad-argument', 'compare: expected two Float32Arrays');
	if (a.length !== b.length)
		throw new BlockQuantError('bad-argument', `compare: ${a.length} values against ${b.length}`);
	const comparer = new Comparer();
	for (let at = 0; at < a.length; at += MAX_VALUES)
		comparer.add(a.subarray(at, at + MAX_VALUES), b.subarray(at, at + MAX_VALUES));
	return comparer.result();
}
