// given.test.js - parameters that are given: values are made against what they decode to, and they are stored as they are.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantize } from '../../js/arrays/quantize.js';
import { presets } from '../../js/presets.js';
import {
	bytesOf,
	decodeStored,
	ggmlCases,
	goldenFolders,
	kernelRows,
	random,
	ready,
	throughCore,
	unnamed,
} from './support.js';

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

/** The codes of the 32 values under a scale: the low or the high halves of 32 bytes. @param {Uint8Array} block @param {number} j */
function codesUnder(block, j) {
	const pair = block.subarray(16 + 32 * (j >> 1), 48 + 32 * (j >> 1));
	return Array.from(pair, (byte) => (j % 2 ? byte >> 4 : byte & 15));
}

/** Scales of q4_K in golden data, and how many of them are 0. */
const COUNTS = { scales: 9600, zeros: 2460 };

for (const kernels of kernelRows)
	test(`${kernels}: q4_k as a nested scheme, given ggml's scales and mins, packs to ggml's bytes`, async () => {
		await ready(kernels);
		const scheme = { ...unnamed(presets().get('ggml:q4_k').scheme), calibration: 'minmax', rules: 'plain' };
		for (const folder of goldenFolders) {
			const cases = ggmlCases(folder, new Set(['ggml:q4_k']));
			let [scales, zeros] = [0, 0];
			for (const { input, imatrix, shape, data, expected } of cases) {
				const parameters = parametersOfQ4K(expected);
				const got = throughCore({ data, shape, dtype: 'f32', scheme, parameters, bandBytes: 5000 });
				assert.equal(got.report.fusedValues, 0);
				for (let b = 0; b < expected.length / 144; b++) {
					const what = `${input} ${imatrix?.length}: block ${b}`;
					const [ours, ggmls] = [got.stored[0], expected].map((bytes) =>
						bytes.subarray(144 * b, 144 * (b + 1)),
					);
					assert.deepEqual([...ours.subarray(0, 16)], [...ggmls.subarray(0, 16)], what);
					for (let j = 0; j < 8; j++) {
						scales++;
						const isZero = !parameters['scales.0'][8 * b + j] || !parameters['scales.1'][b];
						// Every code says the same under a scale of 0. There ggml leaves what its search had found for the scale
						// before it was rounded to 0, which nothing that is stored tells; a given scale gives code 0.
						zeros += isZero ? 1 : 0;
						assert.deepEqual(
							codesUnder(ours, j),
							isZero ? Array(32).fill(0) : codesUnder(ggmls, j),
							`${what}, ${j}`,
						);
					}
				}
				const [mine, theirs] = [got.stored, [expected]].map((stored) =>
					bytesOf(
						decodeStored({ scheme, shape, dtype: 'f32', planes: got.infos }, stored, data.length).values,
					),
				);
				assert.ok(mine.equals(theirs), `${input} ${imatrix?.length}: values`);
			}
			assert.deepEqual({ scales, zeros }, COUNTS);
		}
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
