// scripts.test.js - the rules of `npm test` and of set-up that a run of them everywhere would not show.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'blockquant-scripts-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('npm test: a skipped test is a failure with BLOCKQUANT_NO_SKIP alone', () => {
	mkdirSync(join(folder, 'tests/js'), { recursive: true });
	cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
	/** @param {string} text @param {object} env */
	const run = (text, env) => {
		writeFileSync(join(folder, 'tests/js/a.test.js'), `const { test } = require('node:test');\n${text}`);
		// Without what tells a node:test inside another one to speak in binary.
		const { NODE_TEST_CONTEXT: _, BLOCKQUANT_NO_SKIP: __, ...rest } = process.env;
		const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/test.mjs'), 'js'], {
			encoding: 'utf8',
			env: { ...rest, ...env },
		});
		return { status, last: stderr.trim().split('\n').at(-1) };
	};
	const skips = "test('runs', () => {}); test('skips', { skip: 'why' }, () => {});";
	assert.deepEqual(run(skips, {}), { status: 0, last: '' });
	assert.deepEqual(run(skips, { BLOCKQUANT_NO_SKIP: '0' }), { status: 0, last: '' });
	assert.deepEqual(run(skips, { BLOCKQUANT_NO_SKIP: '1' }), {
		status: 1,
		last: 'test: js failed: node --test skipped 1, and BLOCKQUANT_NO_SKIP is set',
	});
	assert.equal(run("test('runs', () => {});", { BLOCKQUANT_NO_SKIP: '1' }).status, 0);
	assert.equal(run("test('skips', { skip: 'why' }, () => {});", {}).status, 0);
});

test('setup.sh refuses a Node that is older than package.json says', { skip: process.platform === 'win32' }, () => {
	const bin = join(folder, 'bin');
	mkdirSync(bin);
	for (const [version, isNew] of /** @type {[string, boolean][]} */ ([
		['18.20.0', false],
		['20.15.1', false],
		['20.16.0', true],
		['22.0.0', true],
	])) {
		// A Node that says that it is of this version.
		const preload = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
		writeFileSync(join(bin, 'node'), `#!/bin/sh\nexec '${process.execPath}' --import '${preload}' "$@"\n`);
		chmodSync(join(bin, 'node'), 0o755);
		// Only the question: what comes after it installs.
		const question = `eval "$(sed -n '/^node_is_new()/,/^}/p' scripts/setup.sh)"; have() { command -v "$1" >/dev/null; }; node_is_new`;
		const { status, stderr } = spawnSync('bash', ['-c', question], {
			cwd: root,
			encoding: 'utf8',
			env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
		});
		assert.equal(stderr, '');
		assert.equal(status, isNew ? 0 : 1, version);
	}
});

test('the bench takes several parts of names, and measures every preset that has one of them', () => {
	const program = join(root, 'build/native/blockquant-bench');
	const { status, stdout } = spawnSync(program, ['tq2_0', 'w8a16'], { encoding: 'utf8' });
	assert.equal(status, 0);
	const lines = stdout.trim().split('\n');
	const measured = new Set(lines.map((line) => JSON.parse(line).preset));
	assert.deepEqual([...measured], ['memcpy', 'ggml:tq2_0', 'ct:w8a16']);
});
