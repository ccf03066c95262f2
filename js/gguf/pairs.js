// pairs.js - metadata pairs: checked and kept as they stand in the file, decoded only where somebody asks for a value.
// SPDX-License-Identifier: MIT

import { quoted } from '../errors.js';

/** @typedef {import('./reader.js').HeaderReader} HeaderReader */

/**
 * @typedef {object} Pair where a pair stands in its header
 * @property {string} key
 * @property {number} type of the value: an index into TYPE_NAMES
 * @property {number} start of the pair
 * @property {number} value start of the value, after its type
 * @property {number} end
 * @property {string[]} odd what is unusual about the value
 */

export const TYPE_NAMES = 'u8 i8 u16 i16 u32 i32 f32 bool str arr u64 i64 f64'.split(' ');
/** Bytes of a value; 0: it says so itself. */
const WIDTHS = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
export const U16 = 2;
export const U32 = 4;
export const I32 = 5;
const BOOL = 7;
export const STRING = 8;
const ARRAY = 9;

/** The least bytes that a value takes: what a count is held against before anything is done for it. */
const LEAST = WIDTHS.map((width, type) => (type === STRING ? 8 : type === ARRAY ? 12 : width));
/** A pair: the key's length, one byte of key, the value's type, a value of one byte. */
export const LEAST_PAIR = 8 + 1 + 4 + 1;

/** Elements of an array: sixteen times the largest vocabulary; more would take seconds to check, and to show. */
const MAX_COUNT = 2 ** 22;

/** Arrays in arrays: nobody writes them, and a file must not choose how deep we call ourselves. */
const MAX_DEPTH = 8;

/**
 * @param {HeaderReader} reader
 * @returns {Pair}
 */
export function readPair(reader) {
	const start = reader.pos;
	const key = reader.name('a metadata key');
	if (key === '') reader.fail('a metadata key is empty', start);
	const what = `the value of ${quoted(key)}`;
	const type = readType(reader, what);
	const value = reader.pos;
	/** @type {Set<string>} */
	const odd = new Set();
	skipValue(reader, type, what, odd, 0);
	return { key, type, start, value, end: reader.pos, odd: [...odd] };
}

/** @param {HeaderReader} reader @param {string} what */
function readType(reader, what) {
	const at = reader.pos;
	const type = reader.u32(`the type of ${what}`);
	if (type >= TYPE_NAMES.length) reader.fail(`${what} has the unknown type ${type}`, at);
	return type;
}

/**
 * @param {HeaderReader} reader
 * @param {number} type
 * @param {string} what
 * @param {Set<string>} odd
 * @param {number} depth
 */
function skipValue(reader, type, what, odd, depth) {
	if (type === STRING) reader.skipString(what);
	else if (type === ARRAY) skipArray(reader, what, odd, depth);
	else {
		const at = reader.take(WIDTHS[type], what);
		if (type === BOOL && reader.byteAt(at) > 1) odd.add('a bool that is neither 0 nor 1');
	}
}

/**
 * @param {HeaderReader} reader
 * @param {string} what
 * @param {Set<string>} odd
 * @param {number} depth
 */
function skipArray(reader, what, odd, depth) {
	const start = reader.pos;
	if (depth === MAX_DEPTH) reader.fail(`${what}: arrays lie more than ${MAX_DEPTH} deep in one another`, start);
	if (depth === 1) odd.add('an array of arrays, which ggml refuses');
	const type = readType(reader, what);
	const at = reader.pos;
	const count = reader.u64(`the length of ${what}`);
	if (count * LEAST[type] > reader.left) {
		reader.fail(
			`${what} is said to have ${count} elements of type ${TYPE_NAMES[type]}, but the file has only ${reader.left} more bytes`,
			at,
		);
	}
	if (count > MAX_COUNT) reader.fail(`${what} has ${count} elements; at most ${MAX_COUNT} are allowed`, at);
	if (WIDTHS[type] > 0) {
		const from = reader.take(count * WIDTHS[type], what);
		for (let i = from; type === BOOL && i < reader.pos; i++) {
			if (reader.byteAt(i) > 1) odd.add('a bool that is neither 0 nor 1');
		}
		return;
	}
	for (let i = 0; i < count; i++) skipValue(reader, type, what, odd, depth + 1);
}

/** @type {((view: DataView, at: number) => number | bigint | boolean)[]} */
const READ = [
	(view, at) => view.getUint8(at),
	(view, at) => view.getInt8(at),
	(view, at) => view.getUint16(at, true),
	(view, at) => view.getInt16(at, true),
	(view, at) => view.getUint32(at, true),
	(view, at) => view.getInt32(at, true),
	(view, at) => view.getFloat32(at, true),
	(view, at) => view.getUint8(at) !== 0,
];
READ[10] = (view, at) => exact(view.getBigUint64(at, true));
READ[11] = (view, at) => exact(view.getBigInt64(at, true));
READ[12] = (view, at) => view.getFloat64(at, true);

/** @param {bigint} value */
function exact(value) {
	const number = Number(value);
	return Number.isSafeInteger(number) ? number : value;
}

/** Values need not be UTF-8; what is not is shown as such. */
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** @typedef {number | bigint | boolean | string | unknown[]} Value */

/**
 * The value of a pair whose bytes were checked when it was read.
 * @param {Uint8Array} header
 * @param {Pair} pair
 * @returns {Value}
 */
export function valueOf(header, { type, value }) {
	const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
	let pos = value;
	/** @param {number} type @returns {Value} */
	const next = (type) => {
		const at = pos;
		if (WIDTHS[type] > 0) {
			pos += WIDTHS[type];
			return READ[type](view, at);
		}
		if (type === STRING) {
			pos += 8 + Number(view.getBigUint64(at, true));
			return lenient.decode(header.subarray(at + 8, pos));
		}
		const [element, count] = [view.getUint32(at, true), Number(view.getBigUint64(at + 4, true))];
		pos += 12;
		return Array.from({ length: count }, () => next(element));
	};
	return next(type);
}

/**
 * The type of a pair's value in words, such as `u32` or `str[32000]`.
 * @param {Uint8Array} header
 * @param {Pair} pair
 */
export function typeText(header, { type, value }) {
	if (type !== ARRAY) return TYPE_NAMES[type];
	const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
	return `${TYPE_NAMES[view.getUint32(value, true)]}[${view.getBigUint64(value + 4, true)}]`;
}

/**
 * All values by key; each is decoded when it is asked for.
 * @param {Uint8Array} header
 * @param {Pair[]} pairs
 * @returns {Record<string, any>}
 */
export function metadataOf(header, pairs) {
	const metadata = {};
	for (const pair of pairs) {
		/** @type {Value | undefined} */
		let known;
		const get = () => (known ??= valueOf(header, pair));
		// Defined, not assigned: `__proto__` is a key like any other.
		Object.defineProperty(metadata, pair.key, { enumerable: true, configurable: true, get });
	}
	return metadata;
}
