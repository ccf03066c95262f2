// worker.js - the page's module worker: answers { id, call, args } with any number of { id, progress }, then { id, result } or
// { id, error }. All work on weights happens here and in the library's workers.
// SPDX-License-Identifier: MIT

import { BlockQuantError, init, workerUrl } from './library.js';
import { failed, PageWorker } from './page-worker.js';
import { Session } from './session.js';

/** Progress is told so often at most. The first report of a job is always told. */
const PROGRESS_EVERY_MS = 80;

Object.assign(globalThis, { Worker: PageWorker });
const session = new Session();

/** @type {Record<string, (args: any, onProgress: import('./session.js').OnProgress) => unknown>} */
const calls = {
	open: ({ files }) => session.open(files),
	sample: ({ seed }, onProgress) => session.sample(seed, onProgress),
	plan: ({ scheme }) => session.plan(scheme),
	quantize: ({ scheme }, onProgress) => session.quantize(scheme, onProgress),
	compare: (_, onProgress) => session.compare(onProgress),
	cancel: () => session.cancel(),
	failed,
};

/** @param {number} id @returns {import('./session.js').OnProgress} */
function progressTo(id) {
	let told = Number.NEGATIVE_INFINITY;
	return (progress) => {
		const now = performance.now();
		if (now - told < PROGRESS_EVERY_MS) return;
		told = now;
		self.postMessage({ id, progress });
	};
}

/** One line, whatever was thrown. @param {unknown} error */
function plainError(error) {
	const message = error instanceof Error ? error.message : String(error);
	return {
		message: message.replace(/\s+/g, ' ').trim(),
		code: error instanceof BlockQuantError ? error.code : 'internal',
	};
}

self.addEventListener('message', async ({ data: { id, call, args = {} } }) => {
	try {
		await init({ workerUrl });
		self.postMessage({ id, result: await calls[call](args, progressTo(id)) });
	} catch (error) {
		self.postMessage({ id, error: plainError(error) });
	}
});
