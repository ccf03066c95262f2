// wasm-streams.test.js - the streams of a module give it back, whatever is in it, and deflate better.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { joinWasm, splitWasm } from '../../js/entry/wasm-streams.js';
import { root } from './support.js';

const core = new Uint8Array(readFileSync(join(root, 'build/wasm/core.wasm')));

/** A module with one function. */
function moduleOf(...code) {
	const body = [1, 1, 0x7f, ...code, 0x0b];
	const section = [1, body.length, ...body];
	return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 10, section.length, ...section, 0, 1, 42]);
}

/** The three streams. */
function parts(streams) {
	const view = new DataView(streams.buffer);
	const [rest, locals] = [view.getUint32(0, true), view.getUint32(4, true)];
	const bytes = Array.from(streams.subarray(8));
	return [bytes.slice(0, rest), bytes.slice(rest, rest + locals), bytes.slice(rest + locals)];
}

test('core.wasm comes back from its streams, which deflate by a sixth better', () => {
	const streams = splitWasm(core);
	assert.equal(Buffer.compare(joinWasm(streams), core), 0);
	assert.ok(deflateRawSync(streams).length < (5 / 6) * deflateRawSync(core).length + 1000);
});

test('indices of locals and offsets stand apart, and nothing that looks like them', () => {
	const apart = [
		[[0x20, 5, 0x21, 0x86, 1, 0x22, 7], [5, 0x86, 1, 7], []],
		[[0x28, 2, 9, 0x3e, 0, 0x90, 3], [], [9, 0x90, 3]],
		[[0xfd, 0, 4, 8, 0xfd, 11, 4, 16, 0xfd, 92, 2, 3, 0xfd, 93, 3, 5], [], [8, 16, 3, 5]],
		[[0xfd, 84, 0, 6, 0x20, 0xfd, 91, 3, 7, 0x28, 0x20, 1], [1], [6, 7]],
		[[0xfd, 12, ...Array(16).fill(0x20), 0xfd, 13, ...Array(16).fill(0x28), 0x20, 2], [2], []],
		[[0xfd, 21, 0x20, 0xfd, 34, 0x28, 0xfd, 0xae, 1, 0x20, 3], [3], []],
		[[0x41, 0x20, 0x42, 0xa0, 0xa8, 0xa0, 0xa0, 0xa0, 0xa0, 0x20, 0x10, 0x20, 0x11, 0x20, 0x28, 0x20, 4], [4], []],
		[[0x43, 0x20, 0x20, 0x28, 0x28, 0x44, ...Array(8).fill(0x20), 0x23, 0x20, 0x24, 0x28, 0x20, 5], [5], []],
		[[0x02, 0x40, 0x03, 0x7f, 0x0c, 0x20, 0x0d, 0x28, 0x0b, 0x0b, 0x20, 6], [6], []],
		[[0x04, 0x40, 0x0e, 2, 0x20, 0x28, 0x20, 0x05, 0x0b, 0x3f, 0x20, 0x40, 0x28, 0x20, 7], [7], []],
		[[0xfc, 0x0b, 0, 0xfc, 0x0a, 0, 0, 0x20, 8], [8], []],
	];
	for (const [code, locals, offsets] of apart) {
		const module = moduleOf(...code);
		const streams = splitWasm(module);
		assert.deepEqual(parts(streams).slice(1), [locals, offsets], code.join(' '));
		assert.deepEqual(joinWasm(streams), module, code.join(' '));
	}
});

test('a module with opcodes that are not known comes back', () => {
	const module = moduleOf(0xfe, 0x10, 2, 0x20, 0xd2, 0x20, 3, 0x1c, 1, 0x7f, 0xfd, 0x80, 2);
	assert.deepEqual(joinWasm(splitWasm(module)), module);
});
