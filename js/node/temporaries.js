// temporaries.js - temporary files that go when the process does (but for SIGKILL, which no process sees: stale.js).
// SPDX-License-Identifier: MIT

import { unlinkSync } from 'node:fs';
import process from 'node:process';

/** @type {Set<string>} */
const temporaries = new Set();
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

function removeTemporaries() {
	for (const path of temporaries) {
		try {
			unlinkSync(path);
		} catch {
			// The process is ending: there is nobody to tell.
		}
	}
	temporaries.clear();
}

/** @param {NodeJS.Signals} signal */
function onSignal(signal) {
	removeTemporaries();
	unwatch();
	// Dies as it would have without us, unless the program has a handler of its own.
	if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

/**
 * Removes the file if the process ends before `unwatch`.
 * @param {string} path
 */
export function watch(path) {
	if (temporaries.size === 0) {
		process.on('exit', removeTemporaries);
		for (const signal of SIGNALS) process.on(signal, onSignal);
	}
	temporaries.add(path);
}

/**
 * Leaves the file to itself: it has its final name, or is gone.
 * @param {string} [path]
 */
export function unwatch(path) {
	if (path !== undefined) temporaries.delete(path);
	if (temporaries.size > 0) return;
	process.off('exit', removeTemporaries);
	for (const signal of SIGNALS) process.off(signal, onSignal);
}
