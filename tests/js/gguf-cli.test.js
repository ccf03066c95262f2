// gguf-cli.test.js - the command on GGUF files: what it writes, says and refuses.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { cli, done, fails, root, run, sha256, temporaryFolder } from './cli-support.js';
import { bytesOf, weights } from './files-support.js';
import { canWrite, gguf, LLAMA, pair } from './gguf-support.js';
import { ready } from './support.js';

const folder = temporaryFolder();
const at = (...names) => join(folder, ...names);
const golden = join(root, 'tests/golden/gguf');
const model = join(golden, 'llama-bf16.gguf');
const odd = join(golden, 'odd-f16.gguf');
const results = JSON.parse(readFileSync(join(golden, 'results.json'), 'utf8'));
/** The sha256 that llama-quantize --pure gives. */
const expected = (input, type) =>
	results.find((row) => row.input === input && row.type === type && row.pure && row.imatrix === null).sha256;

/** A shard with one tensor. */
const shard = (no, count, name) =>
	gguf({
		pairs: [
			...(no === 0 ? LLAMA : []),
			pair('split.no', 'u16', no),
			pair('split.count', 'u16', count),
			pair('split.tensors.count', 'i32', count),
		],
		tensors: [{ name, dims: [256, 2], type: 0, data: bytesOf(weights(512, no + 1)) }],
	});

before(async () => {
	await ready();
	mkdirSync(at('split'));
	['output.weight', 'blk.0.ffn_up.weight'].forEach((name, i) => {
		writeFileSync(at('split', `big-0000${i + 1}-of-00002.gguf`), shard(i, 2, name));
	});
});

describe('quantize', () => {
	it('writes the file that llama-quantize writes', () => {
		const stdout = done('quantize', model, at('q4.gguf'), '--scheme', 'q4_k_m', '--pure');
		assert.match(stdout, /q4\.gguf: \d+ of \d+ tensors quantized to ggml:q4_k, \d+ kept\n/);
		assert.match(stdout, /bits per weight: 4\.500 where quantized, 4\.5\d\d over all/);
		assert.equal(sha256(at('q4.gguf')), expected('llama-bf16.gguf', 'Q4_K_M'));
		assert.match(done('quantize', model, at('f32.gguf'), '--scheme', 'F32'), /tensors converted to F32/);
		assert.equal(sha256(at('f32.gguf')), expected('llama-bf16.gguf', 'F32'));
	});

	it('writes it with an importance matrix, of every type that is here', () => {
		// In that folder, as the tool was run: the matrix is named in the metadata as it is on the command line.
		const [input, imatrix] = ['llama-bf16.gguf', 'llama-bf16.imatrix.gguf'];
		const rows = results.filter(
			(row) => row.input === input && row.imatrix === imatrix && row.pure && canWrite(row.type),
		);
		assert.ok(rows.length >= 22, `${rows.length} rows`);
		for (const { type, sha256: wanted } of rows) {
			const options = ['--scheme', type, '--pure', '--imatrix', imatrix, '--json'];
			const { status, stderr } = spawnSync(
				process.execPath,
				[cli, 'quantize', input, at('weighted.gguf'), ...options],
				{
					...{ cwd: golden, encoding: 'utf8' },
				},
			);
			assert.deepEqual([status, stderr], [0, ''], type);
			assert.equal(sha256(at('weighted.gguf')), wanted, type);
		}
	});

	it('warns of tensors that become another type', () => {
		const { status, stdout, stderr } = run('quantize', odd, at('odd.gguf'), '--scheme', 'Q4_K_S', '--pure');
		assert.equal(status, 0);
		const [, others] =
			/warning: (\d+) tensors become ggml:q5_0 instead: the rows of 192 are no whole blocks of Q4_K/.exec(stderr);
		assert.match(stdout, new RegExp(`quantized to ggml:q4_k, ${others} made into another type, \\d+ kept\\n`));
		assert.equal(sha256(at('odd.gguf')), expected('odd-f16.gguf', 'Q4_K_S'));
	});

	it('with --dry-run says what becomes of each tensor, and writes nothing', () => {
		const before = readdirSync(folder);
		const stdout = done('quantize', odd, '--scheme', 'q4_k', '--pure', '--dry-run');
		assert.match(
			stdout,
			/\nblk\.0\.attn_k\.weight +96 x 192 +F16 +ggml:q5_0 +36 864 +12 672 +rows of 192 are no whole blocks/,
		);
		assert.match(stdout, /\nblk\.0\.attn_norm\.weight +192 +F32 +F32 +768 +768 +a norm\n/);
		const json = JSON.parse(done('quantize', model, '--scheme', 'q8_0', '--pure', '--dry-run', '--json'));
		assert.deepEqual([json.target, json.scheme.name], ['ggml:q8_0', 'ggml:q8_0']);
		assert.deepEqual(readdirSync(folder), before);
	});

	it('takes any shard of a split model, or its directory, and writes one file', () => {
		const [first, second] = readdirSync(at('split')).sort();
		for (const input of [at('split', first), at('split', second), at('split')]) {
			done('quantize', input, at('whole.gguf'), '--scheme', 'q8_0', '--pure');
			const { tensors, metadata, files } = JSON.parse(done('inspect', at('whole.gguf'), '--json'));
			assert.deepEqual(
				tensors.map(({ name }) => name),
				['output.weight', 'blk.0.ffn_up.weight'],
			);
			assert.ok(files.length === 1 && !Object.keys(metadata).some((key) => key.startsWith('split.')));
		}
		mkdirSync(at('out'));
		done('quantize', at('split'), at('out'), '--scheme', 'q8_0', '--pure');
		assert.deepEqual(readdirSync(at('out')), ['big.gguf']);
		mkdirSync(at('alone'));
		writeFileSync(at('alone', first), readFileSync(at('split', first)));
		fails(1, /cannot open .*big-00002-of-00002\.gguf: no such file/, 'inspect', at('alone', first));
	});

	it('refuses what cannot be, and leaves nothing', () => {
		const before = readdirSync(folder);
		const to = (...rest) => ['quantize', model, at('never.gguf'), ...rest];
		fails(
			1,
			/Q4_K_M mixes several types by a recipe, which is not in this version: with pure .*\(--pure lets it through\)/,
			...to('--scheme', 'q4_k_m'),
		);
		fails(
			1,
			/a GGUF file carries ggml types, and ct:w4a16 is no type of ggml/,
			...to('--scheme', 'w4a16', '--pure'),
		);
		fails(1, /IQ1_S needs an importance matrix: give one, or/, ...to('--scheme', 'iq1_s', '--pure'));
		fails(2, /no scheme "q4_9"/, ...to('--scheme', 'q4_9', '--pure'));
		fails(1, /cannot open x: no such file/, ...to('--scheme', 'q4_0', '--pure', '--imatrix', 'x'));
		fails(
			2,
			/'--tensor-type' is not in this version yet/,
			...to('--scheme', 'q4_0', '--pure', '--tensor-type', 'a=b'),
		);
		fails(
			2,
			/never\.safetensors: a gguf model is written as gguf/,
			'quantize',
			model,
			at('never.safetensors'),
			'--scheme',
			'q8_0',
			'--pure',
		);
		fails(
			1,
			/is Q4_K already.*--allow-requantize/,
			'quantize',
			at('q4.gguf'),
			at('never.gguf'),
			'--scheme',
			'q8_0',
			'--pure',
		);
		const norm = { name: 'output_norm.weight', dims: [256], type: 0, data: bytesOf(weights(256, 1)) };
		writeFileSync(at('norm.gguf'), gguf({ pairs: LLAMA, tensors: [norm] }));
		const nothing = ['quantize', at('norm.gguf'), at('never.gguf'), '--scheme', 'q8_0', '--pure'];
		for (const more of [[], ['--dry-run']])
			fails(
				1,
				/no tensor is selected to be quantized, such as "output_norm\.weight": .*\(--include selects more\)/,
				...[...nothing, ...more],
			);
		fails(
			1,
			/no weight is in both models: the first has "output\.weight" and 1 more, the second "output_norm\.weight"\n/,
			...['compare', at('split', 'big-00001-of-00002.gguf'), at('norm.gguf')],
		);
		linkSync(at('q4.gguf'), at('hard.gguf'));
		fails(
			1,
			/the output .* is the input/,
			'quantize',
			at('q4.gguf'),
			at('hard.gguf'),
			'--scheme',
			'q4_k',
			'--pure',
		);
		writeFileSync(at('short.gguf'), readFileSync(model).subarray(0, 100_000));
		fails(
			1,
			/short\.gguf: tensor ".*": its data end \d+ bytes after the end of the file: is it truncated\? \(at byte \d+\)/,
			'inspect',
			at('short.gguf'),
		);
		assert.deepEqual(readdirSync(folder).sort(), [...before, 'hard.gguf', 'norm.gguf', 'short.gguf'].sort());
		const safetensors = at('s.safetensors');
		run('sample', safetensors, '--layers', '1');
		fails(2, /pure is for GGUF files/, 'quantize', safetensors, '--scheme', 'w4a16', '--pure', '--dry-run');
		fails(
			1,
			/a safetensors file carries compressed-tensors layouts, and ggml:q4_k is none/,
			'quantize',
			safetensors,
			'--scheme',
			'q4_k',
			'--dry-run',
		);
	});
});

describe('inspect, dequantize, compare', () => {
	it('inspect lists tensors, types, sizes, metadata and what is odd', () => {
		const stdout = done('inspect', at('q4.gguf'));
		assert.match(stdout, /^tensor +dtype +shape +bytes +part of\n/);
		assert.match(stdout, /\noutput\.weight +Q4_K +\d+ x 256 +[\d ]+ +ggml:q4_k\n/);
		assert.match(stdout, /: gguf, one file, \d+ tensors, /);
		assert.match(stdout, /\n {2}[\d ]+ weights, 4\.5\d\d bits per weight\n/);
		assert.match(stdout, /\n {2}Q4_K: \d+ tensors, /);
		assert.match(stdout, /\n {2}metadata general\.file_type \(u32\): 15\n/);
		assert.match(stdout, /\n {2}metadata test\.strings \(str\[3\]\): \["a", "é中", ""\]\n/);
		const items = Array.from({ length: 1000 }, (_, i) => i);
		const pairs = [
			pair('x.list', 'arr', { of: 'u16', items }),
			pair('X', 'u64', 2n ** 63n),
			pair('general.alignment', 'u32', 64),
		];
		writeFileSync(at('x.gguf'), gguf({ pairs, alignment: 64, version: 2 }));
		const text = done('inspect', at('x.gguf'));
		assert.match(text, /\n {2}metadata x\.list \(u16\[1000\]\): \[0, 1, 2, 3, 4, 5, \.\.\. 1000 in all\]\n/);
		for (const note of [
			'version 2',
			'data are aligned to 64',
			'general.architecture is missing',
			'no tensors',
			'"X": not lower_snake',
		])
			assert.ok(text.includes(note), note);
		const json = JSON.parse(done('inspect', at('x.gguf'), '--json'));
		assert.deepEqual([json.metadata['x.list'].length, json.metadata.X], [1000, '9223372036854775808']);
	});

	it('inspect --json says how long arrays of more than 1000 elements are and how they begin; with --full, all', () => {
		const list = (count) => ({ of: 'u16', items: Array.from({ length: count }, (_, i) => i) });
		const lists = { of: 'arr', items: Array.from({ length: 7 }, () => list(200)) };
		const pairs = [
			pair('x.listed', 'arr', list(1000)),
			pair('x.long', 'arr', list(1001)),
			pair('x.nested', 'arr', lists),
			pair('x.tokens', 'arr', { of: 'str', items: Array.from({ length: 200_000 }, (_, i) => `token ${i}`) }),
		];
		writeFileSync(at('long.gguf'), gguf({ pairs }));
		const text = done('inspect', at('long.gguf'), '--json');
		const { metadata, metadataTypes } = JSON.parse(text);
		assert.deepEqual(metadata['x.listed'], list(1000).items);
		assert.deepEqual(metadata['x.long'], { length: 1001, first: [0, 1, 2, 3, 4, 5] });
		assert.deepEqual(metadata['x.nested'], { length: 7, first: Array(6).fill(list(200).items) });
		assert.equal(metadata['x.tokens'].length, 200_000);
		assert.equal(metadata['x.tokens'].first[5], 'token 5');
		assert.equal(metadataTypes['x.tokens'], 'str[200000]');
		assert.ok(text.length < 100_000, `${text.length} characters`);
		const full = JSON.parse(done('inspect', at('long.gguf'), '--json', '--full')).metadata;
		assert.deepEqual(full['x.nested'], Array(7).fill(list(200).items));
		assert.equal(full['x.tokens'].at(-1), 'token 199999');
	});

	it('dequantize writes GGUF of each dtype, and compare finds them equal', () => {
		const stdout = done('dequantize', at('q4.gguf'), at('back.gguf'));
		assert.match(stdout, /weights decoded from ggml:q4_k to f16\n/);
		done('dequantize', at('q4.gguf'), at('back32.gguf'), '--dtype', 'f32');
		const { changed, tensors } = JSON.parse(done('compare', at('q4.gguf'), at('back32.gguf'), '--json'));
		assert.ok(changed.tensors === 0 && tensors.length > 10);
		assert.match(done('compare', model, at('q4.gguf')), /\nmlp gate +2 +2 +[\d ]+ +[12]\d\.\d\d /);
		fails(1, /no tensor of the model is quantized/, 'dequantize', model, at('never.gguf'));
	});
});
