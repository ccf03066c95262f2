// metadata.js - the metadata of a model as lines of text, long values cut; and for --json, long arrays as what they begin with.
// SPDX-License-Identifier: MIT

import { printable } from './errors.js';

/** The most of a value that is printed. */
const MAX_VALUE = 100;
const MAX_ELEMENTS = 6;

/**
 * @param {Record<string, unknown>} metadata
 * @param {Record<string, string>} types
 */
export function metadataLines(metadata, types) {
	return Object.entries(metadata).map(([key, value]) => {
		const type = types[key] === 'str' ? '' : ` (${types[key]})`;
		return `  metadata ${printable(key)}${type}: ${cut(printable(text(value)))}`;
	});
}

/** @param {unknown} value @returns {string} */
function text(value) {
	if (!Array.isArray(value)) return String(value);
	const some = value
		.slice(0, MAX_ELEMENTS)
		.map((each) => (typeof each === 'string' ? JSON.stringify(each) : text(each)));
	return `[${some.join(', ')}${value.length > some.length ? `, ... ${value.length} in all` : ''}]`;
}

/** The most elements of an array, those of arrays in it counted, that --json lists without --full. */
const MAX_LISTED = 1000;

/**
 * Metadata for --json: a vocabulary of hundreds of thousands of tokens is not what one looks for.
 * @param {Record<string, unknown>} metadata
 */
export function shortMetadata(metadata) {
	return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, short(value)]));
}

/** @param {unknown} value @returns {unknown} */
function short(value) {
	if (!Array.isArray(value) || elementCount(value) <= MAX_LISTED) return value;
	return { length: value.length, first: value.slice(0, MAX_ELEMENTS).map(short) };
}

/** @param {unknown} value @returns {number} */
function elementCount(value) {
	return Array.isArray(value) ? value.reduce((sum, each) => sum + elementCount(each), 0) : 1;
}

/** @param {string} line */
function cut(line) {
	return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE)}...` : line;
}
