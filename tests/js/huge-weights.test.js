// huge-weights.test.js - finite weights near the end of their dtype: numbers come back, or the overflow is told.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compare, dequantize, quantize, schemes } from '../../js/index.js';
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

/** docs/schemes.md's list: from which magnitude on a block of a type is an overflow. */
const TYPES = [
	...readFileSync(new URL('../../docs/schemes.md', import.meta.url), 'utf8').matchAll(/^ {6}(\w+ \d.*)$/gm),
]
	.flatMap(([, line]) => line.split(/,\s*/).filter(Boolean))
	.map((entry) => entry.split(' '))
	.map(([type, from]) => ({
		scheme: `ggml:${type}`,
		from: from === 'never' ? Number.POSITIVE_INFINITY : Number(from),
	}));

const quantized = (weights, options) =>
	quantize(weights, { shape: [1, weights.length], overflow: 'allow', ...options });
const needsImportance = (scheme) => /iq1_s|iq2_x/.test(scheme);

test('the list of magnitudes has every type of ggml', async () => {
	await ready();
	const names = schemes().flatMap(({ name }) => (name.startsWith('ggml:') ? [name] : []));
	assert.deepEqual(TYPES.map(({ scheme }) => scheme).sort(), names.sort());
});

for (const { scheme, from } of TYPES)
	test(`${scheme}: a block of ${from} and more is an overflow, whatever its sums come to, and no smaller one`, async () => {
		await ready();
		const options = { scheme, ...(needsImportance(scheme) && { imatrix: 'ones' }) };
		const block = (x) => new Float32Array(256).map((_, i) => (i % 2 ? -x : x));
		for (const x of [1000, Math.min(from * 0.9995, 1e38)]) {
			const tensor = quantized(block(x), options);
			assert.deepEqual(tensor.warnings, [], `${x}`);
			const values = dequantize(tensor);
			assert.ok(values.every((value) => Number.isFinite(value)) && values.some((value) => value > x / 4), `${x}`);
		}
		for (let x = from * 1.0005; x < 3.4e38; x *= 2) {
			assert.match(quantized(block(x), options).warnings[0], /^(1|2|4|8|16) block/, `${x}`);
			assert.throws(() => quantize(block(x), { ...options, shape: [1, 256] }), { code: 'overflow' });
		}
	});

test('a sub-block whose sums overflow is told of beside ones that are stored', async () => {
	await ready();
	for (const scheme of [
		'q6_k',
		'q5_k',
		'q4_k',
		'q3_k',
		'q2_k',
		'iq4_xs',
		'iq1_m',
		'iq1_s',
		'iq2_xxs',
		'iq3_s',
		'ggml:nvfp4',
	])
		for (let power = 28; power < 128; power++)
			for (const imatrix of needsImportance(scheme) ? ['ones'] : [undefined, 'ones']) {
				const weights = Float32Array.from(
					{ length: 256 },
					(_, i) => Math.sin(i) * (i >> 5 === 1 ? 2 ** power : 1),
				);
				if (scheme !== 'ggml:nvfp4' || !imatrix)
					assert.equal(quantized(weights, { scheme, imatrix }).warnings.length, 1, `${scheme} 2^${power}`);
			}
});

test('importance of any size gives what it means or is refused as itself', async () => {
	await ready();
	const weights = Float32Array.from({ length: 512 }, (_, i) => Math.sin(i * i));
	for (const { scheme } of TYPES) {
		if (/q8_0|mxfp4|nvfp4|tq|ggml:q[12]_0/.test(scheme)) continue; // these make no use of one
		const of = (power, scale = 1) => {
			const imatrix = new Float32Array(512).fill(2 ** power);
			return quantized(
				weights.map((x) => x * scale),
				{ scheme, imatrix },
			);
		};
		const ones = compare(weights, dequantize(of(0))).sqnrDb;
		for (let power = -20; power <= 57; power++) {
			assert.deepEqual(of(power).warnings, []);
			const got = compare(weights, dequantize(of(power))).sqnrDb;
			// As ggml's: squares of sums that overflow leave some searches with their first candidate.
			assert.ok(got > ones - 3, `${scheme}, importance 2^${power}: ${got} dB, ${ones} of ones`);
		}
		for (let power = 58; power < 128; power++)
			assert.match(
				of(power).warnings.join(),
				/^\d+ block\(s\) have importance too large/,
				`${scheme}, 2^${power}`,
			);
		assert.throws(() => quantize(weights, { scheme, shape: [1, 512], imatrix: new Float32Array(512).fill(3e38) }), {
			code: 'overflow',
			message: /importance too large to search with/,
		});
		assert.deepEqual(of(43, 2 ** 7).warnings, []);
		assert.match(of(44, 2 ** 7).warnings[0], /importance/);
	}
});
