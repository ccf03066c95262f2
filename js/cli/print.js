// print.js - results on stdout: text or one JSON document, and sizes as people read them.
// SPDX-License-Identifier: MIT

import process from 'node:process';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** @param {number} nbytes */
export function bytes(nbytes) {
	const exponent = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, nbytes)) / 3));
	return `${(nbytes / 1000 ** exponent).toFixed(exponent === 0 ? 0 : 1)} ${UNITS[exponent]}`;
}

/** @param {number} count with a space between thousands */
export function integer(count) {
	return String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
}

/**
 * A few significant digits.
 * @param {number} value
 * @param {number} [digits]
 */
export function decimal(value, digits = 4) {
	if (!Number.isFinite(value)) return special(value);
	return value === 0 ? '0' : value.toPrecision(digits);
}

/** Digits after the point. @param {number} value @param {number} digits */
export function fixed(value, digits) {
	return Number.isFinite(value) ? value.toFixed(digits) : special(value);
}

/** @param {number} value that is no number of digits */
function special(value) {
	return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

/** @param {number[]} shape */
export function shapeText(shape) {
	return shape.length === 0 ? 'scalar' : shape.join(' x ');
}

/**
 * Bits for each of some weights.
 * @param {number} nbytes
 * @param {number} count
 */
export function bitsText(nbytes, count) {
	return count === 0 ? '-' : ((8 * nbytes) / count).toFixed(3);
}

/** @param {string[]} lines */
export function printLines(...lines) {
	process.stdout.write(`${lines.join('\n')}\n`);
}

/**
 * One JSON document. Numbers that JSON cannot say are null (an infinite SQNR, a NaN) or text (beyond 2^53).
 * @param {unknown} document
 */
export function printJson(document) {
	/** @type {(key: string, value: unknown) => unknown} */
	const plain = (_, value) => (value instanceof RegExp || typeof value === 'bigint' ? String(value) : value);
	process.stdout.write(`${JSON.stringify(document, plain, '\t')}\n`);
}
