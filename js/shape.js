// shape.js - sizes of tensors.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from './errors.js';

/**
 * How many values a tensor has.
 * @param {readonly number[]} shape
 * @param {number} [width] of each: then its bytes
 */
export const countOf = (shape, width = 1) => shape.reduce((product, dim) => product * dim, width);

/** @param {unknown} shape @returns {asserts shape is number[]} @throws {BlockQuantError} bad-shape */
export function checkShape(shape) {
	if (!Array.isArray(shape) || !shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0))
		throw new BlockQuantError('bad-shape', `shape: expected a list of sizes, got ${shown(shape)}`);
}
