// structure.test.js - rules of the code base that a machine can check (CONTRIBUTING.md).
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutants } from '../../scripts/mutants.mjs';
import { root } from './support.js';

const files = (folder, pattern) =>
	readdirSync(join(root, folder), { recursive: true })
		.map((name) => `${folder}/${name}`)
		.filter((name) => pattern.test(name))
		.sort();
const read = (name) => readFileSync(join(root, name), 'utf8');
const withoutComments = (text) =>
	text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).replace(/(^|\s)\/\/.*$/gm, '');

const C = files('src', /\.[ch]$/);
const JS = files('js', /\.js$/);

/** Tables: rows that name systems are what they are for. Adapters: folders that speak one system's language. */
const TABLES = [
	'src/presets.c',
	'src/rules.c',
	'src/layouts.c',
	'src/kernels_table.h',
	'js/configs.js',
	'js/containers.js',
	'js/layouts.js',
	'js/vocabularies.js',
	'js/core/abi.js',
];
const ADAPTERS = /^js\/(burn|compressed-tensors|coreai|gguf|safetensors)\//;
const SYSTEMS = /ggml|gguf|safetensors|\bct\b|ct:|compressed.?tensors|burn|core.?ai|onnx|llama/i;

/** Lines that decide something. */
const DECISION = /\b(if|switch|case|while|for)\b|\?[^.?].*:|&&|\|\||REQUIRE\(/;

test('no condition asks which system it serves', () => {
	const offenders = [];
	for (const name of [...C, ...JS]) {
		if (TABLES.includes(name) || ADAPTERS.test(name) || /\/ggml_\w+\.[ch]$/.test(name)) continue;
		withoutComments(read(name))
			.split('\n')
			.forEach((line, i) => {
				// Names may be compared with short strings in JavaScript; messages of several words decide nothing.
				const strings = name.endsWith('.js') ? /(['"`])(?:\\.|(?!\1).)*\1/g : /"[^"]*"/g;
				const code = line.replace(strings, (text) =>
					name.endsWith('.js') && !text.includes(' ') ? text : '""',
				);
				if (
					DECISION.test(code) &&
					SYSTEMS.test(
						code.replace(/bq_(f32|u32|f32x4|u32x4)?_?(from|to)?_?ggml_ue4m3\w*|BQ_GGML_UE4M3/g, ''),
					)
				)
					offenders.push(`${name}:${i + 1}: ${line.trim()}`);
			});
	}
	assert.deepEqual(offenders, []);
});

test('every file begins with what it is for and its licence', () => {
	for (const name of [...C, ...JS, ...files('tests', /\.(js|mjs|c|h)$/), ...files('include', /\.h$/)]) {
		const head = read(name).split('\n').slice(0, 12).join('\n');
		const short = name.split('/').at(-1);
		assert.ok(head.includes('SPDX-License-Identifier: MIT'), `${name}: no licence line`);
		assert.ok(head.includes(`${short} - `), `${name}: does not say what it is for`);
	}
});

test('files are short', () => {
	for (const name of C) assert.ok(read(name).split('\n').length <= 450, `${name} is longer than 450 lines`);
	for (const name of JS) assert.ok(read(name).split('\n').length <= 300, `${name} is longer than 300 lines`);
});

test('simd128 mirrors scalar file by file', () => {
	const names = (folder) => files(folder, /\.c$/).map((name) => name.split('/').at(-1));
	assert.deepEqual(names('src/simd128'), names('src/scalar'));
});

test('CMakeLists.txt names every source', () => {
	const text = read('CMakeLists.txt');
	const listed = (list) => new RegExp(`set\\(${list}\\s+([^)]+)\\)`).exec(text)[1].split(/\s+/).sort();
	const there = (folder) =>
		readdirSync(join(root, folder))
			.filter((name) => name.endsWith('.c'))
			.map((name) => name.replace('.c', ''))
			.sort();
	assert.deepEqual(listed('BLOCKQUANT_STAGES'), there('src'));
	assert.deepEqual(listed('BLOCKQUANT_SCALAR'), there('src/scalar'));
	assert.match(text, /set\(BLOCKQUANT_SIMD128 \$\{BLOCKQUANT_SCALAR\}\)/);
	const tests = there('tests/c').filter((name) => /^(test_|fuzz_)/.test(name));
	assert.deepEqual(listed('BLOCKQUANT_C_TESTS'), tests);
});

test('the core allocates nothing, does no input or output, and keeps no state that changes', () => {
	for (const name of C) {
		const code = withoutComments(read(name));
		assert.doesNotMatch(code, /\b(malloc|calloc|realloc|free|printf|fopen|fwrite|getenv|abort|assert)\s*\(/, name);
		assert.doesNotMatch(code, /^static (?!const|inline|_Assert)[^(]*(=[^=].*)?;$/m, name);
		assert.doesNotMatch(code, /fast-?math|relaxed|_f32x4_(min|max)\(|\bf(max|min)f?\(|\bfmaf?\(/, name);
	}
});

test('a pattern that is given as text is matched without backtracking', () => {
	// select.js takes RegExps that a program made itself.
	for (const name of JS.filter((each) => !['js/patterns.js', 'js/model/select.js'].includes(each)))
		assert.doesNotMatch(withoutComments(read(name)), /\bRegExp\(|\.(match|matchAll|search)\((?!\/)/, name);
});

test('only the core sees a pointer, only node files see Node, entries alone import.meta', () => {
	for (const name of JS) {
		const code = withoutComments(read(name));
		if (!['js/core/core.js', 'js/core/arena.js'].includes(name))
			assert.doesNotMatch(code, /\.exports\b|memory\.buffer/, name);
		if (!/^js\/(node|cli)\//.test(name) && !['js/entry/node.js', 'js/workers/threads.js'].includes(name))
			assert.doesNotMatch(code, /['"]node:|\bprocess\.|\brequire\(/, name);
		if (name !== 'js/entry/node.js' && !name.startsWith('js/cli/')) assert.doesNotMatch(code, /import\.meta/, name);
		assert.doesNotMatch(code, /^await /m, `${name}: top-level await`);
		assert.doesNotMatch(code, /\bexport default\b/, name);
	}
});

test('models know no kind of file: what each kind is, its row in js/containers.js says', () => {
	for (const name of JS.filter((each) => each.startsWith('js/model/')))
		assert.doesNotMatch(
			withoutComments(read(name)),
			/from '\.\.\/(burn|compressed-tensors|coreai|gguf|safetensors)\//,
			name,
		);
});

test('each mutant changes one place of its file', () => {
	const lost = mutants.filter(({ file, from }) => read(file).split(from).length !== 2);
	assert.deepEqual(lost, []);
});
