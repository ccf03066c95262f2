// arena.js - memory of the wasm module beyond the C stack: one arena, used anew by every call. Only the core sees its pointers.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

const PAGE = 65536;

/** Every array begins at a multiple of this. */
const ALIGN = 16;

export class Arena {
	#memory;
	#begin;
	#used;
	/** @type {Map<number, number>} */
	#kept = new Map();

	/** @param {WebAssembly.Memory} memory @param {number} begin where the module's own memory ends */
	constructor(memory, begin) {
		this.#memory = memory;
		this.#begin = begin;
		this.#used = begin;
	}

	/** Runs one call with an empty arena. @template T @param {() => T} call @returns {T} */
	scope(call) {
		this.#used = this.#begin;
		return call();
	}

	/** @param {number} nbytes */
	take(nbytes) {
		const at = Math.ceil(this.#used / ALIGN) * ALIGN;
		this.#used = at + nbytes;
		const missing = Math.ceil((this.#used - this.#memory.buffer.byteLength) / PAGE);
		if (missing > 0) {
			try {
				this.#memory.grow(missing);
			} catch (cause) {
				throw new BlockQuantError('out-of-memory', `no memory for ${nbytes} bytes more`, { cause });
			}
		}
		return at;
	}

	/**
	 * Memory that no call uses anew, filled once; 0 for none.
	 * @param {number} key @param {number} nbytes @param {(at: number) => void} fill
	 */
	kept(key, nbytes, fill) {
		const made = nbytes === 0 ? 0 : this.#kept.get(key);
		if (made !== undefined) return made;
		const at = this.scope(() => this.take(nbytes));
		this.#begin = this.#used;
		this.scope(() => fill(at));
		this.#kept.set(key, at);
		return at;
	}

	/** A fresh view: growing memory detaches the ones before. */
	view() {
		return new DataView(this.#memory.buffer);
	}

	/** @param {number} at @param {number} nbytes */
	bytes(at, nbytes) {
		return new Uint8Array(this.#memory.buffer, at, nbytes);
	}

	/** @param {ArrayBufferView | undefined} array */
	put(array) {
		if (!array) return 0;
		const at = this.take(array.byteLength);
		this.bytes(at, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
		return at;
	}

	/** Copies back what a call has changed. @param {number} at @param {ArrayBufferView} array */
	get(at, array) {
		new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(this.bytes(at, array.byteLength));
	}

	/** An array of pointers. @param {number[]} pointers */
	putTable(pointers) {
		return this.put(Uint32Array.from(pointers));
	}

	/** @param {import('./structs.js').Type} type @param {any} value */
	putStruct(type, value) {
		const at = this.take(type.size);
		type.write(this.view(), at, value);
		return at;
	}

	/** @param {number} at @returns {string} */
	string(at) {
		const bytes = new Uint8Array(this.#memory.buffer, at);
		return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
	}
}
