// sink.js - what file writers write to: bytes at offsets, in any order, each byte once.
// SPDX-License-Identifier: MIT

import { count, given } from '../arguments.js';
import { BlockQuantError, messageOf } from '../errors.js';

/**
 * Where a file goes. `write` has taken the bytes when its promise resolves, so that the caller may
 * use the buffer again. After the last write `close` (keep) is called; if anything fails, `close`
 * too, or before the first write, `abort` (throw away) is.
 * @typedef {object} Sink
 * @property {(bytes: Uint8Array, offset: number) => void | Promise<void>} write
 * @property {() => void | Promise<void>} [close]
 * @property {() => void | Promise<void>} [abort]
 */

/**
 * Where a model of several files goes.
 * @typedef {object} DirectorySink
 * @property {(name: string) => Sink | Promise<Sink>} open
 * @property {() => void | Promise<void>} [close] after the last file
 * @property {() => void | Promise<void>} [abort] throws away all files, closed ones too
 */

/** @param {number} nbytes */
function room(nbytes) {
	try {
		return new Uint8Array(nbytes);
	} catch (cause) {
		throw new BlockQuantError('out-of-memory', `no memory for ${nbytes} bytes in one piece`, { cause });
	}
}

/**
 * A sink that keeps everything in memory.
 * @param {number} [size] of the whole file, if known
 * @returns {Sink & { bytes: () => Uint8Array }}
 */
export function memorySink(size = 0) {
	given('size', size, count);
	let buffer = room(size);
	let end = 0;
	return {
		write(bytes, offset) {
			const last = offset + bytes.byteLength;
			if (last > buffer.byteLength) {
				const grown = room(Math.max(last, buffer.byteLength * 2));
				grown.set(buffer.subarray(0, end));
				buffer = grown;
			}
			buffer.set(bytes, offset);
			end = Math.max(end, last);
		},
		abort() {
			buffer = new Uint8Array(0);
			end = 0;
		},
		bytes: () => buffer.subarray(0, end),
	};
}

/** Parts of a Blob are at least so large, where they adjoin: browsers are slow with Blobs of thousands of parts. */
const PART_NBYTES = 4 * 2 ** 20;

/**
 * A sink that gives a Blob. What was written becomes a Blob every few MB, which a browser may keep on disk.
 * @returns {Sink & { blob: (type?: string) => Blob }}
 */
export function blobSink() {
	/** @type {{ offset: number, nbytes: number, part: Blob }[]} */
	let parts = [];
	/** @type {{ offset: number, bytes: Uint8Array<ArrayBuffer> }[]} */
	let pending = [];
	let pendingNbytes = 0;
	const flush = () => {
		pending.sort((a, b) => a.offset - b.offset);
		for (let first = 0; first < pending.length; ) {
			let end = pending[first].offset;
			let next = first;
			while (next < pending.length && pending[next].offset === end) end += pending[next++].bytes.byteLength;
			const part = new Blob(pending.slice(first, next).map(({ bytes }) => bytes));
			parts.push({ offset: pending[first].offset, nbytes: part.size, part });
			first = next;
		}
		pending = [];
		pendingNbytes = 0;
	};
	return {
		write(bytes, offset) {
			if (bytes.byteLength === 0) return;
			// A copy on a plain ArrayBuffer: Blob takes no view of shared memory.
			pending.push({ offset, bytes: new Uint8Array(bytes) });
			pendingNbytes += bytes.byteLength;
			if (pendingNbytes >= PART_NBYTES) flush();
		},
		abort() {
			parts = [];
			pending = [];
			pendingNbytes = 0;
		},
		blob(type = 'application/octet-stream') {
			flush();
			parts.sort((a, b) => a.offset - b.offset);
			let end = 0;
			for (const { offset, nbytes } of parts) {
				if (offset !== end) {
					throw new BlockQuantError('internal', 'a byte is missing or written twice', { offset });
				}
				end = offset + nbytes;
			}
			return new Blob(
				parts.map(({ part }) => part),
				{ type },
			);
		},
	};
}

/**
 * A directory in memory.
 * @returns {DirectorySink & { files: Map<string, Sink & { bytes: () => Uint8Array }> }}
 */
export function memoryDirectory() {
	/** @type {Map<string, Sink & { bytes: () => Uint8Array }>} */
	const files = new Map();
	return {
		files,
		open(name) {
			const sink = memorySink();
			files.set(name, sink);
			return sink;
		},
		abort: () => files.clear(),
	};
}

/**
 * Writes that wait for one another: a sink need not know of more than one at once.
 * @param {Sink} sink
 * @returns {(bytes: Uint8Array, offset: number) => Promise<void>}
 */
export function writerOf(sink) {
	/** @type {Promise<unknown>} */
	let last = Promise.resolve();
	return (bytes, offset) => {
		const written = last.then(() => writeTo(sink, bytes, offset));
		last = written.catch(() => {});
		return written;
	};
}

/**
 * @param {Sink} sink
 * @param {Uint8Array} bytes
 * @param {number} offset
 */
async function writeTo(sink, bytes, offset) {
	if (bytes.byteLength === 0) return;
	try {
		await sink.write(bytes, offset);
	} catch (cause) {
		if (cause instanceof BlockQuantError) throw cause;
		throw new BlockQuantError('io', `cannot write: ${messageOf(cause)}`, { offset, cause });
	}
}
