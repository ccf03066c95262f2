// ftypes.js - llama-quantize's file types: names, their numbers in general.file_type, the tensor type that each is made of.
// SPDX-License-Identifier: MIT

import { typeNamed } from './types.js';

/**
 * @typedef {object} FileType
 * @property {string} name
 * @property {number} number
 * @property {string} type of the tensors, where nothing else is said
 */

/** In the tool's order. @type {[string, number, string][]} */
const ROWS = [
	['Q1_0', 40, 'Q1_0'],
	['Q2_0', 41, 'Q2_0'],
	['Q4_0', 2, 'Q4_0'],
	['Q4_1', 3, 'Q4_1'],
	['MXFP4_MOE', 38, 'MXFP4'],
	// Files of llama.cpp's converter: the quantizer refuses the number, and makes such tensors only of --tensor-type.
	['NVFP4', 39, 'NVFP4'],
	['Q5_0', 8, 'Q5_0'],
	['Q5_1', 9, 'Q5_1'],
	['IQ2_XXS', 19, 'IQ2_XXS'],
	['IQ2_XS', 20, 'IQ2_XS'],
	// Not IQ2_S: the tool's own table.
	['IQ2_S', 28, 'IQ2_XS'],
	['IQ2_M', 29, 'IQ2_S'],
	['IQ1_S', 24, 'IQ1_S'],
	['IQ1_M', 31, 'IQ1_M'],
	['TQ1_0', 36, 'TQ1_0'],
	['TQ2_0', 37, 'TQ2_0'],
	['Q2_K', 10, 'Q2_K'],
	['Q2_K_S', 21, 'Q2_K'],
	['IQ3_XXS', 23, 'IQ3_XXS'],
	['IQ3_S', 26, 'IQ3_S'],
	['IQ3_M', 27, 'IQ3_S'],
	['Q3_K', 12, 'Q3_K'],
	['IQ3_XS', 22, 'IQ3_S'],
	['Q3_K_S', 11, 'Q3_K'],
	['Q3_K_M', 12, 'Q3_K'],
	['Q3_K_L', 13, 'Q3_K'],
	['IQ4_NL', 25, 'IQ4_NL'],
	['IQ4_XS', 30, 'IQ4_XS'],
	['Q4_K', 15, 'Q4_K'],
	['Q4_K_S', 14, 'Q4_K'],
	['Q4_K_M', 15, 'Q4_K'],
	['Q5_K', 17, 'Q5_K'],
	['Q5_K_S', 16, 'Q5_K'],
	['Q5_K_M', 17, 'Q5_K'],
	['Q6_K', 18, 'Q6_K'],
	['Q8_0', 7, 'Q8_0'],
	['F16', 1, 'F16'],
	['BF16', 32, 'BF16'],
	['F32', 0, 'F32'],
];

/** @type {FileType[]} */
export const FILE_TYPES = ROWS.map(([name, number, type]) => ({ name, number, type }));

/**
 * @param {string} name in any case
 * @returns {FileType | undefined}
 */
export function fileTypeNamed(name) {
	return FILE_TYPES.find((one) => one.name === name.toUpperCase());
}

/**
 * The file type whose tensors are of a type: the one of its own name, if that is such a one (IQ2_S is not), else the first.
 * @param {string} type in any case
 * @returns {string} as given, if there is none
 */
export function fileTypeOfType(type) {
	const those = FILE_TYPES.filter((one) => one.type === type.toUpperCase());
	return (those.find(({ name }) => name === type.toUpperCase()) ?? those[0])?.name ?? type;
}

/**
 * The name of a number; of several names the longest, which is no alias.
 * @param {number} number
 */
export function fileTypeOf(number) {
	const names = FILE_TYPES.filter((one) => one.number === number).map(({ name }) => name);
	return names.sort((a, b) => b.length - a.length)[0];
}

/** Set in a number that was guessed. */
const GUESSED = 1024;

/**
 * The number that the tool gives a file without one: that of its most frequent tensor type.
 * @param {string[]} types of all tensors, in order
 */
export function guessedFileType(types) {
	/** @type {Map<string, number>} */
	const counts = new Map();
	let most = 'F32';
	for (const type of types) {
		const count = (counts.get(type) ?? 0) + 1;
		counts.set(type, count);
		if (count > (counts.get(most) ?? 0) || type === most) most = type;
	}
	// The last row of a type is what the tool guesses for K-quants (_M), but for Q3_K (the middle one).
	const number = most === 'Q3_K' ? 12 : FILE_TYPES.findLast((one) => one.type === most)?.number;
	return GUESSED | (number ?? 0);
}

/** What takes the place of a type whose blocks are no divisor of the rows. @type {Record<string, string>} */
const FALLBACKS = {
	...Object.fromEntries(
		['IQ1_S', 'IQ1_M', 'IQ2_XXS', 'IQ2_XS', 'IQ2_S', 'IQ3_XXS', 'IQ3_S', 'IQ4_XS'].map((type) => [type, 'IQ4_NL']),
	),
	...Object.fromEntries(['Q2_0', 'Q2_K', 'Q3_K', 'TQ1_0', 'TQ2_0'].map((type) => [type, 'Q4_0'])),
	Q4_K: 'Q5_0',
	Q5_K: 'Q5_1',
	Q6_K: 'Q8_0',
};

/** And of that, or of a type with the smallest blocks there are. */
const LAST = 'F16';
const SMALLEST_BLOCK = 32;

/**
 * The type that rows of this length get; null if there is none.
 * @param {string} type that was asked for
 * @param {number} row
 */
export function typeForRows(type, row) {
	/** @param {string} name */
	const blockOf = (name) => typeNamed(name)?.block ?? 1;
	if (row % blockOf(type) === 0) return type;
	const fallback = FALLBACKS[type];
	if (fallback === undefined) return blockOf(type) === SMALLEST_BLOCK ? LAST : null;
	return row % blockOf(fallback) === 0 ? fallback : LAST;
}

/** Types that are of no use without an importance matrix, but for what lies outside of the layers. */
const WEIGHTED = ['IQ3_XXS', 'IQ2_XXS', 'IQ2_XS', 'IQ2_S', 'IQ1_M', 'IQ1_S'];
/** Tables of tokens: read by row, and perhaps shared with another model's importance matrix. */
export const TOKEN_TABLES = ['token_embd.weight', 'per_layer_token_embd.weight'];
const OUTSIDE = ['output.weight', ...TOKEN_TABLES];
/** Those that ggml has no way to make without one, wherever the tensor lies. */
const NEVER_PLAIN = ['IQ2_XXS', 'IQ2_XS', 'IQ1_S'];

/**
 * Whether the tool refuses to make this (or aborts) without an importance matrix.
 * @param {FileType} fileType
 * @param {string} type of the tensor, after all fallbacks
 * @param {string} tensor
 */
export function needsMatrix(fileType, type, tensor) {
	if (OUTSIDE.includes(tensor)) return NEVER_PLAIN.includes(type);
	return WEIGHTED.includes(type) || (type === 'Q2_K' && fileType.name === 'Q2_K_S');
}
