// builds-ggml.test.js - 10,000 generated rows of every ggml type: gcc, sanitized clang and wasm, scalar and simd128, make the same of
// them. tests/c/test_ggml_simd128.c hashes its tensors in each build; here the hashes are compared.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { schemes } from '../../js/presets.js';
import { needsImatrix, ready, root } from './support.js';

await ready();

/** What a program of a build left behind: by part of a type's tensors, { rows, scalar, simd128 }. */
function hashesOf(folder, program) {
	const path = join(root, folder, 'ggml-hashes.txt');
	const isNew = existsSync(path) && statSync(path).mtimeMs >= statSync(join(root, folder, program)).mtimeMs;
	assert.ok(isNew, `${path} is missing or older than ${program}: npm test -- native sanitize wasm`);
	const lines = readFileSync(path, 'utf8').trim().split('\n');
	return lines.map((line) => {
		const found = /^(.*) rows (\d+) scalar (\w{16}) simd128 (\w{16})$/.exec(line);
		assert.ok(found, `${path}: ${line}`);
		const [, part, rows, scalar, simd128] = found;
		return { part, rows: Number(rows), scalar, simd128 };
	});
}

const gcc = hashesOf('build/native', 'test_ggml_simd128');

test('clang makes what gcc makes', () => {
	assert.deepEqual(hashesOf('build/sanitize', 'test_ggml_simd128'), gcc);
});

test('wasm makes what gcc makes', () => {
	assert.deepEqual(hashesOf('build/wasm', 'test_ggml_simd128.wasm'), gcc);
});

test('simd128 makes what scalar makes, of 10,000 rows a type or more', () => {
	const types = schemes().filter(({ name }) => name.startsWith('ggml:'));
	assert.equal(types.length, 25);
	for (const { name, scheme } of types) {
		const type = name.slice('ggml:'.length);
		const own = gcc.filter(({ part }) => part.startsWith(`${type} `));
		const kinds = needsImatrix(scheme) ? ['weighted'] : ['plain', 'weighted'];
		assert.deepEqual(
			own.map(({ part }) => part),
			['f32', 'f16', 'bf16'].flatMap((dtype) => kinds.map((kind) => `${type} ${dtype} ${kind}`)),
		);
		for (const { part, scalar, simd128 } of own) assert.equal(simd128, scalar, part);
		const rows = own.reduce((sum, part) => sum + part.rows, 0);
		assert.ok(rows >= 10_000, `${type}: ${rows} rows`);
	}
});
