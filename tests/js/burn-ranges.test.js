// burn-ranges.test.js - calibration and its scales, against what Burn computed for every case that says so.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { burnCases, quantScheme } from './burn-support.js';
import { ready } from './support.js';

await ready();

const halves = ['F16', 'BF16']; // weights whose scales are made in their dtype
const cases = burnCases(
	'flex-0.23.0-pre.1',
	({ range, float_dtype: dtype }) => range && !halves.includes(dtype),
).filter(
	({ scheme }) => scheme.mode === 'Symmetric', // burn-decisions.json says what becomes of Lookup
);
/** Zeros without a sign, and NaN without a payload: neither reaches the scales. */
const words = (array) => [...array].map((x) => x + 0);
/** Blocks with more axes than the tensor lose edges in Burn. */
const whole = ({ scheme, shape }) => !scheme.block || scheme.block.size.length <= shape.length;

test('the least and the greatest value of every block', () => {
	let tried = 0;
	for (const { what, scheme, shape, data, range } of cases
		.filter(whole)
		.filter(({ method }) => method === 'MinMax')) {
		const found = burn.computeRange(quantScheme(scheme), data, shape);
		assert.deepEqual(
			[words(found.min), words(found.max), found.shape],
			[words(range.min), words(range.max), range.shape],
			what,
		);
		tried++;
	}
	assert.ok(tried >= 180, `${tried}`);
});

test('the scales of every range, before they are rounded', () => {
	let tried = 0;
	for (const { what, scheme, range, q_params: expected } of cases.filter(({ q_params }) => q_params)) {
		if (scheme.tensor !== 'F32' && scheme.block && scheme.tensor) {
			assert.throws(() => burn.computeQParams(quantScheme(scheme), range), { code: 'unsupported' });
			continue;
		}
		const { scales, global } = burn.computeQParams(quantScheme(scheme), range);
		assert.deepEqual(words(scales), words(expected.scales), what);
		assert.equal(global, expected.global, what);
		tried++;
	}
	assert.ok(tried >= 330, `${tried}`);
});

test('what has no range is refused', () => {
	const scheme = new burn.QuantScheme();
	assert.throws(() => burn.computeRange(scheme, new Float32Array(0), [0, 16]), { code: 'bad-shape' });
	assert.throws(() => burn.computeRange(scheme, new Float32Array(3), [2, 2]), { code: 'bad-shape' });
	assert.throws(() => burn.computeRange(scheme, new Float32Array(4), [4], 'Mean'), { code: 'bad-argument' });
});
