// worker.js - a module worker (Web Worker or worker_threads): answers { id, call, args } with { id, result } or { id, error }.
// The first message is { id, call: 'init', args: [{ wasm: WebAssembly.Module }] }.
// SPDX-License-Identifier: MIT

import { compare } from '../arrays/compare.js';
import { dequantize, fakeQuantize, quantize } from '../arrays/quantize.js';
import { perform } from '../arrays/task.js';
import { makeInit } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { schemes } from '../presets.js';
import { discard } from '../workers/discard.js';
import { workerThreads } from '../workers/threads.js';

/** What a pool asks. @param {import('../arrays/task.js').Task} task @param {Uint8Array[]} inputs */
function band(task, inputs) {
	const done = perform(task, inputs);
	discard(inputs);
	return done;
}

/** @type {Record<string, (...args: any[]) => any>} */
const calls = { init: makeInit(() => undefined), band, quantize, dequantize, fakeQuantize, compare, schemes };

/** Buffers of a result, which move to the caller instead of being copied. @param {any} result @returns {ArrayBuffer[]} */
function buffersOf(result) {
	if (ArrayBuffer.isView(result)) return [/** @type {ArrayBuffer} */ (result.buffer)];
	return typeof result === 'object' && result !== null ? Object.values(result).flatMap(buffersOf) : [];
}

/** @param {{ id: unknown, call: string, args?: unknown[] }} message @param {(reply: any, transfer: ArrayBuffer[]) => void} reply */
async function answer({ id, call, args = [] }, reply) {
	try {
		if (!Object.hasOwn(calls, call))
			throw new BlockQuantError('bad-argument', `call: expected one of ${Object.keys(calls).join(', ')}`);
		const result = await calls[call](...args);
		reply({ id, result }, buffersOf(result));
	} catch (error) {
		const { message, detail, code, tensor, offset } = /** @type {BlockQuantError} */ (error);
		reply({ id, error: { message, detail: detail ?? message, code: code ?? 'internal', tensor, offset } }, []);
	}
}

/** The port to the one who started this worker, in either kind; in no worker, nobody asks. */
const to = /** @type {any} */ (workerThreads()?.parentPort ?? globalThis);
/** @param {any} message */
const receive = (message) => answer(message.data ?? message, (reply, transfer) => to.postMessage(reply, transfer));
if (to.on) to.on('message', receive);
else to.addEventListener?.('message', receive);
