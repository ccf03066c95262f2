// given.test.js - parameters that are given: values are made against what they decode to, and they are stored as they are.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantize } from '../../js/arrays/quantize.js';
import { presets } from '../../js/presets.js';
import { ggmlCases, goldenFolders, kernelRows, random, ready, throughCore, unnamed } from './support.js';

/** Scales, mins and their parents of q4_K blocks, read by the description of the format. */
function parametersOfQ4K(bytes) {
	const nblocks = bytes.length / 144;
	const found = {
		'scales.0': new Uint8Array(8 * nblocks),
		'scales.1': new Uint16Array(nblocks),
		'mins.0': new Uint8Array(8 * nblocks),
		'mins.1': new Uint16Array(nblocks),
	};
	for (let b = 0; b < nblocks; b++) {
		const block = bytes.subarray(144 * b, 144 * (b + 1));
		found['scales.1'][b] = block[0] | (block[1] << 8);
		found['mins.1'][b] = block[2] | (block[3] << 8);
		const packed = block.subarray(4, 16);
		for (let j = 0; j < 8; j++) {
			const high = j >= 4;
			found['scales.0'][8 * b + j] = high ? (packed[j + 4] & 15) | ((packed[j - 4] >> 6) << 4) : packed[j] & 63;
			found['mins.0'][8 * b + j] = high ? (packed[j + 4] >> 4) | ((packed[j] >> 6) << 4) : packed[j + 4] & 63;
		}
	}
	return found;
}

for (const kernels of kernelRows)
	test(`${kernels}: q4_k as a nested scheme, given ggml's scales and mins, packs to ggml's bytes`, async () => {
		await ready(kernels);
		const scheme = { ...unnamed(presets().get('ggml:q4_k').scheme), calibration: 'minmax', rules: 'plain' };
		let blocks = 0;
		let same = 0;
		for (const folder of goldenFolders)
			for (const { input, imatrix, shape, data, expected } of ggmlCases(folder, new Set(['ggml:q4_k']))) {
				const parameters = parametersOfQ4K(expected);
				const got = throughCore({ data, shape, dtype: 'f32', scheme, parameters, bandBytes: 5000 });
				assert.equal(got.report.fusedValues, 0);
				for (let at = 0; at < expected.length; at += 144) {
					// Where a scale is 0, ggml leaves the codes of its search, which decode to the same values.
					const scales = parameters['scales.0'].subarray(at / 18, at / 18 + 8);
					const part = (bytes) => Buffer.from(bytes.subarray(at, at + 144));
					blocks++;
					if (!scales.includes(0) && parameters['scales.1'][at / 144]) {
						assert.ok(
							part(got.stored[0]).equals(part(expected)),
							`${input} ${imatrix?.length}: block ${at / 144}`,
						);
						same++;
					} else assert.ok(part(got.stored[0]).subarray(0, 16).equals(part(expected).subarray(0, 16)));
				}
			}
		assert.ok(same > blocks / 2, `${same} of ${blocks}`);
	});

test('parameters of any levels are stored as they are, and what does not fit is refused', async () => {
	await ready();
	const r = random(5);
	const data = Float32Array.from({ length: 12 * 48 }, () => r.normal());
	const scheme = {
		value: 'u4',
		scales: [
			{ dtype: 'u6', block: 16 },
			{ dtype: 'f16', block: [4, 48] },
			{ dtype: 'f32', block: 'tensor' },
		],
		mins: [
			{ dtype: 'u8', block: 16 },
			{ dtype: 'f8e4m3', block: [4, 48] },
			{ dtype: 'f32', block: 'tensor' },
		],
	};
	const first = quantize(data, { scheme, shape: [12, 48] });
	const parameters = Object.fromEntries(
		Object.entries(first.planes)
			.filter(([name]) => name !== 'values')
			.map(([name, { bytes }]) => [name, bytes]),
	);
	const again = quantize(data, { scheme, shape: [12, 48], parameters });
	assert.deepEqual(again.planes, first.planes);

	const zeros = { value: 'i4', zero: 'i4', scales: [{ dtype: 'f32', block: 16 }], rules: 'compressed-tensors' };
	const scales = new Float32Array(36).fill(0.25);
	const moved = quantize(data, {
		scheme: zeros,
		shape: [12, 48],
		parameters: { 'scales.0': scales, zeros: new Int8Array(36).fill(3) },
	});
	data.forEach((x, i) => {
		const code = Math.min(7, Math.max(-8, Math.round(x * 4) + 3));
		if (Math.abs((x * 4) % 1) !== 0.5) assert.equal(new Int8Array(moved.planes.values.bytes.buffer)[i], code);
	});
	const ranges = { min: scales, max: scales };
	assert.throws(
		() => quantize(data, { scheme: zeros, shape: [12, 48], ranges, parameters }),
		({ code }) => code === 'bad-argument',
	);
	for (const wrong of [
		null,
		{},
		{ 'scales.0': scales },
		{ 'scales.0': scales, zeros: new Int8Array(35) },
		{ 'scales.0': scales, zeros: new Int8Array(36), 'mins.0': scales },
		{ 'scales.0': [...scales], zeros: new Int8Array(36) },
	])
		assert.throws(
			() => quantize(data, { scheme: zeros, shape: [12, 48], parameters: wrong }),
			({ code }) => code === 'bad-argument',
			JSON.stringify(wrong),
		);
});
