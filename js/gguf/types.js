// types.js - the tensor types of ggml: number, name, block. Every type can be copied; those that have a preset are decoded.
// SPDX-License-Identifier: MIT

import { presets } from '../presets.js';

/**
 * @typedef {object} GgmlType
 * @property {number} id
 * @property {string} name as gguf-py and model pages spell it
 * @property {number} block values that are stored together
 * @property {number} nbytes of a block
 * @property {boolean} quantized
 */

/** Files carry these numbers (ggml.h, enum ggml_type). @type {[number, string, number, number, boolean][]} */
const ROWS = [
	[0, 'F32', 1, 4, false],
	[1, 'F16', 1, 2, false],
	[2, 'Q4_0', 32, 18, true],
	[3, 'Q4_1', 32, 20, true],
	[6, 'Q5_0', 32, 22, true],
	[7, 'Q5_1', 32, 24, true],
	[8, 'Q8_0', 32, 34, true],
	[9, 'Q8_1', 32, 36, true],
	[10, 'Q2_K', 256, 84, true],
	[11, 'Q3_K', 256, 110, true],
	[12, 'Q4_K', 256, 144, true],
	[13, 'Q5_K', 256, 176, true],
	[14, 'Q6_K', 256, 210, true],
	[15, 'Q8_K', 256, 292, true],
	[16, 'IQ2_XXS', 256, 66, true],
	[17, 'IQ2_XS', 256, 74, true],
	[18, 'IQ3_XXS', 256, 98, true],
	[19, 'IQ1_S', 256, 50, true],
	[20, 'IQ4_NL', 32, 18, true],
	[21, 'IQ3_S', 256, 110, true],
	[22, 'IQ2_S', 256, 82, true],
	[23, 'IQ4_XS', 256, 136, true],
	[24, 'I8', 1, 1, false],
	[25, 'I16', 1, 2, false],
	[26, 'I32', 1, 4, false],
	[27, 'I64', 1, 8, false],
	[28, 'F64', 1, 8, false],
	[29, 'IQ1_M', 256, 56, true],
	[30, 'BF16', 1, 2, false],
	[34, 'TQ1_0', 256, 54, true],
	[35, 'TQ2_0', 256, 66, true],
	[39, 'MXFP4', 32, 17, true],
	[40, 'NVFP4', 64, 36, true],
	[41, 'Q1_0', 128, 18, true],
	[42, 'Q2_0', 64, 18, true],
];

/** Types that ggml took out again; their blocks are not known any more. */
const REMOVED = new Map([
	[4, 'Q4_2'],
	[5, 'Q4_3'],
	[31, 'Q4_0_4_4'],
	[32, 'Q4_0_4_8'],
	[33, 'Q4_0_8_8'],
	[36, 'IQ4_NL_4_4'],
	[37, 'IQ4_NL_4_8'],
	[38, 'IQ4_NL_8_8'],
]);

/** @type {GgmlType[]} */
const TYPES = ROWS.map(([id, name, block, nbytes, quantized]) => ({ id, name, block, nbytes, quantized }));
const BY_ID = new Map(TYPES.map((type) => [type.id, type]));
const BY_NAME = new Map(TYPES.map((type) => [type.name, type]));

/**
 * The type of a number in a file, or the reason why there is none.
 * @param {number} id
 * @returns {GgmlType | string}
 */
export function typeOf(id) {
	const removed = REMOVED.get(id);
	if (removed !== undefined) return `tensor type ${id} (${removed}) was removed from ggml: convert the model anew`;
	return BY_ID.get(id) ?? `unknown tensor type ${id}`;
}

/**
 * @param {string} name in any case
 * @returns {GgmlType | undefined}
 */
export function typeNamed(name) {
	return BY_NAME.get(name.toUpperCase());
}

/**
 * The preset that encodes and decodes a type, if this build has one.
 * @param {string} name of the type
 */
export function presetOfType(name) {
	return presets().get(`ggml:${name.toLowerCase()}`);
}

/**
 * Row length first, axes of length one at the end left out, at least one: what ggml's writer says of a shape.
 * @param {number[]} shape row-major
 */
export function dimsOf(shape) {
	const dims = [...shape].reverse();
	while (dims.length > 1 && dims.at(-1) === 1) dims.pop();
	return dims.length === 0 ? [1] : dims;
}
