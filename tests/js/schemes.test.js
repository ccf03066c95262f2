// schemes.test.js - schemes drawn at random: each works in both kernel rows alike, in bands as in the whole, with finite
// values of the right number, or is refused by a rule.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DTYPES, LAYOUTS, RULES } from '../../js/core/abi.js';
import { BlockQuantError } from '../../js/errors.js';
import { asDtype, bytesOf, nativeBuilds, numbers, random, ready, throughCore, throughNative } from './support.js';

const CASES = 4000;

const INTEGER = /^[iu]\d$/;

/** Values: mostly a dtype, sometimes a table that need not be in order. */
function drawValue(r, pick) {
	if (r.below(8) === 0)
		return { codebook: [...new Set(Array.from({ length: 2 + r.below(40) }, () => Math.fround(r.normal() * 4)))] };
	const value = pick(DTYPES.filter((name) => /^[iu]\d$|^f[468]e|^nf4$|^iq4_nl$/.test(name)));
	return /^i[2-8]$/.test(value) && r.below(4) === 0 ? `${value}-narrow` : value;
}

/** One to three blocks, each made of whole blocks of the one inside it, mostly. */
function drawBlocks(r, pick, count) {
	const edge = () => (r.below(5) ? 1 + r.below(9) : -1);
	const inner = pick([
		() => 'tensor',
		() => 'channel',
		() => pick([2, 4, 8, 16, 32]),
		() => [edge(), edge()],
		() => [edge(), edge(), edge()],
	])();
	const blocks = [inner];
	while (blocks.length < count) {
		const last = blocks.at(-1);
		const times = (edges) => edges.map((length) => (length === -1 ? -1 : length * (1 + r.below(3))));
		const outer = Array.isArray(last) ? times(last) : typeof last === 'number' ? last * (1 + r.below(4)) : 'tensor';
		blocks.push(r.below(3) ? outer : 'tensor');
	}
	return blocks;
}

const CALIBRATIONS = ['minmax', 'minmax', 'absmean', { percentile: 95 }, { percentile: 60.5 }, 'mse', { mse: 0.95 }];

function drawScheme(r) {
	const pick = (list) => list[r.below(list.length)];
	const value = drawValue(r, pick);
	const rules = r.below(3) ? pick(['plain', 'compressed-tensors']) : pick(RULES);
	const nested = rules !== 'compressed-tensors' && r.below(2);
	const blocks = drawBlocks(r, pick, nested ? 2 + r.below(2) : 1);
	const floats = ['input', 'f32', 'f16', 'bf16', 'f8e4m3', 'f8e5m2', 'e8m0', 'ue4m3', 'ggml_ue4m3'];
	const inner = [...floats, 'u3', 'u6', 'i6', 'u8'];
	const levels = () => blocks.map((block, i) => ({ dtype: pick(i + 1 < blocks.length ? inner : floats), block }));
	const multiplied = rules === 'compressed-tensors' && r.below(5) === 0;
	const integer = INTEGER.test(value);
	const sided = pick(integer ? ['no', 'zero', 'mins'] : value === 'f8e4m3' ? ['no', 'zero'] : ['no']);
	return {
		value,
		scales: multiplied
			? [
					{ dtype: 'f8e4m3', block: blocks[0] },
					{ dtype: 'f32', block: 'tensor' },
				]
			: levels(),
		...(sided === 'zero' && { zero: r.below(6) ? value : pick(DTYPES.filter((name) => INTEGER.test(name))) }),
		...(sided === 'mins' && !multiplied && { mins: levels() }),
		...(sided !== 'no' && r.below(3) === 0 && { symmetric: true }),
		calibration: pick(CALIBRATIONS),
		...(rules !== 'plain' && { rules }),
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
	return {
		scheme: drawScheme(r),
		shape,
		dtype,
		data,
		correct: r.below(5) === 0,
		bandBytes: [1, 300, 8e6][r.below(3)],
	};
}

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
