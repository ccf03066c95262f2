// burn-ranges.test.js - calibration and its scales, against what Burn computed for every case that says so.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { convert } from '../../js/core/convert.js';
import { burnCases, quantScheme } from './burn-support.js';
import { asDtype, bytesOf, numbers, ready } from './support.js';

await ready();

const cases = burnCases('flex-0.23.0-pre.1', ({ range }) => range)
	.filter(({ scheme }) => scheme.mode === 'Symmetric') // burn-decisions.json says what becomes of Lookup
	.map(({ float_dtype: named, ...each }) => ({ ...each, dtype: { F16: 'f16', BF16: 'bf16' }[named] ?? 'f32' }));
/** Data of a half-precision tensor, as float32. */
const dataOf = ({ data, dtype }) => numbers(convert(bytesOf(asDtype(data, dtype)), dtype, 'f32'), 'f32');
/** Zeros without a sign, and NaN without a payload: neither reaches the scales. */
const words = (array) => [...array].map((x) => x + 0);
/** Blocks with more axes than the tensor lose edges in Burn. */
const whole = ({ scheme, shape }) => !scheme.block || scheme.block.size.length <= shape.length;

test('the least and the greatest value of every block', () => {
	const measured = cases.filter(({ method }) => method === 'MinMax');
	let tried = 0;
	for (const each of measured.filter(whole)) {
		const { what, scheme, shape, range } = each;
		const found = burn.computeRange(quantScheme(scheme), dataOf(each), shape);
		assert.deepEqual(
			[words(found.min), words(found.max), found.shape],
			[words(range.min), words(range.max), range.shape],
			what,
		);
		tried++;
	}
	assert.deepEqual([measured.length, tried], [194, 192]);
});

test('the scales of every range, before they are rounded', () => {
	let tried = 0;
	let refused = 0;
	const options = { nonfinite: 'allow' };
	for (const { what, scheme, range, dtype, q_params: expected } of cases.filter(({ q_params }) => q_params)) {
		if (scheme.tensor !== 'F32' && scheme.block && scheme.tensor) {
			assert.throws(() => burn.computeQParams(quantScheme(scheme), range, options), { code: 'unsupported' });
			refused++;
			continue;
		}
		const { scales, global } = burn.computeQParams(quantScheme(scheme), range, { ...options, dtype });
		assert.deepEqual(words(scales), words(expected.scales), what);
		assert.equal(global, expected.global, what);
		tried++;
	}
	assert.deepEqual([tried, refused], [345, 4]);
});

test('what has no range is refused', () => {
	const scheme = new burn.QuantScheme();
	assert.throws(() => burn.computeRange(scheme, new Float32Array(0), [0, 16]), { code: 'bad-shape' });
	assert.throws(() => burn.computeRange(scheme, new Float32Array(3), [2, 2]), { code: 'bad-shape' });
	assert.throws(() => burn.computeRange(scheme, new Float32Array(4), [4], 'absmaen'), {
		code: 'bad-argument',
		message: /calibration: expected one of MinMax, AbsMean; got "absmaen"; did you mean AbsMean\?/,
	});
	const ends = (...max) => ({ min: new Float32Array(max.length), max: Float32Array.from(max) });
	assert.throws(() => burn.computeQParams(scheme, ends(1, 2)), { code: 'bad-argument', message: /one each/ });
	const swapped = { min: Float32Array.of(2), max: Float32Array.of(1) };
	assert.throws(() => burn.computeQParams(scheme, swapped), { code: 'bad-argument', message: /least value first/ });
	for (const end of [Number.NaN, Number.POSITIVE_INFINITY])
		assert.throws(() => burn.computeQParams(scheme, ends(end)), { code: 'nonfinite', message: /block 0 is \[0, / });
	assert.throws(() => burn.computeQParams(scheme, ends(1), { dtype: 'f61' }), { code: 'bad-argument' });
});
