// read.js - a strict JSON scanner over bytes: what JSON.parse lets pass, a file format may not.
// SPDX-License-Identifier: MIT

// JSON.parse keeps the last of two equal keys, rounds integers beyond 2^53, loses "__proto__" when
// objects are copied, moves integer-like keys to the front, and has no byte offsets. This one
// refuses or keeps each of these. Objects become Maps.

import { BlockQuantError, quoted } from '../errors.js';
import { readToken } from './token.js';
import { JsonNumber, toPlain } from './value.js';

/** @typedef {import('./value.js').JsonValue} JsonValue */
/** @typedef {import('./value.js').JsonObject} JsonObject */
/** @typedef {import('./value.js').JsonArray} JsonArray */

/** As serde_json, which the safetensors library uses: deeper nesting is an attack on the stack. */
const MAX_DEPTH = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

const ESCAPES = new Map(
	Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }),
);
export class JsonScanner {
	/**
	 * @param {Uint8Array} bytes
	 * @param {{ file?: string, base?: number, python?: boolean }} [options] base: offset of the first
	 *   byte in its file, for messages; python: accept NaN, Infinity and integers of any length
	 */
	constructor(bytes, { file, base = 0, python = false } = {}) {
		this.bytes = bytes;
		this.pos = 0;
		/** @private */ this.file = file;
		/** @private */ this.base = base;
		/** @private */ this.python = python;
		/** @private */ this.depth = 0;
		/** @private */ this.utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
		if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
			this.fail('JSON text must not start with a byte order mark');
		}
	}

	/**
	 * @param {string} message
	 * @param {number} [pos]
	 * @returns {never}
	 */
	fail(message, pos = this.pos) {
		throw new BlockQuantError('bad-file', message, { file: this.file, offset: this.base + pos });
	}

	/** The next byte that is no white space, not consumed; undefined at the end. */
	peek() {
		const { bytes } = this;
		let c = bytes[this.pos];
		while (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) c = bytes[++this.pos];
		return c;
	}

	/** Nothing but white space may follow. */
	end() {
		if (this.peek() !== undefined) this.fail('more text after the end of the JSON value');
	}

	/**
	 * Reads an object; `visit` must consume the value of each key.
	 * @param {(key: string, start: number, end: number) => void} visit start and end: the key's
	 *   bytes, without its quotes
	 */
	object(visit) {
		const names = new Set();
		this.#list('{', '}', () => {
			if (this.peek() !== QUOTE) this.fail('expected a key in double quotes');
			const start = this.pos;
			const key = this.string();
			const end = this.pos;
			if (names.has(key)) this.fail(`duplicate key ${quoted(key)}`, start);
			names.add(key);
			if (this.peek() !== COLON) this.fail('expected ":" after a key');
			this.pos++;
			visit(key, start + 1, end - 1);
		});
	}

	/**
	 * Reads an array; `visit` must consume each element.
	 * @param {() => void} visit
	 */
	array(visit) {
		this.#list('[', ']', visit);
	}

	/**
	 * @param {string} open
	 * @param {string} close
	 * @param {() => void} item
	 */
	#list(open, close, item) {
		if (this.peek() !== open.charCodeAt(0)) this.fail(`expected "${open}"`);
		if (++this.depth > MAX_DEPTH) this.fail(`nested deeper than ${MAX_DEPTH} levels`);
		this.pos++;
		if (this.peek() === close.charCodeAt(0)) {
			this.pos++;
		} else {
			for (;;) {
				item();
				const c = this.peek();
				if (c !== COMMA && c !== close.charCodeAt(0)) this.fail(`expected "," or "${close}"`);
				this.pos++;
				if (c !== COMMA) break;
			}
		}
		this.depth--;
	}

	/** Reads a string. */
	string() {
		if (this.peek() !== QUOTE) this.fail('expected a string');
		const { bytes } = this;
		let text = '';
		let start = ++this.pos;
		for (;;) {
			const c = bytes[this.pos];
			if (c === undefined) this.fail('a string does not end');
			if (c < 0x20) this.fail('a control character inside a string');
			if (c === QUOTE || c === BACKSLASH) {
				text += this.#utf8(start, this.pos);
				if (c === QUOTE) break;
				text += this.#escape();
				start = this.pos;
			} else {
				this.pos++;
			}
		}
		this.pos++;
		return text;
	}

	/**
	 * @param {number} start
	 * @param {number} end
	 */
	#utf8(start, end) {
		try {
			return this.utf8.decode(this.bytes.subarray(start, end));
		} catch {
			return this.fail('text is not UTF-8', start);
		}
	}

	#escape() {
		const start = this.pos;
		const letter = String.fromCharCode(this.bytes[this.pos + 1] ?? 0);
		if (letter !== 'u') {
			const plain = ESCAPES.get(letter);
			if (plain === undefined) this.fail('unknown escape in a string', start);
			this.pos += 2;
			return plain;
		}
		let code = this.#hex4();
		if (code >= 0xd800 && code < 0xdc00 && this.bytes[this.pos] === BACKSLASH) {
			const low = this.bytes[this.pos + 1] === 0x75 ? this.#hex4() : 0;
			if (low < 0xdc00 || low > 0xdfff) this.fail('half a surrogate pair in a string', start);
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		} else if (code >= 0xd800 && code <= 0xdfff) {
			this.fail('half a surrogate pair in a string', start);
		}
		return String.fromCodePoint(code);
	}

	/** Reads "\\uXXXX". */
	#hex4() {
		const digits = String.fromCharCode(...this.bytes.subarray(this.pos + 2, this.pos + 6));
		if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail('expected four hexadecimal digits after \\u');
		this.pos += 6;
		return Number.parseInt(digits, 16);
	}

	/** Reads a non-negative integer of digits only, exact: a size, an edge or an offset. */
	count() {
		this.peek();
		const start = this.pos;
		const number = this.value();
		if (!(number instanceof JsonNumber) || !/^[0-9]+$/.test(number.text)) {
			this.fail('expected an integer of 0 or more', start);
		}
		if (!Number.isSafeInteger(number.value)) this.fail('an integer beyond 2^53 - 1', start);
		return number.value;
	}

	#token() {
		const token = readToken(this.bytes, this.pos, this.python);
		if (token === null) this.fail('expected a JSON value');
		const { value, end } = token;
		const isInteger = value instanceof JsonNumber && /^-?[0-9]+$/.test(value.text);
		if (isInteger && !this.python && !Number.isSafeInteger(value.value)) this.fail('an integer beyond 2^53 - 1');
		this.pos = end;
		return value;
	}

	/**
	 * Reads any value.
	 * @returns {JsonValue}
	 */
	value() {
		const c = this.peek();
		if (c === undefined) this.fail('the JSON text ends early');
		if (c === QUOTE) return this.string();
		if (c === 0x7b) {
			/** @type {JsonObject} */
			const members = new Map();
			this.object((key) => members.set(key, this.value()));
			return members;
		}
		if (c === 0x5b) {
			/** @type {JsonArray} */
			const items = [];
			this.array(() => items.push(this.value()));
			return items;
		}
		return this.#token();
	}
}

/**
 * Parses a whole text.
 * @param {Uint8Array} bytes
 * @param {{ file?: string, base?: number, python?: boolean }} [options] as of JsonScanner
 */
export function parseJson(bytes, options) {
	const scanner = new JsonScanner(bytes, options);
	const value = scanner.value();
	scanner.end();
	return value;
}

/**
 * Plain JSON of a text that a person may have written: a byte order mark before it is let by, a name that stands twice is not.
 * @param {string} text
 * @returns {any}
 */
export const jsonOfText = (text) => toPlain(parseJson(new TextEncoder().encode(text.trim())));
