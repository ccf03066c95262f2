// workers-failures.test.js - workers that do not start, throw, die or are closed: an error that names the tensor, never a hang.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { setEnvironmentData, Worker } from 'node:worker_threads';
import { quantizeAsync } from '../../js/arrays/async.js';
import { quantize } from '../../js/arrays/quantize.js';
import { BlockQuantError } from '../../js/errors.js';
import { memorySink } from '../../js/io/sink.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { Gate } from '../../js/workers/gate.js';
import { eachInOrder } from '../../js/workers/order.js';
import { createPool } from '../../js/workers/pool.js';
import { f32, safetensors, weights } from './files-support.js';
import { ready } from './support.js';
import { meddling, program } from './workers-support.js';

before(() => ready());

const data = weights(4 * 256, 1);
const options = { scheme: 'w4a16', shape: [4, 256] };
const input = safetensors(['a', 'b', 'c'].map((name) => f32(`${name}.weight`, [4, 256], data)));

/** What a pool of such workers does with an array and with files: worker-failed with the first tensor's name, in time. */
async function fails(workerUrl, message, more = {}) {
	const pool = createPool({ workers: 2, workerUrl, ...more });
	try {
		await assert.rejects(quantizeAsync(data, { ...options, pool }), (error) => {
			assert.ok(error instanceof BlockQuantError, String(error));
			assert.equal(error.code, 'worker-failed', error.message);
			assert.match(error.message, message);
			assert.ok(!error.message.includes('\n'), error.message);
			return true;
		});
		let aborted = 0;
		const sink = { ...memorySink(), abort: () => void aborted++ };
		const failing = quantizeModel(await openModel(input), sink, { scheme: 'w4a16', pool });
		await assert.rejects(failing, { code: 'worker-failed', tensor: 'a.weight', message });
		assert.equal(aborted, 1);
		const quantized = memorySink();
		await quantizeModel(await openModel(input), quantized, { scheme: 'w4a16' });
		const back = dequantizeModel(await openModel(quantized.bytes()), memorySink(), { pool });
		await assert.rejects(back, { code: 'worker-failed', tensor: 'a.weight' });
	} finally {
		await pool.close();
	}
}

test('a worker that throws while it starts', () => fails(program('throw new Error("not today")'), /not today/));

test('a worker that does not parse', () => fails(program('const ='), /worker failed/));

test('a worker that ends while it starts', () => fails(program('process.exit(3)'), /ended with code 3/));

test('a worker that never answers', () =>
	fails(program('setInterval(() => {}, 1000)'), /no answer for 0\.3 s/, { startTimeout: 300 }));

test('a worker whose file is missing', () => fails(new URL('./no-such-file.js', import.meta.url), /no-such-file|find/));

test('an address that is none', () => fails('./no/../such-file.js', /does not start|find/));

test('a worker that ends in the middle of a task', () =>
	fails(meddling(`if (message.call === 'band') process.exit(7);`), /ended with code 7/));

test('a worker that throws outside of its tasks', () =>
	fails(
		meddling(`if (message.call === 'band') { setTimeout(() => { throw new Error('by the way') }); return true; }`),
		/by the way/,
	));

test('a worker that throws no Error', () => fails(program('throw null'), /worker failed/));

test('an error inside of a task is that error', async () => {
	const pool = createPool({
		workers: 2,
		workerUrl: meddling(`if (message.call === 'band') message.args[0].plan = null;`),
	});
	const failing = quantizeModel(await openModel(input), memorySink(), { scheme: 'w4a16', pool });
	await assert.rejects(failing, { name: 'BlockQuantError', code: 'internal', tensor: 'a.weight' });
	await pool.close();
});

test('a core that does not load is said as it is', async () => {
	const workerUrl = meddling(`if (message.call === 'init') message.args[0].kernels = 'none';`);
	const pool = createPool({ workers: 2, workerUrl });
	await assert.rejects(quantizeAsync(data, { ...options, pool }), { code: 'bad-argument', message: /kernels/ });
	await pool.close();
});

test('after a death the next task has a new worker', async () => {
	const workerUrl = meddling(`
		if (message.call === 'band' && process.getBuiltinModule('node:worker_threads').getEnvironmentData('broken'))
			process.exit(7);
	`);
	const pool = createPool({ workers: 2, workerUrl });
	setEnvironmentData('broken', true);
	await assert.rejects(quantizeAsync(data, { ...options, pool }), { code: 'worker-failed' });
	setEnvironmentData('broken', undefined);
	assert.deepEqual(await quantizeAsync(data, { ...options, pool }), quantize(data, options));
	await pool.close();
});

test('a pool that is closed: what runs is rejected, what comes is refused, twice is no harm', async () => {
	const pool = createPool({ workers: 2 });
	assert.deepEqual(await quantizeAsync(data, { ...options, pool }), quantize(data, options));
	const running = quantizeAsync(weights(2 ** 20, 2), { ...options, shape: [4096, 256], pool });
	const closing = pool.close();
	await assert.rejects(running, { code: 'worker-failed', message: /closed/ });
	await closing;
	await pool.close();
	await assert.rejects(quantizeAsync(data, { ...options, pool }), { code: 'worker-failed', message: /closed/ });
	const early = createPool({ workers: 2 });
	const starting = quantizeAsync(data, { ...options, pool: early });
	await Promise.resolve();
	await early.close();
	await assert.rejects(starting, (error) => /closed/.test(error.message));
	const here = createPool({ workers: 1 });
	await here.close();
	await assert.rejects(quantizeAsync(data, { ...options, pool: here }), { code: 'worker-failed' });
});

test('a gate lets the first tensors in first, and no more than it has places', async () => {
	const gate = new Gate(1);
	await gate.enter(0);
	/** @type {number[]} */
	const seen = [];
	for (const order of [5, 2, 9, 2.5, 2]) void gate.enter(order).then(() => seen.push(order));
	for (let i = 1; i <= 5; i++) {
		gate.leave();
		await new Promise((resolve) => setTimeout(resolve));
		assert.equal(seen.length, i);
	}
	assert.deepEqual(seen, [2, 2, 2.5, 5, 9]);
});

test('things in order: the first failure counts, the ones before it are finished, the ones after it are told', async () => {
	/** @type {string[]} */
	const log = [];
	const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
	const run = eachInOrder(4, [60, 40, 20, 5, 1, 1], async (ms, order, stopped) => {
		await wait(ms);
		log.push(`${order} ${stopped()}`);
		if (order === 1 || order === 3) throw new Error(`number ${order}`);
	});
	await assert.rejects(run, /number 1/);
	assert.deepEqual(log, ['3 false', '2 false', '1 false', '0 false']);
});

test('a worker answers on every port that it is given, one in another thread, too', async () => {
	const worker = new Worker(new URL('../../js/entry/band-worker.js', import.meta.url));
	const { port1, port2 } = new MessageChannel();
	try {
		worker.postMessage({ port: port2 }, [port2]);
		const answered = once(port1, 'message');
		port1.postMessage({ id: 5, call: 'nothing' });
		const [{ id, error }] = await answered;
		assert.deepEqual([id, error.code], [5, 'bad-argument']);
	} finally {
		port1.close();
		await worker.terminate();
	}
});
