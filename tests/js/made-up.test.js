// made-up.test.js - a format that nobody has heard of, said in a JSON file beside the installed package: the library and the command
// quantize with it and read it back. No line of the package knows of it.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { safetensorsOf } from './cli-support.js';
import { installCommand, packedProject } from './packed.js';
import { random, readSafetensors } from './support.js';

/** Int3 in groups of 48, powers of two under an f16 of two groups. */
const SCHEME = {
	value: 'i3',
	scales: [
		{ dtype: 'e8m0', block: 48 },
		{ dtype: 'f16', block: 96 },
	],
};
const PACKED = { ...SCHEME, layout: 'pack-quantized' };
/** What a file in compressed-tensors' words can carry of it: one level. */
const ONE_LEVEL = {
	value: 'i3',
	scales: [{ dtype: 'input', block: 48 }],
	rules: 'compressed-tensors',
	layout: 'pack-quantized',
};
const NAME = 'model.layers.0.mlp.up_proj.weight';
const [ROWS, COLS] = [24, 480];
const SCALE_BITS = 8 / 48 + 16 / 96;

const r = random(6);
const WEIGHTS = Float32Array.from({ length: ROWS * COLS }, () => 0.05 * r.normal());

let project;
const at = (name) => join(project, name);
const npx = (...args) => execFileSync('npx', ['--no', 'blockquant', ...args], { cwd: project, encoding: 'utf8' });

before(() => {
	project = packedProject();
	installCommand(project);
	for (const [name, scheme] of Object.entries({ packed: PACKED, planes: SCHEME, 'one-level': ONE_LEVEL }))
		writeFileSync(at(`${name}.json`), JSON.stringify(scheme));
	writeFileSync(at('model.safetensors'), safetensorsOf({ [NAME]: { shape: [ROWS, COLS], values: WEIGHTS } }));
	writeFileSync(
		at('user.mjs'),
		`import { readFileSync } from 'node:fs';
		import { dequantize, init, quantize } from 'blockquant';
		await init();
		const weights = new Float32Array(${JSON.stringify([...WEIGHTS])});
		const results = ['packed', 'planes', 'one-level'].map((name) => {
			const quantized = quantize(weights, { scheme: JSON.parse(readFileSync(name + '.json')), shape: [${ROWS}, ${COLS}] });
			const planes = Object.entries(quantized.planes).map(([name, { bytes }]) => [name, [...bytes]]);
			return { bits: quantized.bitsPerWeight, planes: Object.fromEntries(planes), values: [...dequantize(quantized)] };
		});
		console.log(JSON.stringify(results));`,
	);
});
after(() => rmSync(project, { recursive: true, force: true }));

/** What the library gives, packed and in planes. */
const fromLibrary = () => JSON.parse(execFileSync(process.execPath, ['user.mjs'], { cwd: project, encoding: 'utf8' }));

/** An f16 that is normal, as every scale here. @param {number} bits */
const half = (bits) => (1 + (bits & 1023) / 1024) * 2 ** ((bits >> 10) - 15);

test('the library: sizes as predicted, values that the words of the scheme give', () => {
	const [packed, { planes, bits, values }] = fromLibrary();
	// Packed, the shape is stored, too: two i64.
	assert.deepEqual([packed.bits, bits], [3 + SCALE_BITS + 128 / WEIGHTS.length, 8 + SCALE_BITS]);
	assert.equal(Object.values(packed.planes).flat().length, (WEIGHTS.length * packed.bits) / 8);
	assert.deepEqual(packed.values, values);
	const [codes, exponents, halves] = ['values', 'scales.0', 'scales.1'].map((name) => planes[name]);
	assert.deepEqual(
		[codes.length, exponents.length, halves.length / 2],
		[WEIGHTS.length, WEIGHTS.length / 48, WEIGHTS.length / 96],
	);
	for (const [i, x] of values.entries()) {
		const parent = Math.floor(i / 96);
		const scale =
			2 ** (exponents[Math.floor(i / 48)] - 127) * half(halves[2 * parent] | (halves[2 * parent + 1] << 8));
		const code = (codes[i] << 24) >> 24;
		assert.ok(code >= -4 && code <= 3, `code ${code}`);
		assert.equal(x, code * scale, `value ${i}`);
		// Nothing is nearer: half a step, but for what the ends of the codes and of the scale cut.
		if (code > -4 && code < 3) assert.ok(Math.abs(x - WEIGHTS[i]) <= 0.5000001 * scale, `value ${i}`);
	}
});

test('the command: quantize --scheme FILE.json, dequantize, compare', () => {
	const [, , { planes, values }] = fromLibrary();
	npx('quantize', 'model.safetensors', 'small.safetensors', '--scheme', 'one-level.json');
	const { tensors } = readSafetensors(at('small.safetensors'));
	const prefix = NAME.replace('weight', '');
	assert.deepEqual(
		Object.fromEntries(Object.entries(tensors).map(([name, { bytes }]) => [name.replace(prefix, ''), [...bytes]])),
		planes,
	);
	npx('dequantize', 'small.safetensors', 'back.safetensors', '--dtype', 'f32');
	const back = readSafetensors(at('back.safetensors')).tensors;
	assert.deepEqual(Object.keys(back), [NAME]);
	assert.deepEqual([...new Float32Array(Uint8Array.from(back[NAME].bytes).buffer)], values);
	const { changed } = JSON.parse(npx('compare', 'model.safetensors', 'small.safetensors', '--json'));
	assert.ok(changed.sqnrDb > 9 && changed.sqnrDb < 20, `${changed.sqnrDb} dB`);
});

test('the command: what compressed-tensors has no words for is explained, and refused for its files', () => {
	assert.match(npx('schemes', 'packed.json'), /48/);
	const { status, stderr } = spawnSync(
		'npx',
		['--no', 'blockquant', 'quantize', 'model.safetensors', 'refused.safetensors', '--scheme', 'packed.json'],
		{ cwd: project, encoding: 'utf8' },
	);
	assert.equal(status, 1);
	assert.match(stderr, /^blockquant: [^\n]*scales\[1\]: such a file divides scales by its outer one[^\n]*\n$/);
	assert.ok(!existsSync(at('refused.safetensors')));
});
