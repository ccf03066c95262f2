// cli-quantize.test.js - `blockquant sample` and `blockquant quantize`: what they write, say and refuse.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
	closeSync,
	linkSync,
	mkdirSync,
	openSync,
	readFileSync,
	readdirSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { cli, done, fails, headerOf, run, safetensorsOf, sha256, temporaryFolder } from './cli-support.js';

const folder = temporaryFolder();
const at = (...names) => join(folder, ...names);
const model = at('model.safetensors');

before(() => {
	const { status, stderr } = run('sample', model, '--layers', '1');
	assert.equal(status, 0, stderr);
});

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

	it('writes the same bytes with any number of workers, both ways', () => {
		const sums = ['1', '2', '5'].map((workers) => {
			const [out, back] = [at(`workers-${workers}.safetensors`), at(`back-${workers}.safetensors`)];
			assert.equal(run('quantize', model, out, '--scheme', 'nvfp4a16', '--workers', workers).status, 0);
			assert.equal(run('dequantize', out, back, '--workers', workers).status, 0);
			return [sha256(out), sha256(back)];
		});
		assert.deepEqual(sums, [sums[0], sums[0], sums[0]]);
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
			/named\.json: scheme\.name: this scheme is not the preset "ct:w4a16"; only presets have names/,
			'quantize',
			model,
			'--scheme',
			at('named.json'),
			'--dry-run',
		);
		const group = { targets: ['re:.*mlp.*'], weights: { num_bits: 4, group_size: 128, strategy: 'group' } };
		writeFileSync(at('group.json'), `\uFEFF${JSON.stringify(group)}`);
		const { stderr } = run('quantize', model, '--scheme', at('group.json'), '--dry-run');
		assert.match(stderr, /warning: .*group\.json: its targets are not looked at/);
		writeFileSync(at('twice.json'), '{ "num_bits": 4, "group_size": 64, "num_bits": 8 }');
		fails(1, /twice\.json: is no JSON: .*num_bits/, 'quantize', model, '--scheme', at('twice.json'), '--dry-run');
		writeFileSync(at('block.json'), '{ "value": "i8", "scales": [{ "dtype": "f16", "block": 0 }] }');
		fails(
			2,
			/scales\[0\]\.block: .*\(rule bad-block of docs\/schemes\.md\)/,
			'quantize',
			model,
			'--scheme',
			at('block.json'),
			'--dry-run',
		);
		// Of tensors alone nobody could tell these blocks: a config.json comes with them, where the input has none.
		const blocks = { num_bits: 8, strategy: 'block', block_structure: [16, 32] };
		writeFileSync(at('blocks.json'), JSON.stringify({ weights: blocks, targets: ['Linear'] }));
		writeFileSync(at('lone.safetensors'), readFileSync(model));
		done('quantize', at('lone.safetensors'), at('lone-blocks/'), '--scheme', at('blocks.json'));
		assert.match(readFileSync(at('lone-blocks/config.json'), 'utf8'), /"block_structure": \[\s*16,\s*32\s*\]/);
		done('dequantize', at('lone-blocks/'), at('lone-back/'));
		const spec = { dtype: 'int4', granularity: { type: 'per_block', block_size: 32 } };
		const nested = { ...spec, qparam_qspec: { dtype: 'uint8' } };
		const double = { ...spec, qparam_qspec: { dtype: 'uint8', qscheme: 'asymmetric' } };
		writeFileSync(at('spec.json'), JSON.stringify(spec));
		writeFileSync(at('nested.json'), JSON.stringify(nested));
		writeFileSync(at('double.json'), JSON.stringify(double));
		// Told to be Core AI's by its fields: its codes, in the layout of these files that fits.
		assert.match(done('quantize', model, at('spec/'), '--scheme', at('spec.json')), /quantized to a custom scheme/);
		done('dequantize', at('spec/'), at('plain/'));
		assert.match(
			readFileSync(at('spec/config.json'), 'utf8'),
			/"format": "pack-quantized"[\s\S]*"group_size": 32[\s\S]*"num_bits": 4/,
		);
		fails(1, /this scheme is none: .*scales\[1\]/, 'quantize', model, '--scheme', at('double.json'), '--dry-run');
		fails(
			2,
			/nested\.json: qparam_qspec\.qscheme: /,
			'quantize',
			model,
			'--scheme',
			at('nested.json'),
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
		const { status, stderr } = run(...args, '--nonfinite', 'allow', '--overflow', 'allow');
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
		fails(
			1,
			/cannot open .*x\.safetensors: a part of the path is no directory/,
			'quantize',
			model,
			at('model.safetensors/x.safetensors'),
			'--scheme',
			'w4a16',
		);
	});

	it('refuses a scale beyond f16 in one line and writes nothing; with --overflow allow it warns', () => {
		const { bytes, dataNbytes } = headerOf({ 'a.q_proj.weight': { dtype: 'F16', shape: [4, 128], nbytes: 1024 } });
		const data = Buffer.alloc(dataNbytes);
		// The largest f16 and its negative, by turns: the range of an asymmetric block is twice as wide.
		for (let i = 0; i < dataNbytes; i += 4) data.writeUInt32LE(0xfbff7bff, i);
		writeFileSync(at('large.safetensors'), Buffer.concat([bytes, data]));
		mkdirSync(at('overflow'));
		const args = ['quantize', at('large.safetensors'), at('overflow/x.safetensors'), '--scheme', 'w4a16_asym'];
		fails(
			1,
			/^blockquant: tensor "a\.q_proj\.weight": \d+ block\(s\) have a scale that f16 cannot hold\n$/,
			...args,
		);
		assert.deepEqual(readdirSync(at('overflow')), []);
		const { status, stderr } = run(...args, '--overflow', 'allow');
		assert.equal(status, 0);
		assert.match(stderr, /^blockquant: warning: tensor "a\.q_proj\.weight": 4 block\(s\) [^\n]*\n$/);
	});

	it('refuses a folder that does not exist and a pipe, in one line each', () => {
		for (const out of ['absent/x.safetensors', 'absent/x/'])
			fails(
				1,
				/cannot write .*: the folder .*absent does not exist\n/,
				'quantize',
				model,
				at(out),
				'--scheme',
				'w4a16',
			);
		if (spawnSync('mkfifo', [at('pipe.safetensors')]).status !== 0) return;
		fails(1, /pipe\.safetensors: is no regular file\n/, 'inspect', at('pipe.safetensors'));
		fails(
			1,
			/pipe\.safetensors: is no regular file/,
			'quantize',
			model,
			at('pipe.safetensors'),
			'--scheme',
			'w4a16',
		);
		fails(1, /pipe\.safetensors: is no regular file/, 'sample', at('pipe.safetensors'));
	});

	it('leaves its output, which is complete, where stdout cannot take what it says', {
		skip: process.platform !== 'linux' && '/dev/full is Linux',
	}, () => {
		assert.match(done('--help'), /the files that the command wrote are complete/);
		done('quantize', model, at('printed/'), '--scheme', 'w4a16');
		const full = openSync('/dev/full', 'w');
		const args = [cli, 'quantize', model, at('unprinted/'), '--scheme', 'w4a16'];
		const { status, stderr } = spawnSync(process.execPath, args, {
			stdio: ['ignore', full, 'pipe'],
			encoding: 'utf8',
		});
		closeSync(full);
		assert.equal(status, 1);
		assert.match(stderr, /^blockquant: cannot write to stdout: no space left on the device \(ENOSPC\)\n$/);
		for (const name of ['model.safetensors', 'config.json'])
			assert.equal(sha256(at('unprinted', name)), sha256(at('printed', name)), name);
	});
});
