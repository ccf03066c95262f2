// arguments.test.js - wrong arguments to the functions of models: one BlockQuantError each, and the sink is aborted.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { memoryDirectory, memorySink } from '../../js/io/sink.js';
import { compareModels } from '../../js/model/compare.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { plan } from '../../js/model/plan.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { dequantizeModelPath, openModelPath, quantizeModelPath } from '../../js/node/model-files.js';
import { createPool } from '../../js/workers/pool.js';
import { llama } from './files-support.js';
import { ready } from './support.js';

before(() => ready());

/** Values of every kind, some of which cannot even be made a string. */
const ODD = [null, 0, 1n, true, 'x', Symbol('x'), [], {}, { big: 1n }, () => {}, Object.create(null), Number.NaN];

/** @param {string | string[]} codes */
const refusal = (codes) => (/** @type {unknown} */ error) => {
	assert.ok(error instanceof BlockQuantError, String(/** @type {any} */ (error)?.stack));
	assert.ok([codes].flat().includes(error.code), `${error.code}: ${error.message}`);
	return true;
};

/** Calls that must be refused, with any arguments. @param {(...args: any[]) => any} call @param {any[]} args */
const bad = (call, ...args) => assert.rejects(async () => call(...args), refusal('bad-argument'));

test('what is no model, no sink, no path', async () => {
	const model = await openModel(llama(1));
	for (const odd of [undefined, ...ODD]) {
		await bad(plan, odd, { scheme: 'w4a16' });
		await bad(quantizeModel, odd, memorySink(), { scheme: 'w4a16' });
		await bad(quantizeModel, model, odd, { scheme: 'w4a16' });
		await bad(dequantizeModel, odd, memorySink());
		await bad(dequantizeModel, model, odd);
		await bad(compareModels, odd, model);
		await bad(compareModels, model, odd);
		await bad(openModel, odd);
		await bad(openModel, [odd]);
		if (typeof odd === 'string') continue;
		await bad(openModelPath, odd);
		await bad(quantizeModelPath, odd, 'out.safetensors', { scheme: 'w4a16' });
		await bad(quantizeModelPath, 'in.safetensors', odd, { scheme: 'w4a16' });
		await bad(dequantizeModelPath, odd, 'out.safetensors');
		await bad(dequantizeModelPath, 'in.safetensors', odd);
		if (odd === undefined || typeof odd === 'function') continue;
		await bad(openModel, { size: 8, read: odd });
		await bad(quantizeModel, model, { write: odd }, { scheme: 'w4a16' });
		await bad(quantizeModel, model, { write() {}, close: odd }, { scheme: 'w4a16' });
	}
	for (const odd of ODD.filter((value) => value !== 0)) await bad(openModel, { size: odd, read: async () => {} });
	for (const size of [-1, 1.5]) await bad(openModel, { size, read: async () => {} });
	await bad(openModel, { size: 8, read: async () => {}, name: 5 });
	await bad(openModel, { size: 8, read: async () => {}, close: 5 });
});

test('options: those that there are, of the kind that they have', async () => {
	const model = await openModel(llama(1));
	const scheme = 'w4a16';
	for (const odd of [undefined, ...ODD]) {
		const isEmpty = typeof odd === 'object' && odd !== null && Object.keys(odd).length === 0;
		await bad(plan, model, odd);
		await bad(quantizeModel, model, memorySink(), odd);
		await bad(quantizeModelPath, 'in', 'out', isEmpty ? 5 : odd);
		if (odd === undefined || isEmpty) continue;
		await bad(dequantizeModel, model, memorySink(), odd);
		await bad(compareModels, model, model, odd);
	}
	/** @type {Record<string, unknown[]>} */
	const wrong = {
		unknown: [1, undefined],
		schem: ['w4a16'],
		include: [null, 5, [5], Symbol('x'), {}, ['a', null]],
		exclude: [null, 5, [5], 1n],
		imatrix: [null, {}, [], 'x', new Map(), { tensors: {} }, { tensors: new Map(), name: 5 }],
		missingImportance: ['no', null, 1],
		measure: [null, 1, 'x'],
		report: ['r.json'],
		correct: [null, 1, 'x'],
		workers: [null, 0, -1, 1.5, 1025, '2', Number.NaN, 1n],
		signal: [null, {}, 5],
		onProgress: [null, {}, 5],
		config: [5, {}, Symbol('x')],
		nonfinite: ['no', null, 1n],
		overflow: ['no', Symbol('x')],
	};
	for (const [name, values] of Object.entries(wrong)) {
		for (const value of values) {
			await bad(plan, model, { scheme, [name]: value });
			await bad(quantizeModel, model, memorySink(), { scheme, [name]: value });
		}
	}
	const {
		scheme: _,
		include,
		exclude,
		imatrix,
		correct,
		nonfinite,
		overflow,
		missingImportance,
		measure,
		...run
	} = { scheme, ...wrong };
	for (const [name, values] of Object.entries({ ...run, dtype: ['f64', null, Symbol('x'), 1n] }))
		for (const value of values) await bad(dequantizeModel, model, memorySink(), { [name]: value });
	const ofPools = { workers: wrong.workers, workerUrl: [null, 5, {}], startTimeout: [null, 0, -1, '5', 2 ** 31] };
	for (const [name, values] of Object.entries(ofPools))
		for (const value of values) await bad(createPool, { [name]: value });
	for (const odd of [null, 0, 'x', Symbol('x'), true, { worker: 2 }]) await bad(createPool, odd);
	await bad(compareModels, model, model, { configA: 5 });
	await bad(quantizeModelPath, 'in', 'out', { scheme, config: '{}' });
	await bad(quantizeModelPath, 'in', 'out', { scheme, report: 5 });
	await bad(dequantizeModelPath, 'in', 'out', { config: '{}' });

	// What is right stays right, undefined too.
	const signal = new AbortController().signal;
	const options = { scheme, include: undefined, exclude: [/k_proj/g, 'v_proj'], workers: 2, signal, config: null };
	assert.equal(plan(model, options).totals.quantized, 5);
});

test('scheme objects that are none: bad-scheme', async () => {
	const model = await openModel(llama(1));
	const good = {
		value: 'i4',
		scales: [{ dtype: 'input', block: 128 }],
		rules: 'compressed-tensors',
		layout: 'pack-quantized',
	};
	assert.ok(plan(model, { scheme: good }).totals.quantized > 0);
	/** @type {unknown[]} */
	const broken = [{}, { rules: 'compressed-tensors' }, { ...good, scales: [] }, { ...good, more: 1 }];
	for (const field of Object.keys(good)) {
		if (field !== 'layout' && field !== 'rules') broken.push({ ...good, [field]: undefined });
		for (const odd of [null, 5, 'x', [null], [5], {}, 1n])
			if (field !== 'layout' || odd !== null) broken.push({ ...good, [field]: odd });
	}
	for (const block of [null, {}, [], 0, -1.5, 'row', [1, 'x'], undefined])
		broken.push({ ...good, scales: [{ dtype: 'input', block }] });
	for (const mode of [undefined, null, 'often'])
		broken.push({ ...good, activations: { mode, value: 'i8', block: 128 } });
	for (const activations of [5, 'x', [], {}, { mode: 'dynamic' }, { mode: 'dynamic', value: 'i8' }])
		broken.push({ ...good, activations });
	for (const scheme of broken) {
		assert.throws(() => plan(model, { scheme: /** @type {any} */ (scheme) }), refusal('bad-scheme'));
		const sink = memorySink();
		await assert.rejects(
			quantizeModel(model, sink, { scheme: /** @type {any} */ (scheme) }),
			refusal('bad-scheme'),
		);
	}
	for (const scheme of [undefined, null, 5, Symbol('x'), 1n]) await bad(plan, model, { scheme });
});

test('on any error the sink is aborted once, before the first write too', async () => {
	const model = await openModel(llama(1));
	/** @param {(sink: any) => Promise<unknown>} run @param {Partial<import('../../js/io/sink.js').Sink>} [more] */
	const aborts = async (run, more = {}) => {
		let aborted = 0;
		await assert.rejects(run({ ...memorySink(), ...more, abort: () => void aborted++ }), BlockQuantError);
		assert.equal(aborted, 1);
	};
	await aborts((sink) => quantizeModel(model, sink, /** @type {any} */ (undefined)));
	await aborts((sink) => quantizeModel(model, sink, { scheme: 'none' }));
	await aborts((sink) => quantizeModel(/** @type {any} */ ({}), sink, { scheme: 'w4a16' }));
	await aborts((sink) => quantizeModel(model, sink, { scheme: 'w4a16', exclude: '.' }));
	await aborts((sink) => quantizeModel(model, sink, { scheme: 'w4a16', config: '[' }));
	await aborts((sink) => dequantizeModel(model, sink));
	await aborts((sink) => dequantizeModel(model, sink, /** @type {any} */ ({ dtype: 'f64' })));
	await aborts((sink) => quantizeModel(model, sink, { scheme: 'w4a16', signal: AbortSignal.abort() }));
	// A sink of the wrong kind, too: a directory for one file.
	let aborted = 0;
	const directory = { ...memoryDirectory(), abort: () => void aborted++ };
	await assert.rejects(quantizeModel(model, directory, { scheme: 'w4a16' }), { code: 'bad-argument' });
	assert.equal(aborted, 1);
	// And when closing fails: an error of ours, with the one below.
	const cause = new Error('full');
	const close = () => Promise.reject(cause);
	await aborts(
		async (sink) => {
			try {
				await quantizeModel(model, sink, { scheme: 'w4a16' });
			} catch (error) {
				assert.ok(error instanceof BlockQuantError && error.code === 'io' && error.cause === cause);
				assert.match(error.message, /cannot finish writing: full/);
				throw error;
			}
		},
		{ close },
	);
});
