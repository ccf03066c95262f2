// source.js - what file readers read from: anything with a size and ranged reads.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf, shown } from '../errors.js';

/**
 * A file to read. `read` may give fewer bytes than asked (never none before the end); `sourceOf`
 * turns it into one that gives all of them or throws.
 * @typedef {object} Source
 * @property {number} size in bytes
 * @property {(offset: number, length: number) => Promise<Uint8Array>} read
 * @property {string} [name] the file's name, for messages and for matching shards
 * @property {() => void | Promise<void>} [close]
 */

/** @typedef {Source | Blob | ArrayBuffer | Uint8Array} SourceLike */

/** Sources that already check and loop, so that wrapping twice costs nothing. */
const checked = new WeakSet();

/**
 * A source whose reads are checked: inside the file, and complete.
 * @param {SourceLike} input
 * @param {string} [name] used if the input has none
 * @returns {Source}
 */
export function sourceOf(input, name) {
	if (typeof input === 'object' && input !== null && checked.has(input)) {
		return /** @type {Source} */ (input);
	}
	const raw = rawSource(input);
	if (!Number.isSafeInteger(raw.size) || raw.size < 0) {
		throw new BlockQuantError('bad-argument', `a source's size must be a count, not ${shown(raw.size)}`);
	}
	const label = raw.name ?? name;
	const source = {
		size: raw.size,
		name: label,
		close: () => raw.close?.(),
		/** @param {number} offset @param {number} length */
		read: (offset, length) => readAll(raw, label, offset, length),
	};
	checked.add(source);
	return source;
}

/**
 * @param {SourceLike} input
 * @returns {Source}
 */
function rawSource(input) {
	if (input instanceof Uint8Array) return bytesSource(input);
	if (input instanceof ArrayBuffer) return bytesSource(new Uint8Array(input));
	if (typeof Blob !== 'undefined' && input instanceof Blob) return blobSource(input);
	if (typeof input === 'object' && input !== null && 'read' in input && 'size' in input) {
		const { read, name, close } = input;
		const rightName = name === undefined || typeof name === 'string';
		const rightClose = close === undefined || typeof close === 'function';
		if (typeof read === 'function' && rightName && rightClose) return input;
	}
	throw new BlockQuantError(
		'bad-argument',
		'a source is a File, a Blob, a Uint8Array, an ArrayBuffer, or { size, read(offset, length), name?, close?() }' +
			`, not ${shown(input)}`,
	);
}

/**
 * @param {Uint8Array} bytes
 * @returns {Source}
 */
function bytesSource(bytes) {
	return {
		size: bytes.byteLength,
		read: async (offset, length) => bytes.slice(offset, offset + length),
	};
}

/** What a blob is asked for at least: a slice costs a browser about a millisecond, however small it is. */
const WINDOW_NBYTES = 2 ** 20;

/**
 * Slices are read one by one: Chrome cannot give more than 2 GB of a file at once. Small reads come out of a window that is
 * read at once.
 * @param {Blob} blob
 * @returns {Source}
 */
function blobSource(blob) {
	/** @type {{ begin: number, end: number, bytes: Promise<Uint8Array> }} */
	let window = { begin: 0, end: 0, bytes: Promise.resolve(new Uint8Array(0)) };
	/** @param {number} begin @param {number} end */
	const slice = async (begin, end) => new Uint8Array(await blob.slice(begin, end).arrayBuffer());
	return {
		size: blob.size,
		name: 'name' in blob && typeof blob.name === 'string' ? blob.name : undefined,
		async read(offset, length) {
			if (length >= WINDOW_NBYTES) return slice(offset, offset + length);
			if (offset < window.begin || offset + length > window.end) {
				const end = Math.min(blob.size, offset + WINDOW_NBYTES);
				window = { begin: offset, end, bytes: slice(offset, end) };
			}
			const { begin, bytes } = window;
			return (await bytes).slice(offset - begin, offset - begin + length);
		},
	};
}

/**
 * @param {Source} raw
 * @param {string | undefined} file
 * @param {number} offset
 * @param {number} length
 */
async function readAll(raw, file, offset, length) {
	if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0) {
		throw new BlockQuantError('bad-argument', `cannot read ${length} bytes`, { file, offset });
	}
	if (offset + length > raw.size) {
		throw new BlockQuantError('io', `cannot read ${length} bytes: the file ends at byte ${raw.size}`, {
			file,
			offset,
		});
	}
	const first = await readOnce(raw, file, offset, length);
	if (first.byteLength === length) return first;
	const all = new Uint8Array(length);
	all.set(first);
	let done = first.byteLength;
	while (done < length) {
		const part = await readOnce(raw, file, offset + done, length - done);
		all.set(part, done);
		done += part.byteLength;
	}
	return all;
}

/**
 * @param {Source} raw
 * @param {string | undefined} file
 * @param {number} offset
 * @param {number} length
 */
async function readOnce(raw, file, offset, length) {
	if (length === 0) return new Uint8Array(0);
	let part;
	try {
		part = await raw.read(offset, length);
	} catch (cause) {
		if (cause instanceof BlockQuantError) throw cause.withFile(file);
		throw new BlockQuantError('io', `cannot read: ${messageOf(cause)}`, { file, offset, cause });
	}
	if (!(part instanceof Uint8Array) || part.byteLength > length) {
		throw new BlockQuantError('io', 'the source gave more bytes than asked, or none at all', {
			file,
			offset,
		});
	}
	if (part.byteLength === 0) {
		throw new BlockQuantError('io', `the file ended early: ${length} more bytes were expected`, {
			file,
			offset,
		});
	}
	return part;
}
