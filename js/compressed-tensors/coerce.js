// coerce.js - JSON values as compressed-tensors takes them: pydantic turns what is nearly right into what is meant.
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

const INTEGER_TEXT = /^\s*[+-]?\d+(_\d+)*(\.0*)?\s*$/;

/** An integer: booleans, integral numbers and their texts too. @type {Reader<number>} */
export function integer(value, at) {
	const number = typeof value === 'boolean' ? Number(value) : numberOf(value, INTEGER_TEXT);
	return Number.isSafeInteger(number) ? number : at.fail(`expected an integer, got ${shown(value)}`);
}

/** @type {Reader<number>} */
export function float(value, at) {
	const number = typeof value === 'boolean' ? Number(value) : numberOf(value, /^\s*[+-]?[\d._]+(e[+-]?\d+)?\s*$/i);
	return Number.isFinite(number) ? number : at.fail(`expected a number, got ${shown(value)}`);
}

/** @param {unknown} value @param {RegExp} text that says a number @returns {number} NaN for anything else */
function numberOf(value, text) {
	if (typeof value === 'number') return value;
	return typeof value === 'string' && text.test(value) ? Number(value.replaceAll('_', '')) : NaN;
}

const BOOLEANS = new Map([
	...['true', 't', 'yes', 'y', 'on', '1'].map((word) => /** @type {const} */ ([word, true])),
	...['false', 'f', 'no', 'n', 'off', '0'].map((word) => /** @type {const} */ ([word, false])),
]);

/** @type {Reader<boolean>} */
export function boolean(value, at) {
	if (typeof value === 'boolean') return value;
	const known =
		typeof value === 'number' || typeof value === 'string' ? BOOLEANS.get(String(value).toLowerCase()) : undefined;
	return known ?? at.fail(`expected true or false, got ${shown(value)}`);
}
