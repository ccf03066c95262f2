// prepared-tables.test.js - the neighbour lists of the IQ types: made when a type is first encoded, once an instance, and fast enough that
// nobody waits for them.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { emptyReport } from '../../js/arrays/task.js';
import { Core } from '../../js/core/core.js';
import { kernelRows, root } from './support.js';

const module = new WebAssembly.Module(readFileSync(join(root, 'build/wasm/core.wasm')));

/** The types whose codes are looked up in a grid. */
const WITH_TABLES = ['iq1_m', 'iq1_s', 'iq2_s', 'iq2_xs', 'iq2_xxs', 'iq3_s', 'iq3_xxs'];

/** An instance of its own, and the milliseconds of processor time of each bq_prepare() in it: on a busy machine the clock tells more. @param {'scalar' | 'simd128'} kernels */
function instance(kernels) {
	const { exports } = new WebAssembly.Instance(module, {});
	/** @type {number[]} */
	const prepared = [];
	const bq_prepare = (...args) => {
		const start = process.cpuUsage();
		exports.bq_prepare(...args);
		prepared.push(process.cpuUsage(start).user / 1000);
	};
	const core = new Core({ exports: { ...exports, bq_prepare } }, kernels);
	return { core, prepared };
}

/** @param {Core} core @param {any} scheme */
function encode(core, scheme) {
	const { plan, bytes } = core.plan(scheme, 'f32', [1, 256]);
	const sizes = { ...plan, fused: plan.scheme.fused };
	const band = core.band(bytes, 0, 2 ** 20);
	const weights = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 0x3f : i));
	const given = { importance: new Float32Array(256).fill(1), nimportance: 1 };
	const [stored] = core.encode(bytes, sizes, band, weights, given, emptyReport());
	core.decode(bytes, sizes, band, [stored], false, emptyReport());
	return stored;
}

for (const kernels of kernelRows) {
	test(`${kernels}: only types of a grid have tables, made by the first encode of each in each instance`, () => {
		const [{ core, prepared }, other] = [instance(kernels), instance(kernels)];
		const types = core.presets().filter(({ name }) => name.startsWith('ggml:'));
		assert.equal(types.length, 25);
		assert.equal(prepared.length, 0);
		const found = types.filter(({ scheme }) => {
			const before = prepared.length;
			const stored = [0, 1, 2].map(() => encode(core, scheme));
			assert.deepEqual(stored[1], stored[0]);
			return prepared.length === before + 1;
		});
		assert.deepEqual(found.map(({ name }) => name.slice('ggml:'.length)).sort(), WITH_TABLES);
		assert.equal(prepared.length, WITH_TABLES.length);
		assert.equal(other.prepared.length, 0);
		encode(other.core, found[0].scheme);
		assert.deepEqual([other.prepared.length, prepared.length], [1, WITH_TABLES.length]);
	});

	test(`${kernels}: the tables of a type take less than 100 ms`, (t) => {
		for (const type of WITH_TABLES) {
			const times = Array.from({ length: 5 }, () => {
				const { core, prepared } = instance(kernels);
				encode(core, core.presets().find(({ name }) => name === `ggml:${type}`).scheme);
				return prepared[0];
			});
			// The one in the middle: V8 compiles in the first. 2 to 17 ms where this was written; who waits on a page notices 100.
			const [, , middle] = times.sort((a, b) => a - b);
			t.diagnostic(`${type}: ${middle.toFixed(1)} ms`);
			assert.ok(middle < 100, `${type}: ${times.map((time) => time.toFixed(1)).join(', ')} ms`);
		}
	});
}
