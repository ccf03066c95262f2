// equivalences.test.js - formats written by hand in the language give the preset's bytes, on the path that each should take.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveScheme } from '../../js/presets.js';
import { asDtype, bytesOf, kernelRows, random, ready, throughCore } from './support.js';

const per = (dtype, block) => ({ dtype, block });

/** By hand. */
const FORMATS = {
	'ggml:q8_0': { value: 'i8-narrow', scales: [per('f16', 32)], rules: 'ggml', layout: 'ggml-q8_0' },
	'ggml:q4_0': { value: 'i4', scales: [per('f16', 32)], rules: 'ggml-signed', layout: 'ggml-q4_0' },
	'ggml:q5_0': { value: 'i5', scales: [per('f16', 32)], rules: 'ggml-signed', layout: 'ggml-q5_0' },
	'ggml:tq2_0': { value: 'i2-narrow', scales: [per('f16', 256)], rules: 'ggml', layout: 'ggml-tq2_0' },
	'ggml:tq1_0': { value: 'i2-narrow', scales: [per('f16', 256)], rules: 'ggml', layout: 'ggml-tq1_0' },
	'ggml:mxfp4': { value: 'f4e2m1', scales: [per('e8m0', 32)], rules: 'ggml-e2m1', layout: 'ggml-mxfp4' },
	'ggml:nvfp4': { value: 'f4e2m1', scales: [per('ggml_ue4m3', 16)], rules: 'ggml-e2m1', layout: 'ggml-nvfp4' },
	'ct:int8': {
		value: 'i8',
		scales: [per('input', 'channel')],
		rules: 'compressed-tensors',
		layout: 'int-quantized',
	},
	'ct:fp8_block': {
		value: 'f8e4m3',
		scales: [per('input', [128, 128])],
		rules: 'compressed-tensors',
		layout: 'float-quantized',
	},
	'ct:nvfp4a16': {
		value: 'f4e2m1',
		scales: [per('f8e4m3', 16), per('f32', 'tensor')],
		rules: 'compressed-tensors',
		layout: 'nvfp4-pack-quantized',
	},
	'ct:mxfp4a16': {
		value: 'f4e2m1',
		scales: [per('e8m0', 32)],
		rules: 'compressed-tensors',
		layout: 'mxfp4-pack-quantized',
	},
};

/** Rows whose arithmetic is at its ends: each of another size, from the least to the largest of float32; values halfway
 * between two codes, -0, NaN and the infinities among them. */
const extremes = Float32Array.from({ length: 280 * 512 }, (_, i) => {
	const [row, col] = [Math.floor(i / 512), i % 512];
	const size = 2 ** Math.min(row - 149, 127);
	if (row % 7 === 0 && col % 97 === 5)
		return [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0][col % 4];
	if (row % 2) return (((col * 7) % 53) - 26) * 0.25 * size * (col < 256 ? 1 : 2 ** -24);
	return Math.fround(Math.sin(i) * size * (col % 32 ? 1 : 1e6));
});

const shape = [130, 512];
const r = random(29);
const values = Float32Array.from({ length: 130 * 512 }, () => (r.below(50) ? r.normal() : 0));

const paths = ({ fusedValues, genericValues }) => ({ fusedValues, genericValues });
const fused = { fusedValues: values.length, genericValues: 0 };
const generic = { fusedValues: 0, genericValues: values.length };

for (const kernels of kernelRows)
	for (const [name, byHand] of Object.entries(FORMATS))
		test(`${kernels}: ${name} by hand`, async () => {
			await ready(kernels);
			for (const dtype of ['f32', 'f16', 'bf16']) {
				const tensor = { shape, dtype, data: asDtype(values, dtype) };
				const [hand, preset] = [byHand, resolveScheme(name)].map((scheme) =>
					throughCore({ ...tensor, scheme }),
				);
				assert.deepEqual(hand.stored, preset.stored, dtype);
				assert.deepEqual([hand.values, hand.fake], [preset.values, preset.fake], dtype);
				assert.deepEqual([hand.report, hand.decodeReport].map(paths), [generic, generic]);
				assert.deepEqual([preset.report, preset.decodeReport].map(paths), [fused, fused]);
			}
		});

/** The edges of the blocks that measure, of planar formats with a kernel. */
const BLOCKS = { 'ct:int8': [1, 512], 'ct:fp8_block': [128, 128], 'ct:nvfp4a16': [1, 16], 'ct:mxfp4a16': [1, 32] };

for (const kernels of kernelRows)
	for (const name of ['ggml:mxfp4', 'ggml:nvfp4', ...Object.keys(BLOCKS)])
		test(`${kernels}: ${name} by hand, of values of every size`, async () => {
			await ready(kernels);
			for (const dtype of ['f32', 'f16', 'bf16'])
				for (const correct of [false, true]) {
					const tensor = { shape: [280, 512], dtype, data: asDtype(extremes, dtype), correct };
					const [hand, preset] = [FORMATS[name], resolveScheme(name)].map((scheme) =>
						throughCore({ ...tensor, scheme }),
					);
					const what = `${dtype}, correct ${correct}`;
					for (const [p, bytes] of preset.stored.entries())
						assert.ok(Buffer.compare(hand.stored[p], bytes) === 0, `${what}: plane ${p} differs`);
					assert.ok(
						Buffer.compare(bytesOf(hand.values), bytesOf(preset.values)) === 0,
						`${what}: values differ`,
					);
					assert.equal(hand.report.overflowBlocks, preset.report.overflowBlocks, what);
					assert.deepEqual([hand.report.genericValues, preset.report.fusedValues], [280 * 512, 280 * 512]);
				}
		});

function rangesOf([height, width]) {
	const [rows, cols] = shape;
	const across = Math.ceil(cols / width);
	const cells = Math.ceil(rows / height) * across;
	const ranges = { min: new Float32Array(cells), max: new Float32Array(cells) };
	values.forEach((value, i) => {
		const cell = Math.floor(Math.floor(i / cols) / height) * across + Math.floor((i % cols) / width);
		ranges.min[cell] = Math.min(ranges.min[cell], value);
		ranges.max[cell] = Math.max(ranges.max[cell], value);
	});
	return ranges;
}

for (const kernels of kernelRows)
	test(`${kernels}: what is given takes the stages, and gives the bytes of the kernel where it is what that finds`, async () => {
		await ready(kernels);
		for (const [name, block] of Object.entries(BLOCKS)) {
			const tensor = { shape, dtype: 'f32', data: values, scheme: resolveScheme(name), decode: false };
			const { infos, stored, report } = throughCore(tensor);
			const found = infos.map(({ role }, p) => [role, stored[p]]).filter(([role]) => role.startsWith('scales'));
			const given = [{ parameters: Object.fromEntries(found) }, { ranges: rangesOf(block) }];
			if (found.length > 1) given.push({ parameters: Object.fromEntries(found.slice(1)) });
			assert.deepEqual(paths(report), fused, name);
			for (const each of given) {
				const got = throughCore({ ...tensor, ...each });
				assert.deepEqual(paths(got.report), generic, name);
				assert.deepEqual(got.stored, stored, `${name}: ${Object.keys(each)}`);
			}
		}
	});
