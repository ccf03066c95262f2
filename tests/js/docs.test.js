// docs.test.js - what docs/schemes.md says is what the code does.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { compare } from '../../js/arrays/compare.js';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import * as burn from '../../js/burn/index.js';
import * as compressedTensors from '../../js/compressed-tensors/index.js';
import * as coreai from '../../js/coreai/index.js';
import * as library from '../../js/index.js';
import { LAYOUTS, RULES, STATUSES } from '../../js/core/abi.js';
import { presets, schemes } from '../../js/presets.js';
import { random, ready, root, unnamed } from './support.js';

before(() => ready());

const text = readFileSync(join(root, 'docs/schemes.md'), 'utf8');
const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json));
const said = blocks.find((json) => Object.keys(json)[0].includes(':'));
const own = blocks.find((json) => Object.keys(json)[0].includes('int3'));

test('every preset is said in the language, and the words give its bytes', () => {
	assert.deepEqual(Object.keys(said).sort(), [...presets().keys()].sort());
	const r = random(3);
	const data = Float32Array.from({ length: 4 * 512 }, () => r.normal());
	for (const [name, scheme] of Object.entries(said)) {
		assert.deepEqual(scheme, unnamed(presets().get(name).scheme), name);
		if (scheme.calibration === 'search') continue;
		const [words, preset] = [scheme, name].map((each) => quantize(data, { scheme: each, shape: [4, 512] }));
		assert.deepEqual([words.bytes, words.planes], [preset.bytes, preset.planes], name);
	}
});

test("formats of one's own work", () => {
	const r = random(4);
	const data = Float32Array.from({ length: 8 * 768 }, () => r.normal());
	for (const [name, scheme] of Object.entries(own)) {
		const tensor = quantize(data, { scheme, shape: [8, 768] });
		const { sqnrDb } = compare(data, dequantize(tensor));
		const least = { i2: 4, i3: 9, i8: 38 }[scheme.value.slice?.(0, 2)] ?? 13;
		assert.ok(sqnrDb > least, `${name}: ${sqnrDb} dB`);
	}
	const { planes } = quantize(data, { scheme: Object.values(own)[0], shape: [8, 768] });
	assert.equal(planes.weight_packed.bytes.length, (8 * 768 * 3) / 8);
});

test('the first example works', () => {
	assert.deepEqual(blocks[0], unnamed(presets().get('ct:nvfp4a16').scheme));
});

test('the examples in JavaScript print what they say', () => {
	const given = { ...library, compressedTensors, burn, coreai };
	const examples = [...text.matchAll(/```js\n([\s\S]*?)```/g)];
	assert.equal(examples.length, 4);
	for (const [, code] of examples) {
		const printed = [];
		const run = new Function(...Object.keys(given), 'console', code);
		run(...Object.values(given), { log: (...words) => printed.push(words.map(String).join(' ')) });
		const expected = [...code.matchAll(/console\.log\(.*\); *\/\/ (.*)$/gm)].map(([, words]) => words);
		assert.ok(expected.length > 0);
		assert.deepEqual(printed, expected);
	}
});

test('every rule that an error can cite is in the table', () => {
	for (const status of STATUSES) {
		if (['ok', 'bad-dtype', 'bad-kernels', 'needs-importance'].includes(status)) continue; // arguments, not schemes
		assert.match(text, new RegExp(`^\\| \`${status}\` \\|`, 'm'), status);
	}
});

test('every rules row and every layout is named', () => {
	for (const name of RULES) assert.ok(text.includes(`\`${name}\``), name);
	for (const name of LAYOUTS) assert.ok(text.includes(`\`${name}\``) || text.includes(`"${name}"`), name);
});

test('the reference of each system names every function of its module', () => {
	for (const [name, module] of Object.entries({ 'compressed-tensors': compressedTensors, burn, coreai })) {
		const page = readFileSync(join(root, `docs/${name}.md`), 'utf8');
		for (const own of Object.keys(module)) assert.ok(page.includes(`\`${own}`), `docs/${name}.md: ${own}`);
	}
});

test('docs/compressed-tensors.md: every bug has a test', () => {
	const page = readFileSync(join(root, 'docs/compressed-tensors.md'), 'utf8');
	const tests = readFileSync(join(root, 'tests/js/ct-correct.test.js'), 'utf8');
	for (const [, bug] of page.matchAll(/^\| (B\d+) /gm)) {
		// Documentation is not ours to mend; the order of groups is tested with the configs.
		if (['B12', 'B13'].includes(bug)) continue;
		assert.match(tests, new RegExp(`test\\('[^:]*\\b${bug}\\b`), bug);
	}
});

test("README's table of formats is that of the build", () => {
	const readme = readFileSync(join(root, 'README.md'), 'utf8');
	const rows = readme.split('<!-- formats:')[1].split('<!-- end -->')[0].split('\n').slice(1, -1);
	const expected = schemes().map(
		({ name, bitsPerWeight, description }) => `| \`${name}\` | ${bitsPerWeight} | ${description} |`,
	);
	assert.deepEqual(rows, expected);
});
