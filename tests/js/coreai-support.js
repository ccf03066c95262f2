// coreai-support.js - golden/coreai: what coreai-opt 0.4.0 itself gave.
// SPDX-License-Identifier: MIT

import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { narrowed } from '../../js/arrays/floats.js';
import { NBYTES } from '../../js/core/abi.js';
import { theCore } from '../../js/core/init.js';
import { fromCoreAI } from '../../js/coreai/from.js';
import { createObserver } from '../../js/observers/observer.js';
import { goldenFolders, root, sha256 } from './support.js';

const PLAIN = { F32: 'f32', F16: 'f16', BF16: 'bf16' };
const VIEWS = { F32: Float32Array, I32: Int32Array, F16: Uint16Array, BF16: Uint16Array };

/** One set of golden data: what its index says, and what is needed to compare with it. */
function readSet(folder) {
	const readJson = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
	const index = readJson('index.json');
	const data = readFileSync(join(folder, 'data.bin'));

	/** An array of the index: { dtype, shape, sha256, values or null where only the hash is kept }. */
	function golden(at) {
		const { dtype, shape, length, offset, sha256: hash } = index.arrays[at];
		if (offset === null) return { dtype, shape, hash, values: null };
		const bytes = data.buffer.slice(data.byteOffset + offset, data.byteOffset + offset + length);
		return { dtype, shape, hash, values: new (VIEWS[dtype] ?? Uint8Array)(bytes) };
	}

	/** Whether bytes are those of an array of the index. */
	const isGolden = (at, array) =>
		sha256(new Uint8Array(array.buffer, array.byteOffset, array.byteLength)) === index.arrays[at].sha256;

	/** An input by name: what quantize() takes. */
	function input(name) {
		const { dtype, shape, values } = golden(index.inputs[name].array);
		return { data: values, options: { shape, dtype: dtype.toLowerCase() } };
	}

	/** What the core is given for a case; the ranges of a scheme that fixes one end are measured. */
	function coreCase({ spec, target, input: name }) {
		const { data, options } = input(name);
		const scheme = fromCoreAI(spec, { target, rank: options.shape.length });
		const given = { data, ...options, scheme };
		return scheme.observer?.range?.includes(null) ? withRanges(given) : given;
	}

	return {
		name: relative(root, folder),
		narrays: index.arrays.length,
		...{ cases: index.cases, sequences: index.sequences, nestedCases: index.composed_nested },
		validation: readJson('validation.json'),
		bitsCases: readJson('bits_per_weight.json').cases,
		...{ golden, isGolden, input, coreCase },

		/** The same for a nested one. */
		nestedCase: ({ outer, nested, input: name }) =>
			coreCase({ spec: { ...outer, qparam_qspec: nested }, input: name }),

		/** Whether these numbers are those of an array of the index: by value, as zeros may differ in sign, or by hash. */
		areGolden(at, numbers) {
			const { dtype, values } = golden(at);
			if (!values) return isGolden(at, narrowed(Float32Array.from(numbers), dtype.toLowerCase()));
			const expected = numbersOf({ dtype, bytes: new Uint8Array(values.buffer) });
			return (
				expected.length === numbers.length &&
				expected.every((x, i) => x === numbers[i] || Object.is(x, numbers[i]))
			);
		},
	};
}

/** The same with the ranges that an observer finds. */
export function withRanges({ data, scheme, ...options }) {
	const observer = createObserver(scheme, { target: 'weight' });
	observer.observe(data, { shape: options.shape, dtype: options.dtype });
	return { data, scheme, ...options, ranges: observer.ranges };
}

/** The part that the repository holds; then the whole, where the shared folder is checked out. */
export const sets = goldenFolders
	.map((each) => join(each, 'coreai'))
	.filter((each) => existsSync(each))
	.map(readSet);

/** Numbers of a plane, or of its bytes read as another dtype, such as e8m0. */
export function numbersOf({ dtype, bytes }, as = PLAIN[dtype]) {
	if (!as) return [...(dtype === 'I8' ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes)];
	const count = bytes.length / NBYTES[as];
	const wide = as === 'f32' ? bytes.slice() : theCore().convert(as, 'f32', count, bytes, 4 * count);
	return [...new Float32Array(wide.buffer)];
}

/** The tables of docs/coreai.md: its JSON blocks, in order. */
export const tables = () =>
	[...readFileSync(join(root, 'docs/coreai.md'), 'utf8').matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) =>
		JSON.parse(json),
	);
