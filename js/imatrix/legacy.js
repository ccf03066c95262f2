// legacy.js - importance matrices as llama-imatrix wrote them before GGUF: a list of names and numbers, no magic.
// SPDX-License-Identifier: MIT

// i32 entries; each: i32 bytes of the name, the name, i32 calls, i32 values, f32 each; then, in newer ones, i32 chunks, i32 bytes
// of a dataset's name, the name. A value is the mean of a column's squares, times the calls. All little-endian.

import { BlockQuantError, quoted } from '../errors.js';
import { ImatrixEntries } from './entries.js';

/** @typedef {import('../io/source.js').Source} Source */

/** Of an entry: three numbers, a name of one byte, one value. */
const LEAST_ENTRY = 4 + 1 + 4 + 4 + 4;
/** Bytes: as in GGUF files, no tensor has a longer name. */
const MAX_NAME = 63;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @param {Source} source */
export async function readLegacy(source) {
	let pos = 0;
	/** @param {string} message @returns {never} */
	const fail = (message) => {
		throw new BlockQuantError('bad-file', message, { offset: pos });
	};
	/** @param {number} nbytes @param {string} what */
	const take = async (nbytes, what) => {
		if (nbytes > source.size - pos) fail(`the file ends within ${what}`);
		const bytes = await source.read(pos, nbytes);
		pos += nbytes;
		return bytes;
	};
	/** @param {string} what @param {number} least @param {number} [most] */
	const number = async (what, least, most = Number.POSITIVE_INFINITY) => {
		const bytes = await take(4, what);
		const value = new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
		if (value >= least && value <= most) return value;
		pos -= 4;
		return fail(`${what} is ${value}: is this an importance matrix?`);
	};
	/** @param {string} what @param {number} least @param {number} [most] bytes */
	const text = async (what, least, most) => {
		const bytes = await take(await number(`the length of ${what}`, least, most), what);
		if (bytes.includes(0)) fail(`${what} contains a NUL byte`);
		try {
			return utf8.decode(bytes);
		} catch {
			return fail(`${what} is not UTF-8`);
		}
	};

	const count = await number('the number of entries', 1, Math.floor((source.size - 4) / LEAST_ENTRY));
	const entries = new ImatrixEntries();
	for (let i = 0; i < count; i++) {
		const name = await text('a tensor name', 1, MAX_NAME);
		const calls = await number(`the number of calls of ${quoted(name)}`, Number.NEGATIVE_INFINITY);
		const nvalues = await number(`the number of values of ${quoted(name)}`, 1);
		const bytes = await take(4 * nvalues, `the values of ${quoted(name)}`);
		const values = new Float32Array(bytes.slice().buffer);
		entries.add(name, calls > 0 ? values.map((value) => value / Math.fround(calls)) : values);
	}
	const chunks = pos < source.size ? await number('the number of chunks', 0) : 0;
	const dataset = pos < source.size ? await text("the dataset's name", 0) : '';
	if (pos < source.size) fail(`${source.size - pos} bytes are left after its end`);
	return { tensors: entries.finish(), datasets: dataset === '' ? [] : [dataset], chunks };
}
