// imatrix.js - importance matrices: how much each column of a weight matters, as llama-imatrix measured it.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { sourceOf } from '../io/source.js';
import { hasMagic } from '../gguf/open.js';
import { readLegacy } from './legacy.js';
import { readSums } from './sums.js';

/** @typedef {import('../io/source.js').SourceLike} SourceLike */

/**
 * @typedef {object} Imatrix
 * @property {Map<string, Float32Array>} tensors by tensor name: an importance for each column, matrix after matrix
 * @property {string} [name] of the file; what is made with it says so
 * @property {string[]} [datasets] that it was measured on
 * @property {number} [chunks] of them; 0 if that is not known
 * @property {string} [path] of the file, where it is one on disk
 */

/**
 * Reads an importance matrix that llama-imatrix wrote, GGUF or the older `.dat`. All of it is in memory then.
 * @param {SourceLike} input
 * @returns {Promise<Required<Omit<Imatrix, 'path'>>>}
 * @throws {BlockQuantError} bad-file, bad-argument, io
 */
export async function readImatrix(input) {
	const source = sourceOf(input);
	const { name = '' } = source;
	try {
		return { name, ...(await ((await hasMagic(source)) ? readSums : readLegacy)(source)) };
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withFile(source.name) : error;
	}
}

/**
 * A caller's options, whose importance matrix is read if it is a file's source.
 * @template {{ imatrix?: Imatrix | SourceLike }} Options
 * @param {Options} options
 * @returns {Promise<Omit<Options, 'imatrix'> & { imatrix?: Imatrix }>}
 */
export async function withImatrix(options) {
	const given = options?.imatrix;
	if (given === undefined || isImatrix(given)) return /** @type {any} */ (options);
	let source;
	try {
		source = sourceOf(given);
	} catch {
		const expected = 'what readImatrix() gives, or a source of one';
		throw new BlockQuantError('bad-argument', `imatrix: expected ${expected}, got ${shown(given)}`);
	}
	return { ...options, imatrix: await readImatrix(source) };
}

/** @param {any} value @returns {value is Imatrix} */
export function isImatrix(value) {
	const { tensors, name = '', datasets = [], chunks = 0 } = value ?? {};
	return (
		tensors instanceof Map &&
		typeof name === 'string' &&
		Array.isArray(datasets) &&
		datasets.every((one) => typeof one === 'string') &&
		Number.isSafeInteger(chunks) &&
		chunks >= 0
	);
}
