// library.js - the one place that says where the built package is: serve the folder that holds both web-demo/ and dist/.
// SPDX-License-Identifier: MIT

export * from '../dist/index.mjs';

/** The program of the library's own workers. */
export const workerUrl = new URL('../dist/worker.mjs', import.meta.url);
