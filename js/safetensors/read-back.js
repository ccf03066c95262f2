// read-back.js - whether readers of a compressed-tensors file, who know a format by its tensors and its config, take what is
// written for what it is.
// SPDX-License-Identifier: MIT

import { inferScheme } from '../compressed-tensors/infer.js';
import { BlockQuantError } from '../errors.js';
import { edgesOfBlock, NARROW } from '../scheme.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {{ name: string, dtype: string, shape: number[] }[]} Planes named without their module */

/**
 * What a reader needs of a scheme: how codes are read, and which share a parameter of which dtype.
 * @param {Scheme} scheme
 * @param {number[]} shape
 */
function essence({ value, scales, zero }, shape) {
	const levels = scales.map(({ dtype, block }) => {
		const edges = edgesOfBlock(block, shape.length);
		return [dtype, edges.map((edge, i) => (edge < 0 ? shape[i] : Math.min(edge, shape[i])))];
	});
	return JSON.stringify([String(value).replace(NARROW, ''), zero, levels]);
}

/**
 * Why a weight is taken for another scheme, or null.
 * @param {Scheme} scheme
 * @param {number[]} shape of the weight
 * @param {Planes} planes
 * @param {import('../compressed-tensors/quantization-args.js').QuantizationArgs[]} args of the config.json, if there is one
 */
export function misread(scheme, shape, planes, args) {
	try {
		const { scheme: back } = inferScheme(planes, { shape, args });
		return essence(back, shape) === essence(scheme, shape) ? null : 'its readers take it for another scheme';
	} catch (error) {
		if (error instanceof BlockQuantError) return error.detail;
		throw error;
	}
}
