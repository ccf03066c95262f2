// order.js - several things done at once as if one after the other: results are taken, and the error that counts is chosen,
// in the order of the things, whatever the order in which they end.
// SPDX-License-Identifier: MIT

/** @typedef {import('../arrays/plan.js').Band} Band */

/**
 * How the bands of one tensor are run.
 * @typedef {object} Run
 * @property {import('./pool.js').Pool} pool
 * @property {AbortSignal} [signal] stops within one band
 * @property {number} [order] of the tensor among those that are run at once: the least goes first
 * @property {() => boolean} [stopped] nobody wants the result any more
 */

/**
 * Works on items as the pool has places for them.
 * @template T, R
 * @param {Run} run
 * @param {Iterable<T>} items
 * @param {(item: T) => Promise<R>} work in any order, several at once
 * @param {(result: R) => void} [take] in the order of the items, one at a time
 */
export async function eachInPlace({ pool: { gate }, order = 0, stopped }, items, work, take) {
	let failed = false;
	const fail = () => {
		failed = true;
	};
	/** @type {Set<Promise<unknown>>} */
	const pending = new Set();
	let taken = Promise.resolve();
	try {
		for (const item of items) {
			await gate.enter(order);
			if (failed || stopped?.()) {
				gate.leave();
				break;
			}
			const result = work(item);
			const done = result.catch(fail).finally(() => {
				gate.leave();
				pending.delete(done);
			});
			pending.add(done);
			taken = taken.then(async () => {
				const found = await result;
				take?.(found);
			});
			taken.catch(fail);
		}
	} finally {
		// Nothing may be under way when the caller closes its files.
		await Promise.all(pending);
	}
	await taken;
}

/**
 * Runs items, the next begun before the last is done. If some fail, the error is that of the first in order: those before
 * it are finished to know that they do not fail, those after it are told to stop.
 * @template T
 * @param {number} window how many at once
 * @param {T[]} items
 * @param {(item: T, order: number, stopped: () => boolean) => Promise<void>} run
 */
export async function eachInOrder(window, items, run) {
	let failedAt = items.length;
	/** @type {unknown} */
	let failure;
	/** @type {Set<Promise<void>>} */
	const running = new Set();
	for (const [order, item] of items.entries()) {
		while (running.size >= window) await Promise.race(running);
		if (failedAt < items.length) break;
		const done = run(item, order, () => failedAt < order)
			.catch((error) => {
				if (order < failedAt) [failedAt, failure] = [order, error];
			})
			.finally(() => running.delete(done));
		running.add(done);
	}
	await Promise.all(running);
	if (failedAt < items.length) throw failure;
}
