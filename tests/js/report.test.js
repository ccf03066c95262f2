// report.test.js - what quantizing says of its errors: what compare says afterwards, with the weights read once.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { compareModels } from '../../js/model/compare.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModelPath } from '../../js/node/model-files.js';
import { done, fails, root, run, safetensorsOf, temporaryFolder } from './cli-support.js';
import { memorySink } from '../../js/io/sink.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { weights } from './files-support.js';
import { ready } from './support.js';

await ready();

const folder = temporaryFolder();
const at = (...names) => join(folder, ...names);
const golden = join(root, 'tests/golden/gguf');
const FIGURES = ['mse', 'rmse', 'maxAbs', 'sqnrDb', 'cosine'];

/** A source that counts its reads of each byte. @param {Uint8Array} bytes */
function counting(bytes) {
	const counts = new Uint8Array(bytes.length);
	const read = async (offset, length) => {
		for (let i = offset; i < offset + length; i++) counts[i]++;
		return bytes.slice(offset, offset + length);
	};
	return { source: { size: bytes.length, read, name: 'counted.gguf' }, counts };
}

/** Sums in another order: equal but for the last digits; the largest error exactly. */
function assertSame(found, expected, what) {
	for (const figure of FIGURES) {
		const [a, b] = [found[figure], expected[figure]];
		const near = a === b || Math.abs(a - b) <= 1e-9 * Math.abs(b) || (Number.isNaN(a) && Number.isNaN(b));
		assert.ok(near && (figure !== 'maxAbs' || Object.is(a, b)), `${what}: ${figure} ${a}, expected ${b}`);
	}
	const rest = (all) => Object.fromEntries(Object.entries(all).filter(([key]) => !FIGURES.includes(key)));
	assert.deepEqual(rest(found), rest(expected), what);
}

/** Quantizes bytes and compares what was measured with what compareModels finds. */
async function check(bytes, options, config) {
	const model = await openModel(bytes);
	const sink = memorySink();
	const { errors, config: newConfig } = await quantizeModel(model, sink, { measure: true, config, ...options });
	const compared = await compareModels(model, await openModel(sink.bytes()), { configB: newConfig });
	assert.ok(errors.tensors.length > 0);
	for (const tensor of errors.tensors)
		assertSame(
			tensor,
			compared.tensors.find(({ name }) => name === tensor.name),
			tensor.name,
		);
	assertSame(errors.changed, compared.changed, 'all that differ');
	const keptKinds = new Set(
		compared.tensors.filter(({ name }) => errors.kept.includes(name)).map(({ kind }) => kind),
	);
	for (const kind of errors.summary)
		if (!keptKinds.has(kind.kind))
			assertSame(
				kind,
				compared.summary.find((one) => one.kind === kind.kind),
				kind.kind,
			);
	assert.deepEqual(
		[...errors.tensors.map(({ name }) => name), ...errors.kept].sort(),
		model.tensors.map(({ name }) => name).sort(),
	);
	return { errors, bytes: sink.bytes() };
}

describe('measure: true', () => {
	const odd = new Uint8Array(readFileSync(join(golden, 'odd-f16.gguf')));

	it('says what compare says, for blocks, fallbacks and plain numbers', async () => {
		for (const scheme of ['Q4_K_M', 'Q8_0', 'MXFP4_MOE', 'TQ2_0', 'BF16']) {
			const { errors } = await check(odd, { scheme, pure: true });
			assert.equal(errors.summary.find(({ kind }) => kind === 'mlp down')?.tensors, 2);
			assert.ok(errors.kept.includes('output_norm.weight'));
		}
	});

	it('says it for planes of compressed-tensors, in every dtype of weights', async () => {
		const shape = [64, 256];
		const tensors = { 'layers.0.mlp.up_proj.weight': { shape, values: weights(64 * 256, 3) } };
		for (const scheme of ['w4a16_asym', 'nvfp4a16', 'mxfp4a16', 'fp8_block', 'fp8_dynamic', 'w8a16']) {
			await check(new Uint8Array(safetensorsOf(tensors)), { scheme }, '{}');
			run('sample', at('s.safetensors'), '--layers', '1');
			const small = new Uint8Array(readFileSync(at('s.safetensors')));
			await check(small, { scheme, include: 'q_proj' }, readFileSync(at('config.json'), 'utf8'));
		}
	});

	it('is the same for every number of workers, and changes no byte', async () => {
		const options = { scheme: 'q5_k', pure: true };
		const results = [];
		for (const workers of [1, 3]) results.push(await check(odd, { ...options, workers }));
		assert.deepEqual(results[0].errors, results[1].errors);
		const plain = memorySink();
		const { errors } = await quantizeModel(await openModel(odd), plain, options);
		assert.equal(errors, null);
		for (const { bytes } of results) assert.ok(Buffer.from(plain.bytes()).equals(bytes));
	});

	it('reads the weights once', async () => {
		const { source, counts } = counting(odd);
		const model = await openModel(source);
		const headerReads = counts.slice();
		await quantizeModel(model, memorySink(), { scheme: 'q4_0', pure: true, measure: true });
		const { header } = model.files[0];
		for (let i = header.dataStart; i < odd.length; i++)
			assert.ok(counts[i] - headerReads[i] <= 1, `byte ${i} is read ${counts[i] - headerReads[i]} times`);
	});

	it('shows NaN where weights are NaN', async () => {
		const values = weights(512, 1);
		values[7] = Number.NaN;
		const bytes = new Uint8Array(safetensorsOf({ 'layers.0.up_proj.weight': { shape: [2, 256], values } }));
		const { errors } = await check(bytes, { scheme: 'w8a16', nonfinite: 'allow' });
		assert.ok(FIGURES.every((figure) => Number.isNaN(errors.tensors[0][figure])));
	});
});

describe('--report', () => {
	before(() => {
		mkdirSync(at('in'));
		writeFileSync(at('in', 'm.gguf'), readFileSync(join(golden, 'odd-f16.gguf')));
	});
	const quantize = (...rest) => ['quantize', at('in', 'm.gguf'), ...rest, '--scheme', 'q4_k', '--pure'];

	it('writes the documented JSON beside the model', async () => {
		mkdirSync(at('out'));
		const { status } = run(...quantize(at('out', 'q.gguf'), '--report', at('out', 'r.json')));
		assert.equal(status, 0);
		assert.deepEqual(readdirSync(at('out')).sort(), ['q.gguf', 'r.json']);
		const report = JSON.parse(readFileSync(at('out', 'r.json'), 'utf8'));
		assert.deepEqual(Object.keys(report), [
			...['input', 'output', 'target', 'tensors', 'summary', 'changed', 'kept'],
		]);
		assert.deepEqual(Object.keys(report.tensors[0]), ['kind', 'name', 'shape', 'quantized', ...FIGURES]);
		assert.deepEqual(Object.keys(report.summary[0]), ['kind', 'tensors', 'quantized', 'values', ...FIGURES]);
		assert.deepEqual(Object.keys(report.changed), ['tensors', 'quantized', 'values', ...FIGURES]);
		const docs = readFileSync(join(root, 'docs/gguf.md'), 'utf8');
		for (const key of [
			...Object.keys(report),
			...Object.keys(report.tensors[0]),
			...Object.keys(report.summary[0]),
		])
			assert.ok(docs.includes(`\`${key}\``), `docs/gguf.md does not say ${key}`);
		const compared = JSON.parse(done('compare', at('in', 'm.gguf'), at('out', 'q.gguf'), '--json'));
		assertSame(report.changed, compared.changed, 'all');
	});

	it('is refused in the place of an input or an output, before anything is written', async () => {
		linkSync(at('in', 'm.gguf'), at('in', 'hard.gguf'));
		symlinkSync(at('new.gguf'), at('link.json'));
		const before = readdirSync(folder);
		const to = (report) => quantize(at('new.gguf'), '--report', report);
		fails(1, /the report .*new\.gguf is the output .*new\.gguf: name another file/, ...to(at('new.gguf')));
		fails(1, /the report .*m\.gguf is the input/, ...to(at('in', 'm.gguf')));
		fails(1, /the report .*hard\.gguf is the input/, ...to(at('in', 'hard.gguf')));
		fails(1, /cannot write .*in: is a directory/, ...to(at('in')));
		fails(1, /cannot write .*: the folder .*nowhere does not exist/, ...to(at('nowhere', 'r.json')));
		fails(1, /the report .*link\.json is the output .*new\.gguf/, ...to(at('link.json')));
		assert.deepEqual(readdirSync(folder), before);
	});

	it('appears with the model or not at all', async () => {
		const before = readdirSync(folder);
		const input = at('in', 'm.gguf');
		const signal = AbortSignal.abort();
		const options = { scheme: 'q8_0', pure: true, report: at('r.json'), signal };
		await assert.rejects(quantizeModelPath(input, at('q.gguf'), options), { code: 'cancelled' });
		assert.deepEqual(readdirSync(folder), before);
	});
});
