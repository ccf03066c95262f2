// token.js - the JSON values that are one run of letters, digits and signs: numbers and three words.
// SPDX-License-Identifier: MIT

import { JsonNumber } from './value.js';

/** @type {Map<string, null | boolean>} */
const WORDS = new Map([
	['null', null],
	['true', true],
	['false', false],
]);
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** What Python's json module writes for float('inf') and float('nan'). */
const PYTHON_NUMBER = /^(?:-?Infinity|NaN)$/;
/** A number longer than this is not read as one: no format needs it. */
const MAX_NUMBER = 400;

/**
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {boolean} python accept what Python writes for infinities and NaN
 * @returns {{ value: JsonNumber | null | boolean, end: number } | null} null: no value starts here
 */
export function readToken(bytes, start, python) {
	let end = start;
	while (end - start < MAX_NUMBER && isTokenByte(bytes[end])) end++;
	const text = String.fromCharCode(...bytes.subarray(start, end));
	const word = WORDS.get(text);
	if (word !== undefined) return { value: word, end };
	const legal = NUMBER.test(text) || (python && PYTHON_NUMBER.test(text));
	return legal ? { value: new JsonNumber(text), end } : null;
}

/** @param {number | undefined} c */
function isTokenByte(c) {
	if (c === undefined) return false;
	const digit = c >= 0x30 && c <= 0x39;
	const letter = (c | 0x20) >= 0x61 && (c | 0x20) <= 0x7a;
	return digit || letter || c === 0x2b || c === 0x2d || c === 0x2e;
}
