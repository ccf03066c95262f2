// cli-support.js - what tests of the command share: running it, and small model files.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const cli = join(root, 'dist/cli.mjs');

/** A folder of this test file's own; gone at its end. */
export function temporaryFolder() {
	const folder = mkdtempSync(join(tmpdir(), 'blockquant-cli-'));
	after(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/** Runs the command to its end. */
export function run(...args) {
	const { status, signal, error, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
		encoding: 'utf8',
		maxBuffer: 2 ** 26,
	});
	// Without a status something ended it from outside.
	return { status, stdout, stderr: status === null ? `${signal} ${error} ${stderr}` : stderr };
}

/** Runs the command, which must do; its stdout. */
export function done(...args) {
	const { status, stdout, stderr } = run(...args);
	assert.equal(status, 0, stderr);
	assert.equal(stderr, '');
	return stdout;
}

/** Runs the command, which must fail with one line on stderr and nothing on stdout. */
export function fails(expectedStatus, message, ...args) {
	const { status, stdout, stderr } = run(...args);
	assert.match(stderr, message);
	assert.match(stderr, /^blockquant: [^\n]+\n$/, 'one line');
	assert.equal(stdout, '');
	assert.equal(status, expectedStatus);
}

export const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Starts the command; `ended` resolves to { code, signal, stderr }. */
export function start(...args) {
	const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
	const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stderr })));
	return { child, ended };
}

/** The bytes of a safetensors file before its data: tensors as { name: { dtype, shape, nbytes } }. */
export function headerOf(tensors) {
	let end = 0;
	const entries = Object.entries(tensors).map(([name, { dtype, shape, nbytes }]) => {
		end += nbytes;
		return [name, { dtype, shape, data_offsets: [end - nbytes, end] }];
	});
	const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
	const length = Buffer.alloc(8);
	length.writeBigUInt64LE(BigInt(json.length));
	return { bytes: Buffer.concat([length, json]), dataNbytes: end };
}

/** A safetensors file of float32 tensors: { name: { shape, values } }. */
export function safetensorsOf(tensors) {
	const entries = Object.entries(tensors).map(([name, { shape, values }]) => [
		name,
		{ dtype: 'F32', shape, nbytes: 4 * values.length },
	]);
	const data = Object.values(tensors).map(({ values }) => Buffer.from(Float32Array.from(values).buffer));
	return Buffer.concat([headerOf(Object.fromEntries(entries)).bytes, ...data]);
}
