// equivalences.test.js - formats written by hand in the language give the preset's bytes, on the path that each should take.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveScheme } from '../../js/presets.js';
import { asDtype, kernelRows, random, ready, throughCore } from './support.js';

const per = (dtype, block) => ({ dtype, block });

/** By hand, and whether the preset has a kernel of its own. What has none is as fast on the stages: `npm run bench`. */
const FORMATS = {
	'ggml:q8_0': [{ value: 'i8-narrow', scales: [per('f16', 32)], rules: 'ggml', layout: 'ggml-q8_0' }, true],
	'ggml:q4_0': [{ value: 'i4', scales: [per('f16', 32)], rules: 'ggml-signed', layout: 'ggml-q4_0' }, true],
	'ggml:q5_0': [{ value: 'i5', scales: [per('f16', 32)], rules: 'ggml-signed', layout: 'ggml-q5_0' }, true],
	'ggml:tq2_0': [{ value: 'i2-narrow', scales: [per('f16', 256)], rules: 'ggml', layout: 'ggml-tq2_0' }, true],
	'ggml:tq1_0': [{ value: 'i2-narrow', scales: [per('f16', 256)], rules: 'ggml', layout: 'ggml-tq1_0' }, true],
	'ct:int8': [
		{ value: 'i8', scales: [per('input', 'channel')], rules: 'compressed-tensors', layout: 'int-quantized' },
		false,
	],
	'ct:fp8_block': [
		{ value: 'f8e4m3', scales: [per('input', [128, 128])], rules: 'compressed-tensors', layout: 'float-quantized' },
		false,
	],
	'ct:nvfp4a16': [
		{
			value: 'f4e2m1',
			scales: [per('f8e4m3', 16), per('f32', 'tensor')],
			rules: 'compressed-tensors',
			layout: 'nvfp4-pack-quantized',
		},
		false,
	],
	'ct:mxfp4a16': [
		{ value: 'f4e2m1', scales: [per('e8m0', 32)], rules: 'compressed-tensors', layout: 'mxfp4-pack-quantized' },
		false,
	],
};

const shape = [130, 512];
const r = random(29);
const values = Float32Array.from({ length: 130 * 512 }, () => (r.below(50) ? r.normal() : 0));

for (const kernels of kernelRows)
	for (const [name, [byHand, hasKernel]] of Object.entries(FORMATS))
		test(`${kernels}: ${name} by hand`, async () => {
			await ready(kernels);
			for (const dtype of ['f32', 'f16', 'bf16']) {
				const tensor = { shape, dtype, data: asDtype(values, dtype) };
				const [hand, preset] = [byHand, resolveScheme(name)].map((scheme) =>
					throughCore({ ...tensor, scheme }),
				);
				assert.deepEqual(hand.stored, preset.stored, dtype);
				assert.deepEqual([hand.values, hand.fake], [preset.values, preset.fake], dtype);
				assert.deepEqual([hand.report.fusedValues, hand.report.genericValues], [0, values.length]);
				const paths = hasKernel ? [values.length, 0] : [0, values.length];
				assert.deepEqual([preset.report.fusedValues, preset.report.genericValues], paths);
			}
		});
