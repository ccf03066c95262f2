// files.test.js - whole models: quantized, dequantized and compared, through every kind of source and sink.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { blobSink, memoryDirectory, memorySink } from '../../js/io/sink.js';
import { sourceOf } from '../../js/io/source.js';
import { compareModels } from '../../js/model/compare.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import {
	bytesOf,
	entry,
	f32,
	file,
	goldenPath,
	llama,
	quantized,
	safetensors,
	stored,
	weights,
} from './files-support.js';
import { ready } from './support.js';

before(() => ready());

const SCHEMES = ['w4a16', 'w4a16_asym', 'w8a16', 'fp8_dynamic', 'nvfp4a16', 'mxfp4a16'];

for (const scheme of SCHEMES) {
	test(`${scheme}: planes are those of quantize(), everything else is as it was`, async () => {
		const input = llama(1);
		const before = await openModel(input);
		const { model, plan: planned } = await quantized(input, { scheme });
		assert.equal(planned.scheme.name, `ct:${scheme}`);
		assert.equal(model.files[0].header.rawMetadata, before.files[0].header.rawMetadata);
		assert.equal(planned.totals.quantized, 7);
		assert.deepEqual(
			model.tensors.map(({ name }) => name),
			planned.tensors.flatMap(({ planes }) => planes.map(({ name }) => name)),
		);
		for (const { name, quantize: taken, shape, planes } of planned.tensors) {
			const source = await stored(before, name);
			if (!taken) {
				assert.deepEqual(await stored(model, name), source);
				continue;
			}
			const data = new Uint16Array(source.buffer);
			const expected = quantize(data, { scheme: `ct:${scheme}`, shape, dtype: 'bf16' });
			assert.ok(expected.planes);
			assert.equal(planes.length, Object.keys(expected.planes).length);
			for (const [plane, { bytes, dtype, shape: planeShape }] of Object.entries(expected.planes)) {
				const full = name.replace(/weight$/, plane);
				const tensor = model.tensors.find((one) => one.name === full);
				assert.deepEqual({ dtype: tensor?.dtype, shape: tensor?.shape }, { dtype, shape: planeShape });
				assert.deepEqual(await stored(model, full), bytes, full);
			}
		}
	});

	test(`${scheme}: dequantized to f32, each weight is what dequantize() gives`, async () => {
		const input = llama(2);
		const before = await openModel(input);
		const { model, plan: planned } = await quantized(input, { scheme });
		const sink = memorySink();
		const result = await dequantizeModel(model, sink, { dtype: 'f32' });
		assert.equal(result.tensors.length, 7);
		const after = await openModel(sink.bytes());
		assert.deepEqual(
			after.tensors.map(({ name, shape }) => [name, shape]),
			before.tensors.map(({ name, shape }) => [name, shape]),
		);
		for (const { name, quantize: taken, shape } of planned.tensors) {
			const source = await stored(before, name);
			if (!taken) assert.deepEqual(await stored(after, name), source);
			else {
				const data = new Uint16Array(source.buffer);
				const expected = dequantize(quantize(data, { scheme: `ct:${scheme}`, shape, dtype: 'bf16' }));
				assert.deepEqual(await stored(after, name), bytesOf(expected), name);
			}
		}
		const plain = memorySink();
		await dequantizeModel(model, plain);
		const back = await openModel(plain.bytes());
		assert.equal(back.tensors.find(({ name }) => name.endsWith('q_proj.weight'))?.dtype, 'BF16');
		const same = await compareModels(model, back);
		assert.ok(same.tensors.every(({ maxAbs }) => maxAbs === 0));
	});
}

test('golden inputs as model files give the golden planes, and decode to the golden hashes', async (t) => {
	const folder = goldenPath('compressed-tensors');
	if (folder === null) return t.skip('no golden data');
	let cases = 0;
	for (const file of readdirSync(folder)) {
		const [preset, kind, dtype] = file.replace('.safetensors', '').split('__');
		if (!SCHEMES.includes(preset.toLowerCase())) continue;
		const golden = await openModel(new Uint8Array(readFileSync(`${folder}/${file}`)));
		const input = new Uint8Array(readFileSync(`${folder}/input__${kind}__${dtype}.safetensors`));
		const { model } = await quantized(input, { scheme: preset, overflow: 'allow' });
		assert.deepEqual(model.tensors.map(({ name }) => name).sort(), golden.tensors.map(({ name }) => name).sort());
		for (const { name } of golden.tensors) {
			assert.deepEqual(await stored(model, name), await stored(golden, name), `${file} ${name}`);
		}
		const { decompressed_sha256: hash } = JSON.parse(golden.metadata.decompressed);
		if (hash) {
			const sink = memorySink();
			await dequantizeModel(golden, sink);
			const decoded = await stored(await openModel(sink.bytes()), 'weight');
			const sha = Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array(decoded))).toString('hex');
			assert.equal(sha, hash, file);
		}
		cases++;
	}
	assert.equal(cases, SCHEMES.length * 9);
});

test('bands do not matter: a tensor of several bands, read in pieces, gives the bytes of one call', async () => {
	const shape = [1030, 2560];
	const values = weights(shape[0] * shape[1], 3);
	const input = safetensors([f32('a.weight', shape, values)]);
	for (const scheme of ['nvfp4a16', 'w4a16_asym']) {
		const pieces = {
			size: input.length,
			read: async (/** @type {number} */ at, /** @type {number} */ n) =>
				input.slice(at, at + Math.min(n, 77_777)),
		};
		const sink = memorySink();
		await quantizeModel(await openModel(pieces), sink, { scheme });
		const expected = quantize(values, { scheme: `ct:${scheme}`, shape });
		const model = await openModel(sink.bytes());
		for (const [plane, { bytes }] of Object.entries(expected.planes ?? {})) {
			assert.ok(Buffer.from(await stored(model, `a.${plane}`)).equals(bytes), plane);
		}
		const decoded = memorySink();
		await dequantizeModel(model, decoded, { dtype: 'f32' });
		const back = await stored(await openModel(decoded.bytes()), 'a.weight');
		assert.ok(Buffer.from(back).equals(bytesOf(dequantize(expected))));
	}
});

test('no read is larger than a band, every output byte is written once', async () => {
	const shape = [1030, 2560];
	const input = safetensors([
		f32('norm.weight', [2_300_000], weights(2_300_000, 4)),
		f32('a.weight', shape, weights(shape[0] * shape[1], 5)),
	]);
	let longest = 0;
	const source = {
		size: input.length,
		read: async (/** @type {number} */ at, /** @type {number} */ n) => {
			longest = Math.max(longest, n);
			return input.slice(at, at + n);
		},
	};
	const sink = blobSink();
	const { nbytes } = await quantizeModel(await openModel(source), sink, { scheme: 'nvfp4a16' });
	assert.ok(longest <= 8 * 2 ** 20, `${longest}`);
	assert.equal(sink.blob().size, nbytes);
});

test('a Blob is read in few slices, and becomes few parts', async () => {
	const bytes = Uint8Array.from({ length: 3 * 2 ** 20 }, (_, i) => (i * 2654435761) >>> 24);
	let slices = 0;
	class Counted extends Blob {
		slice(/** @type {number[]} */ ...range) {
			slices++;
			return super.slice(...range);
		}
	}
	const source = sourceOf(new Counted([bytes]));
	const read = async (/** @type {number} */ at, /** @type {number} */ n) =>
		assert.deepEqual(await source.read(at, n), bytes.slice(at, at + n), `${n} bytes at ${at}`);
	for (let at = 0; at + 999 < bytes.length; at += 999) await read(at, 999);
	await read(1, bytes.length - 1);
	await Promise.all([read(5, 0), read(2 ** 20 - 5, 10), read(0, 1), read(bytes.length - 1, 1)]);
	assert.ok(slices < 10, `${slices} slices`);
	const sink = blobSink();
	const ends = bytes.length / 2;
	for (let at = 0; at < ends; at += 1024) {
		const buffer = bytes.slice(ends + at, ends + at + 1024);
		await sink.write(buffer, ends + at);
		buffer.fill(0);
		await sink.write(bytes.subarray(at, at + 1024), at);
	}
	assert.deepEqual(new Uint8Array(await sink.blob().arrayBuffer()), bytes);
	assert.deepEqual(new Uint8Array(await sink.blob().arrayBuffer()), bytes, 'again');
	await sink.write(bytes.subarray(0, 1), bytes.length + 1);
	assert.throws(() => sink.blob(), { code: 'internal', offset: bytes.length + 1 });
	sink.abort?.();
	assert.equal(sink.blob().size, 0);
});

test('shards: each under its name, and an index that names every tensor', async () => {
	const whole = await openModel(llama(1));
	/** @type {Map<string, { name: string, dtype: string, shape: number[], data: Uint8Array }[]>} */
	const shards = new Map([
		['a.safetensors', []],
		['b.safetensors', []],
	]);
	for (const [i, { name, dtype, shape }] of whole.tensors.entries()) {
		shards
			.get(i % 3 ? 'b.safetensors' : 'a.safetensors')
			?.push({ name, dtype, shape, data: await stored(whole, name) });
	}
	const map = Object.fromEntries([...shards].flatMap(([file, tensors]) => tensors.map(({ name }) => [name, file])));
	const index = new File(
		[JSON.stringify({ metadata: { other: 'x' }, weight_map: map })],
		'model.safetensors.index.json',
	);
	const files = [...shards].map(([file, tensors]) => new File([safetensors(tensors)], file));
	const model = await openModel([index, ...files]);
	await assert.rejects(quantizeModel(model, memorySink(), { scheme: 'w4a16' }), {
		code: 'bad-argument',
		message: /several files/,
	});
	const directory = memoryDirectory();
	const result = await quantizeModel(model, directory, { scheme: 'w4a16' });
	assert.deepEqual([...directory.files.keys()], ['a.safetensors', 'b.safetensors', 'model.safetensors.index.json']);
	const written = [...directory.files].map(([name, sink]) => new File([new Uint8Array(sink.bytes())], name));
	assert.equal(
		written.reduce((sum, { size }) => sum + size, 0),
		result.nbytes,
	);
	const after = await openModel(written);
	assert.equal(after.warnings.length, 0);
	const { model: single } = await quantized(llama(1), { scheme: 'w4a16' });
	for (const { name } of single.tensors) assert.deepEqual(await stored(after, name), await stored(single, name));
	const text = JSON.parse(await written[2].text());
	assert.deepEqual(Object.keys(text.metadata), ['other', 'total_size']);
	assert.equal(
		text.metadata.total_size,
		after.tensors.reduce((sum, { nbytes }) => sum + nbytes, 0),
	);

	const back = memoryDirectory();
	await dequantizeModel(after, back);
	const names = (
		await openModel([...back.files].map(([name, sink]) => new File([new Uint8Array(sink.bytes())], name)))
	).tensors;
	assert.deepEqual(names.map(({ name }) => name).sort(), whole.tensors.map(({ name }) => name).sort());
	const comparison = await compareModels(model, after);
	assert.equal(comparison.tensors.length, whole.tensors.length);
});

test('compare: figures per tensor and per layer kind', async () => {
	const before = await openModel(llama(1));
	const { model } = await quantized(llama(1), { scheme: 'w8a16' });
	const { tensors, summary, onlyInA, onlyInB } = await compareModels(before, model);
	assert.deepEqual([onlyInA, onlyInB], [[], []]);
	const q = tensors.find(({ name }) => name.endsWith('q_proj.weight'));
	assert.ok(q && q.kind === 'attention q' && q.quantized && q.mse > 0 && q.sqnrDb > 35 && q.cosine > 0.999);
	assert.equal(q.rmse, Math.sqrt(q.mse));
	const norm = tensors.find(({ name }) => name.endsWith('input_layernorm.weight'));
	assert.ok(norm && norm.mse === 0 && norm.sqnrDb === Number.POSITIVE_INFINITY && norm.cosine > 1 - 1e-12);
	assert.deepEqual(summary.map(({ kind }) => kind).sort(), [
		'attention k',
		'attention o',
		'attention q',
		'attention v',
		'embeddings',
		'heads',
		'mlp down',
		'mlp gate',
		'mlp up',
		'norms',
	]);
	const other = await openModel(safetensors([f32('model.norm.weight', [2], weights(2, 1))]));
	await assert.rejects(compareModels(before, other), { code: 'bad-shape', tensor: 'model.norm.weight' });
});

test('a misaligned weight: quantized as an aligned one, and so dequantized', async () => {
	const values = weights(512, 1);
	const header = `{"odd":${entry('U8', [3], [0, 3])},"x.weight":${entry('F32', [4, 128], [3, 2051])}}`;
	for (const padding of [0, 1, 2, 3]) {
		const bytes = file(header + ' '.repeat(padding), 2051);
		bytes.set(bytesOf(values), bytes.length - 2048);
		for (const scheme of ['w4a16', 'nvfp4a16']) {
			const { model } = await quantized(bytes, { scheme });
			const expected = quantize(values, { scheme: `ct:${scheme}`, shape: [4, 128] });
			for (const [plane, { bytes: data }] of Object.entries(expected.planes ?? {}))
				assert.deepEqual(await stored(model, `x.${plane}`), data, `${plane} ${padding}`);
			const sink = memorySink();
			await dequantizeModel(model, sink, { dtype: 'f32' });
			const back = await stored(await openModel(sink.bytes()), 'x.weight');
			assert.deepEqual(back, bytesOf(dequantize(expected)));
		}
	}
});
