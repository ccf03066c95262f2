// gguf-importance.test.js - what an importance matrix does to a model: which tensors it weighs, what the file says of it, what is
// refused without. tests/js/gguf-golden.test.js compares the bytes.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { quantize } from '../../js/arrays/quantize.js';
import { readImatrix } from '../../js/imatrix/imatrix.js';
import { FILE_TYPES, needsMatrix } from '../../js/gguf/ftypes.js';
import { openModel } from '../../js/model/open.js';
import { plan } from '../../js/model/plan.js';
import { readImatrixPath } from '../../js/node/imatrix-file.js';
import { quantizeModelPath } from '../../js/node/model-files.js';
import { done, fails, run, temporaryFolder } from './cli-support.js';
import { weights } from './files-support.js';
import { canWrite, gguf, LLAMA, pair, quantized } from './gguf-support.js';
import { ggufImatrix, legacyImatrix } from './imatrix-support.js';
import { bytesOf, ready } from './support.js';

await ready();

const folder = temporaryFolder();
const at = (name) => join(folder, name);
const importance = (count, seed) => weights(count, seed).map((value) => value * value + 0.01);

const UP = 'blk.0.ffn_up.weight';
const EXPERTS = 'blk.0.ffn_up_exps.weight';
const EMBEDDING = 'token_embd.weight';
const SHAPES = { [EMBEDDING]: [256, 6], [UP]: [256, 4], [EXPERTS]: [256, 4, 3] };
const values = Object.fromEntries(
	Object.entries(SHAPES).map(([name, dims], i) => [
		name,
		weights(
			dims.reduce((product, edge) => product * edge, 1),
			i + 1,
		),
	]),
);
const model = gguf({
	pairs: [...LLAMA, pair('quantize.imatrix.file', 'str', 'an older one')],
	tensors: Object.entries(SHAPES).map(([name, dims]) => ({
		name,
		dims,
		type: 0,
		data: new Uint8Array(bytesOf(values[name])),
	})),
});
const full = { [EMBEDDING]: importance(256, 11), [UP]: importance(256, 12), [EXPERTS]: importance(768, 13) };
const imatrixOf = (tensors, more) => ({ tensors: new Map(Object.entries(tensors)), ...more });
const without = (name) => imatrixOf(Object.fromEntries(Object.entries(full).filter(([key]) => key !== name)));

/** The bytes of a tensor in a file. */
async function blocks(bytes, name) {
	const { tensors } = await openModel(bytes);
	const { nbytes, read } = tensors.find((tensor) => tensor.name === name);
	return Buffer.from(await read(0, nbytes));
}

/** This build's types that must have importance. */
const NEEDY = FILE_TYPES.filter((fileType) => needsMatrix(fileType, fileType.type, UP) && canWrite(fileType.name));

describe('the weights of a tensor', () => {
	it('are those of its name, one row for each expert', async () => {
		const { bytes, warnings } = await quantized(model, { scheme: 'Q4_K_M', imatrix: imatrixOf(full) });
		assert.deepEqual(warnings, []);
		for (const [name, dims] of Object.entries(SHAPES)) {
			const [scheme, shape] = ['q4_k', [...dims].reverse()];
			const weighted = quantize(values[name], { scheme, shape, imatrix: full[name] });
			const plain = quantize(values[name], { scheme, shape });
			const found = await blocks(bytes, name);
			assert.ok(found.equals(weighted.bytes), name);
			assert.ok(!found.equals(plain.bytes), `${name}: weights must matter`);
		}
		const part = quantize(values[EXPERTS].subarray(1024, 2048), {
			...{ scheme: 'q4_k', shape: [4, 256] },
			imatrix: full[EXPERTS].subarray(256, 512),
		});
		assert.ok((await blocks(bytes, EXPERTS)).subarray(576, 1152).equals(part.bytes), 'the second expert');
		const four = { scheme: 'q4_k', shape: [2, 3, 4, 256], imatrix: full[EXPERTS] };
		const twice = quantize(Float32Array.from([...values[EXPERTS], ...values[EXPERTS]]), four);
		const once = await blocks(bytes, EXPERTS);
		assert.ok(Buffer.concat([once, once]).equals(twice.bytes), 'of four axes');
	});

	it('come from files of either kind, or from what was read', async () => {
		const sums = Object.entries(full).map(([name, tensor]) => ({
			name,
			columns: 256,
			sums: tensor.map((x) => 4 * x),
		}));
		const entries = sums.map((entry) => ({ ...entry, counts: Array(entry.sums.length / 256).fill(4) }));
		const old = Object.entries(full).map(([name, tensor]) => ({
			name,
			calls: 2,
			values: tensor.map((x) => 2 * x),
		}));
		const files = [ggufImatrix(entries), legacyImatrix(old)];
		const imatrices = [...files, new Blob([files[0]]), await readImatrix(files[1])];
		const expected = await quantized(model, { scheme: 'q5_k', imatrix: imatrixOf(full) });
		for (const imatrix of imatrices) {
			const { bytes } = await quantized(model, { scheme: 'q5_k', imatrix });
			for (const name of Object.keys(SHAPES))
				assert.ok((await blocks(bytes, name)).equals(await blocks(expected.bytes, name)), name);
		}
	});

	it('do not depend on the number of workers', async () => {
		const one = await quantized(model, { scheme: 'q3_k_s', imatrix: imatrixOf(full) });
		const three = await quantized(model, { scheme: 'q3_k_s', imatrix: imatrixOf(full), workers: 3 });
		assert.ok(Buffer.from(one.bytes).equals(three.bytes));
	});

	it('may be missing: it is said by name, and quantized as without', async () => {
		const { bytes, warnings } = await quantized(model, { scheme: 'q4_0', imatrix: without(UP) });
		assert.deepEqual(warnings, [`tensor "${UP}": the importance matrix has no entry for it: quantized without`]);
		const plain = await quantized(model, { scheme: 'q4_0' });
		assert.ok((await blocks(bytes, UP)).equals(await blocks(plain.bytes, UP)));
		assert.ok(!(await blocks(bytes, EXPERTS)).equals(await blocks(plain.bytes, EXPERTS)));
	});

	it('of another size are an error, but for the tables of tokens', async () => {
		for (const [name, count, expected] of [
			[UP, 512, 256],
			[EXPERTS, 256, 768],
		])
			await assert.rejects(
				quantized(model, { scheme: 'q4_0', imatrix: imatrixOf({ ...full, [name]: importance(count, 1) }) }),
				{ code: 'bad-shape', tensor: name, message: new RegExp(`has ${count} values, not ${expected}$`) },
			);
		const { warnings } = await quantized(model, {
			...{ scheme: 'q4_0', imatrix: imatrixOf({ ...full, [EMBEDDING]: importance(5, 1) }) },
		});
		assert.deepEqual(warnings, [
			`tensor "${EMBEDDING}": its entry in the importance matrix has 5 values, not 256: quantized without`,
		]);
	});

	it('must be finite and not negative', async () => {
		for (const wrong of [Number.NaN, -1]) {
			const imatrix = imatrixOf({ ...full, [UP]: full[UP].map((x, i) => (i === 9 ? wrong : x)) });
			await assert.rejects(quantized(model, { scheme: 'q4_0', imatrix }), { code: 'bad-argument', tensor: UP });
		}
	});
});

describe('types that are of no use without', () => {
	it('there are some', () => assert.ok(NEEDY.some(({ name }) => name === 'Q2_K_S')));

	it('are refused before anything is written, by name', async () => {
		for (const { name, type } of NEEDY) {
			const options = { scheme: name, exclude: EMBEDDING };
			await assert.rejects(quantized(model, options), {
				...{ code: 'needs-importance', tensor: UP },
				message: new RegExp(`${type} needs an importance matrix: give one, or`),
			});
			await assert.rejects(quantized(model, { ...options, imatrix: without(EXPERTS) }), {
				...{ code: 'needs-importance', tensor: EXPERTS },
				message: /needs an importance matrix, and the importance matrix has no entry for it/,
			});
		}
	});

	it('take ones where they are told to', async () => {
		for (const { name } of NEEDY) {
			const ones = Object.fromEntries(
				Object.entries(full).map(([key, x]) => [key, new Float32Array(x.length).fill(1)]),
			);
			const options = { scheme: name, exclude: EMBEDDING, missingImportance: 'ones' };
			const expected = await quantized(model, { ...options, imatrix: imatrixOf(ones) });
			const { bytes, warnings } = await quantized(model, options);
			assert.deepEqual(warnings, []);
			const part = await quantized(model, { ...options, imatrix: without(UP) });
			assert.deepEqual(part.warnings, [
				`tensor "${UP}": the importance matrix has no entry for it: all its columns weigh the same`,
			]);
			for (const one of [bytes, part.bytes])
				assert.ok((await blocks(one, UP)).equals(await blocks(expected.bytes, UP)), name);
		}
	});

	it('need none outside of the layers, where ggml can do without', async () => {
		const types = (fileType) =>
			[EMBEDDING, 'output.weight'].map((name) => needsMatrix(fileType, fileType.type, name));
		for (const fileType of NEEDY) {
			const always = ['IQ2_XXS', 'IQ2_XS', 'IQ1_S'].includes(fileType.type);
			assert.deepEqual(types(fileType), [always, always], fileType.name);
		}
		const options = { scheme: 'Q2_K_S', imatrix: without(EMBEDDING) };
		const { warnings } = await quantized(model, options);
		assert.match(
			warnings.join(),
			/"token_embd\.weight": the importance matrix has no entry for it: quantized without/,
		);
	});
});

describe('the metadata', () => {
	const metadataOf = async (bytes) => (await openModel(bytes)).metadata;
	/** @param {object} more @param {string} [scheme] */
	const pairsOf = async (more, scheme = 'q4_0') => {
		const { bytes } = await quantized(model, { scheme, imatrix: imatrixOf(full, more) });
		return Object.entries(await metadataOf(bytes)).slice(LLAMA.length);
	};

	it('say which matrix it was, at the end, in the place of an older one', async () => {
		const said = { name: 'dir/m.gguf', datasets: ['a.txt', 'b.txt'], chunks: 9 };
		const expected = [
			['general.quantization_version', 2],
			['general.file_type', 2],
			['quantize.imatrix.file', 'dir/m.gguf'],
			['quantize.imatrix.dataset', 'a.txt'],
			['quantize.imatrix.entries_count', 3],
			['quantize.imatrix.chunks_count', 9],
		];
		assert.deepEqual(await pairsOf(said), expected);
		// The tool says so whatever it makes.
		expected[1] = ['general.file_type', 1];
		assert.deepEqual(await pairsOf(said, 'F16'), expected);
		expected[1] = ['general.file_type', 1024];
		assert.deepEqual(await pairsOf(said, 'COPY'), expected);
	});

	it('say what is known, and at most 127 bytes of a text', async () => {
		// What the matrix does not say stays as it was, as with the tool.
		const keys = (await pairsOf({ chunks: 0 })).map(([key]) => key.replace(/^.*\./, ''));
		assert.deepEqual(keys, ['file', 'quantization_version', 'file_type', 'entries_count']);
		const [, , [, file], [, dataset]] = await pairsOf({ name: 'x'.repeat(200), datasets: [`${'y'.repeat(126)}é`] });
		assert.deepEqual([file, dataset], ['x'.repeat(127), 'y'.repeat(126)]);
	});

	it('stay as they are without a matrix', async () => {
		const { bytes } = await quantized(model, { scheme: 'q4_0' });
		assert.equal((await metadataOf(bytes))['quantize.imatrix.file'], 'an older one');
	});
});

describe('by path, and by the command', () => {
	before(() => {
		writeFileSync(at('m.gguf'), model);
		const entries = Object.entries(full).map(([name, tensor]) => ({ name, calls: 1, values: tensor }));
		writeFileSync(at('m.dat'), legacyImatrix(entries));
		writeFileSync(at('part.dat'), legacyImatrix(entries.slice(0, 2)));
		writeFileSync(at('nan.dat'), legacyImatrix([{ name: 'a', calls: 1, values: [Number.NaN] }]));
	});

	it('the file is named as it was given', async () => {
		const imatrix = await readImatrixPath(at('m.dat'));
		assert.deepEqual([imatrix.name, imatrix.path, imatrix.tensors.size], [at('m.dat'), at('m.dat'), 3]);
		await quantizeModelPath(at('m.gguf'), at('lib.gguf'), { scheme: 'q4_k', pure: true, imatrix });
		done('quantize', at('m.gguf'), at('cli.gguf'), '--scheme', 'q4_k', '--pure', '--imatrix', at('m.dat'));
		assert.ok(readFileSync(at('lib.gguf')).equals(readFileSync(at('cli.gguf'))));
		const { metadata } = JSON.parse(done('inspect', at('cli.gguf'), '--json'));
		assert.equal(metadata['quantize.imatrix.file'], at('m.dat').slice(0, 127));
		await assert.rejects(readImatrixPath(5), { code: 'bad-argument' });
	});

	it('an output never takes its place', async () => {
		const imatrix = await readImatrixPath(at('m.dat'));
		const same = { code: 'same-file', message: /the (output|report) .*m\.dat is the imatrix .*m\.dat/ };
		await assert.rejects(
			quantizeModelPath(at('m.gguf'), at('m.dat'), { scheme: 'q8_0', pure: true, imatrix }),
			same,
		);
		await assert.rejects(
			quantizeModelPath(at('m.gguf'), at('o.gguf'), { scheme: 'q8_0', pure: true, imatrix, report: at('m.dat') }),
			same,
		);
	});

	it('says what is missing and what is wrong', () => {
		const before = readdirSync(folder);
		const to = (scheme, ...rest) => [
			'quantize',
			at('m.gguf'),
			at('never.gguf'),
			'--scheme',
			scheme,
			'--pure',
			...rest,
		];
		fails(1, /tensor ".*": Q2_K needs an importance matrix: give one, or/, ...to('Q2_K_S'));
		fails(
			1,
			/tensor ".*exps\.weight": Q2_K needs .*no entry.*\(--missing-importance ones lets it through\)/,
			...to('Q2_K_S', '--imatrix', at('part.dat')),
		);
		fails(1, /nan\.dat: tensor "a": its importance is NaN at index 0/, ...to('q4_0', '--imatrix', at('nan.dat')));
		fails(
			1,
			/m\.gguf: no imatrix\.datasets: is this an importance matrix\?/,
			...to('q4_0', '--imatrix', at('m.gguf')),
		);
		fails(1, /cannot open .*none\.dat: no such file/, ...to('q4_0', '--imatrix', at('none.dat')));
		assert.deepEqual(readdirSync(folder), before);
		const { status, stderr } = run(
			...to('Q2_K_S', '--dry-run', '--imatrix', at('part.dat'), '--missing-importance', 'ones'),
		);
		assert.equal(status, 0);
		assert.match(
			stderr,
			/warning: tensor "blk\.0\.ffn_up_exps\.weight": the importance matrix has no entry for it: all its/,
		);
		const json = JSON.parse(done(...to('q4_0', '--dry-run', '--json', '--imatrix', at('m.dat'))));
		assert.deepEqual(
			json.tensors.map(({ weighted }) => weighted),
			[true, true, true],
		);
		const safetensors = at('s.safetensors');
		run('sample', safetensors, '--layers', '1');
		for (const option of [
			['--imatrix', at('m.dat')],
			['--missing-importance', 'ones'],
		])
			fails(2, /is for GGUF files/, 'quantize', safetensors, at('o'), '--scheme', 'w4a16', ...option);
	});

	it('plan() takes what was read, not a file', async () => {
		const opened = await openModel(model);
		const imatrix = await readImatrixPath(at('m.dat'));
		assert.equal(plan(opened, { scheme: 'Q2_K_S', pure: true, imatrix }).totals.quantized, 3);
		assert.throws(() => plan(opened, { scheme: 'Q2_K_S', pure: true, imatrix: readFileSync(at('m.dat')) }), {
			...{ code: 'bad-argument', message: /imatrix: expected what readImatrix\(\) gives/ },
		});
	});
});
