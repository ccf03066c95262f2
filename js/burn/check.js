// check.js - arguments of Burn's functions: what each has to be.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { plainArray } from '../arrays/typed.js';
import { shown } from '../errors.js';
import { word } from '../problems.js';
import { CALIBRATIONS } from './tables.js';

/**
 * A plain view of a typed array of one kind.
 * @template {'Float32Array' | 'Int8Array' | 'Uint8Array' | 'Uint32Array'} Type
 * @param {string} name
 * @param {unknown} array
 * @param {Type} type
 */
export const arrayOf = (name, array, type) =>
	given(
		name,
		array,
		(value, at) => plainArray(value, [type]) ?? at.fail(`expected ${type}, not detached; got ${shown(value)}`),
	);

/** Burn's words begin with capitals; what is compared with them has none. @param {string} word */
export const lower = (word) => [word.toLowerCase()];

/** One of Burn's words. @param {readonly string[]} words */
export const wordOf = (words) => word(words, lower);

/** How ranges are chosen. */
export const readCalibration = wordOf(Object.keys(CALIBRATIONS));

/** @param {string} name @param {unknown} value @param {number} [most] @returns {asserts value is number} */
export function checkIndex(name, value, most = Number.MAX_SAFE_INTEGER) {
	const isIndex = (/** @type {any} */ index) => Number.isSafeInteger(index) && index >= 0 && index <= most;
	given(name, value, kind(isIndex, `a whole number from 0 to ${most}`));
}

/** Axes that a tensor may have: as many as in any library. */
const MAX_RANK = 64;

const readAxes = kind(
	(axes) => Array.isArray(axes) && axes.length <= MAX_RANK && axes.every((_, axis) => axes.includes(axis)),
	`a list of each number from 0 on once, at most ${MAX_RANK}`,
);

/** @param {unknown} axes in a new order @returns {asserts axes is number[]} */
export function checkAxes(axes) {
	given('axes', axes, readAxes);
}

/** @param {unknown} rank @returns {asserts rank is number} */
export function checkRank(rank) {
	checkIndex('rank', rank, MAX_RANK);
}
