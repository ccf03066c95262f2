// read.js - a safetensors file's header, with every check that the format asks for.
// SPDX-License-Identifier: MIT

// File: 8 bytes header length (little-endian), a JSON header, then the tensors' bytes, which cover
// the rest of the file without holes and without overlaps. Offsets count from the end of the header.
// Data may start at any byte: nothing here, or after, lays a typed array over file bytes.

import { BlockQuantError, quoted } from '../errors.js';
import { DTYPE_BITS, tensorBytes } from './dtypes.js';
import { JsonScanner } from '../json/read.js';

/** @typedef {import('../io/source.js').Source} Source */

/**
 * @typedef {object} TensorEntry
 * @property {string} name
 * @property {string} rawName the name's JSON text as it stands in the header, without its quotes
 * @property {string} dtype
 * @property {number[]} shape
 * @property {number} nbytes
 * @property {number} begin offset in the data section
 */

/**
 * @typedef {object} SafetensorsHeader
 * @property {TensorEntry[]} tensors in the header's order
 * @property {Map<string, string> | null} metadata
 * @property {string | null} rawMetadata the JSON text of `__metadata__`, byte for byte
 * @property {number} dataStart offset of the data section in the file
 */

/** The same limit as the safetensors library's: a header is read whole into memory. */
export const MAX_HEADER_NBYTES = 100_000_000;

const LENGTH_NBYTES = 8;
/** Axes that a tensor may have: numpy's and torch's limit. */
const MAX_RANK = 64;

/**
 * Reads and checks the header.
 * @param {Source} source as sourceOf gives it
 * @returns {Promise<SafetensorsHeader>}
 */
export async function readHeader(source) {
	const { size, name: file } = source;
	if (size < LENGTH_NBYTES) {
		throw new BlockQuantError('bad-file', `only ${size} bytes: no safetensors file`, { file });
	}
	const lengthBytes = await source.read(0, LENGTH_NBYTES);
	const view = new DataView(lengthBytes.buffer, lengthBytes.byteOffset, LENGTH_NBYTES);
	const headerLength = view.getBigUint64(0, true);
	/** @param {string} message @param {number} [offset] @returns {never} */
	const fail = (message, offset = 0) => {
		throw new BlockQuantError('bad-file', message, { file, offset });
	};
	const room = size - LENGTH_NBYTES;
	if (headerLength > BigInt(room)) {
		fail(`the header is said to have ${headerLength} bytes, but only ${room} follow`);
	}
	if (headerLength > BigInt(MAX_HEADER_NBYTES)) {
		fail(`a header of ${headerLength} bytes; at most ${MAX_HEADER_NBYTES} are allowed`);
	}
	const nbytes = Number(headerLength);
	const header = parseHeader(await source.read(LENGTH_NBYTES, nbytes), file);
	checkLayout(header.tensors, size - LENGTH_NBYTES - nbytes, LENGTH_NBYTES + nbytes, file);
	return { ...header, dataStart: LENGTH_NBYTES + nbytes };
}

/**
 * @param {Uint8Array} bytes
 * @param {string | undefined} file
 */
function parseHeader(bytes, file) {
	if (bytes[0] !== 0x7b) {
		throw new BlockQuantError('bad-file', 'the header does not start with "{"', {
			file,
			offset: LENGTH_NBYTES,
		});
	}
	const scanner = new JsonScanner(bytes, { file, base: LENGTH_NBYTES });
	const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
	/** @type {TensorEntry[]} */
	const tensors = [];
	/** @type {Map<string, string> | null} */
	let metadata = null;
	/** @type {string | null} */
	let rawMetadata = null;
	scanner.object((name, start, end) => {
		if (name === '__metadata__') {
			scanner.peek();
			const from = scanner.pos;
			metadata = readMetadata(scanner);
			rawMetadata = utf8.decode(bytes.subarray(from, scanner.pos));
		} else {
			const rawName = utf8.decode(bytes.subarray(start, end));
			tensors.push({ name, rawName, ...readEntry(scanner, name) });
		}
	});
	for (; scanner.pos < bytes.length; scanner.pos++) {
		if (bytes[scanner.pos] !== 0x20) scanner.fail('only spaces may follow the last "}"');
	}
	return { tensors, metadata: /** @type {Map<string, string> | null} */ (metadata), rawMetadata };
}

/** @param {JsonScanner} scanner */
function readMetadata(scanner) {
	/** @type {Map<string, string>} */
	const metadata = new Map();
	scanner.object((key) => {
		if (scanner.peek() !== 0x22) {
			scanner.fail(`the value of ${quoted(key)} in __metadata__ must be a string`);
		}
		metadata.set(key, scanner.string());
	});
	return metadata;
}

/**
 * @param {JsonScanner} scanner
 * @param {string} name
 */
function readEntry(scanner, name) {
	scanner.peek();
	const start = scanner.pos;
	/** @type {string | undefined} */
	let dtype;
	/** @type {number[] | undefined} */
	let shape;
	/** @type {number[] | undefined} */
	let offsets;
	scanner.object((key) => {
		if (key === 'dtype') dtype = scanner.string();
		else if (key === 'shape') shape = readCounts(scanner, MAX_RANK);
		else if (key === 'data_offsets') offsets = readCounts(scanner, 2);
		else scanner.fail(`tensor ${quoted(name)} has an unknown field ${quoted(key)}`);
	});
	/** @param {string} message @returns {never} */
	const fail = (message) => scanner.fail(`tensor ${quoted(name)}: ${message}`, start);
	if (dtype === undefined) return fail('"dtype" is missing');
	if (shape === undefined) return fail('"shape" is missing');
	if (offsets?.length !== 2) return fail('"data_offsets" must be two offsets');
	if (!DTYPE_BITS.has(dtype)) return fail(`unknown dtype ${quoted(dtype)}`);
	const nbytes = tensorBytes(dtype, shape);
	if (typeof nbytes === 'string') return fail(nbytes);
	const [begin, end] = /** @type {[number, number]} */ (offsets);
	if (end < begin) return fail(`data_offsets [${begin}, ${end}] run backwards`);
	if (end - begin !== nbytes) {
		return fail(`${dtype} of shape [${shape}] takes ${nbytes} bytes, not ${end - begin}`);
	}
	return { dtype, shape, nbytes, begin };
}

/**
 * @param {JsonScanner} scanner
 * @param {number} most
 */
function readCounts(scanner, most) {
	/** @type {number[]} */
	const counts = [];
	scanner.array(() => {
		if (counts.length === most) scanner.fail(`more than ${most} numbers`);
		counts.push(scanner.count());
	});
	return counts;
}

/**
 * The tensors' bytes must follow one another and fill the data section.
 * @param {TensorEntry[]} tensors
 * @param {number} dataNbytes
 * @param {number} dataStart
 * @param {string | undefined} file
 */
function checkLayout(tensors, dataNbytes, dataStart, file) {
	const byPlace = [...tensors].sort((a, b) => a.begin - b.begin || a.nbytes - b.nbytes);
	let end = 0;
	for (const { name: tensor, begin, nbytes } of byPlace) {
		const place = { file, tensor, offset: dataStart + begin };
		if (begin < end) throw new BlockQuantError('bad-file', 'its data overlap another tensor', place);
		if (begin > end) {
			throw new BlockQuantError('bad-file', `${begin - end} bytes before its data are unused`, place);
		}
		end = begin + nbytes;
		if (end > dataNbytes) {
			throw new BlockQuantError(
				'bad-file',
				`its data end ${end - dataNbytes} bytes after the end of the file: is it truncated?`,
				place,
			);
		}
	}
	if (end < dataNbytes) {
		throw new BlockQuantError('bad-file', `${dataNbytes - end} bytes after the last tensor's data`, {
			file,
			offset: dataStart + end,
		});
	}
}
