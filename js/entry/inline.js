// inline.js - the default entry: the wasm is inside, nothing is fetched.
// SPDX-License-Identifier: MIT

import source from '../../build/worker.txt';
import wasm from '../../build/wasm/core.wasm';
import { makeInit } from '../core/init.js';

export * from '../index.js';
export const init = makeInit(
	() => wasm,
	() => ({ source }),
);
