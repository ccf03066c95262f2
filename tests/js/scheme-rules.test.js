// scheme-rules.test.js - a scheme that breaks no rule of docs/schemes.md works, one that does is refused by that rule.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { schemeSizes } from '../../js/scheme/sizes.js';
import { validateScheme } from '../../js/scheme/validate.js';
import { random, ready } from './support.js';
import { anyScheme, anyShape, brokenRules } from './scheme-rules.js';

await ready();

const dtype = fc.constantFrom('f32', 'f16', 'bf16');

test('what the core refuses is what the rules say, every one of them', () => {
	const legal = { count: 0 };
	fc.assert(
		fc.property(anyScheme(), anyShape, dtype, (scheme, shape, input) => {
			const told = [...new Set(validateScheme(scheme, { shape, dtype: input }).map(({ rule }) => rule))];
			assert.deepEqual(told.sort(), brokenRules(scheme, shape, input).sort());
			legal.count += told.length === 0;
		}),
		{ numRuns: 20_000, seed: 5, includeErrorInReport: true },
	);
	assert.ok(legal.count > 1000, `${legal.count} legal`);
});

test('a legal scheme quantizes, has the sizes that were told, and decodes to finite values', () => {
	const r = random(17);
	let done = 0;
	fc.assert(
		fc.property(anyScheme(), anyShape, (scheme, shape) => {
			if (
				brokenRules(scheme, shape).length ||
				scheme.calibration === 'search' ||
				/^ggml-(q1_0|iq[123])/.test(scheme.layout ?? '')
			)
				return;
			const count = shape.reduce((product, dim) => product * dim, 1);
			const data = Float32Array.from({ length: count }, () => r.normal() + 0.1);
			const tensor = quantize(data, { scheme, shape, overflow: 'allow' });
			assert.equal(tensor.nbytes, schemeSizes(scheme, { shape }).nbytes);
			const values = dequantize(tensor);
			assert.equal(values.length, count);
			if (!tensor.warnings.length) assert.ok(values.every(Number.isFinite));
			done++;
		}),
		{ numRuns: 20_000, seed: 6, includeErrorInReport: true },
	);
	assert.ok(done > 1000, `${done} done`);
});
