// member.js - one worker of a pool: started when first needed, anew if it died, and never waited for in vain.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf } from '../errors.js';
import { startWorker } from './start.js';

/** @typedef {import('./start.js').WorkerPlace} WorkerPlace */
/** @typedef {{ resolve: (result: any) => void, reject: (error: BlockQuantError) => void }} Waiter */

/**
 * @typedef {object} MemberOptions
 * @property {WorkerPlace} place
 * @property {number} startTimeout milliseconds
 * @property {() => object} init the argument of the worker's init
 */

/** Buffers that may move: those that an array fills alone. An array that does not is copied. @param {Uint8Array[]} inputs */
function movable(inputs) {
	const arrays = inputs.map((bytes) =>
		bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
			? bytes
			: new Uint8Array(bytes),
	);
	return { arrays, transfer: arrays.map(({ buffer }) => /** @type {ArrayBuffer} */ (buffer)) };
}

export class Member {
	/** @type {import('./start.js').Link | undefined} */
	#link;
	/** @type {Promise<unknown> | undefined} resolves when the worker has its core */
	#ready;
	/** @type {Map<number, Waiter>} */
	#waiting = new Map();
	#lastId = 0;
	#options;

	/** @param {MemberOptions} options */
	constructor(options) {
		this.#options = options;
		/** Tasks that it has not finished. */
		this.load = 0;
	}

	get started() {
		return this.#link !== undefined;
	}

	/** Resolves when the worker can take tasks; rejects with worker-failed, or with why its core does not load. */
	start() {
		this.#ready ??= Promise.resolve().then(() => this.#start());
		return this.#ready;
	}

	async #start() {
		const { place, init, startTimeout } = this.#options;
		let timer;
		try {
			const link = startWorker(place, {
				onMessage: (message) => this.#take(link, message),
				onFailure: (reason) => this.#fail(link, reason),
			});
			this.#link = link;
			link.hold(this.load > 0);
			timer = setTimeout(() => this.#fail(link, `no answer for ${startTimeout / 1000} s`), startTimeout);
			await this.#ask('init', [init()], []);
		} catch (error) {
			// Nothing of this attempt stays: the next task begins another.
			this.#drop(this.#link);
			if (error instanceof BlockQuantError) throw error;
			throw new BlockQuantError('worker-failed', `a worker does not start: ${messageOf(error)}`, {
				cause: error,
			});
		} finally {
			clearTimeout(timer);
		}
	}

	/**
	 * Runs a task; its inputs move to the worker. Call start() before.
	 * @param {import('../arrays/task.js').Task} task
	 * @param {Uint8Array[]} inputs
	 * @returns {Promise<import('../arrays/task.js').Done>}
	 */
	run(task, inputs) {
		const { arrays, transfer } = movable(inputs);
		return this.#ask('band', [task, arrays], transfer);
	}

	/** Counts a task in or out. @param {1 | -1} change */
	count(change) {
		this.load += change;
		this.#link?.hold(this.load > 0);
	}

	/** @param {string} call @param {unknown[]} args @param {ArrayBuffer[]} transfer @returns {Promise<any>} */
	#ask(call, args, transfer) {
		return new Promise((resolve, reject) => {
			if (!this.#link) throw new BlockQuantError('worker-failed', 'a worker ended before its task');
			const id = ++this.#lastId;
			this.#link.post({ id, call, args }, transfer);
			this.#waiting.set(id, { resolve, reject });
		});
	}

	/** @param {import('./start.js').Link} link @param {{ id: number, result: any, error?: any }} message */
	#take(link, { id, result, error }) {
		if (link !== this.#link) return;
		const waiter = this.#waiting.get(id);
		this.#waiting.delete(id);
		if (error) waiter?.reject(new BlockQuantError(error.code, error.detail ?? error.message));
		else waiter?.resolve(result);
	}

	/** @param {import('./start.js').Link} link @param {string} reason */
	#fail(link, reason) {
		if (link !== this.#link) return;
		this.#drop(link);
		for (const { reject } of this.#waiting.values())
			reject(new BlockQuantError('worker-failed', `a worker failed: ${reason}`));
		this.#waiting.clear();
	}

	/** @param {import('./start.js').Link | undefined} link */
	#drop(link) {
		this.#link = undefined;
		this.#ready = undefined;
		return link?.end();
	}

	/** Ends the worker; what it has not finished is rejected. */
	async end() {
		const link = this.#link;
		if (!link) return;
		// The end is awaited: a thread must be gone when its pool is.
		link.hold(true);
		const ended = link.end();
		this.#fail(link, 'its pool was closed');
		await ended;
	}
}
