// answer.js - the other end of a pool's or a page's calls: { id, call, args } is answered with { id, result } or { id, error }.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { openDrain } from './discard.js';
import { workerThreads } from './threads.js';

/** Buffers of a result, which move to the caller instead of being copied. @param {any} result @returns {ArrayBuffer[]} */
function buffersOf(result) {
	if (ArrayBuffer.isView(result)) return [/** @type {ArrayBuffer} */ (result.buffer)];
	return typeof result === 'object' && result !== null ? Object.values(result).flatMap(buffersOf) : [];
}

/**
 * Answers whoever started this worker, of either kind; in no worker, nobody asks.
 * @param {Record<string, (...args: any[]) => any>} calls
 */
export function answerWith(calls) {
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
	/** @param {any} from a worker's own scope or port */
	function listenTo(from) {
		/** @param {any} event */
		const receive = (event) => {
			const message = from.on ? event : event.data;
			// Whoever has the other end of a port may ask, too: a worker that another thread has started for it.
			if (message.port) return listenTo(message.port);
			return answer(message, (reply, transfer) => from.postMessage(reply, transfer));
		};
		if (from.on) from.on('message', receive);
		else from.addEventListener?.('message', receive);
		from.start?.();
	}
	openDrain();
	listenTo(workerThreads()?.parentPort ?? globalThis);
}
