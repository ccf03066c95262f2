// slim.js - without the wasm: init({ wasm }) takes blockquant/core.wasm from where the app serves it.
// SPDX-License-Identifier: MIT

import source from '../../build/worker.txt';
import { makeInit } from '../core/init.js';

export * from '../index.js';
export const init = makeInit(
	() => undefined,
	() => ({ source }),
);
