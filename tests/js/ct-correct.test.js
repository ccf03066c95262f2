// ct-correct.test.js - where compressed-tensors is wrong: its bytes by default, the right ones under `correct`, or right at once
// where no bytes depend on it. docs/compressed-tensors.md has a row for each test, under the same word.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as ct from '../../js/compressed-tensors/index.js';
import { compare, dequantize, fromCompressedTensors, quantize, toCompressedTensors } from '../../js/index.js';
import { presets } from '../../js/presets.js';
import { dequantized, normals, tensorsOf } from './ct-support.js';
import { asDtype, bytesOf, ready } from './support.js';

before(() => ready());

const f32 = (name, values) => ({
	name,
	dtype: 'F32',
	shape: [values.length],
	data: bytesOf(Float32Array.from(values)),
});

const refuses = (call, code, message) => assert.throws(call, { code, message });

test('B1: blocks that do not divide the rows are read by the block that the config says', async () => {
	const args = { num_bits: 8, type: 'float', strategy: 'block', block_structure: [96, 64] };
	const scheme = fromCompressedTensors({ targets: ['Linear'], weights: args, format: 'float-quantized' });
	for (const shape of [
		[200, 128],
		[200, 60],
	]) {
		const quantized = quantize(normals(shape[0] * shape[1]), { scheme, shape });
		const config = JSON.stringify({
			quantization_config: ct.writeQuantizationConfig({ config_groups: { a: toCompressedTensors(scheme) } }),
		});
		const { tensors } = await dequantized(tensorsOf('a', quantized), { dtype: 'f32', config });
		assert.deepEqual(Buffer.from(tensors['a.weight'].bytes), Buffer.from(bytesOf(dequantize(quantized))));
	}
});

test('B2: the dtype that is asked for is the dtype of the result, whatever the strategy', async () => {
	const quantized = quantize(asDtype(normals(64), 'bf16'), {
		scheme: 'ct:fp8_dynamic',
		shape: [4, 16],
		dtype: 'bf16',
	});
	for (const dtype of ['f32', 'f16', 'bf16']) {
		const { tensors } = await dequantized(tensorsOf('a', quantized), { dtype });
		assert.equal(tensors['a.weight'].dtype, dtype.toUpperCase());
	}
});

test('B3, B8: what lies beside a weight does not stop it from being read; what is of activations is dropped', async () => {
	const quantized = quantize(normals(256), { scheme: 'ct:nvfp4a16', shape: [4, 64] });
	const beside = [
		'a.k_proj.input_global_scale',
		'a.k_proj.input_scale',
		'a.k_scale',
		'a.v_scale',
		'a.q_scale',
		'a.k_zero_point',
	];
	const kept = ['a.k_proj.bias', 'other.k_scale', 'norm.weight'];
	const { tensors, warnings } = await dequantized(
		[...tensorsOf('a.k_proj', quantized), ...[...beside, ...kept].map((name) => f32(name, [1, 2]))],
		{ dtype: 'f32' },
	);
	assert.deepEqual(Object.keys(tensors).sort(), ['a.k_proj.weight', ...kept].sort());
	assert.deepEqual(Buffer.from(tensors['a.k_proj.weight'].bytes), Buffer.from(bytesOf(dequantize(quantized))));
	assert.deepEqual(warnings, ['6 static activation scales are dropped']);
});

test('B4: tokens of [tokens, width] share one scale; with correct each has its own', () => {
	const data = Float32Array.of(1, -2, 0.5, 0.25, 100, 50, -100, 0);
	const options = { args: { num_bits: 8, strategy: 'token', dynamic: true }, shape: [2, 4] };
	assert.deepEqual(ct.dynamicQparams(data, options).scale.shape, [1]);
	assert.deepEqual(ct.dynamicQparams(data, { ...options, correct: true }).scale.shape, [2, 1]);
	const [wrong, right] = [false, true].map((correct) =>
		compare(data, ct.fakeQuantize(data, { ...options, correct })),
	);
	assert.ok(right.mse < wrong.mse);
	// Three axes were always right.
	const three = { ...options, shape: [1, 2, 4] };
	assert.deepEqual(ct.fakeQuantize(data, three), ct.fakeQuantize(data, { ...options, correct: true }));
});

test('B5: a global scale that float16 cannot hold is refused, allowed as 1, and float32 with correct', () => {
	const max = asDtype(Float32Array.of(0.03), 'f16');
	const min = new Uint16Array(1);
	const value = (options) =>
		new Float32Array(ct.generateGparam(min, max, { dtype: 'f16', ...options }).bytes.buffer)[0];
	refuses(() => value({}), 'overflow', /1 block/);
	assert.equal(value({ overflow: 'allow' }), 1);
	assert.ok(Math.abs(value({ correct: true }) - 2688 / 0.03) < 50);
	const bf16 = asDtype(Float32Array.of(2.7), 'bf16');
	const of = (correct) => new Float32Array(ct.generateGparam(min, bf16, { dtype: 'bf16', correct }).bytes.buffer)[0];
	assert.equal(of(false), 992);
	assert.ok(of(true) > 990 && of(true) !== 992);
});

test('B6: a group of float16 zeros has the MX scale 2^0; with correct 2^-127, as in other dtypes', () => {
	const scales = (dtype, correct) => [
		...quantize(dtype === 'f32' ? new Float32Array(32) : new Uint16Array(32), {
			scheme: 'ct:mxfp4a16',
			shape: [1, 32],
			dtype,
			correct,
		}).planes.weight_scale.bytes,
	];
	assert.deepEqual([scales('f16', false), scales('f16', true)], [[127], [0]]);
	assert.deepEqual([scales('bf16', false), scales('f32', false)], [[0], [0]]);
});

test('B7: a block of zeros has a zero point of 0, in FP8 too, where the reference makes NaN of it', async () => {
	const ends = [Float32Array.of(0), Float32Array.of(0)];
	for (const type of ['int', 'float']) {
		const { scale, zeroPoint } = ct.calculateQparams(...ends, { num_bits: 8, type, symmetric: false });
		assert.deepEqual([new Float32Array(scale.bytes.buffer)[0], zeroPoint.bytes[0]], [2 ** -23, 0]);
	}
	for (const num_bits of [4, 6])
		refuses(
			() => fromCompressedTensors({ num_bits, type: 'float', symmetric: false }),
			'bad-scheme',
			/weights\.symmetric: floats below 8 bits have no zero point; expected true/,
		);
	const given = { num_bits: 8, type: 'float', symmetric: false, strategy: 'channel' };
	const scheme = fromCompressedTensors({ targets: ['Linear'], weights: given });
	assert.equal(scheme.zero, 'f8e4m3');
	assert.equal(toCompressedTensors(scheme, { targets: ['Linear'] }).weights.symmetric, false);
	const weights = Float32Array.from({ length: 64 }, (_, i) => (i < 16 ? 0 : 3 * Math.sin(i) + 1));
	const quantized = quantize(weights, { scheme, shape: [4, 16] });
	const tensors = tensorsOf('layer', quantized);
	const { weight_zero_point: zeros } = quantized.planes;
	assert.deepEqual([zeros.dtype, zeros.bytes[0]], ['F8_E4M3', 0]);
	const values = dequantize(quantized);
	for (let i = 0; i < 64; i++) assert.ok(Math.abs(values[i] - weights[i]) <= (i < 16 ? 0 : 0.25), `${values[i]}`);
	const config = JSON.stringify({
		quantization_config: ct.writeQuantizationConfig({ config_groups: { a: toCompressedTensors(scheme) } }),
	});
	const file = await dequantized(tensors, { dtype: 'f32', config });
	assert.ok(Buffer.compare(file.tensors['layer.weight'].bytes, bytesOf(values)) === 0);
});

test('B9: rows that are not whole groups are one clear error', () => {
	for (const shape of [
		[2, 24],
		[2, 8],
	])
		refuses(() => quantize(normals(2 * shape[1]), { scheme: 'ct:nvfp4a16', shape }), 'bad-shape', /rule ragged/);
});

test('B10: weights of three axes are read as they were written', async () => {
	const names = ['w4a16', 'w4a16_asym', 'int8', 'nvfp4a16', 'mxfp4a16', 'mxfp6a16', 'mxfp8a16'];
	for (const scheme of names.map((name) => `ct:${name}`)) {
		const quantized = quantize(normals(2 * 3 * 128), { scheme, shape: [2, 3, 128] });
		const { tensors } = await dequantized(tensorsOf('experts', quantized), { dtype: 'f32' });
		assert.deepEqual(
			Buffer.from(tensors['experts.weight'].bytes),
			Buffer.from(bytesOf(dequantize(quantized))),
			scheme,
		);
	}
});

test('B11: an exact -0 has the code of +0, what rounds to zero from below that of -0', () => {
	const args = { num_bits: 4, type: 'float', strategy: 'tensor' };
	const scale = { dtype: 'F32', shape: [1], bytes: new Uint8Array(Float32Array.of(1).buffer) };
	const codes = ct.quantize(Float32Array.of(-0, -0.1, 0.1, 0), { args, scale, shape: [4] });
	assert.deepEqual([...codes.bytes], [0, 8, 0, 0]);
});

test('B14, B16: arguments of any width are read; a scheme has those that its codes can have', () => {
	for (const num_bits of [0, -3, 9, 16]) {
		assert.equal(ct.quantizationArgs({ num_bits }).num_bits, num_bits);
		refuses(() => fromCompressedTensors({ num_bits }), 'bad-scheme', /weights\.num_bits: expected int of 1 to 8/);
	}
});

test('B15: a zero point that is never stored does not tell two schemes apart', () => {
	for (const { scheme } of [...presets().values()].filter(({ name }) => name.startsWith('ct:'))) {
		const name = scheme.name === 'ct:w8a8' ? 'ct:int8' : scheme.name;
		const config = { config_groups: { [name.slice(3)]: ['Linear'] } };
		const read = ct.quantizationConfig(ct.writeQuantizationConfig(config)).config_groups[name.slice(3)];
		assert.equal(fromCompressedTensors(read).name, name);
	}
});
