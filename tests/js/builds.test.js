// builds.test.js - one result from every build: scalar and simd128 wasm, and natively gcc and sanitized clang, on golden
// and generated tensors of every preset; fused against generic; whole against banded.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromCompressedTensors } from '../../js/compressed-tensors/from.js';
import { KERNELS } from '../../js/core/abi.js';
import { presets } from '../../js/presets.js';
import { burnTensors } from './burn-support.js';
import { sets, withRanges } from './coreai-support.js';
import {
	asDtype,
	bytesOf,
	ctCases,
	goldenFolders,
	ggmlCases,
	kernelRows,
	nativeBuilds,
	needsImatrix,
	random,
	ready,
	takesImatrix,
	throughCore,
	throughNative,
	unnamed,
} from './support.js';

const DTYPES = ['f32', 'f16', 'bf16'];

/** Schemes without a preset: blocks over rows, partial ones, more axes, other layouts. */
const HAND_WRITTEN = [
	{ value: 'f8e4m3', scales: [{ dtype: 'input', block: [3, 5] }], rules: 'compressed-tensors' },
	{ value: 'i8', scales: [{ dtype: 'f32', block: [2, 3, 4] }], rules: 'compressed-tensors' },
	{
		value: 'f8e4m3',
		scales: [{ dtype: 'input', block: [3, 5] }],
		zero: 'f8e4m3',
		rules: 'compressed-tensors',
		layout: 'naive-quantized',
	},
	{
		value: 'i6',
		scales: [{ dtype: 'input', block: 'tensor' }],
		zero: 'i6',
		rules: 'compressed-tensors',
		layout: 'pack-quantized',
	},
	{
		value: 'i3',
		scales: [{ dtype: 'bf16', block: 'channel' }],
		zero: 'i3',
		rules: 'compressed-tensors',
		layout: 'pack-quantized',
	},
	{
		value: 'f8e5m2',
		scales: [{ dtype: 'f16', block: [-1, 1] }],
		rules: 'compressed-tensors',
		layout: 'naive-quantized',
	},
	{ value: 'i7-narrow', scales: [{ dtype: 'f32', block: [2, -1] }], rules: 'ggml' },
	{ value: 'i5', scales: [{ dtype: 'f8e5m2', block: [2, 7] }], rules: 'ggml-signed' },
];

/** The length of a row of so many blocks. */
function rowLength(scheme, blocks) {
	if (scheme.layout === 'ggml-nvfp4') return blocks * 64; // four groups share a block
	const { block } = scheme.scales.at(-1).block === 'tensor' ? scheme.scales[0] : scheme.scales.at(-1);
	return typeof block === 'number' ? blocks * block : 2 * (7 + 11 * blocks);
}

const kinds = {
	gaussian: (r) => 0.02 * r.normal(),
	'heavy tails': (r) => 0.02 * r.normal() ** 5,
	ties: (r) => (r.below(33) - 16) / 16,
	zeros: (r) => [0, -0, 0, -0, 1e-30][r.below(5)],
	constant: () => -0.375,
	tiny: (r) => r.normal() * 1e-39,
	mixed: (r) => r.normal() * 2 ** (r.below(24) - 16),
};

/** Tensors of a scheme: 1 to 7 rows, 1 to 9 blocks, all dtypes, all kinds of values, at odd offsets; some with an imatrix. */
function tensors(scheme, seed) {
	const r = random(seed);
	const cases = [];
	for (let rows = 1; rows <= 7; rows++)
		for (let blocks = 1; blocks <= 9; blocks++) {
			const dtype = DTYPES[(rows + blocks) % 3];
			const names = Object.keys(kinds);
			const kind = names[r.below(names.length)];
			const deep = scheme.scales.some(({ block }) => Array.isArray(block) && block.length > 2);
			const shape =
				deep || (rows % 3 === 0 && !scheme.zero)
					? [2, rows, rowLength(scheme, blocks)]
					: [rows, rowLength(scheme, blocks)];
			const count = shape.reduce((n, d) => n * d);
			const values = Float32Array.from({ length: count }, () => kinds[kind](r));
			const rounded = asDtype(values, dtype);
			// At an odd place in a larger buffer.
			const data = new rounded.constructor(count + 1).subarray(1);
			data.set(rounded);
			const imatrix =
				takesImatrix(scheme) && (blocks % 2 || needsImatrix(scheme))
					? Float32Array.from({ length: shape.at(-1) }, () => r.next() * (r.below(8) ? 1 : 0))
					: undefined;
			cases.push({
				scheme,
				shape,
				dtype,
				data,
				imatrix,
				kind,
				bandBytes: [1, 5000, 8e6][r.below(3)],
				correct: blocks % 4 === 3,
			});
		}
	return cases;
}

/** What a tensor is quantized with where there is no imatrix. */
const without = (scheme) => (needsImatrix(scheme) ? 'ones' : undefined);

const said = ({ scheme, shape, dtype, kind, imatrix }) =>
	`${scheme.name ?? JSON.stringify(scheme)} ${dtype} [${shape}] ${kind}${imatrix ? ' imatrix' : ''}`;

function same(got, expected, what) {
	expected.stored.forEach((bytes, p) => {
		const at = got.stored[p].findIndex((byte, i) => byte !== bytes[i]);
		assert.equal(
			at,
			-1,
			`${what}: plane ${p}, byte ${at} of ${bytes.length}: ${got.stored[p][at]}, expected ${bytes[at]}`,
		);
	});
	for (const kind of ['values', 'fake']) {
		const at = Buffer.compare(Buffer.from(bytesOf(got[kind])), Buffer.from(bytesOf(expected[kind])));
		assert.equal(at, 0, `${what}: ${kind} differ`);
	}
}

/** The results of one row of wasm kernels. */
async function inWasm(kernels, cases) {
	await ready(kernels);
	return cases.map((each) => throughCore(each));
}

async function everyBuild(cases) {
	const expected = await inWasm('scalar', cases);
	for (const kernels of KERNELS.slice(1)) {
		const got = await inWasm(kernels, cases);
		got.forEach((result, i) => same(result, expected[i], `wasm ${kernels}: ${said(cases[i])}`));
	}
	for (const program of nativeBuilds)
		for (const kernels of KERNELS) {
			const got = throughNative(program, kernels, cases);
			got.forEach((result, i) => {
				assert.equal(result.status, 0, said(cases[i]));
				same(result, expected[i], `${program} ${kernels}: ${said(cases[i])}`);
			});
		}
	return expected;
}

test('the native builds are there', () => {
	assert.equal(nativeBuilds.length, 2, 'expected build/native and build/sanitize; npm test builds them');
});

test('every preset: one result from every build, on generated shapes', async () => {
	await ready();
	for (const { scheme } of presets().values()) await everyBuild(tensors(scheme, 7));
});

test('schemes without a preset: one result from every build, partial blocks too', async () => {
	await ready();
	for (const scheme of HAND_WRITTEN) await everyBuild(tensors(scheme, 11));
});

test('golden inputs of ggml: one result from every build', async () => {
	await ready();
	const cases = ggmlCases(goldenFolders[0], presets()).map(({ preset, input, shape, data, imatrix }) => ({
		...{ shape, data, imatrix, dtype: 'f32', kind: input },
		scheme: presets().get(preset).scheme,
	}));
	await everyBuild(cases);
});

test('golden inputs of compressed-tensors: one result from every build', async () => {
	await ready();
	for (const folder of goldenFolders) {
		const cases = ctCases(folder).map(({ name, json, shape, dtype, data }, i) => ({
			...{ scheme: fromCompressedTensors(json), shape, dtype, data, kind: name, bandBytes: i % 2 ? 5000 : 8e6 },
		}));
		await everyBuild(cases);
	}
});

test('golden inputs of Burn: one result from every build', async () => {
	await ready();
	await everyBuild(burnTensors().map(({ core, what }, i) => ({ ...core, kind: what, bandBytes: i % 2 ? 100 : 8e6 })));
});

test('golden inputs of Core AI: one result from every build', async () => {
	await ready();
	// A range that the scheme itself says, and what that means for the arithmetic, is known to JavaScript alone.
	const stated = (given) => {
		const { range } = given.scheme.observer ?? {};
		return range ? { ...withRanges(given), correct: range.every((end) => end !== null) } : given;
	};
	const given = sets.flatMap(({ cases, nestedCases, coreCase, nestedCase }) => [
		...cases.map(coreCase).map(stated),
		...nestedCases.map(nestedCase),
	]);
	await everyBuild(given.map((each, i) => ({ ...each, kind: 'of Core AI', bandBytes: i % 2 ? 300 : 8e6 })));
});

for (const kernels of kernelRows) {
	test(`${kernels}: the fused kernel and the generic path give the same bytes`, async () => {
		await ready(kernels);
		let compared = 0;
		for (const { scheme, struct } of presets().values()) {
			if (!struct.fused) continue;
			for (const each of tensors(scheme, 13)) {
				const plain = { ...each, imatrix: without(scheme) };
				const fused = throughCore(plain);
				assert.equal(fused.report.genericValues, 0);
				if (scheme.calibration === 'search') continue;
				const generic = throughCore({ ...plain, scheme: unnamed(scheme) });
				assert.equal(generic.report.fusedValues, 0);
				same(generic, fused, said(plain));
				assert.equal(generic.report.overflowBlocks, fused.report.overflowBlocks, said(plain));
				compared++;
			}
		}
		assert.equal(compared, 15 * 63);
	});

	test(`${kernels}: bands of any size give the bytes of the whole`, async () => {
		await ready(kernels);
		for (const scheme of [...[...presets().values()].map((preset) => preset.scheme), ...HAND_WRITTEN])
			for (const each of tensors(scheme, 17).filter((_, i) => i % 5 === 0)) {
				const whole = throughCore({ ...each, bandBytes: 2 ** 30 });
				for (const bandBytes of [1, 1000, 4096]) same(throughCore({ ...each, bandBytes }), whole, said(each));
			}
	});

	test(`${kernels}: NaN and infinite weights give one result, and only their own blocks change`, async () => {
		await ready(kernels);
		const named = [...presets().values()];
		const byStages = named.filter(({ scheme, struct }) => struct.fused && scheme.calibration !== 'search');
		const all = [...named.map(({ scheme }) => scheme), ...byStages.map(({ scheme }) => unnamed(scheme))];
		for (const scheme of [...all, ...HAND_WRITTEN]) {
			const cols = rowLength(scheme, 3);
			const r = random(19);
			// Bits: a NaN has a sign and a payload, which reach no code.
			for (const bad of [0x7fc00000, 0xffc12345, 0x7f800000, 0xff800000]) {
				const data = Float32Array.from({ length: 4 * cols }, () => r.normal());
				new Uint32Array(data.buffer)[cols + 1] = bad;
				const each = {
					scheme,
					shape: scheme.zero ? [4, cols] : [2, 2, cols],
					dtype: 'f32',
					data,
					imatrix: without(scheme),
					kind: bad.toString(16),
				};
				const got = throughCore(each);
				assert.equal(got.report.nonfiniteValues, 1);
				await ready('scalar');
				same(got, throughCore(each), `${kernels}: ${said(each)}`);
				await ready(kernels);
			}
		}
	});
}
