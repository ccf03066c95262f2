// sizes.js - what a tensor takes under one of Burn's schemes.
// SPDX-License-Identifier: MIT

import { given } from '../arguments.js';
import { BlockQuantError } from '../errors.js';
import { wordOf } from './check.js';
import { checkScheme } from './quant-scheme.js';
import { SCALE_DTYPES } from './tables.js';
import { checkShape, countOf } from '../shape.js';

/** @typedef {import('./quant-scheme.js').QuantScheme} QuantScheme */

/** The largest block scale that may stand under a tensor-wide one: those beyond span all of float32 by themselves. */
const MAX_NESTED = SCALE_DTYPES.F16.max;

/** Dtype of the tensor-wide scale above block scales, null without both. @param {QuantScheme} scheme */
export function globalScaleDtype(scheme) {
	checkScheme(scheme);
	return scheme.block ? scheme.tensor : null;
}

/** Bytes of the tensor-wide scale above block scales, 0 without both. @param {QuantScheme} scheme */
export function globalScaleSize(scheme) {
	const dtype = globalScaleDtype(scheme);
	return dtype ? scaleSize(dtype) : 0;
}

/** Bytes of one scale. @param {string} dtype of SCALE_DTYPES */
export function scaleSize(dtype) {
	return SCALE_DTYPES[given('scale dtype', dtype, wordOf(Object.keys(SCALE_DTYPES)))].nbytes;
}

/** Whether Burn makes tensors of this scheme; value, store and mode do not matter. @param {QuantScheme} scheme */
export function quantizable(scheme) {
	const outer = globalScaleDtype(scheme);
	return outer === null || (outer === 'F32' && SCALE_DTYPES[scheme.scaleDtype].max <= MAX_NESTED);
}

/**
 * The grid of the innermost scales.
 * @param {readonly number[]} shape
 * @param {QuantScheme} scheme
 */
export function paramsShape(shape, scheme) {
	checkScheme(scheme);
	checkShape(shape);
	return scheme.block ? scheme.block.size.numBlocks(shape) : [1];
}

/**
 * Lines of codes as they are stored: along the packed axis, each of whole words.
 * @param {QuantScheme} scheme
 * @param {readonly number[]} shape
 * @returns {{ lines: number, length: number, lineBytes: number }}
 */
export function linesOf(scheme, shape) {
	const rank = Math.max(shape.length, 1);
	const dim = scheme.packingDim ?? 0;
	if (dim >= rank)
		throw new BlockQuantError(
			'bad-shape',
			`codes are packed along axis ${dim} from the last, which shape [${shape.join(', ')}] has not`,
		);
	const count = countOf(shape);
	const length = shape[rank - 1 - dim] ?? 1;
	const words = Math.ceil(length / scheme.numQuants);
	return { lines: length ? count / length : 0, length, lineBytes: words * Math.ceil(scheme.sizeBitsStored / 8) };
}

/**
 * Bytes of [codes][block scales][tensor-wide scale].
 * @param {QuantScheme} scheme
 * @param {readonly number[]} shape
 */
export function quantizedDataLen(scheme, shape) {
	checkScheme(scheme);
	checkShape(shape);
	const { lines, lineBytes } = linesOf(scheme, shape);
	const scales = countOf(paramsShape(shape, scheme));
	const nbytes = lines * lineBytes + scales * scaleSize(scheme.scaleDtype) + globalScaleSize(scheme);
	if (Number.isSafeInteger(nbytes)) return nbytes;
	throw new BlockQuantError('bad-shape', `shape [${shape.join(', ')}] takes more than 2^53 bytes`);
}
