// g-idx.js - weights whose columns were grouped in another order (actorder "group", until compressed-tensors 0.18): read only.
//
// weight_g_idx says the group of each column. Seen with one scale (and zero point) for each column, such a weight is one
// in groups of 1; nothing is computed but which parameter is whose.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { countOf } from '../shape.js';

/** A plane of parameters, read as its bytes. @typedef {{ shape: number[], nbytes: number, read: (offset: number, length: number) => Promise<Uint8Array> }} Parameters */

/**
 * The group of each column: columns are sorted by g_idx, and each run of a group's size is one group.
 * @param {Int32Array} gIdx
 * @param {number} groups
 * @returns {Uint32Array | null} null: never filled in (-1), the columns are in order
 */
export function groupOfColumns(gIdx, groups) {
	if (gIdx.includes(-1)) return null;
	const size = gIdx.length / groups;
	if (!Number.isInteger(size))
		throw new BlockQuantError(
			'bad-shape',
			`g_idx has ${gIdx.length} columns for ${groups} groups; expected a multiple`,
		);
	const order = Array.from(gIdx, (_, column) => column).sort((a, b) => gIdx[a] - gIdx[b]);
	const columns = new Uint32Array(gIdx.length);
	order.forEach((column, position) => {
		columns[column] = Math.floor(position / size);
	});
	return columns;
}

/**
 * Rows of one parameter a group as rows of one a column.
 * @param {Uint8Array} bytes whole rows
 * @param {number} groups in a row
 * @param {Uint32Array} columns the group of each
 * @param {number} width of a parameter in bytes
 */
export function spread(bytes, groups, columns, width) {
	const rows = bytes.length / (groups * width);
	const out = new Uint8Array(rows * columns.length * width);
	for (let row = 0, at = 0; row < rows; row++)
		for (const group of columns) {
			const from = (row * groups + group) * width;
			for (let i = 0; i < width; i++) out[at++] = bytes[from + i];
		}
	return out;
}

/**
 * A plane [rows, groups] as one [rows, columns].
 * @template {Parameters} P
 * @param {P} plane
 * @param {Uint32Array} columns
 * @returns {P}
 */
export function spreadPlane(plane, columns) {
	const groups = /** @type {number} */ (plane.shape.at(-1));
	const rows = countOf(plane.shape.slice(0, -1));
	const width = plane.nbytes / (rows * groups);
	const wide = columns.length * width;
	return {
		...plane,
		shape: [...plane.shape.slice(0, -1), columns.length],
		nbytes: rows * wide,
		async read(offset, length) {
			const first = Math.floor(offset / wide);
			const last = Math.ceil((offset + length) / wide);
			const bytes = await plane.read(first * groups * width, (last - first) * groups * width);
			const begin = offset - first * wide;
			return spread(bytes, groups, columns, width).subarray(begin, begin + length);
		},
	};
}
