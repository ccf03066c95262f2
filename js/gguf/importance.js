// importance.js - the part of an importance matrix that a tensor gets, or what is done without: llama-quantize's rules.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { needsMatrix, TOKEN_TABLES } from './ftypes.js';

/** @typedef {import('../model/types.js').TargetOptions} TargetOptions */

/**
 * @param {{ name: string, shape: number[] }} tensor
 * @param {import('./ftypes.js').FileType} fileType
 * @param {string} type that the tensor becomes
 * @param {Pick<TargetOptions, 'imatrix' | 'missingImportance'>} options
 * @returns {{ importance?: Float32Array, warnings: string[] }}
 */
export function importanceOf({ name, shape }, fileType, type, { imatrix, missingImportance }) {
	const columns = shape.at(-1) ?? 1;
	const found = imatrix?.tensors.get(name);
	let lack = imatrix === undefined ? '' : 'the importance matrix has no entry for it';
	if (found !== undefined) {
		// One row for each expert.
		const expected = columns * (shape.at(-3) ?? 1);
		if (found.length === expected) {
			if (found.some((weight) => weight > 0)) return { importance: found, warnings: [] };
			const all0 = 'its entry in the importance matrix is all 0; some column must matter';
			throw new BlockQuantError('bad-file', all0, { tensor: name });
		}
		lack = `its entry in the importance matrix has ${found.length} values, not ${expected}`;
		if (!TOKEN_TABLES.includes(name)) throw new BlockQuantError('bad-shape', lack, { tensor: name });
	}
	/** @param {string} instead */
	const warnings = (instead) => (lack === '' ? [] : [`${lack}: ${instead}`]);
	if (!needsMatrix(fileType, type, name)) return { warnings: warnings('quantized without') };
	if (missingImportance === 'ones')
		return { importance: new Float32Array(columns).fill(1), warnings: warnings('all its columns weigh the same') };
	const needed = `${type} needs an importance matrix`;
	throw new BlockQuantError(
		'needs-importance',
		lack === ''
			? `${needed}: give one, or let all columns weigh the same`
			: `${needed}, and ${lack}; all columns may weigh the same instead`,
		{ tensor: name, option: 'missingImportance' },
	);
}

/** Bytes of a text in the tool's metadata. */
const MAX_TEXT = 127;

/**
 * The metadata that say which importance matrix a file was made with.
 * @param {TargetOptions['imatrix']} imatrix
 * @returns {[string, string | number][]}
 */
export function importancePairs(imatrix) {
	if (imatrix === undefined || imatrix.tensors.size === 0) return [];
	const { tensors, name, datasets: [dataset] = [], chunks } = imatrix;
	return [
		...text('quantize.imatrix.file', name),
		...text('quantize.imatrix.dataset', dataset),
		['quantize.imatrix.entries_count', tensors.size],
		...number('quantize.imatrix.chunks_count', chunks),
	];
}

/** @param {string} key @param {string | undefined} value @returns {[string, string][]} */
function text(key, value) {
	if (!value) return [];
	const bytes = new TextEncoder().encode(value).subarray(0, MAX_TEXT);
	// A character that the limit cuts goes as a whole, or the text were none in UTF-8.
	return [[key, new TextDecoder().decode(bytes, { stream: true })]];
}

/** @param {string} key @param {number | undefined} value @returns {[string, number][]} */
const number = (key, value) => (value ? [[key, value]] : []);
