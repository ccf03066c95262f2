// cli.test.js - the other commands, and wrong usage of all: what is printed, exit codes, one-line errors.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { cli, done, fails, root, run, safetensorsOf, temporaryFolder } from './cli-support.js';

const folder = temporaryFolder();
const at = (...names) => join(folder, ...names);
const model = at('model.safetensors');

before(() => {
	const { status, stderr } = run('sample', model, '--layers', '1');
	assert.equal(status, 0, stderr);
	done('quantize', model, at('w4a16/'), '--scheme', 'w4a16');
});

describe('dequantize and compare', () => {
	it('give back what a loader decodes', () => {
		run('quantize', model, at('q/'), '--scheme', 'w8a16');
		const stdout = done('dequantize', at('q'), at('back/'), '--dtype', 'f32');
		assert.match(stdout, /: 7 weights decoded from ct:w8a16 to f32\n/);
		const same = JSON.parse(done('compare', at('q'), at('back'), '--json'));
		assert.equal(same.changed.tensors, 0);
		assert.equal(same.summary[0].sqnrDb, null, 'an infinite SQNR is no JSON number');
		const result = JSON.parse(done('dequantize', at('q'), at('back16/'), '--json'));
		assert.equal(result.tensors[0].dtype, 'bf16');
	});

	it('compare prints a line per layer kind and one of all that differs', () => {
		const stdout = done('compare', model, at('q'));
		assert.match(stdout, /^layer kind +tensors +quantized +weights +SQNR dB +MSE +max abs +cosine\n/);
		assert.match(stdout, /\nmlp down +1 +1 +786 432 +4\d\.\d\d +\d\.\d{3}e-\d +[\d.]+ +0\.99\d+\n/);
		assert.match(stdout, /\nnorms +3 +0 +1 536 +inf +0 +0 +1\.000000\n/);
		assert.match(stdout, /\nall that differ +7 +7 +3 145 728 +4\d\.\d\d [^\n]*\n$/);
		assert.match(
			done('compare', model, at('q'), '--tensors'),
			/model\.layers\.0\.mlp\.down_proj\.weight +512 x 1536 +4\d/,
		);
		const { changed, tensors } = JSON.parse(done('compare', model, at('q'), '--json'));
		const worst = Math.max(...tensors.map(({ maxAbs }) => maxAbs));
		assert.equal(changed.maxAbs, worst);
		assert.ok(changed.sqnrDb > 40 && changed.sqnrDb < 45);
	});

	it('say so where nothing is quantized or a tensor is missing', () => {
		fails(1, /no tensor of the model is quantized/, 'dequantize', model, at('never.safetensors'));
		const one = { shape: [1, 1], values: [1] };
		writeFileSync(at('other.safetensors'), safetensorsOf({ 'x.weight': one }));
		const none =
			/no weight is in both models: the first has "model\.embed_tokens\.weight" and 11 more, the second "x\.weight"\n/;
		fails(1, none, 'compare', model, at('other.safetensors'));
		const names = ['a', 'b', 'c', 'd', 'x.weight'];
		const more = Object.fromEntries(names.map((name) => [name, one]));
		writeFileSync(at('more.safetensors'), safetensorsOf(more));
		const { status, stderr } = run('compare', at('more.safetensors'), at('other.safetensors'));
		assert.equal(status, 0);
		assert.match(stderr, /warning: .*other\.safetensors lacks a, b, c and 1 more/);
	});
});

describe('inspect and schemes', () => {
	it('list tensors, totals and how they are quantized', () => {
		const stdout = done('inspect', at('w4a16'));
		assert.match(stdout, /^tensor +dtype +shape +bytes +part of\n/);
		assert.match(stdout, /model\.layers\.0\.mlp\.up_proj\.weight_packed +I32 +1536 x 64 +393 216 +ct:w4a16\n/);
		assert.match(stdout, /: safetensors, one file, 26 tensors, 5\.8 MB\n/);
		assert.match(stdout, / {2}ct:w4a16: 7 quantized weights, 1\.6 MB\n/);
		const json = JSON.parse(done('inspect', model, '--json'));
		assert.deepEqual([json.format, json.totals.tensors, json.metadata], ['safetensors', 12, { format: 'pt' }]);
		fails(1, /cannot open .*absent: no such file/, 'inspect', at('absent'));
	});

	it('compare says nan where one side is none, and counts it as differing', () => {
		const values = Array.from({ length: 256 }, (_, i) => i);
		const weight = (changed) => ({ shape: [2, 128], values: values.with(5, changed) });
		const same = { shape: [256], values };
		writeFileSync(at('number.safetensors'), safetensorsOf({ 'a.weight': weight(5), 'b.weight': same }));
		writeFileSync(at('nan.safetensors'), safetensorsOf({ 'a.weight': weight(Number.NaN), 'b.weight': same }));
		for (const [a, b] of [
			['number', 'nan'],
			['nan', 'number'],
			['nan', 'nan'],
		]) {
			const files = [at(`${a}.safetensors`), at(`${b}.safetensors`)];
			const table = done('compare', ...files, '--tensors');
			assert.match(table, /\na\.weight +2 x 128 +nan +nan /);
			assert.match(table, /\nb\.weight +256 +inf +0 +0 +1\.000000\n/);
			assert.match(table, /\nall that differ +1 +0 +256 +nan +nan /);
			const json = JSON.parse(done('compare', ...files, '--json'));
			assert.deepEqual([json.changed.tensors, json.changed.mse, json.changed.sqnrDb], [1, null, null]);
			assert.deepEqual(
				json.tensors.map(({ mse }) => mse),
				[null, 0],
			);
		}
	});

	it('show a scheme in full, its bits part by part', () => {
		assert.match(done('schemes'), /\nggml:q4_k +4\.500 +per 32 /);
		const { bits, bitsPerWeight, scheme, planes } = JSON.parse(done('schemes', 'q4_k', '--json'));
		assert.equal(
			bits.reduce((sum, part) => sum + part.bitsPerWeight, 0),
			4.5,
		);
		assert.deepEqual([bitsPerWeight, scheme.layout, planes[0].name], [4.5, 'ggml-q4_k', 'blocks']);
		assert.match(done('schemes', 'q4_k'), /4 to 15 +8 scales and 8 mins of 6 bits\n/);
		assert.match(done('schemes', 'nvfp4a16'), /weight_scale +0\.500000\n[\s\S]*layout nvfp4-pack-quantized/);
		for (const { name, bitsPerWeight: expected } of JSON.parse(done('schemes', '--json')).schemes) {
			const one = JSON.parse(done('schemes', name, '--json'));
			const sum = one.bits.reduce((total, part) => total + part.bitsPerWeight, 0);
			assert.ok(Math.abs(sum - one.bitsPerWeight) < 1e-9, name);
			assert.ok(Math.abs(one.bitsPerWeight - expected) < 0.01, name);
		}
	});
});

describe('wrong usage', () => {
	const quantize = ['quantize', 'in', 'out', '--scheme', 'w4a16'];
	for (const [message, ...args] of [
		[/no scheme "w4a61"; did you mean ct:w4a16\?/, ...quantize.with(4, 'w4a61')],
		[/no scheme "w4a61"; did you mean ct:w4a16\?/, 'schemes', 'w4a61'],
		[/required option '--scheme/, 'quantize', 'in', 'out'],
		[/missing required argument 'out'/, 'quantize', 'in', '--scheme', 'w4a16'],
		[/too many arguments/, ...quantize, 'more'],
		[/unknown option '--worker' \(Did you mean --workers\?\)/, ...quantize, '--worker', '1'],
		[/unknown command 'quantise'.*quantize/, 'quantise'],
		[/'--workers <n>' argument '0' is invalid/, ...quantize, '--workers', '0'],
		[/'--workers <n>' argument '1e3' is invalid/, ...quantize, '--workers', '1e3'],
		[/'--include <re>' argument '\(' is invalid/, ...quantize, '--include', '('],
		[
			/'--overflow <policy>' argument 'maybe' is invalid. Allowed choices are error, allow/,
			...quantize,
			'--overflow',
			'maybe',
		],
		[
			/'--missing-importance <policy>' argument 'guess' is invalid. Allowed choices are error, ones/,
			...quantize,
			'--missing-importance',
			'guess',
		],
		[/'--report <file.json>' cannot be used with '--dry-run'/, ...quantize, '--dry-run', '--report', 'r.json'],
		[/'--tensor-type' is not in this version/, ...quantize, '--tensor-type', 'a=q4_k'],
		[/argument 'f64' is invalid/, 'dequantize', 'in', 'out', '--dtype', 'f64'],
		[/missing required argument 'b'/, 'compare', 'a'],
		[/'-' is invalid for argument 'out'\. Files are not .* a pipe: name a file/, ...quantize.with(2, '-')],
		[/'-' is invalid for argument 'in'/, ...quantize.with(1, '-')],
		[/'-' is invalid for argument 'out'/, 'dequantize', 'in', '-'],
		[/'-' is invalid for argument 'file'/, 'inspect', '-'],
		[/'-' is invalid for argument 'b'/, 'compare', 'a', '-'],
		[/'-' is invalid for argument 'out'/, 'sample', '-'],
	])
		it(`ends with 2: ${args.join(' ')}`, () => fails(2, message, ...args));

	it('shows the help where no command is given, and only there on stderr', () => {
		const { status, stderr } = run();
		assert.equal(status, 2);
		assert.match(stderr, /^Usage: blockquant /);
		assert.match(done('--help'), /Exit code: 0 done, 1 failed, 2 wrong usage/);
		assert.match(done('quantize', '--help'), /--dry-run/);
		assert.equal(done('--version'), `${JSON.parse(readFileSync(join(root, 'package.json'))).version}\n`);
		assert.ok(readFileSync(cli, 'utf8').startsWith('#!/usr/bin/env node\n'));
	});
});
