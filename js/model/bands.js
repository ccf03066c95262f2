// bands.js - tensors read piece by piece, the next piece on its way while one is worked on.
// SPDX-License-Identifier: MIT

import { MAX_BAND } from '../arrays/plan.js';
import { checkCancelled } from '../workers/cancel.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/**
 * The pieces of `nbytes` bytes, none larger than a band.
 * @param {number} nbytes
 * @returns {Generator<{ offset: number, length: number }>}
 */
export function* pieces(nbytes) {
	for (let offset = 0; offset < nbytes; offset += MAX_BAND) {
		yield { offset, length: Math.min(MAX_BAND, nbytes - offset) };
	}
}

/**
 * Reads for each item, one item ahead.
 * @template T, B
 * @param {Iterable<T>} items
 * @param {(item: T) => Promise<B>} read
 * @param {AbortSignal} [signal] checked before each item
 * @returns {AsyncGenerator<{ item: T, bytes: B }>}
 */
export async function* readAhead(items, read, signal) {
	/** @type {{ item: T, reading: Promise<B> } | undefined} */
	let waiting;
	try {
		for (const item of items) {
			checkCancelled(signal);
			const reading = read(item);
			// Awaited one turn later; until then a failure must not count as unhandled.
			reading.catch(() => {});
			const ready = waiting;
			waiting = { item, reading };
			if (ready !== undefined) yield { item: ready.item, bytes: await ready.reading };
		}
		checkCancelled(signal);
		if (waiting !== undefined) yield { item: waiting.item, bytes: await waiting.reading };
	} finally {
		// A reader who stops early may close the file: let the read under way end first.
		await waiting?.reading.catch(() => {});
	}
}
