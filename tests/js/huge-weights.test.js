// huge-weights.test.js - finite weights near the end of their dtype: numbers come back, or the overflow is told.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantize } from '../../js/arrays/quantize.js';
import { drawScheme } from './scheme-draws.js';
import { asDtype, random, ready, throughCore } from './support.js';

const LARGEST = { f32: 3.3e38, f16: 65504, bf16: 3.3e38 };

function drawHuge(r) {
	const dtype = ['f32', 'f16', 'bf16'][r.below(3)];
	const shape = [1 + r.below(4), 4 * (1 + r.below(12))];
	const magnitude = LARGEST[dtype] * 2 ** -r.below(3);
	const draw = () => (r.below(6) ? (magnitude * (r.below(2001) - 1000)) / 1000 : 0);
	return { dtype, shape, data: asDtype(Float32Array.from({ length: shape[0] * shape[1] }, draw), dtype) };
}

test('schemes at random never make NaN of finite weights without a word', async () => {
	await ready();
	const r = random(7);
	let [kept, told] = [0, 0];
	for (let i = 0; i < 40_000; i++) {
		const scheme = drawScheme(r);
		const each = { ...drawHuge(r), scheme, bandBytes: 8e6 };
		let got;
		try {
			got = throughCore(each);
		} catch {
			continue; // breaks a rule: tests/js/schemes.test.js
		}
		if (got.report.overflowBlocks) told++;
		else kept++;
		const what = `${JSON.stringify(scheme)} ${each.dtype} [${each.shape}]`;
		if (!got.report.overflowBlocks) assert.ok(!got.values.some(Number.isNaN), what);
	}
	assert.ok(kept > 2000 && told > 2000, `${kept} kept, ${told} told`);
});

const E8M0 = { dtype: 'e8m0', block: 'tensor' };
const f16 = { value: 'i5', scales: [{ dtype: 'f16', block: 'tensor' }], rules: 'compressed-tensors' };
for (const [what, scheme, magnitude] of /** @type {[string, any, number][]} */ ([
	[
		'a child of f32 whose ideal is infinite',
		{ value: 'i6', scales: [{ dtype: 'f32', block: 4 }, E8M0], zero: 'i6' },
		3.3e38,
	],
	[
		'an integer under E8M0 that saturates',
		{ value: 'i4', scales: [{ dtype: 'i4', block: 4 }, E8M0], zero: 'i8' },
		3e38,
	],
	['a child rounded up', { value: 'nf4', scales: [{ dtype: 'f32', block: 4 }, E8M0], rules: 'burn-ndarray' }, 2.5e38],
	['a scale that saturates', f16, 1e10],
]))
	test(`${what} is an overflow`, async () => {
		await ready();
		const weights = Float32Array.of(magnitude, -magnitude, magnitude / 3, 0);
		const options = { scheme, shape: [1, 4] };
		assert.throws(() => quantize(weights, options), { code: 'overflow' });
		const { warnings } = quantize(weights, { ...options, overflow: 'allow' });
		assert.match(warnings[0], /1 block/);
	});
