// coreai-export.test.js - what surrounds a fake quantizer: its gradient, and weights as the export stores them.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { narrowed, widened } from '../../js/arrays/floats.js';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { fromCoreAI } from '../../js/coreai/from.js';
import { exportWeight, gradientMask } from '../../js/coreai/index.js';
import { createObserver } from '../../js/observers/observer.js';
import { numbersOf } from './coreai-support.js';
import { random, ready } from './support.js';

before(() => ready());

const asHalf = (data, dtype) => new Uint16Array(narrowed(data, dtype).slice().buffer);

test("the package's own masks (coreai.md, section 14.3): what is inside after it was rounded, for floats before", () => {
	const mask = (values, spec, shape = [1, values.length]) =>
		[...gradientMask(Float32Array.from(values), { scheme: fromCoreAI(spec), shape })].join('');
	// A scale of 1 and codes from -2 to 1: -2.5 is rounded to -2, 1.5 to 2.
	const int2 = { dtype: 'int2', float_range: [-2, 1], qscheme: 'asymmetric' };
	for (const qformulation of ['zp', 'minval'])
		assert.equal(mask([-5, -2, 0, 1, 5], { ...int2, qformulation }), '01110', qformulation);
	assert.equal(mask([-2.5, -2.51, 1.49, 1.5, 1.51], int2), '10100');
	const most = 448;
	const fp8 = { dtype: 'float8_e4m3fn', float_range: [-most, most] };
	assert.equal(mask([most / 2, most, most + 100, -most, -most - 100], fp8), '11010');
	assert.equal(mask([0, 1, 2, 3, 6, -6, 6.1], { dtype: 'float4_e2m1fn', float_range: [-6, 6] }), '1111110');
});

test('nested scales: the mask is that of the decoded ones, and nothing passes where a scale decodes to 0', () => {
	const nested = { dtype: 'uint2', qscheme: 'asymmetric' };
	const spec = { dtype: 'int8', granularity: { type: 'per_block', block_size: 4 }, qparam_qspec: nested };
	const data = Float32Array.of(1, 2, 3, 4, 0.1, 0.2, -0.1, 0, 1.9, -1, 0, 1);
	const options = { scheme: fromCoreAI(spec), shape: [1, 12] };
	const { planes } = quantize(data, options);
	assert.deepEqual([...planes['scales.0'].bytes], [3, 0, 1]);
	assert.deepEqual([...gradientMask(data, options)], [1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1]);
});

test('after an observer: what lies outside of its ranges has no gradient', () => {
	const scheme = fromCoreAI({ dtype: 'uint8', qscheme: 'asymmetric' }, { target: 'activation' });
	const observer = createObserver(scheme);
	observer.observe(Float32Array.of(-1, 0, 1, 2), { shape: [1, 4] });
	const data = Float32Array.of(-3, -1, 0, 2, 2.5);
	for (const dtype of ['f32', 'f16', 'bf16']) {
		const given = dtype === 'f32' ? data : asHalf(data, dtype);
		const options = { scheme, shape: [1, 5], dtype, ranges: observer.ranges };
		assert.deepEqual([...gradientMask(given, options)], [0, 1, 1, 1, 0], dtype);
	}
});

test('schemes of others have other arithmetic', () => {
	const data = new Float32Array(128);
	const own = fromCoreAI({ dtype: 'int4' });
	for (const scheme of ['ct:w4a16', 'q8_0', { ...own, rules: 'plain' }, { ...own, layout: 'pack-quantized' }])
		assert.throws(() => gradientMask(data, { scheme, shape: [1, 128] }), { code: 'unsupported' });
});

const SHAPE = [64, 32];
const GAUSS = (() => {
	const r = random(41);
	return Float32Array.from({ length: 2048 }, () => r.normal() * 0.03);
})();

test('the export casts scales of fixed ranges and makes the codes against what was cast', () => {
	const granularity = { type: 'per_block', block_size: 32 };
	const even = (x) => x + 1.5 * 2 ** 52 - 1.5 * 2 ** 52;
	for (const dtype of ['f16', 'bf16']) {
		const data = asHalf(GAUSS, dtype);
		const spec = { dtype: 'int4', granularity, float_range: [-0.07, 0.07] };
		const exported = exportWeight(data, spec, { shape: SHAPE, dtype });
		const scale = Math.fround(Math.fround(0.07) / 7.5);
		const [cast] = widened(narrowed(Float32Array.of(scale), dtype), dtype);
		assert.notEqual(cast, scale);
		assert.equal(exported.planes['scales.0'].dtype, dtype.toUpperCase());
		assert.deepEqual(new Set(numbersOf(exported.planes['scales.0'])), new Set([cast]));
		const codes = [...widened(new Uint8Array(data.buffer), dtype)].map((x) =>
			Math.max(-8, Math.min(7, even(Math.fround(x / cast)))),
		);
		assert.deepEqual(
			numbersOf(exported.planes.values),
			codes.map((code) => code + 0),
		);
		const prepared = quantize(data, { scheme: fromCoreAI(spec), shape: SHAPE, dtype });
		const moved = prepared.planes.values.bytes.filter((code, i) => code !== exported.planes.values.bytes[i]).length;
		assert.ok(moved > 0 && moved < 64, `${dtype}: ${moved} codes moved`);
		assert.deepEqual(
			[...dequantize(exported)],
			codes.map((code) => Math.fround(code * cast)),
		);
		// Zero points stay those of the scale that was not cast.
		const zeros = { ...spec, qscheme: 'asymmetric', float_range: [-0.05, 0.07] };
		assert.deepEqual(
			exportWeight(data, zeros, { shape: SHAPE, dtype }).planes.zeros.bytes,
			quantize(data, { scheme: fromCoreAI(zeros), shape: SHAPE, dtype }).planes.zeros.bytes,
		);
		const { planes } = exportWeight(data, { ...zeros, qformulation: 'minval' }, { shape: SHAPE, dtype });
		assert.equal(planes['mins.0'].dtype, dtype.toUpperCase());
	}
});

test('all other weights are exported as they are quantized', () => {
	for (const dtype of ['f32', 'f16', 'bf16']) {
		const data = dtype === 'f32' ? GAUSS : asHalf(GAUSS, dtype);
		for (const spec of [
			{ dtype: 'int8', granularity: { type: 'per_channel' } },
			{ dtype: 'uint4', qscheme: 'asymmetric', granularity: { type: 'per_block', block_size: 16 } },
			{ dtype: 'uint4', qformulation: 'minval', granularity: { type: 'per_block', block_size: 16 } },
			{ dtype: 'float8_e5m2' },
			{ dtype: 'float4_e2m1fn', granularity: { type: 'per_block', block_size: 32 } },
			...(dtype === 'f32' ? [{ dtype: 'int4', float_range: [-0.07, 0.07] }] : []),
		]) {
			const { planes } = quantize(data, { scheme: fromCoreAI(spec), shape: SHAPE, dtype });
			assert.deepEqual(exportWeight(data, spec, { shape: SHAPE, dtype }).planes, planes, JSON.stringify(spec));
		}
	}
	// One end that is fixed is rounded to the dtype at once.
	const { planes } = exportWeight(
		asHalf(GAUSS, 'f16'),
		{ float_range: [null, 0.05] },
		{ shape: SHAPE, dtype: 'f16' },
	);
	assert.equal(planes['scales.0'].dtype, 'F16');
});

test('what the backend does not store, and what its dtype cannot hold, is refused', () => {
	const data = asHalf(GAUSS, 'f16');
	const options = { shape: SHAPE, dtype: 'f16' };
	for (const [spec, code, message] of [
		[{ dtype: 'int6' }, 'unsupported', /CoreAI has no such codes/],
		[{ qparam_qspec: { dtype: 'float8_e4m3fn' } }, 'unsupported', /qparam_qspec/],
		[{ dtype: 'int2', float_range: [-1e6, 1e6] }, 'overflow', /beyond f16/],
		[{ granularity: { type: 'per_channel', axis: 2 } }, 'bad-scheme', /2 is none of the 2 axes/],
	])
		assert.throws(() => exportWeight(data, spec, options), { code, message }, JSON.stringify(spec));
	assert.throws(() => exportWeight(data, {}, null), { code: 'bad-argument' });
	assert.throws(() => exportWeight(data, {}, { dtype: 'f16' }), { code: 'bad-shape' });
	assert.throws(() => exportWeight(data, {}, { ...options, backend: 'CoreML' }), { code: 'bad-argument' });
});
