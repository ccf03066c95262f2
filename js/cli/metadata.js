// metadata.js - the metadata of a model as lines of text, long values cut; --json has all of them.
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

/** @param {string} line */
function cut(line) {
	return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE)}...` : line;
}
