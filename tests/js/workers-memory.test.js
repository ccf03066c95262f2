// workers-memory.test.js - memory stays bounded while workers are busy without a pause: their event loop does not come round
// then, and bands that were only freed by it once made up the whole input.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './support.js';

/** 384 MB of noise, which takes q4_k's search as long as it can; its own memory is in the peak. */
const script = `
	import { readFileSync } from 'node:fs';
	import { createPool, init, quantizeAsync } from ${JSON.stringify(join(root, 'dist/node.mjs'))};
	await init();
	const data = new Float32Array(96 * 2 ** 20);
	for (let i = 0, s = 1; i < data.length; i++) data[i] = (s = (Math.imul(s, 1664525) + 1013904223) >>> 0) / 2 ** 32 - 0.5;
	const pool = createPool({ workers: 2 });
	await quantizeAsync(data, { scheme: 'q4_k', shape: [24576, 4096], pool });
	await pool.close();
	console.log(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
`;

let reason = false;
try {
	readFileSync('/proc/self/status');
} catch {
	reason = 'no /proc to read the peak memory from';
}

test('two busy workers hold no more than a few bands', { skip: reason }, () => {
	const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
		encoding: 'utf8',
	});
	assert.equal(status, 0, stderr);
	const megabytes = (Number(stdout) * 1024) / 1e6;
	// 403 MB of weights, 57 of blocks, and what three threads of Node and five bands take.
	assert.ok(megabytes < 750, `${megabytes.toFixed(0)} MB`);
});
