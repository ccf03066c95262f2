// files.test.js - whole models: quantized, dequantized and compared, through every kind of source and sink.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { BlockQuantError } from '../../js/errors.js';
import { blobSink, memoryDirectory, memorySink } from '../../js/io/sink.js';
import { compareModels } from '../../js/model/compare.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { plan } from '../../js/model/plan.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { bytesOf, goldenPath, llama, noise, safetensors, weights } from './files-support.js';
import { ready } from './support.js';

before(() => ready());

const SCHEMES = ['w4a16', 'w4a16_asym', 'w8a16', 'fp8_dynamic', 'nvfp4a16', 'mxfp4a16'];

/** @param {Uint8Array} bytes @param {import('../../js/model/quantize.js').QuantizeOptions} options */
async function quantized(bytes, options) {
	const sink = memorySink();
	const result = await quantizeModel(await openModel(bytes), sink, options);
	assert.equal(sink.bytes().length, result.nbytes);
	return { ...result, bytes: sink.bytes(), model: await openModel(sink.bytes()) };
}

/** @param {string} name @param {number[]} shape @param {Float32Array} values */
const f32 = (name, shape, values) => ({ name, dtype: 'F32', shape, data: bytesOf(values) });

/** The stored bytes of a tensor. @param {import('../../js/model/types.js').Model} model @param {string} name */
async function stored(model, name) {
	const tensor = model.tensors.find((one) => one.name === name);
	assert.ok(tensor, name);
	return tensor.read(0, tensor.nbytes);
}

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

test('what is quantized by default, and the reasons', async () => {
	const linear = [
		'encoder.layer.0.attention.self.query',
		'encoder.layer.0.attention.output.dense',
		'encoder.layer.0.intermediate.dense',
		'encoder.layer.0.output.dense',
		'pooler.dense',
		'model.layers.0.mlp.gate_proj',
		'model.layers.0.self_attn.q_proj',
		'model.layers.0.mlp.experts.3.w1',
		'model.layers.0.mlp.shared_expert.up_proj',
		'norm1.linear',
	];
	/** @type {Record<string, RegExp>} */
	const others = {
		'embeddings.word_embeddings.weight': /embedding/,
		'embeddings.position_embeddings.weight': /position/,
		'model.embed_tokens.weight': /embedding/,
		'transformer.wte.weight': /embedding/,
		'transformer.wpe.weight': /position/,
		'shared.weight': /embedding/,
		'lm_head.weight': /head/,
		'output.weight': /head/,
		'classifier.weight': /head/,
		'score.weight': /head/,
		'model.layers.0.mlp.gate.weight': /router or gate/,
		'model.layers.0.block_sparse_moe.gate.weight': /router or gate/,
		'model.layers.0.mlp.router.weight': /router or gate/,
		'model.layers.0.mlp.shared_expert_gate.weight': /router or gate/,
		'model.layers.0.input_layernorm.weight': /norm/,
		'embeddings.LayerNorm.weight': /norm/,
		'block.0.layer.0.SelfAttention.relative_attention_bias.weight': /position/,
		'a.bias': /bias/,
		'model.layers.0.mlp.experts.gate_up_proj': /named \*\.weight/,
	};
	const tensor = (/** @type {string} */ name, dtype = 'F32') => ({
		name,
		dtype,
		shape: [2, 128],
		data: noise(dtype === 'F32' ? 1024 : 2048, 1).fill(1),
	});
	const bytes = safetensors([
		...linear.map((name) => tensor(`${name}.weight`)),
		...Object.keys(others).map((name) => tensor(name)),
		tensor('wide.weight', 'F64'),
		{ name: 'conv.weight', dtype: 'F32', shape: [2, 2, 1], data: noise(16, 1) },
		{ name: 'none.weight', dtype: 'F32', shape: [0, 128], data: new Uint8Array(0) },
		{ name: 'ragged.weight', dtype: 'F32', shape: [2, 100], data: new Uint8Array(800) },
	]);
	const model = await openModel(bytes);
	const planned = plan(model, { scheme: 'w4a16' });
	assert.deepEqual(
		planned.tensors.filter((one) => one.quantize).map(({ name }) => name),
		linear.map((name) => `${name}.weight`),
	);
	for (const { name, reason } of planned.tensors) if (others[name]) assert.match(reason, others[name], name);
	const reasons = new Map(planned.tensors.map(({ name, reason }) => [name, reason]));
	assert.match(reasons.get('wide.weight') ?? '', /F64 is not F32, F16 or BF16/);
	assert.match(reasons.get('conv.weight') ?? '', /3-D/);
	assert.match(reasons.get('none.weight') ?? '', /no elements/);
	assert.match(reasons.get('ragged.weight') ?? '', /whole blocks/);

	const chosen = plan(model, { scheme: 'w4a16', include: [/lm_head/g, 'embed_tokens'], exclude: ['mlp', /norm1/] });
	const names = chosen.tensors.filter((one) => one.quantize).map(({ name }) => name);
	assert.ok(names.includes('lm_head.weight') && names.includes('model.embed_tokens.weight'));
	assert.ok(!names.some((name) => /mlp|norm1/.test(name)));
	assert.match(
		chosen.tensors.find(({ name }) => name === 'norm1.linear.weight')?.reason ?? '',
		/excluded by \/norm1\//,
	);
	/** @param {object} options @param {string} code @param {RegExp} message */
	const bad = (options, code, message) =>
		assert.throws(() => plan(model, { scheme: 'w4a16', ...options }), { code, message });
	bad({ include: ['ragged'] }, 'bad-shape', /tensor "ragged.weight": .*whole blocks/);
	bad({ include: ['none'] }, 'bad-shape', /tensor "none.weight"/);
	bad({ include: ['wide'] }, 'unsupported', /F64/);
	bad({ include: ['^a.bias'] }, 'unsupported', /a bias/);
	bad({ include: ['('] }, 'bad-argument', /no regular expression/);
	bad({ exclude: ['.'] }, 'nothing-to-do', /no tensor is selected/);
	bad({ scheme: 'w4a61' }, 'unknown-scheme', /w4a16/);
});

test("GPT-2's transposed layers are no linear layers", async () => {
	const names = {
		'h.0.attn.c_attn.weight': [128, 384],
		'h.0.attn.c_proj.weight': [128, 128],
		'h.0.mlp.c_fc.weight': [128, 512],
	};
	const bytes = safetensors(
		Object.entries(names).map(([name, shape]) => f32(name, shape, weights(shape[0] * shape[1], 1))),
	);
	const model = await openModel(bytes);
	assert.throws(() => plan(model, { scheme: 'w4a16' }), { code: 'nothing-to-do' });
});

test('schemes that a file cannot carry are refused, with the one to take', async () => {
	const model = await openModel(llama(1));
	/** @param {string | object} scheme @param {RegExp} message @param {string} [code] */
	const bad = (scheme, message, code = 'unsupported') =>
		assert.throws(() => plan(model, { scheme: /** @type {string} */ (scheme) }), { code, message });
	bad('ggml:q4_k', /safetensors file carries compressed-tensors layouts, and ggml:q4_k is none/);
	bad('q8_0', /ggml:q8_0 is none/);
	/** @param {object} more */
	const withInputs = (more) => ({
		value: 'f8e4m3',
		scales: [{ dtype: 'input', block: 'tensor' }],
		rules: 'compressed-tensors',
		layout: 'float-quantized',
		activations: { mode: 'static', value: 'f8e4m3', block: 'tensor' },
		...more,
	});
	bad(withInputs({}), /static activation scales.*use fp8_dynamic/);
	const scales = [
		{ dtype: 'f8e4m3', block: 16 },
		{ dtype: 'f32', block: 'tensor' },
	];
	const local = { mode: 'local', value: 'f4e2m1', block: 16 };
	bad(withInputs({ value: 'f4e2m1', scales, layout: 'nvfp4-pack-quantized', activations: local }), /use nvfp4a16/);
	bad(
		withInputs({ activations: { mode: 'dynamic', value: 'f8e4m3', block: 'channel' }, layout: 'nonsense' }),
		/layout/,
		'bad-scheme',
	);
});

test('0-d, zero-element and 5-d tensors pass through', async () => {
	const bytes = safetensors([
		{ name: 'scalar', dtype: 'F32', shape: [], data: noise(4, 1) },
		{ name: 'none.weight', dtype: 'BF16', shape: [3, 0], data: new Uint8Array(0) },
		{ name: 'five.weight', dtype: 'F16', shape: [1, 2, 1, 2, 1], data: noise(8, 2) },
		f32('x.weight', [2, 128], weights(256, 1)),
	]);
	const before = await openModel(bytes);
	const { model } = await quantized(bytes, { scheme: 'w4a16' });
	for (const name of ['scalar', 'none.weight', 'five.weight']) {
		const [a, b] = [before, model].map((one) => one.tensors.find((tensor) => tensor.name === name));
		assert.deepEqual([a?.dtype, a?.shape], [b?.dtype, b?.shape]);
		assert.deepEqual(await stored(before, name), await stored(model, name));
	}
});

test('names that clash are refused; escaped and bare names are kept as they are spelled', async () => {
	const x = f32('x.weight', [2, 128], weights(256, 1));
	const clash = safetensors([x, { name: 'x.weight_scale', dtype: 'U8', shape: [1], data: noise(1, 1) }]);
	await assert.rejects(quantized(clash, { scheme: 'w4a16' }), { code: 'name-clash', tensor: 'x.weight' });
	const bare = await quantized(safetensors([{ ...x, name: 'weight' }]), { scheme: 'nvfp4a16' });
	assert.deepEqual(bare.model.tensors.map(({ name }) => name).sort(), [
		'weight_global_scale',
		'weight_packed',
		'weight_scale',
	]);
	const json = '{"\\u0061.weight":{"dtype":"F32","shape":[2,128],"data_offsets":[0,1024]}}';
	const bytes = new Uint8Array(8 + json.length + 1024);
	new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
	bytes.set(new TextEncoder().encode(json), 8);
	const { model } = await quantized(bytes, { scheme: 'nvfp4a16' });
	assert.ok(model.files[0].header.tensors.every(({ rawName }) => rawName.startsWith('\\u0061.weight_')));
});

test('NaN and infinite weights: refused with tensor and index, or allowed', async () => {
	for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
		const values = weights(512, 1);
		values[300] = value;
		const bytes = safetensors([f32('x.weight', [4, 128], values)]);
		let aborted = 0;
		const sink = { ...memorySink(), abort: () => void aborted++ };
		await assert.rejects(quantizeModel(await openModel(bytes), sink, { scheme: 'w4a16' }), (error) => {
			assert.ok(error instanceof BlockQuantError);
			return error.code === 'nonfinite' && error.tensor === 'x.weight' && /300/.test(error.message);
		});
		assert.equal(aborted, 1);
		const { warnings } = await quantized(bytes, { scheme: 'w4a16', nonfinite: 'allow', overflow: 'allow' });
		assert.match(warnings[0], /x\.weight.*1 NaN or infinite/);
	}
});

test('scales beyond f16: refused with the tensor, or allowed with a warning', async () => {
	const values = Uint16Array.from({ length: 512 }, (_, i) => (i % 2 ? 0xfbff : 0x7bff));
	const bytes = safetensors([{ name: 'x.weight', dtype: 'F16', shape: [4, 128], data: bytesOf(values) }]);
	await assert.rejects(quantized(bytes, { scheme: 'w4a16_asym' }), {
		code: 'overflow',
		tensor: 'x.weight',
		message: /f16/,
	});
	const { warnings } = await quantized(bytes, { scheme: 'w4a16_asym', overflow: 'allow' });
	assert.match(warnings[0], /tensor "x.weight": 4 block/);
});

test('cancelled: within a band, and nothing is kept', async () => {
	const input = llama(1);
	const sink = memorySink();
	const controller = new AbortController();
	const seen = [];
	const running = quantizeModel(await openModel(input), sink, {
		scheme: 'w4a16',
		signal: controller.signal,
		onProgress: (progress) => {
			seen.push(progress);
			if (seen.length === 6) controller.abort();
		},
	});
	await assert.rejects(running, { code: 'cancelled' });
	assert.ok(seen.length < 12);
	assert.equal(sink.bytes().length, 0);
});

test('progress: input bytes, never back, to the end', async () => {
	/** @type {{ done: number, total: number }[]} */
	const seen = [];
	const { plan: planned } = await quantized(llama(1), {
		scheme: 'nvfp4a16',
		onProgress: (progress) => seen.push(progress),
	});
	assert.ok(seen.every(({ done }, i) => done >= (seen[i - 1]?.done ?? 0)));
	assert.equal(seen.at(-1)?.done, planned.totals.nbytesBefore);
	assert.ok(seen.every(({ total }) => total === planned.totals.nbytesBefore));
});

test('a sink that fails: one io error, and the sink is aborted', async () => {
	let aborted = 0;
	let room = 1000;
	const sink = {
		write(/** @type {Uint8Array} */ bytes) {
			room -= bytes.length;
			if (room < 0) throw new Error('full');
		},
		abort: () => void aborted++,
	};
	await assert.rejects(quantizeModel(await openModel(llama(1)), sink, { scheme: 'w4a16' }), {
		code: 'io',
		message: /cannot write: full/,
	});
	assert.equal(aborted, 1);
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

test('what is not quantized cannot be dequantized', async () => {
	await assert.rejects(dequantizeModel(await openModel(llama(1)), memorySink()), { code: 'nothing-to-do' });
	const lone = await openModel(
		safetensors([{ name: 'x.weight_scale', dtype: 'F32', shape: [1], data: noise(4, 1) }]),
	);
	await assert.rejects(dequantizeModel(lone, memorySink()), { code: 'unsupported', tensor: 'x.weight' });
});

test('planes that do not fit one another are refused before anything is decoded', async () => {
	const { model } = await quantized(llama(1), { scheme: 'w4a16' });
	const tensors = await Promise.all(
		model.tensors.map(async ({ name, dtype, shape }) => ({ name, dtype, shape, data: await stored(model, name) })),
	);
	const q = 'model.layers.0.self_attn.q_proj.weight';
	/** @param {string} plane @param {(tensor: typeof tensors[number]) => typeof tensors[number]} change */
	const changed = async (plane, change) =>
		openModel(safetensors(tensors.map((one) => (one.name === `${q}_${plane}` ? change(one) : one))));
	const cases = [
		await changed('shape', (one) => ({ ...one, data: one.data.slice().fill(255) })),
		await changed('shape', (one) => ({
			...one,
			data: Uint8Array.from(one.data, (byte, i) => (i === 0 ? byte + 1 : byte)),
		})),
		await changed('shape', (one) => ({
			...one,
			data: Uint8Array.from(one.data, (byte, i) => (i === 5 ? 1 : byte)),
		})),
		await changed('scale', ({ data, ...one }) => ({ ...one, shape: [2], data: data.slice(0, 4) })),
		await changed('packed', ({ data, ...one }) => ({ ...one, shape: [1, data.length / 4], data })),
	];
	for (const one of cases) {
		let writes = 0;
		const sink = { write: () => void writes++ };
		await assert.rejects(
			dequantizeModel(one, sink),
			(error) => error instanceof BlockQuantError && error.tensor === q,
		);
	}
});
