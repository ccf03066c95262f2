// gguf-nvfp4.test.js - GGUF files of NVFP4, as llama.cpp's converter makes them: blocks, and F32 factors beside them.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { memorySink } from '../../js/io/sink.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { bytesOf, weights } from './files-support.js';
import { copy, gguf, LLAMA, pair, quantized } from './gguf-support.js';
import { ready } from './support.js';

await ready();

const VALUES = weights(8 * 256, 1);
const BLOCKS = quantize(VALUES, { scheme: 'ggml:nvfp4', shape: [8, 256] });
const floats = (name, ...values) => ({
	...{ name, dims: [values.length], type: 0, data: bytesOf(Float32Array.of(...values)) },
});
const FACTORS = [floats('blk.0.attn_q.input_scale', 0.5), floats('blk.0.attn_q.scale', 2 ** -9)];
const FILE = gguf({
	pairs: [...LLAMA, pair('general.quantization_version', 'u32', 2), pair('general.file_type', 'u32', 39)],
	tensors: [
		floats('output_norm.weight', ...weights(256, 2)),
		...FACTORS,
		{ name: 'blk.0.attn_q.weight', dims: [256, 8], type: 40, data: BLOCKS.bytes },
	],
});

/** The tensors of a file: by name, [type, bytes]. @param {Uint8Array} bytes */
async function tensorsOf(bytes) {
	const { tensors } = await openModel(bytes);
	const all = tensors.map(async ({ name, dtype, nbytes, read }) => [
		name,
		[dtype, Buffer.from(await read(0, nbytes))],
	]);
	return Object.fromEntries(await Promise.all(all));
}

const kept = Object.fromEntries(FACTORS.map(({ name, data }) => [name, ['F32', Buffer.from(data)]]));

test('a file of the converter is read, copied as it is, and quantized again only if that is asked for', async () => {
	const model = await openModel(FILE);
	assert.equal(model.metadata['general.file_type'], 39);
	assert.deepEqual(model.tensors.find(({ name }) => name.endsWith('_q.weight')).shape, [8, 256]);
	assert.deepEqual(await copy(FILE), FILE);
	await assert.rejects(quantized(FILE, { scheme: 'q4_0' }), { code: 'unsupported', message: /is NVFP4 already/ });
	const { bytes } = await quantized(FILE, { scheme: 'q4_0', allowRequantize: true });
	const found = await tensorsOf(bytes);
	assert.equal(found['blk.0.attn_q.weight'][0], 'Q4_0');
	for (const [name, tensor] of Object.entries(kept)) assert.deepEqual(found[name], tensor);
});

test('dequantized, its factors stay beside the weights, for llama.cpp applies them to any type', async () => {
	const sink = memorySink();
	await dequantizeModel(await openModel(FILE), sink, { dtype: 'f32' });
	const found = await tensorsOf(sink.bytes());
	assert.deepEqual(found['blk.0.attn_q.weight'], ['F32', Buffer.from(bytesOf(dequantize(BLOCKS)))]);
	for (const [name, tensor] of Object.entries(kept)) assert.deepEqual(found[name], tensor);
});

test('one is written by ggml:nvfp4 and by NVFP4; rows that are no whole blocks are refused, as the tool does', async () => {
	const plain = (dims) =>
		gguf({ pairs: LLAMA, tensors: [{ name: 'blk.0.attn_q.weight', dims, type: 0, data: bytesOf(VALUES) }] });
	for (const scheme of ['ggml:nvfp4', 'NVFP4']) {
		const { bytes } = await quantized(plain([256, 8]), { scheme });
		assert.equal((await openModel(bytes)).metadata['general.file_type'], 39);
		assert.deepEqual((await tensorsOf(bytes))['blk.0.attn_q.weight'], ['NVFP4', Buffer.from(BLOCKS.bytes)]);
	}
	await assert.rejects(quantized(plain([32, 64]), { scheme: 'NVFP4' }), {
		code: 'bad-shape',
		message: /rows of 32 values are no whole blocks of 64, and NVFP4 has no fallback/,
	});
});

test('a file without a type gets this one, if most of its tensors are of it', async () => {
	const unsaid = gguf({
		pairs: LLAMA,
		tensors: [{ name: 'a.weight', dims: [256, 8], type: 40, data: BLOCKS.bytes }],
	});
	const { bytes } = await quantized(unsaid, { scheme: 'COPY' });
	assert.equal((await openModel(bytes)).metadata['general.file_type'], 1024 + 39);
});

test('rows that are no whole blocks of 64 are refused, for no type takes their place', async () => {
	const data = bytesOf(weights(96 * 8, 3));
	const file = gguf({ pairs: LLAMA, tensors: [{ name: 'blk.0.attn_q.weight', dims: [96, 8], type: 0, data }] });
	await assert.rejects(quantized(file, { scheme: 'nvfp4' }), {
		code: 'bad-shape',
		message: /blk\.0\.attn_q\.weight.*rows of 96 values are no whole blocks of 64, and NVFP4 has no fallback/,
	});
});
