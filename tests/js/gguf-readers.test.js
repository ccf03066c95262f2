// gguf-readers.test.js - what others make of our GGUF files: gguf-py and @huggingface/gguf read types, shapes and metadata,
// gguf-py decodes our values, and llama.cpp (node-llama-cpp) answers a prompt with a model that went through us.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { gguf as readWithHuggingFace } from '@huggingface/gguf';
import { FILE_TYPES } from '../../js/gguf/ftypes.js';
import { typeNamed } from '../../js/gguf/types.js';
import { openModelPath } from '../../js/node/model-files.js';
import { done, root, run, temporaryFolder } from './cli-support.js';
import { bytesOf, weights } from './files-support.js';
import { canWrite, gguf, i32, LLAMA, pair } from './gguf-support.js';
import { legacyImatrix } from './imatrix-support.js';
import { hasGgufPy, lacking, llama, python, smolLM2 } from './real-models.js';
import { ready } from './support.js';

await ready();

const folder = temporaryFolder();
const at = (name) => join(folder, name);
const noPython = lacking({ 'Python with gguf in .cache/venv': hasGgufPy });

/** Quantized file types that this build can write. */
const WRITABLE = FILE_TYPES.filter(({ name, type }) => typeNamed(type).quantized && canWrite(name));
/** Of the tensors that are quantized. */
const COLUMNS = { 'output.weight': [256], 'blk.0.ffn_down.weight': [512], 'blk.0.ffn_gate_exps.weight': [256, 3] };
const IMATRIX = { name: 'in.dat', dataset: 'some text', chunks: 5 };

before(() => {
	const f32 = (name, dims, seed) => {
		const count = dims.reduce((product, edge) => product * edge, 1);
		return { name, dims, type: 0, data: bytesOf(weights(count, seed)) };
	};
	const tensors = [
		f32('output.weight', [256, 8], 1),
		f32('blk.0.attn_norm.weight', [256], 2),
		f32('blk.0.ffn_down.weight', [512, 8], 3),
		f32('blk.0.ffn_gate_exps.weight', [256, 4, 3], 4),
		f32('blk.1.narrow.weight', [40, 3], 5),
	];
	const pairs = [
		...LLAMA,
		pair('tokenizer.ggml.tokens', 'arr', { of: 'str', items: ['a', 'é中', '', '\u{1F600}'] }),
		pair('tokenizer.ggml.scores', 'arr', { of: 'f32', items: [0, -1.5, 2 ** -20] }),
		pair('x.flag', 'bool', 1),
		pair('x.big', 'u64', 2 ** 40),
	];
	writeFileSync(at('in.gguf'), gguf({ pairs, tensors }));
	const entries = Object.entries(COLUMNS).map(([name, [columns, matrices = 1]]) => {
		const values = weights(columns * matrices, columns).map((value) => value * value);
		return { name, calls: 1, values };
	});
	const dataset = new TextEncoder().encode(IMATRIX.dataset);
	const tail = [i32(IMATRIX.chunks), i32(dataset.length), dataset];
	writeFileSync(at(IMATRIX.name), legacyImatrix(entries, { tail }));
	for (const { name } of WRITABLE)
		done(
			...[
				'quantize',
				at('in.gguf'),
				at(`${name}.gguf`),
				'--scheme',
				name,
				'--pure',
				'--json',
				'--exclude',
				'narrow',
			],
			...['--imatrix', at(IMATRIX.name)],
		);
});

/** What is added to the metadata: by key, [type in gguf-py's words, value]. @param {number} fileType */
const added = (fileType) => ({
	'general.quantization_version': ['uint32', 2],
	'general.file_type': ['uint32', fileType],
	'quantize.imatrix.file': ['string', at(IMATRIX.name)],
	'quantize.imatrix.dataset': ['string', IMATRIX.dataset],
	'quantize.imatrix.entries_count': ['uint32', Object.keys(COLUMNS).length],
	'quantize.imatrix.chunks_count': ['uint32', IMATRIX.chunks],
});

/** @param {string} path */
function inPython(path) {
	const { status, stdout, stderr } = spawnSync(python, [join(root, 'tests/py/read_gguf.py'), path], {
		encoding: 'utf8',
		maxBuffer: 2 ** 26,
	});
	assert.equal(status, 0, stderr);
	return JSON.parse(stdout);
}

/** The values of each tensor as `blockquant dequantize` writes them: sha256 of float32. @param {string} path */
async function ourValues(path) {
	done('dequantize', path, at('plain.gguf'), '--dtype', 'f32');
	const model = await openModelPath(at('plain.gguf'));
	try {
		const found = new Map();
		for (const { name, dtype, nbytes, read } of model.tensors) {
			const bytes = await read(0, nbytes);
			if (dtype === 'F32') found.set(name, createHash('sha256').update(bytes).digest('hex'));
		}
		return found;
	} finally {
		await model.close();
	}
}

/** gguf-py 0.19 knows no Q2_0, so it cannot open such a file: the day that it can, this test says so. */
const UNKNOWN_TO_PYTHON = ['Q2_0'];

for (const { name, number, type } of WRITABLE) {
	test(`${name}: gguf-py reads types and metadata, and decodes our values`, { skip: noPython }, async (t) => {
		const path = at(`${name}.gguf`);
		if (UNKNOWN_TO_PYTHON.includes(type))
			return assert.throws(() => inPython(path), /is not a valid GGMLQuantizationType/);
		const [before, after] = [inPython(at('in.gguf')), inPython(path)];
		assert.deepEqual(after.fields, {
			...before.fields,
			...Object.fromEntries(Object.entries(added(number)).map(([key, [kind, value]]) => [key, [[kind], value]])),
		});
		const ours = await ourValues(path);
		for (const tensor of after.tensors) {
			const shape = before.tensors.find((each) => each.name === tensor.name)?.shape;
			assert.deepEqual(tensor.shape, shape);
			const kept = /norm|narrow/.test(tensor.name);
			assert.equal(tensor.type, kept ? 'F32' : type);
			if (tensor.sha256 === null) t.diagnostic(`gguf-py decodes no ${type}`);
			else assert.equal(tensor.sha256, ours.get(tensor.name), tensor.name);
		}
	});

	test(`${name}: @huggingface/gguf reads types and metadata`, async () => {
		const [before, after] = [
			await readWithHuggingFace(at('in.gguf'), { allowLocalFile: true }),
			await readWithHuggingFace(at(`${name}.gguf`), { allowLocalFile: true }),
		];
		const { kv_count: _, ...metadata } = before.metadata;
		assert.deepEqual(
			{ ...after.metadata },
			{
				...metadata,
				kv_count: BigInt(Number(before.metadata.kv_count) + 6),
				...Object.fromEntries(Object.entries(added(number)).map(([key, [, value]]) => [key, value])),
			},
		);
		for (const { name: tensor, dtype, shape } of after.tensorInfos) {
			const kept = /norm|narrow/.test(tensor);
			assert.equal(dtype, kept ? 0 : typeNamed(type)?.id, tensor);
			assert.deepEqual(shape, before.tensorInfos.find((each) => each.name === tensor)?.shape);
		}
	});
}

/**
 * Of SmolLM2 135M. With its embedding in 4 bits it knows no capitals (nor does llama-quantize's file, which is the same), but opposites.
 * Rows of 576 are no blocks of Q6_K.
 */
const ANSWERS = {
	Q8_0: { prompt: 'The capital of France is', answer: /^\s*Paris\b/, types: ['F32', 'Q8_0'] },
	Q4_0: { prompt: 'The opposite of hot is', answer: /^\s*cold\b/, types: ['F32', 'Q4_0'] },
	Q6_K: { prompt: 'The capital of France is', answer: /^\s*Paris\b/, types: ['F32', 'Q6_K', 'Q8_0'] },
};
const noModel = lacking({
	'Python with gguf in .cache/venv': hasGgufPy,
	'SmolLM2 in .cache/venv': smolLM2,
	'node-llama-cpp in .cache/llama': llama,
});

test('SmolLM2 135M, dequantized by us to f16', { skip: noModel }, async (t) => {
	const f16 = at('smol-f16.gguf');
	done('dequantize', smolLM2, f16, '--dtype', 'f16', '--json');
	const original = { python: inPython(smolLM2), huggingFace: await inHuggingFace(smolLM2) };
	assert.ok(Object.keys(original.python.fields).length > 20);
	assert.ok('general.quantization_version' in original.python.fields);

	/** Others find these types, and all metadata as they were, but for the file's type. */
	async function assertRead(path, fileType, types) {
		const python = inPython(path);
		assert.deepEqual(new Set(python.tensors.map(({ type }) => type)), new Set(types));
		assert.deepEqual(python.fields, {
			...original.python.fields,
			'general.file_type': [['uint32'], fileType],
		});
		const { metadata, tensorInfos } = await inHuggingFace(path);
		assert.deepEqual(metadata, { ...original.huggingFace.metadata, 'general.file_type': fileType });
		const shapes = new Map(original.huggingFace.tensorInfos.map(({ name, shape }) => [name, shape]));
		const typeIn = new Map(python.tensors.map(({ name, type }) => [name, typeNamed(type)?.id]));
		assert.equal(tensorInfos.length, shapes.size);
		for (const { name, dtype, shape } of tensorInfos) {
			assert.equal(dtype, typeIn.get(name), name);
			assert.deepEqual(shape, shapes.get(name), name);
		}
	}

	await t.test('is what others read', () => assertRead(f16, 1, ['F32', 'F16']));
	for (const [type, { prompt, answer, types }] of Object.entries(ANSWERS))
		await t.test(`and quantized to ${type} is what others read, and answers in llama.cpp`, async () => {
			const path = at(`smol-${type}.gguf`);
			const { status, stderr } = run('quantize', f16, path, '--scheme', type, '--pure');
			assert.equal(status, 0, stderr);
			const fileType = FILE_TYPES.find(({ name }) => name === type)?.number;
			await assertRead(path, fileType, types);
			assert.match(await answerOf(path, prompt), answer);
			rmSync(path);
		});
});

/** @param {string} path */
async function inHuggingFace(path) {
	const { metadata, tensorInfos } = await readWithHuggingFace(path, { allowLocalFile: true });
	return { metadata: { ...metadata }, tensorInfos };
}

/**
 * The words that llama.cpp goes on with, taking the likeliest each time; in a process of its own, which ends with it. One
 * thread: several wait for one another by spinning, for ever on a machine that is busy.
 * @param {string} model @param {string} prompt
 */
async function answerOf(model, prompt) {
	const script = `
		import { getLlama, LlamaCompletion } from ${JSON.stringify(llama)};
		const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: 'error', maxThreads: 1 });
		const model = await llama.loadModel({ modelPath: ${JSON.stringify(model)} });
		const context = await model.createContext({ contextSize: 256, threads: 1 });
		const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
		const text = await completion.generateCompletion(${JSON.stringify(prompt)}, { maxTokens: 8, temperature: 0 });
		console.log(JSON.stringify(text));
		process.exit(0);
	`;
	writeFileSync(at('answer.mjs'), script);
	const { status, stdout, stderr } = spawnSync(process.execPath, [at('answer.mjs')], {
		encoding: 'utf8',
		timeout: 300_000,
	});
	assert.equal(status, 0, stderr);
	return JSON.parse(stdout.trim().split('\n').at(-1) ?? '""');
}

test('the lists of this file are not empty', () => {
	assert.equal(WRITABLE.length, 36, WRITABLE.map(({ name }) => name).join());
	assert.ok(readFileSync(at('in.gguf')).length > 0);
});
