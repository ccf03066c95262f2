// pool.js - bands worked on by several workers, or here where one is enough. Results do not depend on their number.
// SPDX-License-Identifier: MIT

import { theKernels, theModule, theWorkerPlace } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { band } from './band.js';
import { checkOptions, NEW_POOL_OPTIONS } from '../model/options.js';
import { checkCancelled, untilAborted } from './cancel.js';
import { Gate } from './gate.js';
import { Member } from './member.js';
import { parallelism } from './threads.js';

/**
 * @typedef {object} PoolOptions
 * @property {number} [workers] threads that compute; 1: none but the caller's; default: as many as there are cores
 * @property {string | URL} [workerUrl] of blockquant/worker, where the app serves it; default: the entry's own
 * @property {number} [startTimeout] milliseconds until a worker that does not answer counts as failed; default 30000
 */

const START_TIMEOUT = 30_000;

/** Bands at once for each worker: one that is computed, one that waits for it; and one between for reading and writing. */
const placesFor = (/** @type {number} */ size) => 2 * size + 1;

/** Lets events through (a signal, a page's frames) between two bands. @returns {Promise<void>} */
const turn = () =>
	new Promise((resolve) => (typeof setImmediate === 'function' ? setImmediate(resolve) : setTimeout(resolve)));

export class Pool {
	/** @type {Member[]} */
	#members = [];
	#mayFallBack = false;
	#closed = false;

	/**
	 * @param {PoolOptions} [options]
	 * @param {import('./start.js').WorkerPlace} [place] of the workers' program: that of the entry
	 */
	constructor(options = {}, place = theWorkerPlace()) {
		checkOptions(options, NEW_POOL_OPTIONS);
		const { workers = parallelism(), workerUrl, startTimeout = START_TIMEOUT } = options;
		/** How many workers there may be; 1: none, the caller's thread works. */
		this.size = workers;
		/** Places for bands: together with their size, the bound on memory. @type {Gate} */
		this.gate = new Gate(placesFor(this.size));
		/** Tensors that are begun before the first is done. */
		this.window = this.size === 1 ? 1 : 2 * this.gate.places;
		/** @type {string[]} */
		this.warnings = [];
		if (this.size === 1) return;
		const program = workerUrl === undefined ? place : { url: workerUrl };
		if (program === undefined) {
			this.#fallBack('this entry has none: pass workerUrl');
			return;
		}
		// The text of the worker inside the entry may be forbidden by a page's policy; an address is the caller's word.
		this.#mayFallBack = 'source' in program;
		const init = () => ({ wasm: theModule(), kernels: theKernels() });
		this.#members = Array.from({ length: workers }, () => new Member({ place: program, startTimeout, init }));
	}

	/**
	 * Runs one task.
	 * @param {import('../arrays/task.js').Task} task
	 * @param {Uint8Array[]} inputs given away: their buffers move and are freed
	 * @param {AbortSignal} [signal] rejects at once; a worker ends what it has begun
	 * @returns {Promise<import('../arrays/task.js').Done>}
	 */
	async run(task, inputs, signal) {
		checkCancelled(signal);
		if (this.#closed) throw new BlockQuantError('worker-failed', 'the pool is closed');
		return untilAborted(
			this.#members.length > 0 ? this.#runOut(task, inputs) : this.#runHere(task, inputs),
			signal,
		);
	}

	/** @param {import('../arrays/task.js').Task} task @param {Uint8Array[]} inputs */
	async #runHere(task, inputs) {
		await turn();
		return band(task, inputs);
	}

	/** @param {import('../arrays/task.js').Task} task @param {Uint8Array[]} inputs */
	async #runOut(task, inputs) {
		const member = this.#leastBusy();
		member.count(1);
		try {
			try {
				await member.start();
				this.#mayFallBack = false;
			} catch (error) {
				if (this.#members.length > 0 && !this.#mayFallBack) throw error;
				this.#fallBack(/** @type {BlockQuantError} */ (error).message);
				return await this.#runHere(task, inputs);
			}
			return await member.run(task, inputs);
		} finally {
			member.count(-1);
		}
	}

	/** The worker with the least to do; of several, one that runs already. */
	#leastBusy() {
		const cost = (/** @type {Member} */ { load, started }) => 2 * load + (started || load > 0 ? 0 : 1);
		return this.#members.reduce((best, member) => (cost(member) < cost(best) ? member : best));
	}

	/** @param {string} reason */
	#fallBack(reason) {
		if (this.warnings.length > 0) return;
		for (const member of this.#members) void member.end();
		this.#members = [];
		this.warnings.push(`no workers, the work is done without: ${reason}`);
		console.warn(`blockquant: ${this.warnings[0]}`);
	}

	/** Ends the workers. What they have not finished is rejected; so is whatever comes later. */
	async close() {
		this.#closed = true;
		this.#mayFallBack = false;
		await Promise.all(this.#members.map((member) => member.end()));
	}
}

/**
 * Workers that stay between calls: pass it as `pool`, close it at the end. Needs `await init()` before.
 * @param {PoolOptions} [options]
 * @returns {Pool}
 */
export const createPool = (options) => new Pool(options);

/** @type {Pool | undefined} */
let shared;

/** The pool of calls that name none; idle workers keep no process alive. */
export function sharedPool() {
	shared ??= new Pool();
	return shared;
}

/**
 * Gives `use` the pool that the options name, or one that ends with it.
 * @template T
 * @param {{ pool?: Pool, workers?: number }} options
 * @param {(pool: Pool) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withPool({ pool, workers = 1 }, use) {
	if (pool) return use(pool);
	const own = new Pool({ workers });
	try {
		return await use(own);
	} finally {
		await own.close();
	}
}
