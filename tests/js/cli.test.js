// cli.test.js - the command: what each subcommand prints and writes, its exit codes, and its one-line errors.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { cli, root, run, safetensorsOf, temporaryFolder } from './cli-support.js';

const folder = temporaryFolder();
const at = (...names) => join(folder, ...names);
const model = at('model.safetensors');

before(() => {
	const { status, stderr } = run('sample', model, '--layers', '1');
	assert.equal(status, 0, stderr);
});

/** Runs the command, which must do; its stdout. */
function done(...args) {
	const { status, stdout, stderr } = run(...args);
	assert.equal(status, 0, stderr);
	assert.equal(stderr, '');
	return stdout;
}

/** Runs the command, which must fail with one line on stderr and nothing on stdout. */
function fails(expectedStatus, message, ...args) {
	const { status, stdout, stderr } = run(...args);
	assert.match(stderr, message);
	assert.match(stderr, /^blockquant: [^\n]+\n$/, 'one line');
	assert.equal(stdout, '');
	assert.equal(status, expectedStatus);
}

const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

describe('sample', () => {
	it('is the same on every machine', () => {
		assert.equal(sha256(model), 'f14219592d81f51908b870c48530ab3e33ae62a0f685f4efb55820da8d8e6ab7');
		assert.equal(JSON.parse(readFileSync(at('config.json'))).num_hidden_layers, 1);
	});

	it('has roughly normal weights: deviation, tails and outlier channels', () => {
		const path = at('f32.safetensors');
		const { stderr } = run('sample', path, '--layers', '1', '--dtype', 'f32', '--seed', '7');
		assert.match(stderr, /config\.json is of another model and stays; ours is .*f32\.safetensors\.config\.json/);
		const file = readFileSync(path);
		const start = 8 + Number(file.readBigUInt64LE(0));
		const header = JSON.parse(file.subarray(8, start));
		const { data_offsets: offsets, shape } = header['model.layers.0.mlp.gate_proj.weight'];
		assert.deepEqual(shape, [1536, 512]);
		const values = new Float32Array(Uint8Array.from(file.subarray(start + offsets[0], start + offsets[1])).buffer);
		const column = (col) => Math.sqrt(values.reduce((sum, x, i) => sum + (i % 512 === col ? x * x : 0), 0) / 1536);
		const deviations = Array.from({ length: 512 }, (_, col) => column(col) * Math.sqrt(512)).sort((a, b) => a - b);
		assert.ok(deviations[256] > 0.9 && deviations[256] < 1.15, `median ${deviations[256]}`);
		assert.ok(deviations[511] > 2, `largest ${deviations[511]}`);
		assert.ok(deviations[500] < 1.3, 'outliers are few');
	});
});

describe('quantize', () => {
	it('writes a model and its config.json, and says how much smaller it is', () => {
		const stdout = done('quantize', model, at('w4a16/'), '--scheme', 'W4A16');
		assert.match(
			stdout,
			/w4a16\/model\.safetensors, .*config\.json: 7 of 12 tensors quantized to ct:w4a16, 5 kept\n/,
		);
		assert.match(stdout, /10\.5 MB -> 5\.8 MB, ratio 1\.80; bits per weight: 4\.125 where quantized/);
		assert.match(stdout, /[\d.]+ s, [\d.]+ [kMG]B\/s\n$/);
		assert.deepEqual(readdirSync(at('w4a16')).sort(), ['config.json', 'model.safetensors']);
		const config = JSON.parse(readFileSync(at('w4a16/config.json')));
		assert.equal(config.quantization_config.format, 'pack-quantized');
	});

	it('prints one JSON document with --json', () => {
		const out = at('json.safetensors');
		const { status, stdout } = run(
			'quantize',
			model,
			out,
			'--scheme',
			'nvfp4a16',
			'--json',
			'--exclude',
			'mlp',
			'--workers',
			'3',
		);
		assert.equal(status, 0);
		const result = JSON.parse(stdout);
		assert.deepEqual(result.files, [out, `${out}.config.json`]);
		assert.equal(result.totals.quantized, 4);
		assert.equal(result.totals.kept, 8);
		assert.equal(result.scheme.name, 'ct:nvfp4a16');
		assert.match(result.warnings[0], /config\.json is the input's and stays/);
		assert.equal(result.tensors.find(({ name }) => name.includes('mlp.up')).reason, 'excluded by /mlp/');
	});

	it('with --dry-run prints a table and totals, and writes nothing', () => {
		const before = readdirSync(folder);
		const stdout = done('quantize', model, '--scheme', 'w4a16', '--dry-run', '--include', 'lm_head');
		assert.deepEqual(readdirSync(folder), before);
		assert.match(stdout, /^tensor +shape +from +to +bytes before +bytes after +why\n/);
		assert.match(
			stdout,
			/\nlm_head\.weight +2048 x 512 +BF16 +ct:w4a16 +2 097 152 +540 688 +included by \/lm_head\/\n/,
		);
		assert.match(stdout, /\nmodel\.norm\.weight +512 +BF16 +BF16 +1 024 +1 024 +a norm\n/);
		assert.match(
			stdout,
			/\n8 of 12 tensors quantized to ct:w4a16, 4 kept \(dry run: nothing is written\)\n10\.5 MB -> /,
		);
		const json = JSON.parse(done('quantize', model, '--scheme', 'w4a16', '--dry-run', '--json'));
		assert.equal(
			json.totals.nbytesAfter,
			json.tensors.reduce((sum, { nbytesAfter }) => sum + nbytesAfter, 0),
		);
	});

	it('takes a scheme from a file: ours, what `schemes --json` printed, or compressed-tensors', () => {
		writeFileSync(at('printed.json'), done('schemes', 'w4a16', '--json'));
		writeFileSync(at('ct.json'), '{ "num_bits": 4, "group_size": 128, "strategy": "group" }');
		const { name, ...own } = JSON.parse(readFileSync(at('printed.json'))).scheme;
		writeFileSync(at('own.json'), JSON.stringify({ ...own, scales: [{ dtype: 'input', block: 64 }] }));
		done('quantize', model, at('by-name/'), '--scheme', 'ct:w4a16');
		for (const file of ['printed', 'ct']) {
			done('quantize', model, at(`${file}/`), '--scheme', at(`${file}.json`));
			assert.equal(sha256(at(`${file}/model.safetensors`)), sha256(at('by-name/model.safetensors')), file);
		}
		assert.match(
			done('quantize', model, '--scheme', at('own.json'), '--dry-run'),
			/to a custom scheme.*\n.*4\.250 where/,
		);
		writeFileSync(at('named.json'), JSON.stringify({ ...own, name, zero: 'i4' }));
		fails(
			2,
			/named\.json: name: only a preset has a name/,
			'quantize',
			model,
			'--scheme',
			at('named.json'),
			'--dry-run',
		);
		writeFileSync(at('broken.json'), '{');
		fails(1, /broken\.json: is no JSON: /, 'quantize', model, '--scheme', at('broken.json'), '--dry-run');
		fails(
			1,
			/cannot read .*absent\.json: no such file/,
			'quantize',
			model,
			'--scheme',
			at('absent.json'),
			'--dry-run',
		);
		writeFileSync(at('bad.json'), '{ "value": "i4", "scales": [], "rules": "compressed-tensors", "size": 4 }');
		fails(2, /scheme\.size: unknown field/, 'quantize', model, '--scheme', at('bad.json'), '--dry-run');
	});

	it('refuses to write onto its input, through a link too, and leaves it as it was', () => {
		const before = sha256(model);
		linkSync(model, at('hard.safetensors'));
		symlinkSync(model, at('soft.safetensors'));
		for (const output of [model, at('hard.safetensors'), at('soft.safetensors')])
			fails(
				1,
				/the output .* is the input .*: name another file/,
				'quantize',
				model,
				output,
				'--scheme',
				'w4a16',
			);
		assert.equal(sha256(model), before);
	});

	it('refuses NaN weights by name and index, unless they are allowed', () => {
		const values = Array.from({ length: 256 }, (_, i) => Math.sin(i));
		values[130] = Number.NaN;
		mkdirSync(at('nan'));
		writeFileSync(at('nan/in.safetensors'), safetensorsOf({ 'a.q_proj.weight': { shape: [2, 128], values } }));
		const args = ['quantize', at('nan/in.safetensors'), at('nan/out.safetensors'), '--scheme', 'w4a16'];
		fails(1, /tensor "a\.q_proj\.weight": NaN or infinite weight at index 130/, ...args);
		assert.deepEqual(readdirSync(at('nan')), ['in.safetensors']);
		const { status, stderr } = run(...args, '--nonfinite', 'allow');
		assert.equal(status, 0, stderr);
		assert.match(stderr, /^blockquant: warning: .*1 NaN or infinite weight/);
	});

	it('refuses a truncated file, and leaves no output', () => {
		writeFileSync(at('short.safetensors'), readFileSync(model));
		truncateSync(at('short.safetensors'), 1_000_000);
		const before = readdirSync(folder);
		fails(
			1,
			/short\.safetensors: /,
			'quantize',
			at('short.safetensors'),
			at('never.safetensors'),
			'--scheme',
			'w4a16',
		);
		assert.deepEqual(readdirSync(folder), before);
	});

	it('refuses where no output can be written', () => {
		fails(1, /cannot write /, 'quantize', model, at('model.safetensors/x.safetensors'), '--scheme', 'w4a16');
	});
});

describe('dequantize and compare', () => {
	it('give back what a loader decodes', () => {
		run('quantize', model, at('q/'), '--scheme', 'fp8_dynamic');
		const stdout = done('dequantize', at('q'), at('back/'), '--dtype', 'f32');
		assert.match(stdout, /: 7 weights decoded from ct:fp8_dynamic to f32\n/);
		const same = JSON.parse(done('compare', at('q'), at('back'), '--json'));
		assert.equal(same.changed.tensors, 0);
		assert.equal(same.summary[0].sqnrDb, null, 'an infinite SQNR is no JSON number');
		const result = JSON.parse(done('dequantize', at('q'), at('back16/'), '--json'));
		assert.equal(result.tensors[0].dtype, 'bf16');
	});

	it('compare prints a line per layer kind and one of all that differs', () => {
		const stdout = done('compare', model, at('q'));
		assert.match(stdout, /^layer kind +tensors +quantized +weights +SQNR dB +RMSE +max abs +cosine\n/);
		assert.match(stdout, /\nmlp down +1 +1 +786 432 +3\d\.\d\d +[\d.]+ +[\d.]+ +0\.99\d+\n/);
		assert.match(stdout, /\nnorms +3 +0 +1 536 +inf +0 +0 +1\.000000\n/);
		assert.match(stdout, /\nall that differ +7 +7 +3 145 728 +3\d\.\d\d [^\n]*\n$/);
		assert.match(
			done('compare', model, at('q'), '--tensors'),
			/model\.layers\.0\.mlp\.down_proj\.weight +512 x 1536 +3\d/,
		);
		const { changed, tensors } = JSON.parse(done('compare', model, at('q'), '--json'));
		const worst = Math.max(...tensors.map(({ maxAbs }) => maxAbs));
		assert.equal(changed.maxAbs, worst);
		assert.ok(changed.sqnrDb > 30 && changed.sqnrDb < 40);
	});

	it('say so where nothing is quantized or a tensor is missing', () => {
		fails(1, /no tensor of the model is quantized/, 'dequantize', model, at('never.safetensors'));
		writeFileSync(at('other.safetensors'), safetensorsOf({ 'x.weight': { shape: [1, 1], values: [1] } }));
		const { status, stderr } = run('compare', model, at('other.safetensors'));
		assert.equal(status, 0);
		assert.match(stderr, /warning: .*other\.safetensors lacks model\.embed_tokens\.weight, .* and 9 more/);
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

	it('show a scheme in full, its bits part by part', () => {
		assert.match(done('schemes'), /\nggml:q4_k +4\.500 +per 32 /);
		const { bits, bitsPerWeight, scheme, planes } = JSON.parse(done('schemes', 'q4_k', '--json'));
		assert.equal(
			bits.reduce((sum, part) => sum + part.bitsPerWeight, 0),
			4.5,
		);
		assert.deepEqual([bitsPerWeight, scheme.layout, planes[0].name], [4.5, 'ggml-q4_k', 'blocks']);
		assert.match(done('schemes', 'nvfp4a16'), /weight_scale +0\.500000\n[^]*layout nvfp4-pack-quantized/);
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
		[/'--pure' is for GGUF files/, ...quantize, '--pure'],
		[/'--imatrix' is for GGUF files/, ...quantize, '--imatrix', 'file'],
		[/'--tensor-type' is for GGUF files/, ...quantize, '--tensor-type', 'a=q4_k'],
		[/argument 'f64' is invalid/, 'dequantize', 'in', 'out', '--dtype', 'f64'],
		[/missing required argument 'b'/, 'compare', 'a'],
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
