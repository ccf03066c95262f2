// coreai-support.js - golden/coreai: what coreai-opt 0.4.0 itself gave.
// SPDX-License-Identifier: MIT

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { narrowed } from '../../js/arrays/floats.js';
import { NBYTES } from '../../js/core/abi.js';
import { theCore } from '../../js/core/init.js';
import { goldenFolders, root, sha256 } from './support.js';

const folder = goldenFolders.map((each) => join(each, 'coreai')).find((each) => existsSync(each));

/** Why a test of these has to be skipped, or false. */
export const missing = folder ? false : 'no golden/coreai here';

const readJson = (name) => (folder ? JSON.parse(readFileSync(join(folder, name), 'utf8')) : {});

export const validation = () => readJson('validation.json');
export const bitsCases = () => readJson('bits_per_weight.json').cases;

const index = folder ? readJson('index.json') : { inputs: {}, arrays: [] };
const data = folder && readFileSync(join(folder, 'data.bin'));
export const { cases, sequences, composed_nested: nestedCases } = index;

const PLAIN = { F32: 'f32', F16: 'f16', BF16: 'bf16' };
const VIEWS = { F32: Float32Array, I32: Int32Array, F16: Uint16Array, BF16: Uint16Array };

/** An array of the index: { dtype, shape, sha256, values or null where only the hash is kept }. */
export function golden(at) {
	const { dtype, shape, length, offset, sha256: hash } = index.arrays[at];
	if (offset === null) return { dtype, shape, hash, values: null };
	const bytes = data.buffer.slice(data.byteOffset + offset, data.byteOffset + offset + length);
	return { dtype, shape, hash, values: new (VIEWS[dtype] ?? Uint8Array)(bytes) };
}

/** An input by name: what quantize() takes. */
export function input(name) {
	const { dtype, shape, values } = golden(index.inputs[name].array);
	return { data: values, options: { shape, dtype: dtype.toLowerCase() } };
}

/** Whether bytes are those of an array of the index. */
export const isGolden = (at, array) =>
	sha256(new Uint8Array(array.buffer, array.byteOffset, array.byteLength)) === index.arrays[at].sha256;

/** Numbers of a plane, or of its bytes read as another dtype, such as e8m0. */
export function numbersOf({ dtype, bytes }, as = PLAIN[dtype]) {
	if (!as) return [...(dtype === 'I8' ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes)];
	const count = bytes.length / NBYTES[as];
	const wide = as === 'f32' ? bytes.slice() : theCore().convert(as, 'f32', count, bytes, 4 * count);
	return [...new Float32Array(wide.buffer)];
}

/** Whether these numbers are those of an array of the index: by value, as zeros may differ in sign, or by hash. */
export function areGolden(at, numbers) {
	const { dtype, values } = golden(at);
	if (!values) return isGolden(at, narrowed(Float32Array.from(numbers), dtype.toLowerCase()));
	const expected = numbersOf({ dtype, bytes: new Uint8Array(values.buffer) });
	return expected.length === numbers.length && expected.every((x, i) => x === numbers[i] || Object.is(x, numbers[i]));
}

/** The tables of docs/coreai.md: its JSON blocks, in order. */
export const tables = () =>
	[...readFileSync(join(root, 'docs/coreai.md'), 'utf8').matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) =>
		JSON.parse(json),
	);
