// compare.js - how far decoded weights are from their original.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { plainArray } from './typed.js';

/**
 * @typedef {object} Comparison
 * @property {number} mse mean squared error
 * @property {number} rmse its root
 * @property {number} maxAbs largest absolute error
 * @property {number} sqnrDb signal to quantization noise, in dB; Infinity where nothing differs; NaN, as all of these, where a
 *   value is NaN
 * @property {number} cosine of the angle between the two; 1 where both are zero
 */

/** Values that are copied into the core at once. */
const MAX_VALUES = 2 ** 20;

/** Adds up errors band by band. Sums are float64, in order. */
export class Comparer {
	/** Of squared errors, squares of either side and products; and the largest error. It may be posted to another thread. */
	sums = new Float64Array(5);
	count = 0;

	/** @param {Float32Array} reference @param {Float32Array} other as many */
	add(reference, other) {
		for (let at = 0; at < reference.length; at += MAX_VALUES)
			theCore().compare(reference.subarray(at, at + MAX_VALUES), other.subarray(at, at + MAX_VALUES), this.sums);
		this.count += reference.length;
	}

	/** Takes what another has added up. @param {Pick<Comparer, 'sums' | 'count'>} other */
	merge({ sums, count }) {
		for (let i = 0; i < 4; i++) this.sums[i] += sums[i];
		this.sums[4] = Math.max(this.sums[4], sums[4]);
		this.count += count;
	}

	/** @returns {Comparison} */
	result() {
		const [error, a, b, product, maxAbs] = this.sums;
		const mse = this.count ? error / this.count : 0;
		const norms = Math.sqrt(a) * Math.sqrt(b);
		return {
			mse,
			rmse: Math.sqrt(mse),
			maxAbs,
			sqnrDb: error === 0 ? Infinity : 10 * Math.log10(a / error),
			cosine: norms === 0 ? Number(a === b) : product / norms,
		};
	}
}

/**
 * Compares two arrays of weights of the same length.
 * @param {Float32Array} a the reference
 * @param {Float32Array} b
 * @returns {Comparison}
 * @throws {BlockQuantError} bad-argument, not-initialized
 */
export function compare(a, b) {
	const [reference, other] = [a, b].map((array) => plainArray(array, ['Float32Array']));
	if (!reference || !other)
		throw new BlockQuantError('bad-argument', 'compare: expected two Float32Arrays, not detached');
	if (reference.length !== other.length)
		throw new BlockQuantError('bad-argument', `compare: ${reference.length} values against ${other.length}`);
	const comparer = new Comparer();
	comparer.add(reference, other);
	return comparer.result();
}
