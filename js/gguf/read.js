// read.js - a GGUF file's header, with every check that keeps a wrong file from being read as a right one.
// SPDX-License-Identifier: MIT

// File: magic, version, counts, metadata pairs, tensor infos, padding; then the tensors' bytes, in the order of their infos,
// each padded to the alignment. Offsets count from the end of the first padding.

import { quoted } from '../errors.js';
import { LEAST_PAIR, readPair, U32, TYPE_NAMES, valueOf } from './pairs.js';
import { HeaderReader } from './reader.js';
import { typeOf } from './types.js';

/** @typedef {import('../io/source.js').Source} Source */
/** @typedef {import('./pairs.js').Pair} Pair */

/**
 * @typedef {object} TensorEntry
 * @property {string} name
 * @property {import('./types.js').GgmlType} type
 * @property {number[]} shape row-major: the row length last
 * @property {number} nbytes
 * @property {number} begin offset in the data section
 */

/**
 * @typedef {object} GgufHeader
 * @property {number} version
 * @property {Uint8Array} bytes of the header, up to the padding
 * @property {Pair[]} pairs
 * @property {TensorEntry[]} tensors in the file's order, which is that of their data
 * @property {number} alignment
 * @property {number} dataStart offset of the data section in the file
 * @property {number} end of the last tensor's padding, which may lie beyond the end of the file
 */

export const MAGIC = 'GGUF';
export const VERSION = 3;
export const DEFAULT_ALIGNMENT = 32;
/** ggml takes any power of two; what asks for more padding than this is no model. */
const MAX_ALIGNMENT = 2 ** 20;
const MAX_DIMS = 4;
/** Bytes: ggml keeps names in 64, one of which is a NUL. */
const MAX_NAME = 63;
/** An info: the name's length, its number of axes, type, offset. */
const LEAST_TENSOR = 8 + 4 + 4 + 8;

/**
 * @param {number} offset
 * @param {number} alignment
 */
export function padded(offset, alignment) {
	return Math.ceil(offset / alignment) * alignment;
}

/**
 * Reads and checks the header.
 * @param {Source} source as sourceOf gives it
 * @returns {Promise<GgufHeader>}
 */
export async function readHeader(source) {
	const reader = new HeaderReader(source);
	const { version, ntensors, npairs } = await reader.item(() => readStart(reader));
	/** @type {Pair[]} */
	const pairs = [];
	const keys = new Set();
	for (let i = 0; i < npairs; i++) {
		const pair = await reader.item(() => readPair(reader));
		if (keys.has(pair.key)) reader.fail(`the metadata key ${quoted(pair.key)} is there twice`, pair.start);
		keys.add(pair.key);
		pairs.push(pair);
	}
	const alignment = alignmentOf(reader, pairs);
	/** @type {(TensorEntry & { at: number })[]} */
	const tensors = [];
	const names = new Set();
	for (let i = 0; i < ntensors; i++) {
		const tensor = await reader.item(() => readTensor(reader));
		const { name, at } = tensor;
		if (names.has(name)) reader.fail(`the tensor name ${quoted(name)} is there twice`, at);
		names.add(name);
		tensors.push(tensor);
	}
	const dataStart = padded(reader.pos, alignment);
	if (tensors.length > 0 && dataStart > source.size) reader.fail('the file ends before its tensor data');
	const end = checkLayout(reader, tensors, { dataStart, alignment, size: source.size });
	return { version, bytes: reader.finish(), pairs, tensors, alignment, dataStart, end };
}

/** @param {HeaderReader} reader */
function readStart(reader) {
	if (reader.left < 4) reader.fail(`only ${reader.left} bytes: no GGUF file`);
	const magic = reader.take(4, 'the magic');
	for (let i = 0; i < 4; i++) {
		if (reader.byteAt(magic + i) !== MAGIC.charCodeAt(i)) reader.fail('does not begin with "GGUF"', 0);
	}
	const at = reader.pos;
	const version = reader.u32('the version');
	if (version === 0) reader.fail('GGUF version 0 does not exist', at);
	if (version % 65536 === 0) {
		reader.fail('a big-endian GGUF file: only little-endian ones are read; convert it with gguf-py', at);
	}
	if (version === 1) reader.fail('GGUF version 1, which ggml does not read either: convert the model anew', at);
	if (version > VERSION) reader.fail(`GGUF version ${version}; this version reads 2 and 3`, at);
	const ntensors = readCount(reader, 'tensors', LEAST_TENSOR);
	const npairs = readCount(reader, 'metadata pairs', LEAST_PAIR);
	return { version, ntensors, npairs };
}

/**
 * @param {HeaderReader} reader
 * @param {string} what
 * @param {number} least bytes of each
 */
function readCount(reader, what, least) {
	const at = reader.pos;
	const count = reader.u64(`the number of ${what}`);
	if (count * least > reader.left) {
		reader.fail(`${count} ${what} are announced, but the file has only ${reader.left} more bytes`, at);
	}
	return count;
}

/**
 * @param {HeaderReader} reader
 * @param {Pair[]} pairs
 */
function alignmentOf(reader, pairs) {
	const pair = pairs.find(({ key }) => key === 'general.alignment');
	if (pair === undefined) return DEFAULT_ALIGNMENT;
	const { type, value } = pair;
	if (type !== U32) reader.fail(`general.alignment must be a u32, not ${TYPE_NAMES[type]}`, value);
	const alignment = Number(valueOf(reader.finish(), pair));
	if (alignment === 0 || !Number.isInteger(Math.log2(alignment))) {
		reader.fail(`general.alignment is ${alignment}; it must be a power of two`, value);
	}
	if (alignment > MAX_ALIGNMENT) {
		reader.fail(`general.alignment is ${alignment}; at most ${MAX_ALIGNMENT} is allowed`, value);
	}
	return alignment;
}

/** @param {HeaderReader} reader */
function readTensor(reader) {
	const at = reader.pos;
	const name = reader.name('a tensor name', MAX_NAME);
	const ndimsAt = reader.pos;
	const ndims = reader.u32('the number of axes');
	if (ndims > MAX_DIMS) reader.fail(`${ndims} axes; ggml has at most ${MAX_DIMS}`, ndimsAt, name);
	const dimsAt = reader.pos;
	const dims = Array.from({ length: ndims }, (_, i) => reader.u64(`axis ${i}`, name));
	const typeAt = reader.pos;
	const type = typeOf(reader.u32('the type'));
	if (typeof type === 'string') return reader.fail(type, typeAt, name);
	const begin = reader.u64('the offset', name);
	let count = 1;
	for (const dim of dims) {
		count *= dim;
		if (!Number.isSafeInteger(count)) reader.fail(`the product of its axes ${dims} overflows`, dimsAt, name);
	}
	const [row = 1] = dims;
	if (row % type.block !== 0) {
		reader.fail(`rows of ${row} values are no whole blocks of ${type.block}, as ${type.name} needs`, dimsAt, name);
	}
	const nbytes = (count / type.block) * type.nbytes;
	if (!Number.isSafeInteger(nbytes)) reader.fail(`the size of its axes ${dims} overflows`, dimsAt, name);
	return { name, type, shape: dims.reverse(), nbytes, begin, at };
}

/**
 * Each tensor begins where the one before ends, padding included, and lies in the file.
 * @param {HeaderReader} reader
 * @param {(TensorEntry & { at: number })[]} tensors
 * @param {{ dataStart: number, alignment: number, size: number }} file
 */
function checkLayout(reader, tensors, { dataStart, alignment, size }) {
	let end = 0;
	for (const { name, nbytes, begin, at } of tensors) {
		if (begin !== end) {
			const why = begin < end ? 'overlap another tensor' : 'leave a gap';
			reader.fail(`its data are said to begin at ${begin} and would ${why}: ${end} was expected`, at, name);
		}
		if (dataStart + begin + nbytes > size) {
			const missing = dataStart + begin + nbytes - size;
			const text = `its data end ${missing} bytes after the end of the file: is it truncated?`;
			reader.fail(text, dataStart + begin, name);
		}
		end = padded(begin + nbytes, alignment);
	}
	return dataStart + end;
}
