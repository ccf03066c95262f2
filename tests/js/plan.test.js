// plan.test.js - which tensors of a model are quantized, and which schemes and names a file can carry.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { openModel } from '../../js/model/open.js';
import { plan } from '../../js/model/plan.js';
import { f32, llama, noise, quantized, safetensors, stored, weights } from './files-support.js';
import { ready } from './support.js';

before(() => ready());

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
		{ name: 'point.weight', dtype: 'F32', shape: [], data: noise(4, 1).fill(1) },
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
	bad({ include: ['none'] }, 'bad-shape', /^tensor "none.weight": [^\n]*cannot take shape \[0, 128\][^\n]*$/);
	bad({ include: ['point'] }, 'bad-shape', /^tensor "point.weight": [^\n]*cannot take shape \[\][^\n]*$/);
	bad({ include: ['wide'] }, 'unsupported', /F64/);
	bad({ include: ['^a.bias'] }, 'unsupported', /a bias/);
	bad({ include: ['('] }, 'bad-argument', /include: pattern "\(" cannot be read/);
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
