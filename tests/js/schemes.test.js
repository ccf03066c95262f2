// schemes.test.js - schemes drawn at random: each works in both kernel rows alike, in bands as in the whole, with finite
// values of the right number, or is refused by a rule.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DTYPES, LAYOUTS, RULES } from '../../js/core/abi.js';
import { BlockQuantError } from '../../js/errors.js';
import { asDtype, bytesOf, nativeBuilds, random, ready, throughCore, throughNative } from './support.js';

const CASES = 4000;

function drawScheme(r) {
	const pick = (list) => list[r.below(list.length)];
	const codes = DTYPES.filter((name) => /^[iu]\d$|^f[468]e/.test(name));
	const edge = () => (r.below(5) ? 1 + r.below(9) : -1);
	const block = () =>
		pick([
			() => 'tensor',
			() => 'channel',
			() => pick([2, 4, 8, 16, 32]),
			() => [edge(), edge()],
			() => [edge(), edge(), edge()],
		])();
	const level = () => ({
		dtype: pick(['input', 'f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2', 'e8m0', 'ue4m3', 'u6']),
		block: block(),
	});
	const value = pick(codes);
	const integer = /^[iu]\d$/.test(value);
	const multiplied = r.below(6) === 0;
	return {
		value: integer && value !== 'i1' && value[0] === 'i' && r.below(4) === 0 ? `${value}-narrow` : value,
		scales: multiplied
			? [
					{ dtype: 'f8e4m3', block: block() },
					{ dtype: 'f32', block: 'tensor' },
				]
			: [level()],
		...(integer && r.below(3) === 0 && { zero: r.below(4) ? value : pick(codes) }),
		rules: r.below(3) ? RULES[0] : pick(RULES),
		layout: r.below(2) ? 'planes' : pick(LAYOUTS),
	};
}

function drawCase(r) {
	const dtype = ['f32', 'f16', 'bf16'][r.below(3)];
	const rank = 1 + r.below(4);
	const shape = Array.from({ length: rank }, (_, axis) =>
		axis === rank - 1 ? 4 * (1 + r.below(24)) : 1 + r.below(axis === rank - 2 ? 40 : 3),
	);
	const count = shape.reduce((n, d) => n * d);
	const scale = 2 ** (r.below(20) - 12);
	const data = asDtype(
		Float32Array.from({ length: count }, () => (r.below(20) ? scale * r.normal() : 0)),
		dtype,
	);
	return { scheme: drawScheme(r), shape, dtype, data, bandBytes: [1, 300, 8e6][r.below(3)] };
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
