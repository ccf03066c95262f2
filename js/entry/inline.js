// inline.js - the default entry: the wasm is inside, nothing is fetched.
// SPDX-License-Identifier: MIT

import deflated from '../../build/core.deflate';
import source from '../../build/worker.txt';
import { makeInit } from '../core/init.js';
import { joinWasm } from './wasm-streams.js';

export * from '../index.js';
/** The wasm was split and deflated by scripts/build.mjs: base64 of the plain bytes compresses badly, and is half as much again on the wire. */
async function inflated() {
	const reader = new Blob([deflated]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
	const parts = [];
	for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
	return joinWasm(new Uint8Array(await new Blob(parts).arrayBuffer())).buffer;
}

export const init = makeInit(inflated, () => ({ source }));
