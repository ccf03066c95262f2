// scheme-object.test.js - schemes as objects: made, printed, parsed, compared, cloned, measured, drawn.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LAYOUTS } from '../../js/core/abi.js';
import { cloneScheme, formatScheme, makeScheme, parseScheme, sameScheme } from '../../js/scheme/object.js';
import { blockFields } from '../../js/scheme/drawing.js';
import { schemeSizes } from '../../js/scheme/sizes.js';
import { validateScheme } from '../../js/scheme/validate.js';
import {
	createObserver,
	dequantize,
	fromCoreAI,
	quantize,
	schemes,
	toBurn,
	toCompressedTensors,
	toCoreAI,
} from '../../js/index.js';
import { needsImatrix, random, ready } from './support.js';

await ready('simd128');

/** @param {() => unknown} act @param {string} code @param {RegExp} message */
const refuses = (act, code, message) =>
	assert.throws(act, (error) => error.code === code && message.test(error.message));

test('a scheme is printed and parsed back, whichever way it is given', () => {
	for (const { name, scheme } of schemes()) {
		assert.equal(parseScheme(formatScheme(name)), scheme, name);
		assert.equal(parseScheme(` ${name.toUpperCase()}\n`), scheme);
		const { name: _, ...unnamed } = scheme;
		const parsed = parseScheme(formatScheme(unnamed));
		assert.deepEqual(parsed, { ...unnamed, ...parsed }, name);
		assert.ok(sameScheme(parsed, name), name);
		assert.ok(Object.isFrozen(parsed) && Object.isFrozen(parsed.scales));
		assert.deepEqual(structuredClone(parsed), parsed);
	}
});

test('no two presets say the same, but those that differ in the kernel alone', () => {
	const list = schemes();
	const pairs = list.flatMap((a, i) => list.slice(i + 1).map((b) => [a.name, b.name]));
	const same = pairs.filter(([a, b]) => sameScheme(a, b));
	assert.deepEqual(same, [['ct:int8', 'ct:w8a8']]);
});

test('defaults are filled in, fields stand in order, other vocabularies are read', () => {
	const scheme = { scales: [{ block: 64, dtype: 'f16' }], value: 'i4', rules: 'ggml' };
	assert.deepEqual(Object.keys(makeScheme(scheme)), ['value', 'scales', 'rules', 'layout']);
	assert.ok(sameScheme(scheme, { ...scheme, calibration: 'minmax', layout: 'planes' }));
	assert.ok(!sameScheme(scheme, { ...scheme, value: 'i5' }));
	const args = { num_bits: 4, group_size: 128, strategy: 'group', symmetric: true, type: 'int' };
	assert.equal(makeScheme({ weights: args, targets: ['Linear'] }).name, 'ct:w4a16');
});

test('a clone takes changes, and loses its name with them', () => {
	assert.equal(cloneScheme('ct:w4a16'), makeScheme('ct:w4a16'));
	assert.equal(cloneScheme('ct:w4a16', { value: 'i4' }).name, 'ct:w4a16');
	const other = cloneScheme('ct:w4a16', { value: 'i3' });
	assert.equal(other.name, undefined);
	assert.equal(other.value, 'i3');
	assert.equal('activations' in cloneScheme('ct:w4a8', { activations: undefined }), false);
	refuses(() => cloneScheme('ct:w4a16', { value: 'i9' }), 'bad-scheme', /value/);
});

test('text that is no scheme is refused', () => {
	refuses(() => parseScheme('w4a61'), 'unknown-scheme', /did you mean ct:w4a16/);
	refuses(() => parseScheme('{"value": "i4",'), 'bad-scheme', /expected JSON/);
	refuses(() => parseScheme('[]'), 'bad-scheme', /expected a JSON object/);
	refuses(() => parseScheme(/** @type {any} */ (7)), 'bad-argument', /text/);
	refuses(() => makeScheme(/** @type {any} */ (null)), 'bad-scheme', /expected a JSON object/);
});

test('sizes are those of what is then stored; grids have one parameter a block', () => {
	const shape = [64, 768];
	const r = random(7);
	for (const { name, scheme } of schemes()) {
		const data = Float32Array.from({ length: 64 * 768 }, () => r.normal());
		const tensor = quantize(data, { scheme: name, shape, imatrix: needsImatrix(scheme) ? 'ones' : undefined });
		const sizes = schemeSizes(name, { shape });
		assert.equal(sizes.nbytes, tensor.nbytes, name);
		assert.equal(sizes.bitsPerWeight, tensor.bitsPerWeight, name);
		const together = sizes.planes.reduce((sum, plane) => sum + plane.nbytes, 0);
		assert.equal(together, tensor.bytes?.length ?? sizes.nbytes, name);
		if (tensor.planes)
			assert.deepEqual(
				sizes.planes.map((plane) => [plane.name, plane.dtype, plane.shape, plane.nbytes]),
				Object.entries(tensor.planes).map(([key, plane]) => [
					key,
					plane.dtype,
					plane.shape,
					plane.bytes.length,
				]),
				name,
			);
		for (const { block, shape: grid } of sizes.grids)
			if (typeof block === 'number') assert.deepEqual(grid, [64, 768 / block], name);
		const levels = scheme.scales.length + (scheme.mins?.length ?? 0) + (scheme.zero ? 1 : 0);
		assert.equal(sizes.grids.length, levels, name);
	}
});

test('what is drawn of a block is as long as the block', () => {
	const drawn = schemes().filter(({ scheme }) => blockFields(/** @type {string} */ (scheme.layout)));
	for (const { name, scheme } of drawn) {
		const last = blockFields(/** @type {string} */ (scheme.layout))?.at(-1) ?? assert.fail();
		const outer = scheme.scales.at(-1)?.block;
		// Blocks of ggml:nvfp4 hold four of its scales, and none above them.
		const values = name === 'ggml:nvfp4' ? 64 : Number(outer);
		assert.equal(schemeSizes(name, { shape: [1, values] }).nbytes, last.at + last.nbytes, name);
	}
	const blocks = LAYOUTS.filter((layout) => layout.startsWith('ggml-'));
	assert.deepEqual(new Set(drawn.map(({ scheme }) => scheme.layout)), new Set(blocks));
});

test('everything that is wrong is said at once: words first, then how they go together, then the tensor', () => {
	const said = (scheme, tensor) => validateScheme(scheme, tensor).map(({ field, rule }) => `${field} ${rule}`);
	const level = { dtype: 'f16', block: 32 };
	assert.deepEqual(said({ value: 'i4', scales: [level] }), []);
	assert.deepEqual(
		said({
			value: 'i9',
			scales: [{ dtype: 'f61', block: 0, extra: 1 }],
			zeros: 'i4',
			layout: 7,
			calibration: { mse: '1' },
		}),
		[
			...['zeros bad-field', 'value bad-value', 'scales[0].extra bad-levels'],
			...[
				'scales[0].dtype bad-level-dtype',
				'scales[0].block bad-block',
				'calibration.mse bad-calibration',
				'layout bad-layout',
			],
		],
	);
	assert.deepEqual(said({ value: 'i4', scales: [] }), ['scales bad-levels']);
	assert.deepEqual(said({ value: 'f4e2m1', scales: [level], zero: 'i4', layout: 'pack-quantized' }), [
		'zero bad-zero',
		'layout bad-layout',
	]);
	assert.deepEqual(
		said({
			value: 'i4-narrow',
			scales: [
				{ dtype: 'u6', block: 32 },
				{ dtype: 'i8', block: 48 },
			],
			mins: [{ dtype: 'f16', block: 16 }],
		}),
		['mins bad-levels', 'scales[1] bad-level-dtype', 'scales[1] bad-block', 'mins[0] bad-levels'],
	);
	assert.deepEqual(said({ value: 'u4', scales: [level], symmetric: true }), [
		'symmetric bad-zero',
		'value bad-rules',
	]);
	assert.deepEqual(said('i4'), [' bad-field']);
	const ggml = { value: 'i4', scales: [level], rules: 'ggml-signed', layout: 'ggml-q4_0' };
	assert.deepEqual(said(ggml, { shape: [2, 48] }), ['scales[0] ragged', 'layout ragged']);
	assert.deepEqual(said(ggml, { shape: [1, 1, 1, 1, 1, 32] }), ['shape bad-shape']);
	assert.deepEqual(said(ggml, { shape: [0, 32] }), ['shape empty']);
	for (const { name, scheme } of schemes()) {
		const { name: _, ...unnamed } = scheme;
		assert.deepEqual(said(unnamed), [], name);
	}
});

test('near misses are named, and an error says all that is wrong', () => {
	const scheme = { value: 'i4', scale: [], scales: [{ dtype: 'fp16', blok: 32, block: 32 }], rules: 'plane' };
	refuses(
		() => makeScheme(scheme),
		'bad-scheme',
		/scheme\.scale: unknown field.*did you mean scales\?.*scheme\.rules: .*did you mean plain\?/,
	);
	refuses(() => makeScheme(scheme), 'bad-scheme', /scheme\.scales\[0\]\.blok: unknown field.*did you mean block\?/);
	refuses(() => makeScheme({ value: 'u4', scales: [{ dtype: 'f16', block: 32 }] }), 'bad-scheme', /rule bad-rules/);
	const level = { dtype: 'f16', block: 32 };
	for (const [written, meant] of Object.entries({
		int4: 'i4',
		INT8: 'i8',
		uint4: 'u4',
		fp4: 'f4e2m1',
		fp8: 'f8e4m3',
		e5m2: 'f8e5m2',
	}))
		assert.match(
			validateScheme({ value: written, scales: [level] })[0].message,
			new RegExp(`did you mean ${meant}\\?`),
		);
	for (const [written, meant] of Object.entries({
		float16: 'f16',
		bfloat16: 'bf16',
		fp32: 'f32',
		float8_e4m3fn: 'f8e4m3',
		uint6: 'u6',
	}))
		assert.match(
			validateScheme({ value: 'i4', scales: [{ ...level, dtype: written }] })[0].message,
			new RegExp(`did you mean ${meant}\\?`),
		);
});

test('what only JavaScript reads of a scheme is kept, compared and brought back, too', () => {
	const scheme = {
		value: 'i8',
		scales: [{ dtype: 'f32', block: 'tensor' }],
		rules: 'coreai',
		observer: { calculator: 'static', range: [-4, 4] },
	};
	assert.deepEqual(makeScheme(scheme).observer, scheme.observer);
	assert.ok(!sameScheme(scheme, { ...scheme, observer: { calculator: 'static', range: [-9, 9] } }));
	const act = { mode: 'dynamic', value: 'i8', block: 'channel', symmetric: false };
	const weights = {
		value: 'i8',
		scales: [{ dtype: 'input', block: 'channel' }],
		rules: 'compressed-tensors',
		layout: 'int-quantized',
	};
	assert.equal(makeScheme({ ...weights, activations: act }).activations.symmetric, false);
	assert.deepEqual(
		validateScheme({ ...weights, mins: null }).map(({ field }) => field),
		['mins'],
	);
	// What another system's JSON would not bring back is refused, with the field.
	refuses(() => toBurn({ ...cloneScheme('burn:q8s'), observer: scheme.observer }), 'unsupported', /scheme\.observer/);
	refuses(
		() => toCoreAI({ ...cloneScheme('coreai:w4'), value: 'i4-narrow', zero: 'i4', name: undefined }),
		'unsupported',
		/scheme\.zero/,
	);
	refuses(() => fromCoreAI({ dtype: 'int8' }, { rank: 1e9 }), 'bad-argument', /rank: expected 1 to 5 axes/);
	refuses(
		() => createObserver({ value: 'i8', scales: [{ dtype: 'f32', block: 'tensor' }], calibration: 'absmean' }),
		'unsupported',
		/calibration/,
	);
});

test('activations keep the rules of a scheme of their own; nothing stands for a field that is left out', () => {
	const weights = {
		value: 'i8',
		scales: [{ dtype: 'input', block: 'channel' }],
		rules: 'compressed-tensors',
		layout: 'int-quantized',
	};
	const act = { mode: 'dynamic', value: 'i8', block: 'channel' };
	const told = (activations) =>
		validateScheme({ ...weights, activations }).map(({ field, rule }) => `${field} ${rule}`);
	assert.deepEqual(told(act), []);
	for (const [change, ...expected] of [
		[{ mode: 'none' }, 'activations.mode bad-field'],
		[{ value: 'i4-narrow' }, 'activations.value bad-field'],
		[{ value: 'f32' }, 'activations.value bad-field'],
		[{ scale: 'i8' }, 'activations.scale bad-field'],
		[{ scale: null }, 'activations.scale bad-field'],
		[{ symmetric: 0 }, 'activations.symmetric bad-field'],
		[{ zero: 'i8' }, 'activations.zero bad-field'],
		[{ block: [1, 2, 3, 4, 5, 6] }, 'activations.block bad-block'],
		[{ value: 'u8' }, 'activations.value bad-rules'],
		[{ value: 'i8', scale: 'e8m0' }, 'activations.scale bad-rules'],
		[{ value: 'f8e4m3', symmetric: false }],
		[{ value: 'f6e2m3', symmetric: false }, 'activations.symmetric bad-zero'],
		[{ mode: 'local', value: 'f4e2m1', block: 'tensor', scale: 'f8e4m3' }, 'activations.scale bad-rules'],
	])
		assert.deepEqual(told({ ...act, ...change }), expected, JSON.stringify(change));
	for (const nothing of [null, false, 'none'])
		for (const field of ['zero', 'mins', 'packing', 'activations', 'observer', 'calibration', 'layout', 'rules'])
			assert.deepEqual(
				validateScheme({ ...weights, [field]: nothing }).map((problem) => problem.field.split('.')[0]),
				[field],
				`${field} ${nothing}`,
			);
	refuses(
		() => makeScheme({ ...weights, zero: 'i64' }),
		'bad-scheme',
		/zero: expected one of f8e4m3, i1, .*, u8; got/,
	);
	for (const entry of [1n, Symbol('x'), NaN, undefined])
		refuses(
			() => makeScheme({ ...weights, value: { codebook: [0, entry] } }),
			'bad-scheme',
			/codebook: expected f/,
		);
});

test('a scheme with a table of its own is made, printed, cloned and used as it is said', () => {
	const said = { value: { codebook: [-3, -1, 0, 0.1, 5] }, scales: [{ dtype: 'f32', block: 'tensor' }] };
	const made = makeScheme(said);
	assert.deepEqual(made.value, { codebook: [-3, -1, 0, Math.fround(0.1), 5] });
	assert.ok(sameScheme(parseScheme(formatScheme(made)), said));
	assert.ok(!sameScheme(made, { ...said, value: { codebook: [-3, -1, 0, 0.2, 5] } }));
	assert.deepEqual(cloneScheme(made, { rules: 'coreai' }).value, made.value);
	const data = Float32Array.of(-3, 5, 0.2, 1);
	const [a, b] = [made, said].map((scheme) => quantize(data, { scheme, shape: [4] }).planes.values.bytes);
	assert.deepEqual(a, b);
});

test('fields and levels of any name or none are problems, not accidents', () => {
	for (const name of ['toString', 'constructor', 'hasOwnProperty'])
		assert.deepEqual(
			validateScheme({ value: 'i4', scales: [{ dtype: 'f16', block: 32 }], [name]: 1 }).map(({ rule }) => rule),
			['bad-field'],
		);
	const scales = [{ dtype: 'f16', block: 32 }];
	scales.length = 2;
	assert.deepEqual([...new Set(validateScheme({ value: 'i4', scales }).map(({ rule }) => rule))], ['bad-levels']);
	// biome-ignore lint/suspicious/noSparseArray: it is the test
	const [{ rule }] = validateScheme({ value: 'i4', scales: [{ dtype: 'f16', block: [, 2] }] });
	assert.equal(rule, 'bad-block');
	const named = { ...makeScheme('ct:w4a16'), zero: 'i4' };
	assert.deepEqual(
		validateScheme(named).map(({ field, rule }) => `${field} ${rule}`),
		['name bad-field'],
	);
});

test('what a result says of its scheme is its own', () => {
	const scheme = { value: { codebook: [-0, 1, 2] }, scales: [{ dtype: 'f32', block: 2 }] };
	const result = quantize(Float32Array.of(1, 2), { scheme, shape: [1, 2] });
	scheme.scales[0].block = 1;
	scheme.value.codebook[1] = 7;
	assert.deepEqual(result.scheme, { value: { codebook: [-0, 1, 2] }, scales: [{ dtype: 'f32', block: 2 }] });
	assert.deepEqual([...dequantize(result)], [1, 2]);
	assert.ok(Object.isFrozen(result.scheme.scales[0]));
});

test('configs of whole models are told from schemes', () => {
	refuses(
		() => makeScheme({ config_groups: {}, quant_method: 'compressed-tensors' }),
		'bad-scheme',
		/config of compressed-tensors .*config_groups/,
	);
	refuses(() => makeScheme({ global_config: {} }), 'bad-scheme', /config of Core AI/);
});

test('what refuses a scheme says what the field may be', () => {
	const told = (scheme) =>
		validateScheme(scheme)
			.map(({ field, message }) => `${field}: ${message}`)
			.join();
	const level = { dtype: 'f16', block: 32 };
	assert.match(told({ value: 'u4', scales: [level] }), /value: .*unsigned ones .* need a zero point or mins/);
	assert.match(
		told({ value: 'i4', scales: [level], zero: 'u4' }),
		/zero: a zero point is an integer of the values' signedness/,
	);
	assert.match(told({ value: 'i4', scales: [level], symmetric: true }), /symmetric: it widens a range/);
	assert.match(
		told({ value: 'i4', scales: [{ dtype: 'e8m0', block: 32 }], rules: 'ggml-signed' }),
		/scales\[0\]: .*have a sign \(ggml-signed\)/,
	);
	assert.match(told({ value: 'i4', scales: [level], layout: 'mxfp4-pack-quantized' }), /layout: .*nibbles 4 bits/);
});

test('too many levels are told with all that is wrong inside', () => {
	const level = { dtype: 'f16', block: 32 };
	const scales = [level, level, { ...level, blok: 1 }, { ...level, dtype: 'q' }];
	assert.deepEqual(
		validateScheme({ value: 'i4', scales }).map(({ field }) => field),
		['scales', 'scales[2].blok', 'scales[3].dtype'],
	);
});

test("another system's JSON is told how it becomes a scheme", () => {
	refuses(
		() => quantize(new Float32Array(4), { scheme: { weights: { num_bits: 4 } }, shape: [4] }),
		'bad-scheme',
		/makeScheme\(\)/,
	);
});

test('a name that stands twice in the text of a scheme is an error', () => {
	refuses(() => parseScheme('{ "value": "i4", "value": "i8", "scales": [] }'), 'bad-scheme', /value/);
	assert.equal(parseScheme('\uFEFF{ "num_bits": 4, "group_size": 128, "strategy": "group" }').name, 'ct:w4a16');
});

test('a block is the same however it is said', () => {
	const of = (block) => ({ value: 'i4', scales: [{ dtype: 'input', block }], rules: 'compressed-tensors' });
	for (const [block, strategy] of [
		[-1, 'channel'],
		[[-1], 'channel'],
		[[32], 'group'],
	]) {
		const scheme = { ...of(block), layout: 'pack-quantized' };
		assert.equal(toCompressedTensors(scheme).weights.strategy, strategy);
	}
});
