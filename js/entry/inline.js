// inline.js - the default entry: the wasm is inside, nothing is fetched.
// SPDX-License-Identifier: MIT

import deflated from '../../build/core.deflate';
import source from '../../build/worker.txt';
import { makeInit } from '../core/init.js';

export * from '../index.js';
/** The wasm was deflated by scripts/build.mjs: base64 of the plain bytes compresses badly, and is a third more on the wire. */
async function inflated() {
	const reader = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
	const parts = [];
	for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
	return new Blob(parts).arrayBuffer();
}

export const init = makeInit(inflated, () => ({ source }));
