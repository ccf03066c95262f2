// burn-decisions.test.js - where a release of Burn panics, or writes what it cannot read: what is done here, by a table, for
// every such case of the golden data.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compare, dequantize, fromBurn, quantize } from '../../js/index.js';
import { burnBackends, burnCases, serde } from './burn-support.js';
import { ready, root } from './support.js';

await ready();

const rows = JSON.parse(readFileSync(join(root, 'tests/js/burn-decisions.json'), 'utf8'));
const textOf = ({ panic, decode_panic, dequantize_panic, reload }) =>
	panic ?? decode_panic ?? dequantize_panic ?? reload?.panic ?? '';
const cases = burnBackends.flatMap((backend) =>
	burnCases(backend).filter((each) => textOf(each) !== '' || each.scheme.mode === 'Lookup'),
);

const rowOf = (each) =>
	rows.find(
		({ panic, scheme = '', input = '' }) =>
			new RegExp(panic, 's').test(textOf(each)) &&
			new RegExp(scheme).test(JSON.stringify(each.scheme)) &&
			new RegExp(input).test(each.input),
	);

/** Through the scheme and there and back again. */
function attempt({ scheme, method, data, shape }, allow = {}) {
	const calibration = method === 'AbsMean' ? 'AbsMean' : 'MinMax';
	const q = quantize(data, { scheme: fromBurn(serde(scheme), { calibration }), shape, ...allow });
	return { q, values: dequantize(q) };
}

test(`${cases.length} panics of Burn have a decision`, () => {
	const used = new Set();
	for (const each of cases) {
		const row = rowOf(each);
		const what = `${each.backend} ${each.what}: ${textOf(each)}`;
		assert.ok(row, what);
		used.add(row);
		if (row.works) {
			// What becomes of weights that overflow a scale has its own row.
			const { q, values } = attempt(each, { overflow: 'allow' });
			if (q.warnings.length) assert.match(each.input, /^extreme/, `${what}: ${q.warnings}`);
			else assert.ok(compare(each.data, values).sqnrDb > 0.5, what);
			continue;
		}
		assert.throws(() => attempt(each), { code: row.refused, message: new RegExp(row.says) }, what);
		if (row.allowed) assert.ok(attempt(each, { [row.allowed]: 'allow' }).q.warnings.length, what);
	}
	assert.deepEqual(
		rows.filter((row) => !used.has(row)).map(({ why }) => why),
		[],
	);
});

test('docs/burn.md gives each of these reasons', () => {
	const text = readFileSync(join(root, 'docs/burn.md'), 'utf8');
	for (const { why } of rows) assert.ok(text.includes(why), why);
});

test("Lookup with its table: upstream's vector of words and values", () => {
	const table = [-100, -10, -4, -2, -1, -0.5, -0.25, 0, 0.125, 0.25, 0.5, 0.75, 1, 2, 8, 42];
	const scheme = fromBurn({ value: 'Q4S', store: { PackedU32: 0 }, mode: 'Lookup', table });
	const bytes = new Uint8Array(Uint32Array.of(0xfedcba98, 0x76543210).buffer.slice(0, 8));
	const whole = Uint8Array.of(...bytes, ...new Uint8Array(Float32Array.of(0.5).buffer));
	const values = dequantize({ scheme, shape: [16], bytes: whole });
	assert.deepEqual(
		[...values],
		[...table.slice(8), ...table.slice(0, 8)].map((x) => x / 2),
	);
	assert.deepEqual(quantize(values, { scheme, shape: [16] }).bytes, whole);
});

test('blocks past 255 are a scheme of ours, which Burn cannot say', () => {
	const data = Float32Array.from({ length: 600 }, (_, i) => Math.sin(i));
	const scheme = { ...fromBurn({ value: 'Q8S', block: { size: [255], dtype: 'F32' } }) };
	const wide = { ...scheme, scales: [{ dtype: 'f32', block: 300 }] };
	assert.ok(compare(data, dequantize(quantize(data, { scheme: wide, shape: [2, 300] }))).sqnrDb > 40);
});
