// weights.js - what quantize() takes: typed arrays of weights, as bytes of a dtype.
// SPDX-License-Identifier: MIT

import { NBYTES } from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { plainArray } from './typed.js';
import { checkShape, countOf } from '../shape.js';

/** @typedef {Float32Array | Float64Array | Uint16Array} Weights */

/**
 * Weights as a plain array.
 * @param {unknown} data
 * @returns {Weights}
 */
export function plainWeights(data) {
	const plain = plainArray(data, ['Float32Array', 'Float64Array', 'Uint16Array']);
	if (plain) return plain;
	throw new BlockQuantError(
		'bad-argument',
		'data: expected a Float32Array, a Float64Array, or a Uint16Array with dtype, not detached',
	);
}

/**
 * The dtype of an array of weights.
 * @param {Weights} data
 * @param {unknown} dtype needed for a Uint16Array: 'f16' or 'bf16'
 * @returns {'f32' | 'f16' | 'bf16'}
 */
export function weightsDtype(data, dtype) {
	const is16 = data instanceof Uint16Array;
	const allowed = is16 ? ['f16', 'bf16'] : ['f32', undefined];
	if (!allowed.includes(/** @type {any} */ (dtype)))
		throw new BlockQuantError(
			'bad-argument',
			`dtype: expected ${is16 ? "'f16' or 'bf16' for a Uint16Array" : "'f32' for this array"}, got ${shown(dtype)}`,
		);
	return is16 ? /** @type {'f16'} */ (dtype) : 'f32';
}

/** @param {Weights} data @param {unknown} shape */
export function checkCount(data, shape) {
	checkShape(shape);
	const count = countOf(shape);
	if (count !== data.length)
		throw new BlockQuantError(
			'bad-shape',
			`shape [${shape.join(', ')}] has ${count} values, data has ${data.length}`,
		);
}

/**
 * The bytes of some consecutive values; float64 is rounded to float32.
 * @param {Weights} data
 * @param {number} offset first value
 * @param {number} count
 * @param {'f32' | 'f16' | 'bf16'} dtype
 */
export function weightBytes(data, offset, count, dtype) {
	const part = data.subarray(offset, offset + count);
	const array = part instanceof Float64Array ? Float32Array.from(part) : part;
	return new Uint8Array(array.buffer, array.byteOffset, count * NBYTES[dtype]);
}
