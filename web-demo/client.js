// client.js - on the page: calls to the worker as promises.
// SPDX-License-Identifier: MIT

/** @typedef {import('./session.js').Progress} Progress */
/** @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void, onProgress?: (progress: Progress) => void }} Waiting */

/** What the worker said went wrong; `code` as BlockQuantError has it. */
export class WorkerError extends Error {
	/** @param {{ message: string, code: string }} error */
	constructor({ message, code }) {
		super(message);
		this.code = code;
	}
}

export class Client {
	/** @type {Map<number, Waiting>} */
	#waiting = new Map();
	#nextId = 0;
	/** @type {Worker | null} */
	#worker = null;
	/** Those of the library, which work for the one above. @type {Map<number, Worker>} */
	#others = new Map();

	/**
	 * @param {string} call
	 * @param {object} [args]
	 * @param {(progress: Progress) => void} [onProgress]
	 * @returns {Promise<any>}
	 */
	call(call, args = {}, onProgress) {
		return new Promise((resolve, reject) => {
			const id = this.#nextId++;
			this.#waiting.set(id, { resolve, reject, onProgress });
			this.#started().postMessage({ id, call, args });
		});
	}

	#started() {
		if (this.#worker !== null) return this.#worker;
		const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module', name: 'blockquant' });
		worker.addEventListener('message', ({ data }) => (data.order ? this.#obey(data.order) : this.#receive(data)));
		worker.addEventListener('error', (event) => {
			event.preventDefault();
			const why = event.message || 'is dist/ there? `npm run build` makes it';
			this.#fail(`the worker failed: ${why}`);
		});
		worker.addEventListener('messageerror', () => this.#fail('the worker sent something that cannot be read'));
		this.#worker = worker;
		return worker;
	}

	/** What page-worker.js asks for. @param {any} order */
	#obey({ start, url, port, end }) {
		if (start === undefined) {
			this.#others.get(end)?.terminate();
			this.#others.delete(end);
			return;
		}
		const other = new Worker(url, { type: 'module', name: `blockquant ${start}` });
		other.addEventListener('error', (event) => {
			event.preventDefault();
			const message = event.message || 'its program does not load';
			this.call('failed', { number: start, message }).catch(() => {});
		});
		this.#others.set(start, other);
		other.postMessage({ port }, [port]);
	}

	/** @param {{ id: number, progress?: Progress, error?: { message: string, code: string }, result?: unknown }} reply */
	#receive({ id, progress, error, result }) {
		const waiting = this.#waiting.get(id);
		if (waiting === undefined) return;
		if (progress !== undefined) {
			waiting.onProgress?.(progress);
			return;
		}
		this.#waiting.delete(id);
		if (error === undefined) waiting.resolve(result);
		else waiting.reject(new WorkerError(error));
	}

	/** The next call starts a new worker. @param {string} message */
	#fail(message) {
		for (const worker of [this.#worker, ...this.#others.values()]) worker?.terminate();
		this.#others.clear();
		this.#worker = null;
		for (const { reject } of this.#waiting.values()) reject(new WorkerError({ message, code: 'internal' }));
		this.#waiting.clear();
	}
}
