// arrays.test.js - the array functions as an app calls them: results, shapes, offsets, and one clear error each.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { compare } from '../../js/arrays/compare.js';
import { dequantize, fakeQuantize, quantize } from '../../js/arrays/quantize.js';
import { fromCompressedTensors } from '../../js/compressed-tensors/from.js';
import { toCompressedTensors } from '../../js/compressed-tensors/to.js';
import { makeInit, theModule } from '../../js/core/init.js';
import { BlockQuantError } from '../../js/errors.js';
import { presets, schemes } from '../../js/presets.js';
import { asDtype, needsImatrix, random, ready, root, unnamed } from './support.js';

before(() => ready());

const normals = (count, seed = 1) => {
	const r = random(seed);
	return Float32Array.from({ length: count }, () => 0.02 * r.normal());
};

/** Checks that calling throws a BlockQuantError with this code and a one-line message that matches. */
const refuses = (call, code, pattern) =>
	assert.throws(call, (error) => {
		assert.ok(error instanceof BlockQuantError, String(error));
		assert.equal(error.code, code, error.message);
		assert.match(error.message, pattern);
		assert.ok(!error.message.includes('\n'));
		return true;
	});

test('a quantized tensor says its scheme, shape, bytes and bits, and can be cloned', () => {
	const tensor = quantize(normals(8 * 256), { scheme: 'Q4_K', shape: [8, 256] });
	assert.deepEqual(
		{ ...tensor, bytes: tensor.bytes.length },
		{
			scheme: 'ggml:q4_k',
			shape: [8, 256],
			bytes: 8 * 144,
			planes: null,
			nbytes: 8 * 144,
			bitsPerWeight: 4.5,
			warnings: [],
		},
	);
	assert.deepEqual(structuredClone(tensor), tensor);
	const planar = quantize(normals(8 * 256), { scheme: 'nvfp4a16', shape: [8, 256] });
	assert.equal(planar.scheme, 'ct:nvfp4a16');
	assert.equal(planar.bytes, null);
	assert.deepEqual(
		Object.entries(planar.planes).map(([name, { dtype, shape, bytes }]) => [name, dtype, shape, bytes.length]),
		[
			['weight_packed', 'U8', [8, 128], 1024],
			['weight_scale', 'F8_E4M3', [8, 16], 128],
			['weight_global_scale', 'F32', [1], 4],
		],
	);
	assert.deepEqual(structuredClone(planar), planar);
	assert.equal(planar.nbytes, 1024 + 128 + 4);
});

test('every preset comes back close to what went in', () => {
	const data = normals(16 * 512);
	for (const { name, scheme, bitsPerWeight } of schemes()) {
		const options = { scheme: name, shape: [16, 512], ...(needsImatrix(scheme) && { imatrix: 'ones' }) };
		const { sqnrDb, cosine } = compare(data, dequantize(quantize(data, options)));
		// About 6 dB a bit, less what a range of one block costs. Points of a grid take fewer bits than their coordinates.
		const bits = Math.min(Number(/\d/.exec(scheme.value)[0]), bitsPerWeight);
		// Three codes under the largest value are for weights that have three values.
		const [least, close] = scheme.value === 'i2-narrow' ? [0, 0.7] : [Math.min(6 * bits - 8, 18), 0.85];
		assert.ok(sqnrDb > least && cosine > close, `${name}: ${sqnrDb} dB, ${cosine}`);
	}
});

test('what is stored does not depend on the offset of the array, and the array is not touched', () => {
	const data = normals(4 * 256);
	const copy = data.slice();
	const expected = quantize(data, { scheme: 'q8_0', shape: [4, 256] });
	for (const offset of [1, 3, 5]) {
		const moved = new Float32Array(data.length + offset).subarray(offset);
		moved.set(data);
		assert.deepEqual(quantize(moved, { scheme: 'q8_0', shape: [4, 256] }), expected);
	}
	assert.deepEqual(data, copy);
	const wide = Float64Array.from(data, (x) => x + 1e-12);
	assert.deepEqual(
		quantize(wide, { scheme: 'q8_0', shape: [4, 256] }),
		quantize(Float32Array.from(wide), { scheme: 'q8_0', shape: [4, 256] }),
	);
});

test('results are copies: later calls, which may grow the memory, leave them alone', () => {
	const first = quantize(normals(64 * 256), { scheme: 'q4_0', shape: [64, 256] });
	const values = dequantize(first);
	const before = [first.bytes.slice(), values.slice()];
	quantize(normals(4096 * 1024, 2), { scheme: 'w4a16', shape: [4096, 1024] });
	assert.deepEqual([first.bytes, values], before);
});

test('shapes of one, three and five axes', () => {
	const data = normals(2 * 3 * 256);
	const flat = quantize(data, { scheme: 'q4_0', shape: [6, 256] }).bytes;
	for (const shape of [[1536], [2, 3, 256], [1, 2, 1, 3, 256]])
		assert.deepEqual(quantize(data, { scheme: 'q4_0', shape }).bytes, flat);
	const experts = quantize(data, { scheme: 'w4a16_asym', shape: [2, 3, 256] });
	assert.deepEqual(experts.planes.weight_zero_point.shape, [2, 1, 2]);
	assert.deepEqual(experts.planes.weight_shape.shape, [3]);
});

test('an importance matrix changes the codes; one for each expert is one for each slice', () => {
	const data = normals(2 * 4 * 256);
	const imatrix = Float32Array.from({ length: 512 }, (_, i) => 1 + (i % 7));
	const both = quantize(data, { scheme: 'q4_k', shape: [2, 4, 256], imatrix }).bytes;
	const half = (k) =>
		quantize(data.slice(k * 1024, (k + 1) * 1024), {
			scheme: 'q4_k',
			shape: [4, 256],
			imatrix: imatrix.slice(k * 256, (k + 1) * 256),
		}).bytes;
	assert.deepEqual(both, Uint8Array.from([...half(0), ...half(1)]));
	assert.notDeepEqual(both, quantize(data, { scheme: 'q4_k', shape: [2, 4, 256] }).bytes);
});

test('ranges from elsewhere take the place of measured ones', () => {
	const data = normals(4 * 256);
	const min = Float32Array.from({ length: 8 }, (_, i) => Math.min(0, ...data.slice(i * 128, i * 128 + 128)));
	const max = Float32Array.from({ length: 8 }, (_, i) => Math.max(0, ...data.slice(i * 128, i * 128 + 128)));
	for (const scheme of ['w4a16', 'w4a16_asym']) {
		const options = { scheme, shape: [4, 256] };
		assert.deepEqual(quantize(data, { ...options, ranges: { min, max } }), quantize(data, options));
		const wider = quantize(data, {
			...options,
			ranges: { min: min.map((x) => 2 * x), max: max.map((x) => 2 * x) },
		});
		assert.notDeepEqual(wider.planes.weight_scale, quantize(data, options).planes.weight_scale);
	}
	refuses(
		() => quantize(data, { scheme: 'w4a16', shape: [4, 256], ranges: { min, max: max.slice(1) } }),
		'bad-argument',
		/ranges\.max: expected 8/,
	);
	refuses(
		() => quantize(data, { scheme: 'q4_k', shape: [4, 256], ranges: { min, max } }),
		'bad-argument',
		/ranges\.min: expected 32|search/,
	);
});

test('fakeQuantize keeps the working dtype: bf16 weights give bf16 values, f32 weights finer ones', () => {
	const data = normals(4 * 256);
	const options = { scheme: 'nvfp4a16', shape: [4, 256] };
	const fine = fakeQuantize(data, options);
	const coarse = dequantize(quantize(data, options));
	assert.ok(fine.some((x, i) => x !== coarse[i]));
	const b = asDtype(data, 'bf16');
	assert.deepEqual(
		fakeQuantize(b, { ...options, dtype: 'bf16' }),
		dequantize(quantize(b, { ...options, dtype: 'bf16' })),
	);
	assert.deepEqual(
		fakeQuantize(data, { scheme: 'q4_0', shape: [4, 256] }),
		dequantize(quantize(data, { scheme: 'q4_0', shape: [4, 256] })),
	);
});

test('compare measures errors', () => {
	const { mse, rmse, maxAbs, sqnrDb, cosine } = compare(Float32Array.of(3, 4), Float32Array.of(3, 5));
	assert.deepEqual([mse, rmse, maxAbs], [0.5, Math.sqrt(0.5), 1]);
	assert.ok(Math.abs(sqnrDb - 10 * Math.log10(25)) < 1e-12);
	assert.ok(Math.abs(cosine - 29 / Math.sqrt(25 * 34)) < 1e-15);
	assert.equal(compare(Float32Array.of(1), Float32Array.of(1)).sqnrDb, Infinity);
	assert.equal(compare(new Float32Array(0), new Float32Array(0)).mse, 0);
	refuses(() => compare(Float32Array.of(1), Float32Array.of(1, 2)), 'bad-argument', /1 values against 2/);
});

test('schemes lists what there is; bare names, any case; a misspelt one suggests the nearest', () => {
	const names = schemes().map(({ name }) => name);
	for (const wanted of [
		'ggml:q8_0',
		'ggml:q5_0',
		'ggml:q4_0',
		'ggml:q4_k',
		'ct:w4a16',
		'ct:w4a16_asym',
		'ct:w8a16',
		'ct:fp8_dynamic',
		'ct:nvfp4a16',
		'ct:mxfp4a16',
	])
		assert.ok(names.includes(wanted), wanted);
	const data = normals(256);
	assert.equal(quantize(data, { scheme: 'GGML:Q4_k', shape: [1, 256] }).scheme, 'ggml:q4_k');
	refuses(() => quantize(data, { scheme: 'q4k', shape: [1, 256] }), 'unknown-scheme', /did you mean ggml:q4_k/);
	refuses(
		() => quantize(data, { scheme: 'nvpf4a16', shape: [1, 256] }),
		'unknown-scheme',
		/did you mean ct:nvfp4a16/,
	);
	refuses(() => quantize(data, { scheme: '__proto__', shape: [1, 256] }), 'unknown-scheme', /no scheme/);
});

test('a clone of a preset is the preset; a changed one is refused while it keeps the name', () => {
	const { scheme } = schemes().find(({ name }) => name === 'ggml:q4_0');
	const data = normals(64);
	assert.equal(quantize(data, { scheme: structuredClone(scheme), shape: [2, 32] }).scheme, 'ggml:q4_0');
	refuses(
		() => quantize(data, { scheme: { ...scheme, value: 'i5' }, shape: [2, 32] }),
		'bad-scheme',
		/not the preset/,
	);
	const own = quantize(data, { scheme: unnamed(scheme), shape: [2, 32] });
	assert.equal(own.scheme.name, undefined);
	assert.deepEqual(dequantize(own), dequantize({ ...own, scheme: 'q4_0' }));
});

test('a made-up format takes a scheme object and nothing else', () => {
	const scheme = { value: 'i3', scales: [{ dtype: 'bf16', block: 48 }], rules: 'compressed-tensors' };
	const tensor = quantize(normals(3 * 96), { scheme, shape: [3, 96] });
	assert.deepEqual(Object.keys(tensor.planes), ['values', 'scales.0']);
	assert.deepEqual(tensor.planes['scales.0'].shape, [3, 2]);
	assert.equal(dequantize(tensor).length, 288);
});

const data = new Float32Array(256);
const bad = {
	'rows that are not whole blocks': [
		() => quantize(data, { scheme: 'q4_0', shape: [16, 16] }),
		'bad-shape',
		/q4_0 cannot take shape \[16, 16\].*ragged/,
	],
	'rows shorter than a group': [() => quantize(data, { scheme: 'w4a16', shape: [4, 64] }), 'bad-shape', /ragged/],
	'a shape of another size': [
		() => quantize(data, { scheme: 'q4_0', shape: [2, 64] }),
		'bad-shape',
		/128 values, data has 256/,
	],
	'a negative size': [() => quantize(data, { scheme: 'q4_0', shape: [-1, -256] }), 'bad-shape', /list of sizes/],
	'a fractional size': [() => quantize(data, { scheme: 'q4_0', shape: [0.5, 512] }), 'bad-shape', /list of sizes/],
	'no shape': [() => quantize(data, { scheme: 'q4_0' }), 'bad-shape', /shape: expected/],
	'no values': [
		() => quantize(new Float32Array(0), { scheme: 'q4_0', shape: [0, 32] }),
		'bad-shape',
		/without values/,
	],
	'six axes': [() => quantize(data, { scheme: 'q4_0', shape: [1, 1, 1, 1, 1, 256] }), 'bad-shape', /1 to 5 axes/],
	'no axes': [() => quantize(new Float32Array(1), { scheme: 'q4_0', shape: [] }), 'bad-shape', /1 to 5 axes/],
	'no options': [() => quantize(data), 'bad-argument', /options: expected \{ scheme, shape, .*\}; got undefined/],
	'an unknown option': [
		() => quantize(data, { scheme: 'q4_0', shape: [256], shpae: 1 }),
		'bad-argument',
		/shpae: unknown field; did you mean shape/,
	],
	'no scheme': [() => quantize(data, { shape: [256] }), 'bad-argument', /scheme: expected a name or an object/],
	'a plain array': [
		() => quantize([1, 2], { scheme: 'q4_0', shape: [2] }),
		'bad-argument',
		/data: expected a Float32Array/,
	],
	'16-bit weights without a dtype': [
		() => quantize(new Uint16Array(32), { scheme: 'q4_0', shape: [32] }),
		'bad-argument',
		/'f16' or 'bf16'/,
	],
	'a dtype that is not the array’s': [
		() => quantize(data, { scheme: 'q4_0', shape: [256], dtype: 'f16' }),
		'bad-argument',
		/dtype: expected/,
	],
	'an imatrix of another length': [
		() => quantize(data, { scheme: 'q4_k', shape: [1, 256], imatrix: new Float32Array(3) }),
		'bad-argument',
		/imatrix: expected 256/,
	],
	'NaN in an imatrix': [
		() => quantize(data, { scheme: 'q4_k', shape: [1, 256], imatrix: new Float32Array(256).fill(NaN) }),
		'bad-argument',
		/NaN at index 0/,
	],
	'an imatrix without use': [
		() => quantize(data, { scheme: 'w4a16', shape: [1, 256], imatrix: new Float32Array(256) }),
		'bad-argument',
		/no use/,
	],
	'an imatrix without use for the kernel of the preset': [
		() => quantize(data, { scheme: 'nvfp4a16', shape: [1, 256], imatrix: new Float32Array(256).fill(1) }),
		'bad-argument',
		/no use/,
	],
	'a policy that is none': [
		() => quantize(data, { scheme: 'q4_0', shape: [256], nonfinite: 'zero' }),
		'bad-argument',
		/nonfinite: expected/,
	],
	'another calibration': [
		() => quantize(data, { scheme: 'q4_k', shape: [256], calibration: 'minmax' }),
		'bad-argument',
		/has "search"/,
	],
	'an unknown field': [
		() => quantize(data, { scheme: { value: 'i4', scale: [] }, shape: [256] }),
		'bad-scheme',
		/scheme\.scale: unknown field/,
	],
	'an unknown value': [
		() => quantize(data, { scheme: { value: 'i9', scales: [], rules: 'ggml' }, shape: [256] }),
		'bad-scheme',
		/scheme\.value: expected one of/,
	],
	'no scales': [
		() => quantize(data, { scheme: { value: 'i4', scales: [], rules: 'ggml' }, shape: [256] }),
		'bad-scheme',
		/bad-levels/,
	],
	'a block of zero': [
		() =>
			quantize(data, {
				scheme: { value: 'i4', scales: [{ dtype: 'f32', block: 0 }], rules: 'ggml' },
				shape: [256],
			}),
		'bad-scheme',
		/scales\[0\]\.block/,
	],
	'a block larger than the row': [
		() =>
			quantize(data, {
				scheme: { value: 'i4', scales: [{ dtype: 'f32', block: 512 }], rules: 'ggml' },
				shape: [256],
			}),
		'bad-shape',
		/ragged/,
	],
	'six edges': [
		() =>
			quantize(data, {
				scheme: { value: 'i4', scales: [{ dtype: 'f32', block: [1, 1, 1, 1, 1, 1] }], rules: 'ggml' },
				shape: [256],
			}),
		'bad-scheme',
		/1 to 5 edges/,
	],
	'a truncated tensor': [
		() => dequantize({ scheme: 'q4_0', shape: [32], bytes: new Uint8Array(17) }),
		'bad-shape',
		/17 bytes; expected U8 \[18\], 18 bytes/,
	],
	'a missing plane': [
		() => dequantize({ scheme: 'w4a16', shape: [1, 128], planes: {} }),
		'bad-shape',
		/plane weight_packed is missing/,
	],
	'nothing to decode': [() => dequantize({ scheme: 'w4a16', shape: [1, 128] }), 'bad-argument', /expected bytes/],
};

for (const [what, [call, code, pattern]] of Object.entries(bad))
	test(`${what}: ${code}`, () => refuses(call, code, pattern));

test('non-finite weights are refused with their index, or allowed with a warning', () => {
	for (const { name, scheme } of schemes())
		for (const [value, dtype] of [
			[NaN, 'f32'],
			[Infinity, 'f32'],
			[-Infinity, 'f16'],
			[NaN, 'bf16'],
		]) {
			const weights = normals(2 * 256);
			weights[300] = value;
			const options = {
				...{ scheme: name, shape: [2, 256] },
				...(dtype !== 'f32' && { dtype }),
				...(needsImatrix(scheme) && { imatrix: 'ones' }),
			};
			const typed = asDtype(weights, dtype);
			refuses(() => quantize(typed, options), 'nonfinite', /index 300/);
			// Scales that such weights spoil are no overflow of their own.
			const { warnings } = quantize(typed, { ...options, nonfinite: 'allow' });
			assert.match(warnings[0], /1 NaN or infinite/);
		}
});

test('formats that need an imatrix refuse without one, and take ones where they are told to', () => {
	const weights = normals(2 * 256);
	const shape = [2, 256];
	const ones = new Float32Array(256).fill(1);
	for (const scheme of ['iq2_xxs', 'iq2_xs', 'iq1_s']) {
		refuses(() => quantize(weights, { scheme, shape }), 'needs-importance', /iq\w+ is not made without/);
		const given = quantize(weights, { scheme, shape, imatrix: ones });
		assert.deepEqual(quantize(weights, { scheme, shape, imatrix: 'ones' }), given);
		assert.equal(dequantize(given).length, 512);
	}
	for (const scheme of ['iq1_m', 'iq2_s', 'iq3_xxs', 'iq3_s', 'q4_k'])
		assert.notDeepEqual(
			quantize(weights, { scheme, shape }),
			quantize(weights, { scheme, shape, imatrix: 'ones' }),
		);
	refuses(() => quantize(weights, { scheme: 'q4_k', shape, imatrix: 'one' }), 'bad-argument', /imatrix: expected/);
});

test('values too large for a search are refused as an overflow, or allowed with a warning', () => {
	for (const scheme of ['iq2_xxs', 'iq2_xs', 'iq2_s', 'iq3_xxs', 'iq3_s', 'iq1_s', 'iq1_m'])
		for (const large of [1e10, -1e20, 3e38]) {
			const options = { scheme, shape: [2, 512], imatrix: 'ones' };
			const weights = normals(1024).fill(large, 256, 288);
			refuses(() => quantize(weights, options), 'overflow', /1 block\(s\) have a scale that f16 cannot/);
			const { warnings, bytes } = quantize(weights, { ...options, overflow: 'allow' });
			assert.match(warnings[0], /1 block/);
			assert.deepEqual(
				bytes.slice(0, bytes.length / 4),
				quantize(weights.subarray(0, 256), { ...options, shape: [256] }).bytes,
			);
		}
});

test('correct: what ggml writes too early after zeros stands in its place, and tiny blocks keep their exponent', () => {
	/** @type {[string, Float32Array][]} */
	const faults = [
		['iq3_s', normals(1024).fill(0, 64, 96)],
		['ggml:mxfp4', normals(1024).map((x) => x * 2 ** -121)],
	];
	for (const [scheme, weights] of faults) {
		const [asGgml, right] = [false, true].map((correct) =>
			compare(weights, dequantize(quantize(weights, { scheme, shape: [2, 512], correct }))),
		);
		assert.ok(right.cosine > 0.97 && asGgml.cosine < 0.95, `${scheme}: ${asGgml.cosine}, ${right.cosine}`);
		const sound = normals(1024, 5);
		assert.deepEqual(
			quantize(sound, { scheme, shape: [2, 512], correct: true }),
			quantize(sound, { scheme, shape: [2, 512] }),
		);
	}
});

test('a scale beyond float16 is refused, or allowed with a warning', () => {
	for (const scheme of ['q8_0', 'q4_0', 'q5_0', 'q4_k']) {
		const weights = normals(512).fill(-2e7, 256, 288);
		refuses(() => quantize(weights, { scheme, shape: [2, 256] }), 'overflow', /1 block\(s\) have a scale that f16/);
		assert.match(quantize(weights, { scheme, shape: [2, 256], overflow: 'allow' }).warnings[0], /1 block/);
	}
});

test('QuantizationSchemes that cannot be are refused by the field', () => {
	const args = { num_bits: 4, type: 'int', group_size: 128 };
	const of = (more) => () => fromCompressedTensors({ targets: ['Linear'], weights: { ...args, ...more } });
	refuses(of({ num_bit: 4 }), 'bad-scheme', /weights\.num_bit: unknown field/);
	refuses(of({ num_bits: 9 }), 'bad-scheme', /weights\.num_bits: expected int of 1 to 8/);
	refuses(of({ type: 'float', num_bits: 5 }), 'bad-scheme', /floats have 4, 6 or 8 bits, got 5/);
	refuses(of({ strategy: 'channel' }), 'bad-scheme', /strategy channel takes no group_size/);
	refuses(of({ strategy: 'block', group_size: null }), 'bad-scheme', /needs block_structure/);
	refuses(of({ strategy: 'row', group_size: null }), 'bad-scheme', /weights\.strategy: expected one of/);
	refuses(of({ group_size: -2 }), 'bad-scheme', /weights\.group_size/);
	refuses(of({ dynamic: true }), 'bad-scheme', /weights\.dynamic/);
	refuses(of({ actorder: 'group' }), 'bad-scheme', /weights\.actorder/);
	refuses(of({ scale_dtype: 'torch.int3' }), 'bad-scheme', /weights\.scale_dtype/);
	refuses(() => fromCompressedTensors({ targets: [], weights: null }), 'bad-scheme', /quantizes no weights/);
	refuses(() => fromCompressedTensors(null), 'bad-scheme', /expected a QuantizationScheme/);
	assert.equal(fromCompressedTensors({ ...args, strategy: 'GROUP', type: 'INT' }).name, 'ct:w4a16');
});

test('toCompressedTensors and fromCompressedTensors are inverse on the presets of compressed-tensors', () => {
	for (const { name, scheme } of presets().values()) {
		if (!name.startsWith('ct:')) {
			refuses(() => toCompressedTensors(scheme), 'unsupported', /compressed-tensors/);
			continue;
		}
		const json = toCompressedTensors(scheme);
		assert.deepEqual(toCompressedTensors(name), json);
		// W8A8 is another name of INT8.
		const expected = name === 'ct:w8a8' ? presets().get('ct:int8').scheme : scheme;
		assert.equal(fromCompressedTensors(json), expected);
	}
});

test('init: a failed call can be tried again, wrong wasm is one clear error', async () => {
	const bytes = readFileSync(join(root, 'build/wasm/core.wasm'));
	const rejects = (promise, code, message = /./) =>
		assert.rejects(
			promise,
			(error) => error instanceof BlockQuantError && error.code === code && message.test(error.message),
		);
	const init = makeInit(() => undefined);
	await rejects(init({ wasm: 7 }), 'bad-argument');
	await rejects(init(null), 'bad-argument');
	await rejects(init(7), 'bad-argument');
	await rejects(init({ kernals: 'scalar' }), 'bad-argument', /kernals/);
	await rejects(init({ wasm: new Uint8Array(8) }), 'unsupported');
	await rejects(init({ wasm: bytes, kernels: 'avx' }), 'bad-argument');
	await init({ wasm: bytes });
	await init();
	await init({ wasm: new WebAssembly.Module(bytes) });
	await init({ wasm: new Response(bytes) });
	assert.equal(quantize(normals(32), { scheme: 'q8_0', shape: [32] }).nbytes, 34);
});

test('the worker entry answers in a worker thread, and reports errors by code', async () => {
	const worker = new Worker(new URL('../../js/entry/worker.js', import.meta.url));
	const waiting = new Map();
	worker.on('message', ({ id, ...reply }) => waiting.get(id)(reply));
	const ask = (call, ...args) =>
		new Promise((resolve) => {
			waiting.set(waiting.size, resolve);
			worker.postMessage({ id: waiting.size - 1, call, args });
		});
	try {
		assert.equal(
			(await ask('quantize', normals(32), { scheme: 'q8_0', shape: [32] })).error.code,
			'not-initialized',
		);
		assert.deepEqual(await ask('init', { wasm: theModule() }), { result: undefined });
		const options = { scheme: 'w8a16', shape: [4, 128] };
		const { result } = await ask('quantize', normals(512), options);
		assert.deepEqual(result, quantize(normals(512), options));
		assert.deepEqual((await ask('dequantize', result)).result, dequantize(result));
		assert.equal((await ask('quantize', normals(512), { ...options, shape: [3] })).error.code, 'bad-shape');
		assert.equal((await ask('constructor')).error.code, 'bad-argument');
	} finally {
		await worker.terminate();
	}
});

test('subclasses, arrays of another realm and shared memory are read as what they are', async () => {
	const { runInNewContext } = await import('node:vm');
	class Odd extends Float32Array {
		subarray() {
			throw new Error('not to be called');
		}
		get length() {
			return 3;
		}
	}
	const plain = normals(3 * 2 ** 20);
	const options = { scheme: 'q8_0', shape: [3, 2 ** 20] };
	const expected = quantize(plain, options);
	assert.deepEqual(quantize(new Odd(plain.buffer), options), expected);
	const shared = new Float32Array(new SharedArrayBuffer(plain.byteLength));
	shared.set(plain);
	assert.deepEqual(quantize(shared, options), expected);
	assert.equal(compare(new Odd(plain.buffer), plain).mse, 0);
	const foreign = runInNewContext('new Float32Array(32).fill(0.5)');
	assert.deepEqual(
		quantize(foreign, { scheme: 'q8_0', shape: [32] }),
		quantize(new Float32Array(32).fill(0.5), { scheme: 'q8_0', shape: [32] }),
	);
	const detached = normals(32);
	structuredClone(detached.buffer, { transfer: [detached.buffer] });
	refuses(() => quantize(detached, { scheme: 'q8_0', shape: [32] }), 'bad-argument', /not detached|data has 0/);
	refuses(
		() => quantize(normals(256), { scheme: 'q4_k', shape: [256], imatrix: detached }),
		'bad-argument',
		/imatrix/,
	);
});

test('compare says NaN where a value is NaN', () => {
	for (const { mse, sqnrDb, cosine } of [
		compare(Float32Array.of(1, NaN), Float32Array.of(1, 1)),
		compare(Float32Array.of(1, 1), Float32Array.of(NaN, 1)),
	])
		assert.deepEqual([mse, sqnrDb, cosine], [NaN, NaN, NaN]);
});

test('planes of the wrong kind, shape or number are refused', () => {
	const tensor = quantize(normals(256), { scheme: 'w4a16', shape: [2, 128] });
	const changed = (name, plane) => ({ ...tensor, planes: { ...tensor.planes, [name]: plane } });
	const { weight_packed: packed, weight_shape: shape } = tensor.planes;
	const words = new Int32Array(packed.bytes.slice().buffer);
	refuses(
		() => dequantize(changed('weight_packed', { ...packed, bytes: words })),
		'bad-argument',
		/bytes: Uint8Array/,
	);
	refuses(() => dequantize(changed('weight_packed', packed.bytes)), 'bad-argument', /plane weight_packed: expected/);
	refuses(() => dequantize(changed('weight_packed', null)), 'bad-argument', /plane weight_packed: expected/);
	refuses(() => dequantize(changed('weight_zero_point', packed)), 'bad-shape', /none of this scheme/);
	const other = new Uint8Array(new BigInt64Array([128n, 2n]).buffer);
	refuses(
		() => dequantize(changed('weight_shape', { ...shape, bytes: other })),
		'bad-shape',
		/\[128, 2\]; expected \[2, 128\]/,
	);
	refuses(() => dequantize({ ...tensor, shape: 7 }), 'bad-shape', /list of sizes/);
	refuses(() => dequantize({ scheme: 'q4_0', shape: [32], bytes: new Int16Array(9) }), 'bad-argument', /Uint8Array/);
});

test('values that no message can print are refused all the same', () => {
	const odd = [32n, Symbol('x'), { toString: null }, Object.create(null)];
	for (const value of odd) {
		refuses(() => quantize(normals(32), { scheme: 'q8_0', shape: [value] }), 'bad-shape', /list of sizes/);
		refuses(() => quantize(normals(32), { scheme: 'q8_0', shape: value }), 'bad-shape', /list of sizes/);
		refuses(
			() => quantize(new Uint16Array(32), { scheme: 'q8_0', shape: [32], dtype: value }),
			'bad-argument',
			/dtype/,
		);
		refuses(
			() => quantize(normals(32), { scheme: 'q8_0', shape: [32], overflow: value }),
			'bad-argument',
			/overflow/,
		);
		refuses(
			() => quantize(normals(32), { scheme: 'q8_0', shape: [32], calibration: value }),
			'bad-argument',
			/calibration/,
		);
		refuses(() => quantize(normals(32), { scheme: 'q8_0', shape: [32], ranges: value }), 'bad-argument', /ranges/);
		refuses(
			() =>
				quantize(normals(32), {
					scheme: { value: 'i4', scales: [{ dtype: 'f32', block: value }], rules: 'ggml' },
					shape: [32],
				}),
			'bad-scheme',
			/block/,
		);
		refuses(() => fromCompressedTensors({ targets: [], weights: { num_bits: value } }), 'bad-scheme', /num_bits/);
	}
	for (const ranges of [0, null, false, ''])
		refuses(() => quantize(normals(32), { scheme: 'q8_0', shape: [32], ranges }), 'bad-argument', /ranges/);
	for (const imatrix of [0, null, [1], Float32Array.of(-1)])
		refuses(() => quantize(normals(256), { scheme: 'q4_k', shape: [256], imatrix }), 'bad-argument', /imatrix/);
	refuses(
		() => quantize(normals(256), { scheme: 'q4_k', shape: [256], imatrix: new Float32Array(256) }),
		'bad-argument',
		/all 0/,
	);
	refuses(
		() => quantize(normals(256), { scheme: 'q4_k', shape: [256], imatrix: new Float32Array(256).fill(-1) }),
		'bad-argument',
		/none below 0/,
	);
});

test('a multiplier that float16 cannot hold is an overflow, which correct mends', () => {
	const tiny = asDtype(
		normals(256).map((x) => x / 100),
		'f16',
	);
	const options = { scheme: 'nvfp4a16', shape: [2, 128], dtype: 'f16' };
	refuses(() => quantize(tiny, options), 'overflow', /1 block/);
	assert.equal(quantize(tiny, { ...options, overflow: 'allow' }).warnings.length, 1);
	const better = quantize(tiny, { ...options, correct: true });
	assert.deepEqual(better.warnings, []);
	assert.ok(Math.max(...dequantize(better)) > 0);
	assert.deepEqual(quantize(new Uint16Array(256), options).warnings, []);
});

test('parameters that are given: stored as they are, the codes made against them; the outer ones alone, the others too', () => {
	const of = (block, dtype = 'f32') => ({ dtype, block });
	const schemes = [
		{ value: 'i4', scales: [of(16)], rules: 'compressed-tensors' },
		{ value: 'i8', scales: [of('tensor', 'input')], zero: 'i8', rules: 'compressed-tensors' },
		{ value: 'u4', scales: [of([3, 5], 'f16')], zero: 'u4', rules: 'compressed-tensors' },
		{ value: 'f4e2m1', scales: [of(16, 'f8e4m3'), of('tensor')], rules: 'compressed-tensors' },
		{ value: 'i4', scales: [of(8, 'u6'), of(32, 'f16'), of('tensor')] },
		{
			value: 'u3',
			scales: [of(8, 'u6'), of('tensor', 'f16'), of('tensor')],
			mins: [of(8, 'u6'), of('tensor', 'f16'), of('tensor')],
		},
		{ value: 'i5', scales: [of([-1, 4])], rules: 'ggml' },
	];
	for (const scheme of schemes)
		for (const dtype of ['f32', 'bf16']) {
			const options = { scheme, shape: [3, 7, 64], dtype };
			const data = asDtype(normals(3 * 7 * 64), dtype);
			const { values, ...parameters } = quantize(data, options).planes;
			const bytes = Object.fromEntries(Object.entries(parameters).map(([role, plane]) => [role, plane.bytes]));
			const again = quantize(data, { ...options, parameters: bytes }).planes;
			assert.deepEqual(again, { values, ...parameters }, JSON.stringify(scheme));
			// Half of the data against the parameters of all of it: the codes are those of the whole.
			const outer = Object.entries(bytes).filter(
				([role]) => scheme.scales[role.split('.')[1]]?.block === 'tensor',
			);
			if (scheme.scales.length === 1 || outer.length === 0) continue;
			const inner = quantize(data, { ...options, parameters: Object.fromEntries(outer) }).planes;
			assert.deepEqual(inner, { values, ...parameters }, JSON.stringify(scheme));
			const wider = Object.fromEntries(
				outer.map(([role, codes]) => [
					role,
					codes.map((byte, i) => (i === codes.length - 1 ? byte ^ 1 : byte)),
				]),
			);
			const other = quantize(data, { ...options, parameters: wider, overflow: 'allow' }).planes;
			assert.notDeepEqual(other['scales.0'], inner['scales.0'], JSON.stringify(scheme));
			for (const [role, codes] of Object.entries(wider)) assert.deepEqual(other[role].bytes, codes);
		}
	const good = { scheme: schemes[1], shape: [2, 8] };
	const bad = (parameters, message) =>
		refuses(() => quantize(normals(16), { ...good, parameters }), 'bad-argument', message);
	bad(null, /parameters: expected an object/);
	bad({}, /expected scales\.0, zeros, or the tensor-wide outer ones; got none/);
	bad({ 'scales.0': Float32Array.of(1) }, /expected scales\.0, zeros.*got scales\.0/);
	bad({ 'scales.0': Float32Array.of(1), zero: new Int8Array(1) }, /got scales\.0, zero/);
	bad(
		{ 'scales.0': Float32Array.of(1, 2), zeros: new Int8Array(1) },
		/parameters\.scales\.0: expected 4 bytes \(1 of 4\), got 8/,
	);
	bad({ 'scales.0': [1], zeros: new Int8Array(1) }, /parameters\.scales\.0: expected a typed array, got \[1\]/);
	const parameters = { 'scales.0': Float32Array.of(0.5), zeros: Int8Array.of(3) };
	const { planes } = quantize(Float32Array.of(1, -1, 0, 100), { ...good, shape: [4], parameters });
	assert.deepEqual([...new Int8Array(planes.values.bytes.buffer)], [5, 1, 3, 127]);
	refuses(() => quantize(Float32Array.of(NaN), { ...good, shape: [1], parameters }), 'nonfinite', /index 0/);
});

test('weights up to half of the largest number of their dtype decode to finite values, above it perhaps not', () => {
	const bits = { f16: 0x7bff, bf16: 0x7f7f };
	const least = { f16: 0x0400, bf16: 0x0080 };
	/** 256 weights, and one that is the largest of the dtype, or half of it. */
	const tensor = (dtype, sign, half) => {
		if (dtype === 'f32') {
			const data = new Float32Array(256).map((_, i) => ((i % 7) - 3) * 1e36);
			data[5] = (sign * 3.4028234663852886e38) / (half ? 2 : 1);
			return data;
		}
		const data = new Uint16Array(256).fill(dtype === 'f16' ? 0x6c00 : 0x7e00);
		data[5] = bits[dtype] - (half ? least[dtype] : 0) + (sign < 0 ? 0x8000 : 0);
		return data;
	};
	const i1 = { value: 'i1', scales: [{ dtype: 'f32', block: 32 }], rules: 'coreai' };
	let infinite = 0;
	for (const scheme of [i1, ...schemes().map(({ name }) => name)])
		for (const dtype of ['f32', 'f16', 'bf16'])
			for (const sign of [1, -1])
				for (const half of [true, false]) {
					let values;
					try {
						values = dequantize(quantize(tensor(dtype, sign, half), { scheme, shape: [1, 256], dtype }));
					} catch (error) {
						assert.ok(['overflow', 'needs-importance'].includes(error.code), error.stack);
						continue;
					}
					const finite = values.every(Number.isFinite);
					if (half) assert.ok(finite, `${scheme.value ?? scheme} ${dtype} ${sign}`);
					infinite += finite ? 0 : 1;
				}
	assert.ok(infinite > 0);
	const lowest = quantize(tensor('f32', -1, false), { scheme: 'coreai:w8', shape: [1, 256] });
	assert.deepEqual(lowest.warnings, []);
	assert.equal(dequantize(lowest)[5], -Infinity);
	assert.equal(compare(tensor('f32', -1, false), dequantize(lowest)).maxAbs, Infinity);
});
