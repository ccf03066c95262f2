// web-workers.test.js - the pool where there is no Node: Web Workers, here a thread behind their interface, and none at all.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, before, beforeEach, mock, test } from 'node:test';
import { Worker as Thread } from 'node:worker_threads';
import { quantizeAsync } from '../../js/arrays/async.js';
import { quantize } from '../../js/arrays/quantize.js';
import { memorySink } from '../../js/io/sink.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { Pool } from '../../js/workers/pool.js';
import { f32, safetensors, weights } from './files-support.js';
import { ready, root } from './support.js';
import { program } from './workers-support.js';

const { getBuiltinModule } = process;
const source = readFileSync(join(root, 'build/worker.txt'), 'utf8');
const data = weights(4 * 256, 1);
const options = { scheme: 'nvfp4a16', shape: [4, 256] };

/** Blobs by their address: Node's threads take none. @type {Map<string, Blob>} */
const blobs = new Map();
let started = 0;

/** A Web Worker: events with data, no exit, terminate(). The program sees `self` and no Node. */
class FakeWorker extends EventTarget {
	#thread;
	constructor(url, { type }) {
		super();
		assert.equal(type, 'module');
		started++;
		this.#thread = this.#start(String(url));
	}
	async #start(url) {
		const text = blobs.has(url) ? await blobs.get(url)?.text() : decodeURIComponent(url.split(',')[1]);
		const shim = `
			const { parentPort } = process.getBuiltinModule('node:worker_threads');
			const events = new EventTarget();
			globalThis.self = globalThis;
			globalThis.addEventListener = events.addEventListener.bind(events);
			globalThis.postMessage = (message, transfer) => parentPort.postMessage(message, transfer);
			parentPort.on('message', (data) => events.dispatchEvent(Object.assign(new Event('message'), { data })));
			process.getBuiltinModule = undefined;
		`;
		const thread = new Thread(new URL(program(`${shim}\n${text}`)));
		thread.on('message', (data) => this.dispatchEvent(Object.assign(new Event('message'), { data })));
		thread.on('error', ({ message }) => this.dispatchEvent(Object.assign(new Event('error'), { message })));
		return thread;
	}
	async postMessage(message, transfer) {
		(await this.#thread).postMessage(message, transfer);
	}
	async terminate() {
		await (await this.#thread).terminate();
	}
}

before(() => ready());
beforeEach(() => {
	started = 0;
	Object.assign(process, { getBuiltinModule: undefined });
	mock.method(URL, 'createObjectURL', (blob) => {
		const url = `blob:test/${blobs.size}`;
		blobs.set(url, blob);
		return url;
	});
	mock.method(URL, 'revokeObjectURL', (url) => blobs.delete(url));
	mock.method(console, 'warn', () => {});
	Object.assign(globalThis, { Worker: FakeWorker });
});
afterEach(() => {
	Object.assign(process, { getBuiltinModule });
	mock.restoreAll();
	Reflect.deleteProperty(globalThis, 'Worker');
});

test('the text inside the entry becomes a Blob worker, whose address is given back', async () => {
	const pool = new Pool({ workers: 3 }, { source });
	assert.deepEqual(await quantizeAsync(data, { ...options, pool }), quantize(data, options));
	assert.equal(started, 1, 'one band, one worker');
	assert.equal(blobs.size, 0);
	assert.deepEqual(pool.warnings, []);
	await pool.close();
	assert.equal(console.warn.mock.callCount(), 0);
});

test('workerUrl is taken as it is', async () => {
	const pool = new Pool({ workers: 2, workerUrl: program(source) }, { source: 'throw 1' });
	assert.deepEqual(await quantizeAsync(data, { ...options, pool }), quantize(data, options));
	assert.equal(URL.createObjectURL.mock.callCount(), 0);
	await pool.close();
});

/** Three ways in which a page without `worker-src blob:` says so. */
const forbidden = {
	'the constructor throws': class {
		constructor() {
			throw new DOMException('violates the Content Security Policy', 'SecurityError');
		}
	},
	'an error event comes': class extends EventTarget {
		constructor() {
			super();
			setTimeout(() => this.dispatchEvent(new Event('error')), 5);
		}
		postMessage() {}
		terminate() {}
	},
	'there is no such thing as a Worker': undefined,
};
for (const [what, Forbidden] of Object.entries(forbidden)) {
	test(`where Blob workers are forbidden the work is done without, and a warning says so: ${what}`, async () => {
		Object.assign(globalThis, { Worker: Forbidden });
		const pool = new Pool({ workers: 2 }, { source });
		const big = weights(3 * 2 ** 20, 2);
		const shape = [3072, 1024];
		const result = await quantizeAsync(big, { scheme: 'nvfp4a16', shape, pool });
		assert.deepEqual(result.planes.weight_scale, quantize(big, { scheme: 'nvfp4a16', shape }).planes.weight_scale);
		assert.equal(console.warn.mock.callCount(), 1);
		assert.match(console.warn.mock.calls[0].arguments[0], /^blockquant: no workers/);
		const model = await openModel(safetensors([f32('x.weight', [4, 256], data)]));
		const { warnings } = await quantizeModel(model, memorySink(), { scheme: 'w4a16', pool });
		assert.match(warnings[0], /no workers/);
		await pool.close();
		assert.equal(blobs.size, 0);
	});

	test(`a workerUrl that does not start is an error: ${what}`, async () => {
		Object.assign(globalThis, { Worker: Forbidden });
		const pool = new Pool({ workers: 2, workerUrl: 'https://elsewhere/worker.mjs' }, { source });
		const model = await openModel(safetensors([f32('x.weight', [4, 256], data)]));
		const failing = quantizeModel(model, memorySink(), { scheme: 'w4a16', pool });
		await assert.rejects(failing, { code: 'worker-failed', tensor: 'x.weight' });
		await pool.close();
	});
}

test('a Blob worker that worked once is an error when it fails, not a reason to go on without', async () => {
	const dying = source.replace(
		/^/,
		`
		let bands = 0;
		self.addEventListener('message', ({ data }) => {
			if (data.call === 'band' && ++bands === 2) throw new Error('enough');
		});
	`,
	);
	const pool = new Pool({ workers: 2 }, { source: dying });
	await quantizeAsync(data, { ...options, shape: [4, 256], scheme: 'w4a16', pool });
	await assert.rejects(quantizeAsync(data, { ...options, scheme: 'w4a16', pool }), { code: 'worker-failed' });
	assert.deepEqual(pool.warnings, []);
	await pool.close();
});
