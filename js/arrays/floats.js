// floats.js - float numbers from one dtype to another, and what the other cannot hold.
// SPDX-License-Identifier: MIT

import { NBYTES } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';

/** @typedef {'f32' | 'f16' | 'bf16'} FloatDtype */

/**
 * Values that a dtype has no number for: how many, and the first.
 * @typedef {{ count: number, first: number, value: number }} Misfits first: its index; value: what it is
 * @typedef {{ nonfinite: Misfits, overflow: Misfits }} Unfit overflow: finite, but too large for the dtype
 */

/** The largest finite values, and half of the step above them: what rounds to infinity. */
const LIMITS = { f32: Number.POSITIVE_INFINITY, f16: 65520, bf16: 2 ** 128 - 2 ** 119 };

/** All bits of the exponent set, none of the mantissa. */
const INFINITY = { f16: 0x7c00, bf16: 0x7f80 };

/**
 * @param {Uint8Array} bytes little-endian values, at any offset of their buffer
 * @param {FloatDtype} dtype
 */
export function widened(bytes, dtype) {
	const count = bytes.byteLength / NBYTES[dtype];
	const wide = dtype === 'f32' ? bytes.slice() : theCore().convert(dtype, 'f32', count, bytes, count * 4);
	if (wide === null) throw new BlockQuantError('internal', `no conversion from ${dtype}`);
	return new Float32Array(wide.buffer, 0, count);
}

/**
 * @param {Float32Array} values
 * @param {FloatDtype} dtype
 * @returns {Uint8Array}
 */
export function narrowed(values, dtype) {
	if (dtype === 'f32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
	const narrow = theCore().convert('f32', dtype, values.length, values, values.length * 2);
	if (narrow === null) throw new BlockQuantError('internal', `no conversion to ${dtype}`);
	return narrow;
}

/**
 * @param {Float32Array} values
 * @param {FloatDtype} dtype that they are to have
 * @returns {Unfit}
 */
export function unfitOf(values, dtype) {
	const limit = LIMITS[dtype];
	const unfit = { nonfinite: { count: 0, first: -1, value: 0 }, overflow: { count: 0, first: -1, value: 0 } };
	for (let i = 0; i < values.length; i++) {
		const value = values[i];
		if (value > -limit && value < limit) continue;
		const kind = Number.isFinite(value) ? unfit.overflow : unfit.nonfinite;
		if (kind.count++ === 0) Object.assign(kind, { first: i, value });
	}
	return unfit;
}

/**
 * How many values are infinite.
 * @param {Uint8Array} bytes
 * @param {'f16' | 'bf16'} dtype
 */
export function countInfinite(bytes, dtype) {
	let count = 0;
	for (const word of new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2))
		if ((word & 0x7fff) === INFINITY[dtype]) count++;
	return count;
}
