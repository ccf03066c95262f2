// node.js - for Node: core.wasm is read from beside this file, and models are opened by their path.
// SPDX-License-Identifier: MIT

import { readFile } from 'node:fs/promises';
import { makeInit } from '../core/init.js';

export * from '../index.js';
export { fileSink } from '../node/file-sink.js';
export { dequantizeModelPath, openModelPath, quantizeModelPath } from '../node/model-files.js';
export const init = makeInit(() => readFile(new URL('./core.wasm', import.meta.url)));
