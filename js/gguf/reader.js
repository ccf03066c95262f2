// reader.js - the beginning of a file read piece by piece, as far as a parser asks; every length is checked before it is used.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

/** @typedef {import('../io/source.js').Source} Source */

/** Vocabularies make headers of up to some 30 MB; the whole of one is held in memory. */
export const MAX_HEADER_NBYTES = 2 ** 28;

const FIRST_READ = 2 ** 20;

/** Thrown inside an item that is not all here yet: the item is parsed again when more is. */
const MORE = Symbol('more');

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class HeaderReader {
	/** Where the next field begins; always within the file. */
	pos = 0;
	#source;
	#bytes = new Uint8Array(0);
	#view = new DataView(this.#bytes.buffer);
	#wanted = 0;

	/** @param {Source} source */
	constructor(source) {
		this.#source = source;
	}

	/** Bytes of the file after the current field. */
	get left() {
		return this.#source.size - this.pos;
	}

	/**
	 * @param {string} message
	 * @param {number} [offset]
	 * @param {string} [tensor]
	 * @returns {never}
	 */
	fail(message, offset = this.pos, tensor) {
		throw new BlockQuantError('bad-file', message, { file: this.#source.name, offset, tensor });
	}

	/**
	 * Runs a parser of one item, again from the item's start each time that more of the file had to be read. What is read
	 * doubles each time, so that even the last item of a long header is not parsed often.
	 * @template T
	 * @param {() => T} parse
	 * @returns {Promise<T>}
	 */
	async item(parse) {
		const start = this.pos;
		for (;;) {
			try {
				return parse();
			} catch (error) {
				if (error !== MORE) throw error;
			}
			await this.#grow();
			this.pos = start;
		}
	}

	async #grow() {
		const { size } = this.#source;
		const have = this.#bytes.byteLength;
		const nbytes = Math.min(size, MAX_HEADER_NBYTES, Math.max(FIRST_READ, 2 * have, this.#wanted));
		const grown = new Uint8Array(nbytes);
		grown.set(this.#bytes);
		grown.set(await this.#source.read(have, nbytes - have), have);
		this.#bytes = grown;
		this.#view = new DataView(grown.buffer);
	}

	/**
	 * Makes sure that the next bytes are here, and goes past them.
	 * @param {number} nbytes
	 * @param {string} what
	 * @returns {number} where they begin
	 */
	take(nbytes, what) {
		const { pos } = this;
		if (nbytes > this.left) {
			this.fail(`the file ends within ${what}: ${nbytes} bytes are needed, ${this.left} are left`);
		}
		const end = pos + nbytes;
		if (end > MAX_HEADER_NBYTES) {
			this.fail(`${what}: the header would have more than ${MAX_HEADER_NBYTES} bytes, the most that is read`);
		}
		if (end > this.#bytes.byteLength) {
			this.#wanted = end;
			throw MORE;
		}
		this.pos = end;
		return pos;
	}

	/** @param {string} what */
	u32(what) {
		return this.#view.getUint32(this.take(4, what), true);
	}

	/**
	 * As a number, which is exact: what is above 2^53 is more than any file has.
	 * @param {string} what
	 * @param {string} [tensor]
	 */
	u64(what, tensor) {
		const at = this.take(8, what);
		const value = this.#view.getBigUint64(at, true);
		if (value > Number.MAX_SAFE_INTEGER) this.fail(`${what} is ${value}, more than any file has`, at, tensor);
		return Number(value);
	}

	/** @param {number} at */
	byteAt(at) {
		return this.#bytes[at];
	}

	/**
	 * Goes past a string; its bytes are those before `pos`.
	 * @param {string} what
	 * @returns {number} its length
	 */
	skipString(what) {
		const start = this.pos;
		const nbytes = this.u64(`the length of ${what}`);
		if (nbytes > this.left) {
			this.fail(`${what} is said to have ${nbytes} bytes, but the file has only ${this.left} more`, start);
		}
		this.take(nbytes, what);
		return nbytes;
	}

	/**
	 * A name: UTF-8 without NUL, at which readers in C would cut it.
	 * @param {string} what
	 * @param {number} [most] bytes
	 */
	name(what, most = Number.POSITIVE_INFINITY) {
		const start = this.pos;
		const nbytes = this.u64(`the length of ${what}`);
		if (nbytes > this.left) {
			this.fail(`${what} is said to have ${nbytes} bytes, but the file has only ${this.left} more`, start);
		}
		if (nbytes > most) this.fail(`${what} has ${nbytes} bytes; at most ${most} are allowed`, start);
		const at = this.take(nbytes, what);
		const bytes = this.#bytes.subarray(at, at + nbytes);
		if (bytes.includes(0)) this.fail(`${what} contains a NUL byte`, at);
		try {
			return utf8.decode(bytes);
		} catch {
			return this.fail(`${what} is not UTF-8`, at);
		}
	}

	/** Everything before the current field, on memory of its own. */
	finish() {
		return this.#bytes.slice(0, this.pos);
	}
}
