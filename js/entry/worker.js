// worker.js - a module worker (Web Worker or worker_threads): answers { id, call, args } with { id, result } or { id, error }.
// The first message is { id, call: 'init', args: [{ wasm: WebAssembly.Module }] }.
// SPDX-License-Identifier: MIT

import { compare } from '../arrays/compare.js';
import { dequantize, fakeQuantize, quantize } from '../arrays/quantize.js';
import { makeInit } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { schemes } from '../presets.js';

/** @type {Record<string, (...args: any[]) => any>} */
const calls = { init: makeInit(() => undefined), quantize, dequantize, fakeQuantize, compare, schemes };

/** Buffers of a result, which move to the caller instead of being copied. @param {any} result @returns {ArrayBuffer[]} */
function buffersOf(result) {
	if (result instanceof Float32Array) return [/** @type {ArrayBuffer} */ (result.buffer)];
	const planes = Object.values(result?.planes ?? {}).map((plane) => plane.bytes.buffer);
	return result?.bytes ? [result.bytes.buffer] : planes;
}

/** @param {{ id: unknown, call: string, args?: unknown[] }} message @param {(reply: any, transfer: ArrayBuffer[]) => void} reply */
async function answer({ id, call, args = [] }, reply) {
	try {
		if (!Object.hasOwn(calls, call))
			throw new BlockQuantError('bad-argument', `call: expected one of ${Object.keys(calls).join(', ')}`);
		const result = await calls[call](...args);
		reply({ id, result }, buffersOf(result));
	} catch (error) {
		const { message, code, tensor, offset } = /** @type {BlockQuantError} */ (error);
		reply({ id, error: { message, code: code ?? 'internal', tensor, offset } }, []);
	}
}

/** The port to the one who started this worker, in either kind. No import of Node's: bundlers for browsers refuse it. */
function port() {
	if (typeof self === 'object' && typeof self.postMessage === 'function') return self;
	return /** @type {any} */ (globalThis).process.getBuiltinModule('node:worker_threads').parentPort;
}

const to = port();
/** @param {any} message */
const receive = (message) => answer(message.data ?? message, (reply, transfer) => to.postMessage(reply, transfer));
if (to?.addEventListener) to.addEventListener('message', receive);
else to?.on('message', receive);
