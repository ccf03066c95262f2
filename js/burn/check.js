// check.js - arguments of Burn's functions: what each has to be.
// SPDX-License-Identifier: MIT

import { plainArray } from '../arrays/typed.js';
import { BlockQuantError, shown } from '../errors.js';

/**
 * A plain view of a typed array of one kind.
 * @template {'Float32Array' | 'Int8Array' | 'Uint8Array' | 'Uint32Array'} Kind
 * @param {string} name
 * @param {unknown} array
 * @param {Kind} kind
 */
export function arrayOf(name, array, kind) {
	const plain = plainArray(array, [kind]);
	if (!plain)
		throw new BlockQuantError('bad-argument', `${name}: expected ${kind}, not detached; got ${shown(array)}`);
	return plain;
}

/** @param {string} name @param {unknown} value @param {number} [most] @returns {asserts value is number} */
export function checkIndex(name, value, most = Number.MAX_SAFE_INTEGER) {
	if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > most)
		throw new BlockQuantError(
			'bad-argument',
			`${name}: expected a whole number from 0 to ${most}, got ${shown(value)}`,
		);
}

/** @param {unknown} axes in a new order @returns {asserts axes is number[]} */
export function checkAxes(axes) {
	if (!Array.isArray(axes) || axes.some((_, axis) => !axes.includes(axis)))
		throw new BlockQuantError(
			'bad-argument',
			`axes: expected a list of each number from 0 on once, got ${shown(axes)}`,
		);
}

/** Axes that a tensor may have: as many as in any library. */
const MAX_RANK = 64;

/** @param {unknown} rank @returns {asserts rank is number} */
export function checkRank(rank) {
	checkIndex('rank', rank, MAX_RANK);
}
