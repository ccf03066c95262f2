// gguf-judge.test.js - new inputs, quantized by us and by llama.cpp's own library: the same files; the same tensors with importance, which
// the library does not write into the metadata, and of NVFP4, for which it takes no file type.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { FILE_TYPES } from '../../js/gguf/ftypes.js';
import { typeNamed } from '../../js/gguf/types.js';
import { openModel } from '../../js/model/open.js';
import { root, temporaryFolder } from './cli-support.js';
import { canWrite, gguf, LLAMA, quantized } from './gguf-support.js';
import { ggufImatrix } from './imatrix-support.js';
import { hasGgufPy, lacking, libraries, python } from './real-models.js';
import { asDtype, bytesOf, random, ready, sha256 } from './support.js';

await ready();

const folder = temporaryFolder();
const at = (name) => join(folder, name);

/** Rows of every kind that quantizers find hard: by the number of the row. @type {((r: ReturnType<typeof random>, i: number) => number)[]} */
const KINDS = [
	(r) => r.normal() * 0.05,
	(r) => (r.below(40) === 0 ? r.normal() : r.normal() * 0.01), // outliers
	(r) => (r.below(3) - 1) * 0.375, // ternary, all ties
	() => 0,
	(r, i) => (Math.floor(i / 32) % 3 === 0 ? 0 : r.normal()), // blocks of zeros among others
	(r) => Math.abs(r.normal()) + 1, // far from zero
	(r) => r.normal() * 1e-6,
	(r) => r.normal() * 5000,
	() => -0.25,
	(r) => Math.round(r.normal() * 4) / 8, // few levels
];

/** @param {number[]} dims row length first @param {number} seed */
function values([row, ...others], seed) {
	const r = random(seed);
	const rows = others.reduce((product, edge) => product * edge, 1);
	return Float32Array.from({ length: row * rows }, (_, i) =>
		KINDS[(Math.floor(i / row) + seed) % KINDS.length](r, i),
	);
}

/**
 * A small Llama, and an importance matrix of it.
 * @param {string} dtype @param {number} width @param {number} hidden @param {number} seed @param {number} used share of the columns
 */
function inputs(dtype, width, hidden, seed, used = 0.98) {
	const tensors = [
		...[
			['token_embd.weight', width, 24],
			['output.weight', width, 10],
			['output_norm.weight', width],
		],
		...[
			['blk.0.attn_q.weight', width, 20],
			['blk.0.attn_norm.weight', width],
			['blk.0.ffn_down.weight', hidden, 20],
		],
		...[
			['blk.1.ffn_gate_exps.weight', width, 5, 4],
			['blk.1.attn_v.weight', width, 30],
		],
	].map(([name, ...dims], i) => ({ name, dims, values: values(dims, seed + i) }));
	const stored = tensors.map(({ name, dims, values }) => {
		const own = dims.length === 1 ? 'F32' : dtype;
		return {
			name,
			dims,
			type: typeNamed(own).id,
			data: new Uint8Array(bytesOf(asDtype(values, own.toLowerCase()))),
		};
	});
	const r = random(seed);
	const entries = tensors
		.filter(({ dims }) => dims.length > 1)
		.map(({ name, dims: [columns, , matrices = 1] }) => ({
			...{ name, columns },
			sums: Float32Array.from({ length: columns * matrices }, () => (r.next() < used ? 30 * r.normal() ** 2 : 0)),
			// An expert that was never asked.
			counts: Array.from({ length: matrices }, (_, i) => (i === 2 ? 0 : 3 + r.below(5))),
		}));
	return { model: gguf({ pairs: LLAMA, tensors: stored }), imatrix: ggufImatrix(entries) };
}

const INPUTS = {
	f32: inputs('F32', 256, 512, 1),
	bf16: inputs('BF16', 512, 256, 21),
	// Sums of so few that scales below 0 come out.
	sparse: inputs('F32', 512, 256, 61, 0.06),
	odd: inputs('F16', 192, 320, 41),
};

/** A file type of quantized tensors, for those that get a type of their own. */
const ANOTHER = FILE_TYPES.find(({ name }) => name === 'Q8_0').number;
const WRITABLE = FILE_TYPES.filter(({ name }) => canWrite(name));

/** Types that need importance where there is none, and one that has no other for rows of 192. */
const REFUSED = [
	...['f32', 'bf16', 'sparse'].flatMap((input) =>
		['IQ2_XXS', 'IQ2_XS', 'IQ2_S', 'IQ2_M', 'IQ1_S', 'IQ1_M', 'Q2_K_S', 'IQ3_XXS'].map(
			(name) => `${input} ${name}`,
		),
	),
	...['odd Q1_0', 'odd Q1_0, weighted'],
];

const skip = lacking({
	'Python with gguf in .cache/venv': hasGgufPy,
	"llama.cpp's libraries in .cache/llama": existsSync(libraries),
});

test("llama.cpp's library and we make the same of new inputs", { skip }, async () => {
	const jobs = Object.entries(INPUTS).flatMap(([input, { model, imatrix }]) => {
		writeFileSync(at(`${input}.gguf`), model);
		writeFileSync(at(`${input}.imatrix.gguf`), imatrix);
		return WRITABLE.flatMap(({ name, number, type }) =>
			[null, imatrix].map((weights) => ({
				...{ input, name, weights },
				...(name === 'NVFP4'
					? { ftype: ANOTHER, tensorType: typeNamed(type).id }
					: { ftype: number, tensorType: null }),
				output: at(`${input}-${name}${weights ? '-weighted' : ''}.gguf`),
			})),
		);
	});
	const asked = jobs.map(({ input, output, ftype, tensorType, weights }) => ({
		...{ input: at(`${input}.gguf`), output, ftype, tensor_type: tensorType },
		imatrix: weights && at(`${input}.imatrix.gguf`),
	}));
	const judge = spawnSync(python, [join(root, 'tests/py/llama_quantize.py'), libraries], {
		...{ input: JSON.stringify(asked), encoding: 'utf8', maxBuffer: 2 ** 26 },
	});
	assert.equal(judge.status, 0, judge.stderr);
	const said = judge.stdout
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	assert.equal(said.length, jobs.length);
	const refused = [];
	let same = 0;
	for (const [i, { input, name, output, tensorType, weights }] of jobs.entries()) {
		const what = `${input} ${name}${weights ? ', weighted' : ''}`;
		// Of some weights nvfp4's scales are beyond E4M3.
		const options = { scheme: name, imatrix: weights ?? undefined, overflow: 'allow' };
		const ours = quantized(INPUTS[input].model, options);
		if (said[i] !== 0) {
			await assert.rejects(ours, BlockQuantError, `${what}: llama.cpp says ${said[i]}`);
			refused.push(what);
			continue;
		}
		const { bytes } = await ours;
		const theirs = new Uint8Array(readFileSync(output));
		if (weights || tensorType !== null) assert.deepEqual(await tensorsOf(bytes), await tensorsOf(theirs), what);
		else assert.ok(Buffer.from(bytes).equals(theirs), what);
		same++;
	}
	assert.deepEqual(refused, REFUSED);
	assert.equal(jobs.length, 4 * 39 * 2);
	assert.equal(same, jobs.length - REFUSED.length);
});

/** @param {Uint8Array} bytes */
async function tensorsOf(bytes) {
	const { tensors } = await openModel(bytes);
	const data = tensors.map(async ({ name, dtype, shape, nbytes, read }) => [
		name,
		dtype,
		shape,
		sha256(await read(0, nbytes)),
	]);
	return Promise.all(data);
}
