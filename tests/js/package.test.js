// package.test.js - the package as its users get it: packed, installed elsewhere, imported in every way it offers.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build). publint and attw: npm run check:package.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build, transform } from 'esbuild';
import { packedProject, pkg, root } from './packed.js';

let project;

before(() => {
	project = packedProject();
});
after(() => rmSync(project, { recursive: true, force: true }));

/** Runs a program in a project that has the package and none of its dependencies; what it prints. */
function runUser(name, text) {
	writeFileSync(join(project, name), text);
	return execFileSync(process.execPath, [name], { cwd: project, encoding: 'utf8' }).trim();
}

/** 64 values, 0 to 63, as q8_0: per block of 32, an f16 scale of max / 127 and codes round(value * (1 / scale)). */
const expected = (() => {
	const bytes = [];
	for (const max of [31, 63]) {
		const scale = Math.fround(max / 127);
		const inverse = Math.fround(1 / scale);
		/* 31/127 and 63/127 lie in [2^-3, 2^-2) and [2^-2, 2^-1): the f16 grid there is 2^-13 and 2^-12. */
		const exponent = max === 31 ? -3 : -2;
		const mantissa = Math.round((scale / 2 ** exponent - 1) * 1024);
		const half = ((exponent + 15) << 10) | mantissa;
		bytes.push(half & 255, half >> 8);
		for (let value = max - 31; value <= max; value++) bytes.push(Math.round(Math.fround(value * inverse)));
	}
	return Buffer.from(bytes).toString('hex');
})();

const quantize64 = `
	const data = Float32Array.from({ length: 64 }, (_, i) => i);
	const quantized = quantize(data, { scheme: 'q8_0', shape: [1, 64] });
	console.log(Buffer.from(quantized.bytes).toString('hex'));
`;

describe('the packed package', () => {
	it('quantizes after ESM import', () => {
		const out = runUser('esm.mjs', `import { init, quantize } from 'blockquant';\nawait init();\n${quantize64}`);
		assert.equal(out, expected);
	});

	it('quantizes after CommonJS require', () => {
		const out = runUser(
			'cjs.cjs',
			`const { init, quantize } = require('blockquant');\ninit().then(() => {\n${quantize64}\n});`,
		);
		assert.equal(out, expected);
	});

	const quantizeAsync64 = `
		const data = Float32Array.from({ length: 64 }, (_, i) => i);
		const quantized = await quantizeAsync(data, { scheme: 'q8_0', shape: [1, 64], workers: 2 });
		console.log(Buffer.from(quantized.bytes).toString('hex'));
		console.log((await dequantizeAsync(quantized)).length);
	`;
	for (const entry of ['blockquant', 'blockquant/node'])
		it(`quantizes on workers, and then ends although their pool is open: ${entry}`, () => {
			const text = `import { dequantizeAsync, init, quantizeAsync } from '${entry}';\nawait init();\n${quantizeAsync64}`;
			assert.equal(runUser('async.mjs', text), `${expected}\n64`);
		});

	it('quantizes on workers after CommonJS require, and from ./slim', () => {
		const cjs = `const { dequantizeAsync, init, quantizeAsync } = require('blockquant');
			init().then(async () => {${quantizeAsync64}});`;
		assert.equal(runUser('async.cjs', cjs), `${expected}\n64`);
		const slim = `import { readFileSync } from 'node:fs';
			import { dequantizeAsync, init, quantizeAsync } from 'blockquant/slim';
			await init({ wasm: readFileSync('node_modules/blockquant/dist/core.wasm') });
			${quantizeAsync64}`;
		assert.equal(runUser('async-slim.mjs', slim), `${expected}\n64`);
	});

	it('quantizes from ./slim with the bytes of ./core.wasm', () => {
		const out = runUser(
			'slim.mjs',
			`import { readFileSync } from 'node:fs';
			import { createRequire } from 'node:module';
			import { init, quantize } from 'blockquant/slim';
			const wasm = readFileSync(createRequire(import.meta.url).resolve('blockquant/core.wasm'));
			await init({ wasm });
			${quantize64}`,
		);
		assert.equal(out, expected);
	});

	it('quantizes from ./node', () => {
		const out = runUser(
			'node.mjs',
			`import { init, quantize } from 'blockquant/node';\nawait init();\n${quantize64}`,
		);
		assert.equal(out, expected);
	});

	it('shares one core between . and ./node', () => {
		const out = runUser(
			'both.mjs',
			`import * as main from 'blockquant';
			import * as node from 'blockquant/node';
			await main.init();
			console.log(main.quantize === node.quantize, main.BlockQuantError === node.BlockQuantError);`,
		);
		assert.equal(out, 'true true');
	});

	it('has sinks for memory everywhere, for files in ./node', () => {
		const out = runUser(
			'sinks.mjs',
			`import { readFileSync } from 'node:fs';
			import { blobSink, memoryDirectory, memorySink } from 'blockquant';
			import { fileSink } from 'blockquant/node';
			const bytes = new TextEncoder().encode('ab');
			const blob = blobSink(), memory = memorySink(), file = await fileSink('sunk'), directory = memoryDirectory();
			for (const sink of [blob, memory, file, directory.open('x')]) await sink.write(bytes, 0);
			await file.close();
			const texts = [await blob.blob().text(), memory.bytes(), directory.files.get('x').bytes(), readFileSync('sunk')];
			console.log(texts.map((text) => Buffer.from(text).toString()).join(' '));`,
		);
		assert.equal(out, 'ab ab ab ab');
	});

	it('has few direct dependencies, all of them for the command', () => {
		const names = Object.keys(pkg.dependencies);
		assert.ok(names.length <= 8, names.join(', '));
		for (const file of readdirSync(join(root, 'dist')).filter(
			(name) => /\.[cm]js$/.test(name) && name !== 'cli.mjs',
		)) {
			const text = readFileSync(join(root, 'dist', file), 'utf8');
			for (const name of names) assert.ok(!new RegExp(`['"]${name}['"]`).test(text), `${file} wants ${name}`);
		}
	});

	it('loads ./worker', () => {
		runUser('worker.mjs', `await import('blockquant/worker');\nprocess.exit(0);`);
	});

	it('brings its command', () => {
		const command = join(project, 'node_modules/blockquant', pkg.bin.blockquant);
		assert.ok(readFileSync(command, 'utf8').startsWith('#!/usr/bin/env node\n'));
	});

	it('has every file that its exports name', () => {
		const files = JSON.stringify(pkg.exports).match(/\.\/[\w./-]+/g);
		for (const file of files.filter((name) => name.startsWith('./dist/')))
			assert.ok(existsSync(join(project, 'node_modules/blockquant', file)), file);
	});
});

describe('the default entry', () => {
	/* What a bundler sees: the files of dist/ that an entry pulls in, and what it wants from outside. */
	async function graph(name) {
		const { metafile } = await build({
			absWorkingDir: root,
			entryPoints: [`dist/${name}`],
			bundle: true,
			write: false,
			outdir: 'dist',
			metafile: true,
			platform: 'neutral',
			packages: 'external',
			logLevel: 'silent',
		});
		const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
		return { files: Object.keys(metafile.inputs), outside: imports.map(({ path }) => path) };
	}

	for (const name of ['index.mjs', 'index.cjs', 'slim.mjs', 'worker.mjs'])
		it(`has no dependency: ${name}`, async () => {
			const { files, outside } = await graph(name);
			assert.deepEqual(outside, []);
			for (const file of files) assert.match(file, /^dist\/[\w-]+\.[cm]js$/);
		});

	for (const name of ['index.mjs', 'index.cjs', 'slim.mjs'])
		it(`uses nothing that only ESM or only a module's top level has: ${name}`, async () => {
			for (const file of (await graph(name)).files) {
				/* Comments may speak of anything. Top-level await is a syntax error in this format, import.meta a warning. */
				const text = readFileSync(join(root, file), 'utf8');
				const { warnings } = await transform(text, {
					format: 'cjs',
					legalComments: 'none',
					logLevel: 'silent',
				});
				assert.deepEqual(
					warnings.map((warning) => warning.text),
					[],
					file,
				);
			}
		});

	it('imports where there is no process and no Buffer', () => {
		const out = runUser(
			'bare.mjs',
			`const { log } = console;
			new Response(''); /* Node loads its own at the first use, with what is deleted below */
			for (const name of ['process', 'Buffer', 'global']) delete globalThis[name];
			const { init, quantize } = await import('blockquant');
			await init();
			log(quantize(new Float32Array(32).fill(1), { scheme: 'q8_0', shape: [32] }).bytes.length);`,
		);
		assert.equal(out, '34');
	});
});

describe('core.wasm', () => {
	const bytes = readFileSync(join(root, 'dist/core.wasm'));
	const module = new WebAssembly.Module(bytes);

	it('has no imports', () => assert.deepEqual(WebAssembly.Module.imports(module), []));

	it('exports memory, where the heap begins, its start-up, and the functions of blockquant.h', () => {
		const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
		const header = readFileSync(join(root, 'include/blockquant.h'), 'utf8');
		const declared = [...header.matchAll(/^BQ_API\((\w+)\)/gm)].map((match) => match[1]);
		assert.ok(declared.length > 0);
		for (const name of ['memory', '__heap_base', '_initialize', ...declared])
			assert.ok(exported.includes(name), name);
	});

	it('is below 400 kB', () => assert.ok(bytes.length < 400_000, `${bytes.length} bytes`));
});
