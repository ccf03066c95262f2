// coreai-golden.test.js - codes, parameters and fake-quantized values of coreai-opt 0.4.0, and of its parts chained as a nested spec.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_BAND, planTensor } from '../../js/arrays/plan.js';
import { dequantize, fakeQuantize, quantize } from '../../js/arrays/quantize.js';
import { KERNELS } from '../../js/core/abi.js';
import { DTYPES, canonical } from '../../js/coreai/dtypes.js';
import { fromCoreAI } from '../../js/coreai/from.js';
import { gradientMask } from '../../js/coreai/gradient.js';
import { narrowed } from '../../js/arrays/floats.js';
import { createObserver } from '../../js/observers/observer.js';
import { numbersOf, sets, tables } from './coreai-support.js';
import { random, ready, throughCore } from './support.js';

/** How many cases of a kind there must be, in the part and in the whole: a filter that loses some is seen. */
const COUNTS = {
	small: [122, 1458],
	big: [0, 432],
	half: [30, 540],
	conv: [27, 108],
	act: [18, 72],
	float_range: [24, 140],
	ste: [72, 72],
	sequences: [70, 275],
	nestedCases: [17, 99],
};

/** A row with the hashes of the arrays that it names by their indices. */
const hashed = ({ golden }, { id, steps, ...row }) => {
	const arrays = /^(scale|zero_point|minval|codes|fq|ste_|running_|raw_)(?!_nonfinite)/;
	const own = Object.entries(row).map(([field, value]) => [
		field,
		arrays.test(field) && value !== null ? golden(value).hash : value,
	]);
	return { id, steps: steps?.map((step) => hashed({ golden }, step)), ...Object.fromEntries(own) };
};

test('what is stored has the hashes that are said', () => {
	for (const { narrays, golden, isGolden } of sets)
		for (let at = 0; at < narrays; at++) {
			const { values } = golden(at);
			if (values) assert.ok(isGolden(at, values), `array ${at}`);
		}
});

if (sets.length > 1)
	test('the part that the repository holds is one of the whole', () => {
		const [part, whole] = sets;
		for (const kind of ['cases', 'sequences', 'nestedCases']) {
			const all = new Map(whole[kind].map((row) => [row.id, row]));
			for (const row of part[kind]) assert.deepEqual(hashed(part, row), hashed(whole, all.get(row.id)), row.id);
		}
		assert.deepEqual([part.validation, part.bitsCases], [whole.validation, whole.bitsCases]);
	});

for (const kernels of KERNELS) {
	for (const [s, set] of sets.entries()) {
		const title = `${kernels}, ${set.name}`;
		const { sequences, nestedCases, ...groups } = COUNTS;
		for (const [group, counts] of Object.entries(groups))
			test(`${title}: ${group}`, async () => {
				await ready(kernels);
				const own = set.cases.filter(({ id }) => id.startsWith(`${group}/`));
				assert.equal(own.length, counts[s]);
				for (const each of own) checkCase(set, each);
			});

		test(`${title}: nested`, async () => {
			await ready(kernels);
			assert.equal(set.nestedCases.length, nestedCases[s]);
			for (const each of set.nestedCases) checkNested(set, each);
		});

		test(`${title}: every sequence`, async () => {
			await ready(kernels);
			assert.equal(set.sequences.length, sequences[s]);
			for (const { id, spec, target, steps } of set.sequences) {
				const scheme = fromCoreAI(spec, { target });
				const observer = createObserver(scheme, { target });
				steps.forEach((step, i) => {
					const name = `${id}, step ${i}: ${step.op}`;
					if (step.op === 'forward') checkForward(set, name, scheme, observer, step);
					else checkSwitch(name, observer, step);
				});
			}
		});
	}

	test(`${kernels}: the worked example of docs/coreai.md`, async () => {
		await ready(kernels);
		const { spec, scheme } = tables()
			.find((table) => table.nested)
			.nested.find(({ name }) => name === 'NVFP4');
		const { example } = tables().find((table) => table.example);
		const gains = [1, 1 / 4, 1 / 64, 0];
		const data = Float32Array.from({ length: 64 }, (_, i) => ((((37 * i + 11) % 101) - 50) / 128) * gains[i >> 4]);
		const quantized = quantize(data, { scheme: fromCoreAI(spec), shape: [1, 64] });
		assert.deepEqual(fromCoreAI(spec), scheme);
		const hex = (bytes) => Buffer.from(bytes).toString('hex');
		const { planes } = quantized;
		assert.deepEqual(
			[...planes['scales.0'].bytes].map((code) => hex([code])),
			example['scales.0'],
		);
		assert.equal(hex([...planes['scales.1'].bytes].reverse()), example['scales.1']);
		const digits = [...planes.values.bytes].map((code) => code.toString(16)).join('');
		assert.deepEqual(digits.match(/.{16}/g), example.values);
		assert.deepEqual([...dequantize(quantized).subarray(0, 3)], example.decoded.map(Math.fround));
	});
}

/** An E8M0 code says its scale, any other is a number of its plane. */
const scalesOf = (planes, { scales: [{ dtype }] }) =>
	numbersOf(planes['scales.0'], dtype === 'e8m0' ? dtype : undefined);

let turn = 0;

/** A tensor through the core, every other one in small bands: its planes by name, and its fake-quantized values. */
function run(given) {
	const { infos, stored, fake } = throughCore({ ...given, bandBytes: turn++ % 2 ? 300 : MAX_BAND });
	const planes = infos.map(({ name, dtype, shape }, p) => [name, { dtype, shape, bytes: stored[p] }]);
	return { planes: Object.fromEntries(planes), fake };
}

function checkCase({ areGolden, coreCase, golden, isGolden }, row) {
	const { id, scale, zero_point: zero, minval, codes, fq, fq_nonfinite: nonfinite, ste_mask: mask } = row;
	const given = coreCase(row);
	const { planes, fake } = run(given);
	assert.ok(areGolden(scale, scalesOf(planes, given.scheme)), `${id}: scale`);
	if (planes.zeros) assert.deepEqual(numbersOf(planes.zeros), [...golden(zero).values], `${id}: zero point`);
	if (planes['mins.0']) {
		const mins = numbersOf(planes['mins.0']).map((min) => (min === 0 ? 0 : -min));
		assert.ok(areGolden(minval, mins), `${id}: minval`);
	}
	if (nonfinite) return; // f16 ranges that overflow: scales are infinite, and what is made with them is no number
	assert.ok(isGolden(codes, planes.values.bytes), `${id}: codes`);
	assert.ok(isGolden(fq, narrowed(fake, given.dtype)), `${id}: fake quantized`);
	const { data, ...options } = given;
	if (mask !== undefined) assert.ok(isGolden(mask, gradientMask(data, options)), `${id}: gradient`);
}

/** What the scale of each block decodes to, or minus its min: values of codes that stand for 1 and for 0. */
function decoded({ scheme, shape }, planes, what) {
	const lowest = { i: (bits) => -(2 ** (bits - 1)), u: () => 0, f: () => 0 }[scheme.value[0]](
		Number(scheme.value[1]),
	);
	const one = { f4e2m1: 0x2, f8e4m3: 0x38, f8e5m2: 0x3c }[scheme.value] ?? (scheme.mins ? lowest + 1 : 1);
	const filled = (plane, byte) => ({ ...plane, bytes: new Uint8Array(plane.bytes.length).fill(byte) });
	const said = { ...planes, values: filled(planes.values, what === 'scale' ? one : lowest) };
	if (planes.zeros) said.zeros = filled(planes.zeros, 0);
	if (planes['mins.0'] && what === 'scale') said['mins.0'] = filled(planes['mins.0'], 0);
	const values = dequantize({ scheme, shape, planes: said });
	const perBlock = values.length / planes['scales.0'].bytes.length;
	const perScale = values.filter((_, i) => i % perBlock === 0);
	// The reference's mins are negative: a min of 0 is -0 there.
	return what === 'scale' ? perScale : perScale.map((min) => (min === 0 ? -0 : min));
}

/** Scales and mins before they are quantized: those of the scheme whose levels nothing rounds. */
function checkIdeal({ areGolden, isGolden }, row, { scheme, ...given }) {
	const alone = ([{ block }]) => [{ dtype: 'f32', block }];
	const { planes } = run({
		...given,
		scheme: { ...scheme, scales: alone(scheme.scales), ...(scheme.mins && { mins: alone(scheme.mins) }) },
	});
	assert.ok(areGolden(row.raw_scale, numbersOf(planes['scales.0'], 'f32')), `${row.id}: scales to be quantized`);
	if (row.raw_minval !== undefined)
		assert.ok(
			areGolden(
				row.raw_minval,
				numbersOf(planes['mins.0'], 'f32').map((min) => -min),
			),
			`${row.id}: minvals to be quantized`,
		);
	if (row.raw_zero_point !== undefined)
		assert.ok(
			isGolden(row.raw_zero_point, Int32Array.from(numbersOf(planes.zeros))),
			`${row.id}: first zero points`,
		);
}

function checkNested(set, row) {
	const { areGolden, isGolden, nestedCase } = set;
	const { id } = row;
	const given = nestedCase(row);
	const { planes, fake } = run(given);
	checkIdeal(set, row, given);
	const scales = decoded(given, planes, 'scale');
	assert.ok(areGolden(row.scale_decoded, scales), `${id}: decoded scales`);
	assert.equal(scales.filter((scale) => scale === 0).length, row.zero_decoded_scales, `${id}: scales of 0`);
	if (row.minval_decoded !== undefined)
		assert.ok(areGolden(row.minval_decoded, decoded(given, planes, 'min')), `${id}: decoded minvals`);
	assert.ok(isGolden(row.scale_codes, planes['scales.0'].bytes), `${id}: scale codes`);
	assert.ok(areGolden(row.scale_parent, numbersOf(planes['scales.1'], 'f32')), `${id}: scale parents`);
	if (row.minval_codes !== undefined) {
		assert.ok(isGolden(row.minval_codes, planes['mins.0'].bytes), `${id}: minval codes`);
		assert.ok(areGolden(row.minval_parent, numbersOf(planes['mins.1'], 'f32')), `${id}: minval parents`);
	}
	// Signed symmetric codes have their zero at 0, which no plane says.
	const zeros = Int32Array.from(planes.zeros ? numbersOf(planes.zeros) : scales.map(() => 0));
	if (planes.zeros || row.zero_point !== undefined) assert.ok(isGolden(row.zero_point, zeros), `${id}: zero points`);
	assert.ok(isGolden(row.codes, planes.values.bytes), `${id}: codes`);
	// The reference gives minus a min of 0 where the scale is 0 as well.
	const perBlock = given.data.length / planes['scales.0'].bytes.length;
	const values = fake.map((x, i) => {
		const block = Math.floor(i / perBlock);
		const nothing = planes['mins.0'] && !planes['scales.0'].bytes[block] && !planes['mins.0'].bytes[block];
		return nothing ? -0 : x;
	});
	assert.ok(areGolden(row.fq_guarded, values), `${id}: fake quantized`);
}

/** A layout that packs the values of a scheme, for tensors of whole rows. */
function packedLayout({ value }) {
	if (value === 'f4e2m1') return 'nvfp4-pack-quantized';
	return value === 'f8e4m3' ? 'float-quantized' : 'pack-quantized';
}

test('every nested spec is packed, and read back as the same values', async () => {
	await ready();
	const { input, nestedCases } = sets.at(-1);
	for (const { id, outer, nested, input: name } of nestedCases) {
		const { data, options } = input(name);
		const scheme = fromCoreAI({ ...outer, qparam_qspec: nested });
		const packed = quantize(data, { ...options, scheme: { ...scheme, layout: packedLayout(scheme) } });
		const [values] = Object.values(packed.planes);
		const { bits } = DTYPES.get(canonical(outer.dtype));
		assert.equal(values.bytes.length, (data.length * bits) / 8, id);
		const plain = quantize(data, { ...options, scheme });
		assert.deepEqual(dequantize(structuredClone(packed)), dequantize(plain), id);
	}
});

test('Q4_K is a nested spec: its blocks are those of the worked example G, and ggml reads them', async () => {
	await ready();
	const { spec } = tables()
		.find((table) => table.nested)
		.nested.find(({ name }) => name === 'Q4_K');
	const scheme = { ...fromCoreAI(spec), layout: 'ggml-q4_k' };
	// coreai.md, section 12.5, variant B.
	const gains = [1, 0.5, 0.25, 0.75, 0.125, 1.5, 0, 0.625];
	const offsets = [0, 0.125, -0.25, 0, 0.5, 0.25, 0, -0.0625];
	const data = Float32Array.from(
		{ length: 256 },
		(_, i) => ((((29 * i + 7) % 64) - 32) / 64) * gains[i >> 5] + offsets[i >> 5],
	);
	const { bytes } = quantize(data, { scheme, shape: [1, 256] });
	const hex = Buffer.from(bytes).toString('hex');
	assert.equal(hex.slice(0, 32), '181610206cd511603fce2fac099f00da');
	assert.equal(hex.slice(32, 96), '921980f76ee65dc43bb32a910880f76ed55cc43ba32a91087ff76ed54cc43ba2');
	assert.equal(crc32(bytes), 0x08519508);
	const planes = quantize(data, { scheme: fromCoreAI(spec), shape: [1, 256] });
	const expected = dequantize(planes);
	assert.deepEqual(dequantize({ scheme, shape: [1, 256], bytes }), expected);
	assert.deepEqual(dequantize({ scheme: 'ggml:q4_k', shape: [1, 256], bytes }), expected);
	const error = data.reduce((sum, x, i) => sum + (x - expected[i]) ** 2, 0);
	assert.ok(Math.abs(error - 0.0540586) < 5e-8, `squared error ${error}`);
});

/** CRC-32 as zlib has it. */
function crc32(bytes) {
	let crc = -1;
	for (const byte of bytes) {
		crc ^= byte;
		for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc >>> 0;
}

test("the package's own test vectors (coreai.md, section 14.1)", async () => {
	await ready();
	const of = (dtype, qscheme = 'symmetric') => ({ dtype, qscheme });
	for (const [values, spec, scale, zero] of [
		[[-1, 0, 7], of('int8', 'asymmetric'), 8 / 255, -96],
		[[-1, 0, 5], of('uint8', 'asymmetric'), 6 / 255, 42],
		[[-1, 0, 3], of('int8'), 3 / 127.5],
		[[-3, 0, 1], of('uint8'), 3 / 127.5, 128],
		[[-3, 0, 3], of('int8', 'symmetric_with_clipping'), 3 / 127],
		[[-3, 0, 3], of('uint8', 'symmetric_with_clipping'), 3 / 127.5, 128],
		[[-1.5, 0, 1.5], of('int4', 'symmetric_with_clipping'), 1.5 / 7],
		[[-3, 0, 3], of('float8_e4m3fn'), 3 / 448],
		[[-3, 0, 3], of('float8_e5m2'), 3 / 57344],
		[[-3, 0, 3], of('float4_e2m1fn'), 0.5],
		[[0, 0, 0], of('int8'), 2 ** -23],
	]) {
		const scheme = fromCoreAI(spec);
		const { planes } = quantize(Float32Array.from(values), { scheme, shape: [1, 3] });
		assert.deepEqual(scalesOf(planes, scheme), [Math.fround(scale)], JSON.stringify(spec));
		assert.deepEqual(planes.zeros && numbersOf(planes.zeros)[0], zero, JSON.stringify(spec));
	}
	// The moving average with its default constant: 3, then 6, is 3.03.
	const observer = createObserver(fromCoreAI({}, { target: 'activation' }));
	for (const most of [3, 6]) observer.observe(Float32Array.of(-most, 0, most), { shape: [1, 3] });
	assert.ok(Math.abs(observer.ranges.max[0] - 3.03) < 1e-6);
});

test('every use has the verdict of coreai-opt 0.4.0, or one of the table', async () => {
	await ready();
	const listed = tables().find((table) => table.use).use;
	const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
	for (const row of sets[0].validation.use) {
		const { kwargs, target, forward, scale_shape: scale } = row;
		const shape = row.shape ?? (row.why.startsWith('empty') ? [0, 4] : [4, 8]);
		let found;
		try {
			const scheme = fromCoreAI(kwargs, { target: target.toLowerCase(), rank: shape.length });
			const planes = planTensor(scheme, shape, 'f32').planes;
			found = planes.find(({ role }) => role === 'scales.0').shape;
		} catch (error) {
			found = error.code;
			assert.equal(error.name, 'BlockQuantError', error.stack);
		}
		const name = JSON.stringify(row);
		const own = listed.find(
			(each) => same(each.kwargs, kwargs) && each.target === target && same(each.shape ?? [4, 8], shape),
		);
		if (own) assert.deepEqual(found, own.ours, name);
		else if (forward === 'ok') {
			const blocks = (dims) => dims.reduce((product, dim) => product * dim, 1);
			assert.ok(Array.isArray(found), `${name}: ${found}`);
			assert.equal(blocks(found), blocks(scale), name);
		} else assert.equal(typeof found, 'string', name);
	}
});

const SWITCHES = {
	observer_on: { observing: true },
	observer_off: { observing: false },
	fake_quant_on: { fakeQuantizing: true },
	fake_quant_off: { fakeQuantizing: false },
	export_on: { exporting: true },
	export_off: { exporting: false },
};

function checkSwitch(name, observer, { op, error, observer_enabled: observing, fake_quant_enabled: fakeQuantizing }) {
	if (error) assert.throws(() => observer.set(SWITCHES[op]), { code: 'unsupported' }, name);
	else observer.set(SWITCHES[op]);
	const { state } = observer;
	assert.deepEqual([state.observing, state.fakeQuantizing], [observing === 1, fakeQuantizing === 1], name);
}

function checkForward({ areGolden, golden, input, isGolden }, name, scheme, observer, step) {
	const { data, options } = input(step.input);
	const { dtype } = options;
	const out = observer.forward(data, options);
	const { ranges } = observer;
	for (const [end, at] of [
		['min', step.running_min],
		['max', step.running_max],
	])
		if (at !== null) {
			const { dtype: kept } = golden(at);
			assert.ok(isGolden(at, narrowed(ranges[end], kept.toLowerCase())), `${name}: running ${end}`);
		}
	const { planes } = quantize(data, { ...options, scheme, ranges });
	const as = scheme.scales[0].dtype === 'e8m0' ? 'e8m0' : undefined;
	assert.ok(areGolden(step.scale, numbersOf(planes['scales.0'], as)), `${name}: scale`);
	if (planes.zeros) assert.deepEqual(numbersOf(planes.zeros), [...golden(step.zero_point).values], `${name}: zero`);
	if (planes['mins.0']) {
		const minval = numbersOf(planes['mins.0']).map((min) => (min === 0 ? 0 : -min));
		assert.ok(areGolden(step.minval, minval), `${name}: minval`);
	}
	assert.ok(isGolden(step.fq, narrowed(out, dtype)), `${name}: fake quantized`);
}

test('a schedule reaches nested scales: they are made from the ranges of the same step', async () => {
	await ready();
	const nested = { dtype: 'uint8', qscheme: 'asymmetric', granularity: { type: 'per_block', block_size: 2 } };
	const spec = { dtype: 'int4', granularity: { type: 'per_block', axis: -1, block_size: 8 }, qparam_qspec: nested };
	const scheme = fromCoreAI({ ...spec, qparam_calculator_cls: 'moving_average' }, { target: 'activation' });
	const observer = createObserver(scheme, {
		schedule: { enableObserver: 0, enableFakeQuantize: 2, disableObserver: 3 },
	});
	const r = random(9);
	const options = { shape: [2, 32] };
	let frozen;
	observer.enter('training');
	for (let t = 0; t < 5; t++) {
		const data = Float32Array.from({ length: 64 }, () => r.normal());
		const out = observer.forward(data, options);
		const { ranges } = observer;
		const made = quantize(data, { ...options, scheme, ranges });
		if (t < 2) assert.deepEqual(out, data);
		else assert.deepEqual(out, fakeQuantize(data, { ...options, scheme, ranges }));
		const parameters = [made.planes['scales.0'].bytes, made.planes['scales.1'].bytes];
		if (t > 2) assert.deepEqual(parameters, frozen);
		frozen = parameters;
		observer.step();
	}
});
