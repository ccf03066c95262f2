// coreai.test.js - Core AI's vocabulary: its specs read, checked, turned into schemes and back.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { storedScheme } from '../../js/compressed-tensors/to.js';
import { memorySink } from '../../js/io/sink.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { f32, quantized, safetensors, stored } from './files-support.js';
import { bitsPerWeight, checkBackend } from '../../js/coreai/index.js';
import { fromCoreAI } from '../../js/coreai/from.js';
import { Problems } from '../../js/problems.js';
import { derived, readSpec } from '../../js/coreai/spec.js';
import { toCoreAI } from '../../js/coreai/to.js';
import { presets } from '../../js/presets.js';
import { schemeOfJson } from '../../js/vocabularies.js';
import { sets, tables } from './coreai-support.js';
import { ready } from './support.js';

before(() => ready());

/** JSON has no NaN: the golden files spell it. */
const NUMBERS = { NaN: Number.NaN, Infinity, '-Infinity': -Infinity };
const revived = ({ float_range: range, ...kwargs }) => ({
	...kwargs,
	...(range !== undefined && { float_range: Array.isArray(range) ? range.map((end) => NUMBERS[end] ?? end) : range }),
});

const deviations = () => tables().find((table) => table.constructions);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const sorted = (object) => Object.fromEntries(Object.entries(object).sort());

test('every construction has the verdict of coreai-opt 0.4.0, or one of the table of docs/coreai.md', () => {
	const listed = deviations().constructions;
	for (const { kwargs, result, where = [], resolved } of sets[0].validation.constructions) {
		const name = JSON.stringify(kwargs);
		const problems = new Problems();
		const spec = readSpec(revived(kwargs), problems);
		const own = listed.find((row) => same(row.kwargs, kwargs));
		assert.equal(problems.list.length ? 'error' : 'ok', own ? 'error' : result, name);
		if (own)
			assert.deepEqual(
				problems.list.map(({ field }) => field),
				own.refused,
				name,
			);
		else if (result === 'error')
			// The field that the package blames is among ours, if it names one.
			assert.ok(
				where.every(
					(each) =>
						each === '(whole spec)' ||
						problems.list.some(({ field }) => field.startsWith(each.split('.')[0])),
				),
				`${name}: ${JSON.stringify(problems.list)}`,
			);
		else {
			const { granularity, ...rest } = resolved;
			const all = { ...spec, ...derived(spec) };
			assert.deepEqual(sorted(all.granularity), sorted(granularity), name);
			for (const [field, value] of Object.entries(rest)) assert.deepEqual(all[field], value, `${name} ${field}`);
		}
	}
});

test('all problems are told at once, each with its field', () => {
	const bad = { dtype: 'int3', qscheme: 'affine', granularity: { type: 'per_block' }, float_range: [1, 5], foo: 1 };
	const nested = { ...bad, qparam_qspec: { dtype: 'nosuch', qformulation: 'minval', parent_dtype: 'int8' } };
	assert.throws(
		() => fromCoreAI(nested),
		(error) => {
			const fields = ['foo', 'dtype', 'qscheme', 'granularity.block_size', 'float_range'];
			const inner = ['dtype', 'qformulation', 'parent_dtype'].map((field) => `qparam_qspec.${field}`);
			for (const field of [...fields, ...inner]) assert.ok(`; ${error.message}`.includes(`; ${field}: `), field);
			return error.code === 'bad-scheme';
		},
	);
	for (const json of [null, [], 3, 'int8']) assert.throws(() => fromCoreAI(json), { code: 'bad-scheme' });
	assert.throws(() => fromCoreAI({}, { target: 'lut' }), { code: 'bad-argument' });
	assert.throws(() => fromCoreAI({}, { rank: 0 }), { code: 'bad-argument' });
});

const WEIGHTS = Float32Array.from({ length: 256 }, (_, i) => Math.sin(i * i));

const U8 = { dtype: 'uint8', qscheme: 'asymmetric' };
const OUTER = { dtype: 'uint4', granularity: { type: 'per_block', block_size: 32 } };

test('what a nested spec cannot be is refused, naming qparam_qspec', () => {
	for (const [field, outer, nested] of [
		['qparam_qspec', { dtype: 'float8_e4m3fn', scale_dtype: 'float8_e8m0fnu' }, { dtype: 'float8_e4m3fn' }],
		['qparam_qspec.qformulation', OUTER, { ...U8, qformulation: 'minval' }],
		['qparam_qspec.float_range', OUTER, { ...U8, float_range: [null, 1] }],
		['qparam_qspec.qparam_qspec', OUTER, { ...U8, qparam_qspec: U8 }],
		['qparam_qspec.qscheme', OUTER, { dtype: 'uint8' }],
		['qparam_qspec.qscheme', OUTER, { dtype: 'int8' }],
		['qparam_qspec.dtype', OUTER, { dtype: 'float4_e2m1fn' }],
		['qparam_qspec.scale_dtype', OUTER, { dtype: 'float8_e4m3fn', scale_dtype: 'float8_e8m0fnu' }],
		['qparam_qspec.qparam_calculator_cls', OUTER, { ...U8, qparam_calculator_cls: 'dynamic' }],
		['qparam_qspec.granularity.axis', OUTER, { ...U8, granularity: { type: 'per_channel' } }],
		[
			'qparam_qspec.granularity.axis',
			{ dtype: 'int4', granularity: { type: 'per_block', block_size: [4, 8] } },
			{ ...U8, granularity: { type: 'per_block', block_size: 2 } },
		],
		['parent_dtype', { dtype: 'int4', parent_dtype: 'float16' }, null],
	])
		assert.throws(
			() => fromCoreAI({ ...outer, qparam_qspec: nested }),
			(error) => {
				assert.ok(error.message.startsWith(`${field}: `), error.message);
				return error.code === 'bad-scheme';
			},
		);
});

test('the table of words is what fromCoreAI gives, and toCoreAI says it again', () => {
	const { words } = tables().find((table) => table.words);
	for (const { spec, options, scheme } of words) {
		const found = fromCoreAI(spec, options);
		assert.deepEqual(found, scheme, JSON.stringify(spec));
		if (options) continue;
		assert.deepEqual(fromCoreAI(toCoreAI(found)), found, JSON.stringify(spec));
	}
});

test('round trips of every dtype, qscheme, formulation and granularity', () => {
	const granularities = [
		{ type: 'per_tensor' },
		{ type: 'per_channel', axis: 0 },
		{ type: 'per_channel', axis: 1 },
		{ type: 'per_block', axis: 1, block_size: 16 },
		{ type: 'per_block', axis: 0, block_size: 4 },
		{ type: 'per_block', block_size: [4, 8] },
		{ type: 'per_block', block_size: [-1, 8] },
		{ type: 'per_block', block_size: [2, 4, -1, 1] },
	];
	const nested = [
		null,
		U8,
		{ dtype: 'float8_e4m3fn' },
		{ ...U8, parent_dtype: 'float16', granularity: granularities[1] },
	];
	let count = 0;
	for (const dtype of ['int2', 'int4', 'int6', 'int8', 'uint2', 'uint4', 'uint6', 'uint8'])
		for (const qscheme of ['symmetric', 'symmetric_with_clipping', 'asymmetric'])
			for (const qformulation of ['zp', 'minval'])
				for (const granularity of granularities)
					for (const qparam_qspec of nested) {
						if (qparam_qspec?.granularity && granularity.block_size?.length === 4) continue;
						const spec = { dtype, qscheme, qformulation, granularity, qparam_qspec };
						const scheme = fromCoreAI(spec);
						assert.deepEqual(fromCoreAI(toCoreAI(scheme)), scheme, JSON.stringify(spec));
						count++;
					}
	assert.ok(count > 1000);
	for (const spec of [
		{ qparam_calculator_cls: 'moving_average', averaging_constant: 0.25 },
		{ float_range: [-1, null], qparam_calculator_cls: 'global_minmax' },
		{ float_range: [-1, 1] },
		{ scale_dtype: 'float8_e8m0fnu' },
		{ dtype: 'float4_e2m1fn', granularity: { type: 'per_block', block_size: 32 } },
	])
		assert.deepEqual(fromCoreAI(toCoreAI(fromCoreAI(spec))), fromCoreAI(spec), JSON.stringify(spec));
});

test('tensors of every rank: what is said for one is read for it', () => {
	let count = 0;
	for (const rank of [1, 2, 3, 4, 5])
		for (const target of ['weight', 'activation']) {
			const granularities = [{ type: 'per_tensor' }];
			for (let axis = 0; axis < rank; axis++)
				granularities.push({ type: 'per_channel', axis }, { type: 'per_block', axis, block_size: 4 });
			granularities.push({ type: 'per_block', block_size: Array(rank).fill(2) });
			granularities.push({
				type: 'per_block',
				block_size: Array.from({ length: rank }, (_, i) => (i % 2 ? -1 : 3)),
			});
			for (const granularity of granularities)
				for (const inner of [
					null,
					{ type: 'per_tensor' },
					{ type: 'per_block', axis: rank - 1, block_size: 2 },
				]) {
					const qparam_qspec = inner && { ...U8, granularity: inner };
					const spec = { dtype: 'int4', granularity, qparam_qspec };
					const scheme = fromCoreAI(spec, { target, rank });
					const json = toCoreAI(scheme, { target, rank });
					assert.deepEqual(fromCoreAI(json, { target, rank }), scheme, JSON.stringify([spec, json]));
					// The words are the shortest that there are: lists only where nothing else says it.
					const listed = Array.isArray(json.granularity.block_size);
					if (!Array.isArray(granularity.block_size)) assert.ok(!listed, JSON.stringify([spec, json]));
					// Without the rank a list says it, too.
					if (target === 'weight' && !inner)
						assert.deepEqual(fromCoreAI(toCoreAI(scheme)), scheme, JSON.stringify(spec));
					count++;
				}
		}
	assert.equal(count, 270);
	assert.deepEqual(
		toCoreAI(fromCoreAI({ granularity: { type: 'per_block', axis: 1, block_size: 32 } }, { rank: 4 }), { rank: 4 }),
		{
			dtype: 'int8',
			granularity: { type: 'per_block', axis: 1, block_size: 32 },
		},
	);
	const wide = fromCoreAI({ granularity: { type: 'per_block', block_size: [4, 2, 2] } });
	assert.throws(() => toCoreAI(wide, { rank: 2 }), {
		code: 'unsupported',
		message: /blocks of 3 axes are none of a tensor of 2/,
	});
});

test('blocks longer than their axis are as long as the axis, whatever parent is around them', () => {
	const weights = Float32Array.from({ length: 80 }, (_, i) => ((29 * i + 7) % 64) - 32);
	const parents = [
		{ type: 'per_channel', axis: 0 },
		{ type: 'per_channel', axis: 1 },
		{ type: 'per_tensor' },
		{ type: 'per_block', block_size: 2 },
	];
	for (const granularity of parents) {
		const planes = [32, 20].map((block_size) => {
			const qparam_qspec = { dtype: 'uint8', qscheme: 'asymmetric', granularity };
			const scheme = fromCoreAI({ dtype: 'int4', granularity: { type: 'per_block', block_size }, qparam_qspec });
			const q = quantize(weights, { scheme, shape: [4, 20] });
			assert.ok(dequantize(q).every((value, i) => Math.abs(value - weights[i]) < 2.5));
			return q.planes;
		});
		assert.deepEqual(planes[0], planes[1]);
	}
});

test('toCoreAI says its presets and refuses those of others with the reason', () => {
	for (const { name, scheme } of presets().values()) {
		if (scheme.rules === 'coreai') {
			const again = quantize(WEIGHTS, { scheme: fromCoreAI(toCoreAI(name)), shape: [4, 64] });
			assert.deepEqual(again.planes, quantize(WEIGHTS, { scheme: name, shape: [4, 64] }).planes, name);
		} else
			assert.throws(
				() => toCoreAI(scheme),
				{ code: 'unsupported', message: /^Core AI cannot say scheme\.\w+/ },
				name,
			);
	}
	const own = fromCoreAI({ dtype: 'int8' });
	for (const [field, change] of [
		['layout', { layout: 'pack-quantized' }],
		['calibration', { calibration: 'absmean' }],
		['activations', { activations: { mode: 'dynamic', value: 'i8', block: 'channel' } }],
		['value', { value: 'i5' }],
		['zero', { zero: 'i16' }],
		['mins', { mins: [{ dtype: 'f16', block: 'tensor' }] }],
		['scales[0].dtype', { scales: [{ dtype: 'f16', block: 'tensor' }] }],
		['scales', { scales: [...own.scales, ...own.scales, ...own.scales] }],
	])
		assert.throws(
			() => toCoreAI({ ...own, ...change }),
			(error) => {
				assert.ok(error.message.startsWith(`Core AI cannot say scheme.${field}: `), error.message);
				return error.code === 'unsupported';
			},
		);
});

test('a spec is told by its keys among JSON files of schemes', () => {
	for (const spec of [
		{ dtype: 'int4', granularity: { type: 'per_block', block_size: 32 } },
		{ scale_dtype: 'float8_e8m0fnu' },
		{ float_range: [-1, 1] },
		{ qparam_calculator_cls: 'static' },
	])
		assert.deepEqual(schemeOfJson(spec), fromCoreAI(spec));
});

test('bits per weight are those of coreai-opt 0.4.0, nested codes and parents those of the table', () => {
	for (const { spec, shapes, weight_dtype: dtype, total_bits, total_weights, bpw } of sets[0].bitsCases)
		assert.deepEqual(
			bitsPerWeight(spec, shapes, { dtype }),
			{ bits: total_bits, weights: total_weights, bitsPerWeight: bpw },
			JSON.stringify(spec),
		);
	for (const { spec, bits } of tables().find((table) => table.bits).bits)
		assert.equal(bitsPerWeight(spec, [[4096, 4096]]).bits, bits, JSON.stringify(spec));
});

test('a backend refuses what it cannot store, nested scales before a dynamic calculator', () => {
	const refused = (spec, backend, options) => {
		try {
			checkBackend(spec, backend, options);
			return [];
		} catch (error) {
			assert.equal(error.code, 'unsupported', error.stack);
			return error.message.split('; ').map((reason) => reason.split(':')[0]);
		}
	};
	const nested = { ...OUTER, qscheme: 'asymmetric', qparam_qspec: U8 };
	const dynamic = { ...nested, qparam_calculator_cls: 'dynamic' };
	const activation = { target: 'activation' };
	const fp4 = { dtype: 'float4_e2m1fn', granularity: { type: 'per_block', block_size: 32 } };
	for (const [spec, options, CoreAI, CoreML] of [
		[{}, {}, [], []],
		[nested, {}, ['qparam_qspec'], ['qparam_qspec']],
		[
			dynamic,
			activation,
			['qparam_qspec', 'qparam_calculator_cls', 'granularity'],
			['qparam_qspec', 'qparam_calculator_cls', 'dtype', 'granularity'],
		],
		[{ qparam_calculator_cls: 'dynamic' }, activation, ['qparam_calculator_cls'], ['qparam_calculator_cls']],
		[{ dtype: 'int6' }, {}, ['dtype'], ['dtype']],
		[{ dtype: 'int2' }, {}, [], ['dtype']],
		[{ dtype: 'uint4', qformulation: 'minval' }, {}, [], ['qformulation']],
		[{ scale_dtype: 'float8_e8m0fnu' }, {}, ['scale_dtype'], ['scale_dtype']],
		[fp4, {}, [], ['dtype']],
		[fp4, { rank: 4 }, ['granularity'], ['dtype']],
		[{ ...fp4, granularity: { type: 'per_block', block_size: [1, 32] } }, {}, [], ['dtype']],
		[{ ...fp4, granularity: { type: 'per_block', block_size: 16 } }, {}, ['granularity'], ['dtype']],
		[fp4, activation, ['dtype', 'granularity'], ['dtype', 'granularity']],
		[{ dtype: 'float8_e5m2' }, activation, [], ['dtype']],
	]) {
		assert.deepEqual(refused(spec, 'CoreAI', options), CoreAI, JSON.stringify(spec));
		assert.deepEqual(refused(spec, 'CoreML', options), CoreML, JSON.stringify(spec));
		assert.deepEqual(refused(spec, 'Torch', options), [], JSON.stringify(spec));
	}
	assert.throws(() => checkBackend({}, 'TensorRT'), { code: 'bad-argument' });
});

test('weights of a model, by a spec: what its planes decode to, whatever layout of the file fits', async () => {
	const data = Float32Array.from({ length: 64 * 128 }, (_, i) => Math.sin(i * i));
	const name = 'model.layers.0.mlp.up_proj.weight';
	const bytes = safetensors([f32(name, [64, 128], data)]);
	const block = { type: 'per_block', block_size: 32 };
	for (const [spec, layout] of [
		[{ dtype: 'int4', granularity: block }, 'pack-quantized'],
		[{ dtype: 'int4', qscheme: 'asymmetric', granularity: block }, 'pack-quantized'],
		[{ dtype: 'int6', qscheme: 'symmetric_with_clipping', granularity: { type: 'per_channel' } }, 'pack-quantized'],
		[{ dtype: 'int8' }, 'pack-quantized'],
		[{ dtype: 'float8_e4m3fn', granularity: { type: 'per_channel' } }, 'naive-quantized'],
		[{ dtype: 'float4_e2m1fn', granularity: block }, 'mxfp4-pack-quantized'],
	]) {
		const scheme = fromCoreAI(spec);
		const { model } = await quantized(bytes, { scheme });
		const sink = memorySink();
		await dequantizeModel(model, sink, { dtype: 'f32' });
		const found = new Float32Array((await stored(await openModel(sink.bytes()), name)).buffer);
		const expected = dequantize(quantize(data, { scheme, shape: [64, 128] }));
		assert.deepEqual(found, expected, JSON.stringify(spec));
		assert.equal(storedScheme(scheme).format, layout);
	}
	const refusal = { code: 'unsupported', message: /a safetensors file carries compressed-tensors layouts/ };
	for (const spec of [
		{ dtype: 'uint4', granularity: block },
		{ dtype: 'int4', qformulation: 'minval' },
		{ dtype: 'int4', qparam_qspec: U8 },
		{ dtype: 'float8_e5m2' },
		{ dtype: 'int8', float_range: [-1, 1] },
	])
		await assert.rejects(quantized(bytes, { scheme: fromCoreAI(spec) }), refusal, JSON.stringify(spec));
	const ragged = safetensors([f32(name, [64, 120], data.subarray(0, 64 * 120))]);
	const groups = fromCoreAI({ dtype: 'int4', granularity: block });
	await assert.rejects(quantized(ragged, { scheme: groups }), /rows of 120 values are no whole groups of 32/);
});
