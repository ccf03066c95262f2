// node.js - for Node: core.wasm and the workers' program are read from beside this file, models are opened by their path.
// SPDX-License-Identifier: MIT

import { readFile } from 'node:fs/promises';
import { makeInit } from '../core/init.js';

export * from '../index.js';
export { fileSink } from '../node/file-sink.js';
export { readImatrixPath } from '../node/imatrix-file.js';
export { dequantizeModelPath, openModelPath, quantizeModelPath } from '../node/model-files.js';

/** In dist/ this is node.mjs or a chunk; among the sources, node.js. */
const worker = import.meta.url.endsWith('.mjs') ? './worker.mjs' : './worker.js';

export const init = makeInit(
	() => readFile(new URL('./core.wasm', import.meta.url)),
	() => ({ url: new URL(worker, import.meta.url) }),
);
