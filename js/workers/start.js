// start.js - one worker of either kind (a thread of Node, a Web Worker) behind the same few functions.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf } from '../errors.js';
import { workerThreads } from './threads.js';

/**
 * Where the worker's program is: a file, or its text.
 * @typedef {{ url: string | URL } | { source: string }} WorkerPlace
 */

/**
 * @typedef {object} Link
 * @property {(message: any, transfer: ArrayBuffer[]) => void} post
 * @property {(busy: boolean) => void} hold whether the process must stay alive for it
 * @property {() => unknown} end
 */

/**
 * @typedef {object} Listeners
 * @property {(message: any) => void} onMessage
 * @property {(reason: string) => void} onFailure it threw, did not start, or ended: may be told more than once
 */

/**
 * Starts a worker. That it does not run at all may be thrown here or told to onFailure.
 * @param {WorkerPlace} place
 * @param {Listeners} listeners
 * @returns {Link}
 */
export function startWorker(place, listeners) {
	const threads = workerThreads();
	if (threads) return startThread(threads, place, listeners);
	if (typeof Worker === 'function') return startWebWorker(place, listeners);
	throw new BlockQuantError('worker-failed', 'there are no workers here');
}

/**
 * @param {typeof import('node:worker_threads')} threads
 * @param {WorkerPlace} place
 * @param {Listeners} listeners
 * @returns {Link}
 */
function startThread(threads, place, { onMessage, onFailure }) {
	const url = 'url' in place ? place.url : `data:text/javascript,${encodeURIComponent(place.source)}`;
	// A path may be relative; anything with a scheme (two letters at least: C:\ is a drive) must be a URL object.
	const isUrl = typeof url === 'string' && /^[a-z][a-z\d+.-]+:/i.test(url);
	// Options of the program, such as --import or --test, are not the worker's.
	const worker = new threads.Worker(isUrl ? new URL(url) : url, { execArgv: [] });
	worker.on('message', onMessage);
	worker.on('messageerror', (error) => onFailure(messageOf(error)));
	worker.on('error', (error) => onFailure(messageOf(error)));
	worker.on('exit', (code) => onFailure(`it ended with code ${code}`));
	return {
		post: (message, transfer) => worker.postMessage(message, transfer),
		hold: (busy) => (busy ? worker.ref() : worker.unref()),
		end: () => worker.terminate(),
	};
}

/**
 * @param {WorkerPlace} place
 * @param {Listeners} listeners
 * @returns {Link}
 */
function startWebWorker(place, { onMessage, onFailure }) {
	const url = 'url' in place ? place.url : URL.createObjectURL(new Blob([place.source], { type: 'text/javascript' }));
	// The Blob's address is good for one fetch, which is over when the worker first speaks or fails.
	let revoke = 'url' in place ? undefined : () => URL.revokeObjectURL(/** @type {string} */ (url));
	const fetched = () => {
		revoke?.();
		revoke = undefined;
	};
	let worker;
	try {
		worker = new Worker(url, { type: 'module' });
	} catch (error) {
		fetched();
		throw error;
	}
	worker.addEventListener('message', ({ data }) => {
		fetched();
		onMessage(data);
	});
	worker.addEventListener('messageerror', () => onFailure('its message cannot be read'));
	worker.addEventListener('error', (event) => {
		fetched();
		event.preventDefault?.();
		onFailure(event.message || 'its program does not load: missing, or forbidden by worker-src of the page');
	});
	return {
		post: (message, transfer) => worker.postMessage(message, transfer),
		hold() {},
		end() {
			fetched();
			worker.terminate();
		},
	};
}
