// build.mjs - dist/ from js/ and build/wasm/core.wasm: bundles, types, sizes. `npm run build:dist`.
// SPDX-License-Identifier: MIT
//
//     index.mjs  index.cjs     the default entry, the wasm module inside
//     slim.mjs                 without it: init({ wasm })
//     node.mjs                 reads core.wasm beside it; files
//     workerd.mjs              imports ./core.wasm as a module, as Cloudflare's runtime wants it
//     compressed-tensors.mjs  coreai.mjs  burn.mjs   what only these systems have, beside schemes
//     worker.mjs               the other end of calls and of a pool, in one piece; index and slim have the text of a smaller one
//                              inside (js/entry/band-worker.js), which serves pools alone
//     cli.mjs                  the command
//     shared.mjs               what the default entry needs and the others have, too: two entries in one program are one core
//     chunk-*.mjs              what several of the others share
import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import zopfli from '@gfx/zopfli';
import { build } from 'esbuild';
import { joinWasm, splitWasm } from '../js/entry/wasm-streams.js';
import { buildWithShared } from './shared-chunk.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const wasm = join(root, 'build/wasm/core.wasm');

const WASM_LIMIT = 400_000;
const ENTRY_GZIP_LIMIT = 150_000;

const wasmBytes = await readFile(wasm).catch(() => {
	console.error(`build: ${relative(root, wasm)} is missing: npm run build:wasm makes it`);
	process.exit(1);
});

const streams = splitWasm(wasmBytes);
if (Buffer.compare(joinWasm(streams), wasmBytes)) fail('the streams of core.wasm do not give it back');
// Zopfli's deflate is smaller than zlib's.
await writeFile(join(root, 'build/core.deflate'), await promisify(zopfli.deflate)(streams, { numiterations: 15 }));
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });

/* ---- bundles ---------------------------------------------------------------------------------------------------- */

const entry = (name) => join(root, 'js', name);

/** workerd.js alone says `./core.wasm`, the file beside it in dist: that import stays. */
const keepWasmImport = {
	name: 'keep-wasm-import',
	setup(plugin) {
		plugin.onResolve({ filter: /^\.\/core\.wasm$/ }, ({ path }) => ({ path, external: true }));
	},
};

const common = {
	absWorkingDir: root,
	outdir: dist,
	bundle: true,
	metafile: true,
	platform: 'neutral',
	target: 'es2022',
	packages: 'external',
	loader: { '.deflate': 'binary', '.txt': 'text' },
	plugins: [keepWasmImport],
	charset: 'utf8',
	legalComments: 'none',
	// Maps beside the bundles say where a stack trace was; only developer tools load them.
	minify: true,
	sourcemap: 'linked',
	logLevel: 'warning',
};

/* First the worker of pools: index and slim take its text. */
await build({
	...common,
	outdir: undefined,
	entryPoints: [entry('entry/band-worker.js')],
	outfile: join(root, 'build/worker.txt'),
	format: 'esm',
	sourcemap: false,
});
const results = await Promise.all([
	build({
		...common,
		entryPoints: { worker: entry('entry/worker.js') },
		format: 'esm',
		outExtension: { '.js': '.mjs' },
	}),
	build({
		...common,
		entryPoints: { index: entry('entry/inline.js') },
		format: 'cjs',
		outExtension: { '.js': '.cjs' },
	}),
]);
const entries = await buildWithShared(common, {
	index: entry('entry/inline.js'),
	slim: entry('entry/slim.js'),
	node: entry('entry/node.js'),
	'compressed-tensors': entry('compressed-tensors/index.js'),
	coreai: entry('coreai/index.js'),
	burn: entry('burn/index.js'),
	workerd: entry('entry/workerd.js'),
	cli: entry('cli/main.js'),
});
const outputs = Object.assign(entries, ...results.map((result) => result.metafile.outputs));
/* What is external to the bundler is a file of ours all the same. */
for (const { imports } of Object.values(outputs))
	for (const each of imports)
		if (each.path === './shared.mjs') Object.assign(each, { path: 'dist/shared.mjs', external: false });

await copyFile(wasm, join(dist, 'core.wasm'));

const cli = join(dist, 'cli.mjs');
const cliText = await readFile(cli, 'utf8');
if (!cliText.startsWith('#!')) await writeFile(cli, `#!/usr/bin/env node\n${cliText}`);
await chmod(cli, 0o755);

/* The default entry runs in any page and any bundler: nothing outside it, nothing that only Node or only ESM has. */
for (const name of ['dist/index.mjs', 'dist/index.cjs', 'dist/slim.mjs', 'dist/worker.mjs'])
	for (const file of [name, ...chunksOf(name)])
		for (const { path, external } of outputs[file].imports)
			if (external) fail(`${file} imports ${path}: ${name} must be free of imports`);

/* ---- types ------------------------------------------------------------------------------------------------------ */

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const types = join(dist, 'types');
try {
	execFileSync(
		process.execPath,
		[
			tsc,
			'-p',
			root,
			'--noEmit',
			'false',
			'--emitDeclarationOnly',
			'--declaration',
			'--outDir',
			types,
			'--rootDir',
			entry(''),
		],
		{ stdio: 'inherit', cwd: root },
	);
} catch {
	fail('tsc refuses the types');
}

const typeEntries = {
	...{ index: 'entry/inline', slim: 'entry/slim', node: 'entry/node', worker: 'entry/worker' },
	...{ 'compressed-tensors': 'compressed-tensors/index', coreai: 'coreai/index', burn: 'burn/index' },
};
for (const [name, source] of Object.entries(typeEntries))
	await writeFile(join(dist, `${name}.d.ts`), `export * from './types/${source}.js';\n`);

/* `require` wants declarations that are CommonJS all the way down: the same files again, as .d.cts. */
await writeFile(join(dist, 'index.d.cts'), `export * from './types/entry/inline.cjs';\n`);
const pending = [join(types, 'entry/inline.d.ts')];
const reachable = new Set(pending);
for (const file of pending) {
	const text = await readFile(file, 'utf8');
	const renamed = text.replace(/(from |import\(|import )(['"])(\.{1,2}\/[^'"]+)\.js\2/g, (_, before, quote, path) => {
		const target = `${resolve(dirname(file), path)}.d.ts`;
		if (!reachable.has(target)) pending.push(target);
		reachable.add(target);
		return `${before}${quote}${path}.cjs${quote}`;
	});
	await writeFile(file.replace(/\.d\.ts$/, '.d.cts'), renamed);
}
for (const file of ['cli']) await rm(join(types, file), { recursive: true, force: true });

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

const kB = (nbytes) => `${(nbytes / 1000).toFixed(1)} kB`.padStart(10);
console.log('file'.padEnd(24), '     bytes', '   gzipped');
for (const file of (await readdir(dist)).filter((name) => /\.(mjs|cjs|wasm)$/.test(name)).sort()) {
	const bytes = await readFile(join(dist, file));
	console.log(`dist/${file}`.padEnd(24), kB(bytes.length), kB(gzipSync(bytes).length));
}

const entryBytes = await Promise.all(
	['dist/index.mjs', ...chunksOf('dist/index.mjs')].map((file) => readFile(join(root, file))),
);
const entryGzip = entryBytes.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
console.log(`default entry with the chunks that it imports: ${kB(entryGzip).trim()} gzipped`);
if (wasmBytes.length >= WASM_LIMIT) fail(`core.wasm has ${kB(wasmBytes.length)}, the limit is ${kB(WASM_LIMIT)}`);
if (entryGzip >= ENTRY_GZIP_LIMIT) fail(`the default entry has ${kB(entryGzip)}, the limit is ${kB(ENTRY_GZIP_LIMIT)}`);

/** The chunks of dist/ that a bundle imports, directly or not. */
function chunksOf(name) {
	const found = new Set();
	const visit = (file) => {
		for (const { path, external } of outputs[file].imports)
			if (!external && !found.has(path)) {
				found.add(path);
				visit(path);
			}
	};
	visit(name);
	return [...found];
}

function fail(message) {
	console.error(`build: ${message}`);
	process.exit(1);
}
