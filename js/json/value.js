// value.js - JSON values that keep what was read, and their text as Python's json writes it.
// SPDX-License-Identifier: MIT

/** A number with its text, so that `10000.0` and `1e-05` can be written as they were read. */
export class JsonNumber {
	/** @param {string} text */
	constructor(text) {
		this.text = text;
	}
	get value() {
		return Number(this.text);
	}
}

/** @typedef {null | boolean | string | JsonNumber | JsonArray | JsonObject} JsonValue */
/** @typedef {JsonValue[]} JsonArray */
/** @typedef {Map<string, JsonValue>} JsonObject */

/**
 * Keys in Python's order: by code point. UTF-16 units differ from it only among surrogates.
 * @param {string} a
 * @param {string} b
 */
function byCodePoint(a, b) {
	const length = Math.min(a.length, b.length);
	for (let i = 0; i < length; i++) {
		if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
		return (a.codePointAt(i) ?? 0) - (b.codePointAt(i) ?? 0);
	}
	return a.length - b.length;
}

/**
 * A string as `json.dumps` writes it: ASCII only.
 * @param {string} text
 */
function quote(text) {
	return JSON.stringify(text).replace(
		/[\u007f-\uffff]/g,
		(unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
}

/**
 * The text that Python's `json.dumps(value, indent=2, sort_keys=True)` gives.
 * @param {JsonValue} value
 * @param {string} [indent] of the line that it starts on
 * @returns {string}
 */
export function formatJson(value, indent = '') {
	if (typeof value === 'string') return quote(value);
	if (value instanceof JsonNumber) return value.text;
	if (value === null || typeof value === 'boolean') return String(value);
	const deeper = `${indent}  `;
	const [open, close, items] = Array.isArray(value)
		? ['[', ']', value.map((item) => formatJson(item, deeper))]
		: ['{', '}', members(value, deeper)];
	if (items.length === 0) return open + close;
	return `${open}\n${deeper}${items.join(`,\n${deeper}`)}\n${indent}${close}`;
}

/**
 * @param {JsonObject} object
 * @param {string} indent
 */
function members(object, indent) {
	return [...object]
		.sort(([a], [b]) => byCodePoint(a, b))
		.map(([key, value]) => `${quote(key)}: ${formatJson(value, indent)}`);
}

/**
 * A plain JavaScript value (objects, arrays, strings, finite numbers, booleans, null) as JsonValue.
 * @param {unknown} plain
 * @returns {JsonValue}
 */
export function toJsonValue(plain) {
	if (plain === null || typeof plain === 'boolean' || typeof plain === 'string') return plain;
	if (typeof plain === 'number') return new JsonNumber(String(plain));
	if (Array.isArray(plain)) return plain.map(toJsonValue);
	return new Map(
		Object.entries(/** @type {object} */ (plain))
			.filter(([, value]) => value !== undefined)
			.map(([key, value]) => [key, toJsonValue(value)]),
	);
}

/**
 * The way back, for values that other code takes as plain objects.
 * @param {JsonValue} value
 * @returns {unknown}
 */
export function toPlain(value) {
	if (value instanceof JsonNumber) return value.value;
	if (Array.isArray(value)) return value.map(toPlain);
	if (!(value instanceof Map)) return value;
	// fromEntries defines own properties, so that "__proto__" is a name like any other.
	return Object.fromEntries([...value].map(([key, member]) => [key, toPlain(member)]));
}
