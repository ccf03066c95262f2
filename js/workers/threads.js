// threads.js - what Node gives to workers, asked for without an import: bundlers for browsers refuse those of Node.
// SPDX-License-Identifier: MIT

/** @template T @param {string} name @returns {T | undefined} a module of Node; undefined elsewhere */
function builtin(name) {
	return /** @type {any} */ (globalThis).process?.getBuiltinModule?.(name);
}

/** @returns {typeof import('node:worker_threads') | undefined} */
export const workerThreads = () => builtin('node:worker_threads');

/** How many threads compute at once here. */
export function parallelism() {
	/** @type {typeof import('node:os') | undefined} */
	const os = builtin('node:os');
	return os?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency ?? 1;
}
