// safetensors.test.js - the safetensors reader refuses every file that cannot be right.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceOf } from '../../js/io/source.js';
import { openModel } from '../../js/model/open.js';
import { readHeader } from '../../js/safetensors/read.js';
import { entry, file, noise, refused, safetensors } from './files-support.js';

const bytesOf = (/** @type {string} */ text) => new TextEncoder().encode(text);

test('a good file: names, dtypes, shapes, metadata and bytes are read', async () => {
	const data = noise(24, 1);
	const bytes = safetensors(
		[
			{ name: 'b', dtype: 'F32', shape: [2, 2], data: data.subarray(0, 16) },
			{ name: 'a', dtype: 'BF16', shape: [4], data: data.subarray(16) },
		],
		{ format: 'pt', __proto__: 'x' },
	);
	const model = await openModel(bytes);
	assert.deepEqual(
		model.tensors.map(({ name, dtype, shape, nbytes }) => ({ name, dtype, shape, nbytes })),
		[
			{ name: 'b', dtype: 'F32', shape: [2, 2], nbytes: 16 },
			{ name: 'a', dtype: 'BF16', shape: [4], nbytes: 8 },
		],
	);
	assert.equal(model.metadata.format, 'pt');
	assert.deepEqual(await model.tensors[1].read(2, 4), data.slice(18, 22));
	await assert.rejects(model.tensors[1].read(6, 4), { code: 'internal' });
});

test('truncated at every byte of the file: refused, each time', async () => {
	const bytes = safetensors([
		{ name: 'x.weight', dtype: 'F32', shape: [2, 3], data: noise(24, 2) },
		{ name: 'y', dtype: 'U8', shape: [3], data: noise(3, 3) },
	]);
	await openModel(bytes);
	for (let length = 0; length < bytes.length; length++) await refused(bytes.slice(0, length), /./);
});

test('header lengths beyond the file, and beyond every limit', async () => {
	for (const length of [3n, 9n, 2n ** 31n, 2n ** 32n + 2n, 2n ** 63n, 2n ** 64n - 1n]) {
		const bytes = file('{}');
		new DataView(bytes.buffer).setBigUint64(0, length, true);
		await refused(bytes, /the header is said to have \d+ bytes, but only 2 follow/);
	}
	const huge = { size: 2 ** 40, read: async () => new Uint8Array([0, 0, 0, 0, 1, 0, 0, 0]) };
	await assert.rejects(readHeader(sourceOf(huge)), /a header of 4294967296 bytes; at most 100000000/);
});

test('headers that are no header', async () => {
	await refused(file(''), /does not start with "{"/);
	await refused(file(' {}'), /does not start with "{"/);
	await refused(file('[]'), /does not start with "{"/);
	await refused(file('\ufeff{}'), /does not start with "{"/);
	await refused(file('{}\0\0'), /only spaces may follow.*at byte 10/);
	await refused(file('{}\n'), /only spaces/);
	await refused(file('{'), /expected a key.*at byte 9/);
	await refused(file('{"a":1}'), /expected "{"/);
	await refused(file('{"a":{}}'), /"dtype" is missing/);
	await refused(file('{"a":{"dtype":"U8"}}'), /"shape" is missing/);
	await refused(file('{"a":{"dtype":"U8","shape":[0]}}'), /"data_offsets" must be two/);
	await refused(file('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0]}}'), /"data_offsets" must be two/);
	await refused(file('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}}'), /more than 2 numbers/);
	await refused(file('{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"extra":1}}'), /unknown field "extra"/);
	await refused(file('{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,0]}}'), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}}', 1), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":[1e0],"data_offsets":[0,1]}}', 1), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}}', 1), /integer of 0 or more/);
	await refused(file('{"a":{"dtype":"U8","shape":[01],"data_offsets":[0,1]}}', 1), /expected a JSON value/);
	assert.equal((await openModel(file('{}   '))).tensors.length, 0);
});

test('unknown dtype', () => refused(file(`{"a":${entry('Q4', [0], [0, 0])}}`), /unknown dtype "Q4"/));

test('every dtype of the format, and its size', async () => {
	const bits = { 4: ['F4'], 6: ['F6_E2M3', 'F6_E3M2'], 8: ['BOOL', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0'] };
	const more = { 8: ['F8_E4M3FNUZ', 'F8_E5M2FNUZ'], 16: ['I16', 'U16', 'F16', 'BF16'], 32: ['I32', 'U32', 'F32'] };
	const wide = { 64: ['C64', 'F64', 'I64', 'U64'] };
	for (const [width, dtypes] of [bits, more, wide].flatMap((table) => Object.entries(table))) {
		for (const dtype of dtypes) {
			const nbytes = Number(width);
			const good = await openModel(file(`{"a":${entry(dtype, [8], [0, nbytes])}}`, nbytes));
			assert.equal(good.tensors[0].nbytes, nbytes, dtype);
		}
	}
	await refused(file(`{"a":${entry('F4', [3], [0, 2])}}`, 2), /3 values of 4 bits are no whole number of bytes/);
});

test('shapes whose product overflows', async () => {
	for (const shape of [
		[2 ** 32, 2 ** 32],
		[2 ** 53 - 1, 2],
		[2 ** 30, 2 ** 30, 2 ** 30],
		[2 ** 40, 2 ** 40, 0],
		[2 ** 51, 1],
	]) {
		await refused(file(`{"a":${entry('F32', shape, [0, 0])}}`), /the product of shape \[[\d,]+\] overflows/);
	}
	await refused(file(`{"a":{"dtype":"F32","shape":[9007199254740993],"data_offsets":[0,0]}}`), /beyond 2\^53/);
	await refused(file(`{"a":{"dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4]}}`, 4), /beyond 2\^53/);
});

test('short, long, backward data', async () => {
	await refused(file(`{"a":${entry('F32', [2], [0, 4])}}`, 4), /F32 of shape \[2\] takes 8 bytes, not 4/);
	await refused(file(`{"a":${entry('F32', [1], [0, 8])}}`, 8), /takes 4 bytes, not 8/);
	await refused(file(`{"a":${entry('F32', [1], [8, 4])}}`, 8), /run backwards/);
	await refused(file(`{"a":${entry('F32', [2], [0, 8])}}`, 7), /tensor "a": its data end 1 bytes after the end/);
	await refused(file(`{"a":${entry('F32', [1], [0, 4])}}`, 5), /1 bytes after the last tensor's data/);
	await refused(file('{}', 1), /1 bytes after the last tensor's data/);
});

test('overlapping data and holes, with the tensor and the byte', async () => {
	const a = `"a":${entry('U8', [4], [0, 4])}`;
	await refused(file(`{${a},"b":${entry('U8', [4], [3, 7])}}`, 7), /tensor "b": its data overlap.*at byte \d+/);
	await refused(file(`{${a},"b":${entry('U8', [4], [0, 4])}}`, 4), /overlap/);
	await refused(file(`{${a},"b":${entry('U8', [0], [2, 2])}}`, 4), /overlap/);
	await refused(file(`{${a},"b":${entry('U8', [4], [5, 9])}}`, 9), /tensor "b": 1 bytes before its data are unused/);
	await refused(file(`{"b":${entry('U8', [4], [1, 5])}}`, 5), /1 bytes before/);
});

test('duplicate names, however they are spelled', async () => {
	const a = entry('U8', [1], [0, 1]);
	const b = entry('U8', [1], [1, 2]);
	await refused(file(`{"a":${a},"a":${b}}`, 2), /duplicate key "a"/);
	await refused(file(`{"a":${a},"\\u0061":${b}}`, 2), /duplicate key "a"/);
	await refused(file(`{"__metadata__":{"x":"1","x":"2"}}`), /duplicate key "x"/);
	await refused(file(`{"__metadata__":{},"__metadata__":{}}`), /duplicate key "__metadata__"/);
	await refused(
		file('{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1),
		/duplicate key "dtype"/,
	);
});

test('metadata holds strings only', async () => {
	await refused(file('{"__metadata__":{"a":1}}'), /the value of "a" in __metadata__ must be a string/);
	await refused(file('{"__metadata__":null}'), /expected "{"/);
	await refused(file('{"__metadata__":{"a":{}}}'), /must be a string/);
});

test('other formats are refused by name', async () => {
	await refused(bytesOf('GGUF\x03\0\0\0\0\0\0\0'), /ends within the number of tensors/);
	const pickle = new Uint8Array(100).fill(1);
	pickle.set([0x80, 2, 0x7d]);
	await refused(pickle, /Python pickle/, 'unsupported');
	await refused(bytesOf('PK\x03\x04rest of it'), /zip archive/, 'unsupported');
	await refused(bytesOf('version https://git-lfs.github.com/spec/v1'), /Git LFS/, 'unsupported');
	await refused(new Uint8Array(0), /only 0 bytes/);
	await refused(bytesOf('hello, world, this is no model'), /the header is said/);
});
