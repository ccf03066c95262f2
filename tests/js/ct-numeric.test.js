// ct-numeric.test.js - compressed-tensors' arithmetic on arrays: parameters, codes and fake-quantized values of every strategy,
// held against what the package computes (tests/py/ct_numeric.py).
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { theCore } from '../../js/core/init.js';
import * as ct from '../../js/compressed-tensors/index.js';
import { asDtype, bytesOf, kernelRows, random, ready, root, sha256 } from './support.js';

const golden = (name) =>
	JSON.parse(readFileSync(join(root, 'tests/golden/compressed-tensors-config', `${name}.json`), 'utf8'));

const plane = (said) =>
	said && { dtype: said.dtype, shape: said.shape, bytes: new Uint8Array(Buffer.from(said.hex, 'hex')) };
const hex = (got) => got && { dtype: got.dtype, hex: Buffer.from(got.bytes).toString('hex') };
const same = (got, said, what) => assert.deepEqual(hex(got), said && { dtype: said.dtype, hex: said.hex }, what);

/** The data of a case, made from its seed. */
function dataOf({ shape, seed, dtype }) {
	const { normal } = random(seed);
	const count = shape.reduce((product, dim) => product * dim, 1);
	return asDtype(Float32Array.from({ length: count }, normal), dtype);
}

/** The sha256 of values, every zero +0. */
const digest = (values) => sha256(bytesOf(Float32Array.from(values, (x) => x + 0)));

const CODES = { 8: 'f8e4m3', 6: 'f6e2m3', 4: 'f4e2m1' };

/** B7 of docs/compressed-tensors.md: of a range that is only 0, torch makes the zero point NaN. */
const withoutNan = (zero) =>
	zero?.dtype === 'F8_E4M3'
		? { ...zero, hex: zero.hex.replace(/../g, (byte) => (/[7f]f/.test(byte) ? '00' : byte)) }
		: zero;

/** What codes stand for. */
function valuesOf({ dtype, bytes }, { type, num_bits: bits }) {
	if (type === 'int') {
		assert.equal(dtype, 'I8');
		return Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length));
	}
	const wide = theCore().convert(CODES[bits], 'f32', bytes.length, bytes, 4 * bytes.length);
	return new Float32Array(wide.buffer, wide.byteOffset, bytes.length);
}

for (const kernels of kernelRows) {
	test(`${kernels}: dynamic and local quantization of every strategy`, async () => {
		await ready(kernels);
		const cases = golden('numeric').dynamic;
		assert.ok(cases.length > 150);
		for (const each of cases) {
			const { args, shape, dtype, global, scale, zero, fake } = each;
			const what = JSON.stringify([args, shape, dtype]);
			const data = dataOf(each);
			const options = { args, shape, dtype, globalScale: plane(global) ?? undefined };
			const qparams = ct.dynamicQparams(data, options);
			same(qparams.scale, scale, `${what} scale`);
			same(qparams.zeroPoint, zero, `${what} zero point`);
			assert.equal(digest(ct.fakeQuantize(data, options)), fake, `${what} fake`);
			assert.equal(digest(ct.fakeQuantize(data, { ...options, ...qparams })), fake, `${what} fake, given`);
		}
	});

	test(`${kernels}: quantize, dequantize and fakeQuantize with given parameters, of one dtype and of two`, async () => {
		await ready(kernels);
		const { dynamic, static: fixed, mixed } = golden('numeric');
		assert.ok(fixed.length > 250 && mixed.length > 150);
		for (const each of [...dynamic, ...fixed, ...mixed]) {
			const { args, shape, dtype, global, scale, zero } = each;
			const what = JSON.stringify([args, shape, dtype, scale.dtype]);
			const data = dataOf(each);
			const given = {
				args,
				scale: plane(scale),
				zeroPoint: plane(zero),
				globalScale: plane(global) ?? undefined,
			};
			const codes = ct.quantize(data, { ...given, shape, dtype });
			assert.deepEqual(codes.shape, shape);
			assert.equal(digest(valuesOf(codes, args)), each.codes, `${what} codes`);
			assert.equal(digest(ct.fakeQuantize(data, { ...given, shape, dtype })), each.fake, `${what} fake`);
			assert.equal(digest(ct.dequantize(codes, given)), each.dequantized, `${what} dequantized`);
		}
	});

	test(`${kernels}: parameters from ranges`, async () => {
		await ready(kernels);
		const { qparams, gparams } = golden('numeric');
		assert.ok(qparams.length > 60 && gparams.length === 24);
		const ends = ({ min, max, dtype }) =>
			[min, max].map((end) => {
				const { buffer } = plane(end).bytes;
				return dtype === 'f32' ? new Float32Array(buffer) : new Uint16Array(buffer);
			});
		for (const each of qparams) {
			const { args, dtype, global, scale, zero } = each;
			const what = JSON.stringify([args, dtype, global !== null]);
			const got = ct.calculateQparams(...ends(each), args, {
				dtype,
				globalScale: plane(global) ?? undefined,
				overflow: 'allow',
			});
			same(got.scale, scale, `${what} scale`);
			same(got.zeroPoint, withoutNan(zero), `${what} zero point`);
		}
		for (const each of gparams)
			same(
				ct.generateGparam(...ends(each), { dtype: each.dtype, overflow: 'allow' }),
				each.global,
				JSON.stringify(each),
			);
	});
}

test('FP8 codes beside a zero point of -0 keep the sign of a zero, beside +0 they lose it', async () => {
	await ready();
	const args = { num_bits: 8, type: 'float', symmetric: false, strategy: 'tensor' };
	const scale = { dtype: 'F32', shape: [1], bytes: new Uint8Array(Float32Array.of(1).buffer) };
	const codes = (zero) => {
		const zeroPoint = { dtype: 'F8_E4M3', shape: [1], bytes: Uint8Array.of(zero) };
		return [...ct.quantize(Float32Array.of(-0, 0, -1e-9, 1), { args, shape: [1, 4], scale, zeroPoint }).bytes];
	};
	// As torch 2.x does under compressed-tensors 0.20.1.
	assert.deepEqual(codes(0x80), [0x80, 0, 0x80, 0x38]);
	assert.deepEqual(codes(0), [0, 0, 0x80, 0x38]);
});

test('arguments that cannot be are one clear error', async () => {
	await ready();
	const data = new Float32Array(12).fill(1);
	const f32 = (...numbers) => ({
		dtype: 'F32',
		shape: [numbers.length],
		bytes: new Uint8Array(Float32Array.from(numbers).buffer),
	});
	const scale = f32(1);
	const good = { args: {}, shape: [3, 4], scale };
	assert.deepEqual([...ct.quantize(data, good).bytes], new Array(12).fill(1));
	/** @param {object} change @param {string} code @param {RegExp} message */
	const refused = (change, code, message, call = ct.quantize) =>
		assert.throws(() => call(data, { ...good, ...change }), { code, message });
	refused({ args: { num_bit: 4 } }, 'bad-scheme', /num_bit: unknown field; did you mean num_bits/);
	refused({ args: { num_bits: 9 } }, 'bad-scheme', /args\.num_bits: expected int of 1 to 8/);
	refused({ args: { symmetric: false } }, 'bad-argument', /zeroPoint: missing/);
	refused(
		{ args: { symmetric: false }, zeroPoint: scale },
		'bad-argument',
		/zeroPoint\.dtype: expected I8; got "F32"/,
	);
	refused({ scale: undefined }, 'bad-argument', /scale: expected \{ dtype, shape, bytes/);
	refused({ scale: { ...scale, dtype: 'F8_E4M3' } }, 'bad-argument', /scale\.dtype: expected F32, F16, BF16/);
	refused({ scale: { ...scale, shape: [2] } }, 'bad-shape', /scale: shape \[2\] of F32 has 8 bytes, got 4/);
	refused({ scale: f32(1, 2) }, 'bad-shape', /scale: shape \[2\] does not fit strategy tensor of a tensor \[3,4\]/);
	refused(
		{ scale: { ...scale, shape: [1, 1, 1, 1, 1], bytes: scale.bytes }, args: { group_size: 2 } },
		'bad-shape',
		/does not fit/,
	);
	refused(
		{ globalScale: f32(2) },
		'bad-argument',
		/globalScale: strategy tensor has none; expected group or tensor_group/,
	);
	const groups = { args: { group_size: 4 }, scale: { ...f32(1, 1, 1), shape: [3, 1] } };
	refused(
		{ ...groups, globalScale: f32(0) },
		'bad-argument',
		/globalScale: expected one finite number that is not 0, got 0/,
	);
	refused({ ...groups, globalScale: f32() }, 'bad-argument', /globalScale: expected one finite number/);
	refused({ ...groups, globalScale: f32(1, 2) }, 'bad-argument', /globalScale: expected one finite number/);
	refused({ shape: [3, 5] }, 'bad-shape', /has 15 values, data has 12/);
	refused({ shape: 12, scale: f32(1, 2) }, 'bad-shape', /shape: expected a list of sizes/);
	refused({ typo: 1 }, 'bad-argument', /typo: unknown field/);
	refused(
		{ args: { strategy: 'attn_head' }, scale: undefined },
		'bad-shape',
		/attn_head needs three axes/,
		ct.fakeQuantize,
	);
	refused({ args: { group_size: 3 }, scale: undefined }, 'bad-shape', /rule ragged/, ct.fakeQuantize);
	assert.throws(() => ct.fakeQuantize(new Float32Array([NaN, 1]), { args: {}, shape: [2] }), { code: 'nonfinite' });
	const nan = { ...good, shape: [2] };
	assert.throws(() => ct.quantize(new Float32Array([NaN, 1]), nan), { code: 'nonfinite' });
	assert.deepEqual([...ct.quantize(new Float32Array([NaN, 1]), { ...nan, nonfinite: 'allow' }).bytes], [0, 1]);
	const codes = ct.quantize(data, good);
	const decoded =
		({ codes: other, ...change }) =>
		() =>
			ct.dequantize({ ...codes, ...other }, { args: {}, scale, ...change });
	assert.throws(decoded({ codes: { dtype: 'F32' } }), {
		code: 'bad-argument',
		message: /codes\.dtype: expected I8, U8, F8_E4M3/,
	});
	assert.throws(decoded({ codes: { dtype: 'U8' } }), { code: 'bad-shape', message: /plane values is U8/ });
	assert.throws(decoded({ gIdx: new Int32Array(4) }), {
		code: 'bad-argument',
		message: /gIdx: expected an Int32Array of 4 columns and strategy group/,
	});
	assert.throws(() => ct.calculateQparams(data, data.subarray(1), {}), {
		code: 'bad-argument',
		message: /12 and 11 numbers/,
	});
	assert.throws(() => ct.calculateQparams(Float32Array.of(NaN), Float32Array.of(1), {}), { code: 'bad-argument' });
});
