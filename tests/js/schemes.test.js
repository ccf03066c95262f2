// schemes.test.js - schemes drawn at random: each works in both kernel rows alike, in bands as in the whole, with finite
// values of the right number, or is refused by a rule.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { drawCase } from './scheme-draws.js';
import { bytesOf, nativeBuilds, numbers, random, ready, throughCore, throughNative } from './support.js';

const CASES = 4000;

/** Rules that make codes against the stored parameters give the same again when they are given. */
const isTakenBack = ({ scheme, expected }) =>
	!/ggml/.test(scheme.rules ?? '') && scheme.layout === 'planes' && !expected.report.warnings.length;

function checkTakenBack(each) {
	const { infos, stored } = each.expected;
	const planes = infos.map(({ name }, p) => [name, stored[p]]).filter(([name]) => name !== 'values');
	const again = throughCore({ ...each, parameters: Object.fromEntries(planes), decode: false });
	again.stored.forEach((bytes, p) =>
		assert.ok(Buffer.compare(bytes, stored[p]) === 0, `${JSON.stringify(each.scheme)}: plane ${p}, given`),
	);
}

function checkHalfAStep({ scheme, shape, data, expected }) {
	const at = expected.infos.findIndex(({ role }) => role === 'scales.0');
	const scales = expected.infos
		.slice(at, at + scheme.scales.length)
		.map((_, i) => numbers(expected.stored[at + i], 'f32'));
	const most = scales.reduce((product, level) => product * level.reduce((a, b) => Math.max(a, b)), 1);
	const error = data.reduce((worst, x, i) => Math.max(worst, Math.abs(x - expected.values[i])), 0);
	assert.ok(error <= most * 0.50001, `${JSON.stringify(scheme)} [${shape}]: ${error} of ${most}`);
}

test(`${CASES} schemes at random work or break a rule`, async () => {
	await ready('scalar');
	const r = random(2026);
	const working = [];
	const refused = new Map();
	for (let i = 0; i < CASES; i++) {
		const each = drawCase(r);
		try {
			each.expected = throughCore(each);
			working.push(each);
		} catch (error) {
			assert.ok(
				error instanceof BlockQuantError,
				`${JSON.stringify(each.scheme)} [${each.shape}]: ${error.stack}`,
			);
			const [, rule] = /\(rule (\S+) of/.exec(error.message) ?? [];
			assert.ok(rule, error.message);
			refused.set(rule, (refused.get(rule) ?? 0) + 1);
		}
	}
	assert.ok(working.length > CASES / 5, `only ${working.length} work: ${JSON.stringify([...refused])}`);
	for (const { scheme, shape, expected } of working) {
		const what = `${JSON.stringify(scheme)} [${shape}]`;
		if (expected.report.overflowBlocks === 0) assert.ok(expected.values.every(Number.isFinite), what);
		expected.infos.forEach((plane, p) => assert.equal(plane.nbytes, expected.stored[p].length));
	}
	const againOf = working.filter(isTakenBack);
	assert.ok(againOf.length > CASES / 20, `${againOf.length} with planes`);
	for (const each of againOf) checkTakenBack(each);
	await ready('simd128');
	for (const each of working) {
		const { scheme, shape, expected } = each;
		const got = throughCore({ ...each, bandBytes: 8e6 });
		const what = `${JSON.stringify(scheme)} [${shape}]`;
		got.stored.forEach((bytes, p) =>
			assert.ok(Buffer.compare(bytes, expected.stored[p]) === 0, `${what}: plane ${p}`),
		);
		for (const kind of ['values', 'fake'])
			assert.ok(Buffer.compare(bytesOf(got[kind]), bytesOf(expected[kind])) === 0, `${what}: ${kind}`);
	}
	for (const program of nativeBuilds)
		throughNative(program, 'simd128', working).forEach((got, i) => {
			const { scheme, shape, expected } = working[i];
			const what = `${program} ${JSON.stringify(scheme)} [${shape}]`;
			got.stored.forEach((bytes, p) =>
				assert.ok(Buffer.compare(bytes, expected.stored[p]) === 0, `${what}: plane ${p}`),
			);
			assert.ok(Buffer.compare(got.values, bytesOf(expected.values)) === 0, `${what}: values`);
		});
});

test('integers spread over the range of their block, under scales that nothing rounds, are within half a step', async () => {
	await ready();
	const r = random(11);
	let bounded = 0;
	while (bounded < 1000) {
		const each = { ...drawCase(r), correct: false };
		const plain = (level) => ({ ...level, dtype: 'f32' });
		const { zero: _zero, rules: _rules, mins, ...scheme } = each.scheme;
		const value = pickInteger(r, mins);
		Object.assign(scheme, { value, scales: scheme.scales.map(plain), calibration: 'minmax', layout: 'planes' });
		if (mins) scheme.mins = mins.map(plain);
		else delete scheme.symmetric;
		const data = Float32Array.from({ length: each.data.length }, () => r.normal());
		try {
			checkHalfAStep({
				scheme,
				shape: each.shape,
				data,
				expected: throughCore({ ...each, scheme, data, dtype: 'f32' }),
			});
		} catch (error) {
			assert.ok(error instanceof BlockQuantError, error);
			continue;
		}
		bounded++;
	}
});

/** Without mins, the lowest code would have no mirror image: as good, but unused. */
function pickInteger(r, mins) {
	const bits = 2 + r.below(7);
	return mins ? `${'iu'[r.below(2)]}${bits}` : `i${bits}`;
}
