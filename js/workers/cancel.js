// cancel.js - a caller's AbortSignal as a BlockQuantError.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

/** @param {AbortSignal} signal */
const cancelled = (signal) => new BlockQuantError('cancelled', 'cancelled by the caller', { cause: signal.reason });

/** @param {AbortSignal | undefined} signal */
export function checkCancelled(signal) {
	if (signal?.aborted) throw cancelled(signal);
}

/**
 * What the work gives, or the cancellation if that comes first.
 * @template T
 * @param {Promise<T>} work
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>}
 */
export async function untilAborted(work, signal) {
	if (!signal) return work;
	let onAbort = () => {};
	try {
		return await new Promise((resolve, reject) => {
			onAbort = () => reject(cancelled(signal));
			signal.addEventListener('abort', onAbort);
			work.then(resolve, reject);
		});
	} finally {
		signal.removeEventListener('abort', onAbort);
	}
}
