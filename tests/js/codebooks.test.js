// codebooks.test.js - values that are entries of a table: the nearest, the lower of two, whatever the order of the table; and
// block layouts, which hold what the same scheme stores in planes.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presets } from '../../js/presets.js';
import { kernelRows, numbers, random, ready, throughCore, unnamed } from './support.js';

const NF4 = [
	...[-1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334],
	...[-0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224],
	...[0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1],
].map(Math.fround);

for (const kernels of kernelRows)
	test(`${kernels}: codes are those of the nearest entries`, async () => {
		await ready(kernels);
		const r = random(31);
		const tables = [NF4, [3, -1, 0, 2, 1], [-8, 8], Array.from({ length: 200 }, () => Math.fround(r.normal()))];
		for (const table of tables) {
			const value = table === NF4 ? 'nf4' : { codebook: table };
			const most = Math.max(...table.map(Math.abs));
			// The block's largest magnitude is the table's, so that the scale is 1, and many values are halfway.
			const data = Float32Array.from({ length: 640 }, (_, i) => {
				if (i % 64 === 0) return most;
				const [a, b] = [table[r.below(table.length)], table[r.below(table.length)]];
				return r.below(3) ? (a + b) / 2 : Math.min(most, Math.max(-most, r.normal() * most));
			});
			const scheme = { value, scales: [{ dtype: 'f32', block: 64 }] };
			const got = throughCore({ data, shape: [10, 64], dtype: 'f32', scheme });
			assert.ok(numbers(got.stored[1], 'f32').every((scale) => scale === 1));
			data.forEach((x, i) => {
				const nearest = table.reduce((best, entry) => {
					const [near, far] = [Math.abs(entry - x), Math.abs(best - x)];
					return near < far || (near === far && entry < best) ? entry : best;
				}, Infinity);
				assert.equal(table[got.stored[0][i]], nearest, `${x} of ${table.length}`);
				assert.equal(got.values[i], nearest);
			});
		}
	});

test('block layouts hold what the same scheme stores in planes', async () => {
	await ready();
	const r = random(8);
	let layouts = 0;
	for (const { scheme: preset } of presets().values()) {
		if (!preset.layout.startsWith('ggml-') || /-q1_0$|iq[123]/.test(preset.layout)) continue;
		const scheme = { ...unnamed(preset), rules: 'plain', calibration: 'minmax' };
		const data = Float32Array.from({ length: 6 * 512 }, () => r.normal() * 2 ** r.below(3));
		const [blocks, planes] = [preset.layout, 'planes'].map((layout) =>
			throughCore({ data, shape: [6, 512], dtype: 'f32', scheme: { ...scheme, layout } }),
		);
		assert.equal(blocks.infos.length, 1);
		assert.equal(blocks.report.fusedValues, 0);
		// Some formats have no -0.
		blocks.values.forEach((x, i) => assert.equal(x + 0, planes.values[i] + 0, `${preset.layout} ${i}`));
		layouts++;
	}
	assert.equal(layouts, 17);
});
