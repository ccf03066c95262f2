// bench.mjs - `npm run bench [-- FILTER...] [--json] [--reference | --torch]`: every preset in wasm (Node) and natively (gcc -O3), scalar and simd128,
// encode and decode, side by side; then whole files and arrays with one worker and two (bench-files.mjs). FILTERs: parts of
// presets' names, or of such rows' names. --reference: instead, our native scalar kernels beside ggml's own, from the libggml-base.so
// that scripts/setup.sh --test puts into .cache/llama; --torch: bench-torch.mjs.
//
// One program (tests/c/bench.c) is built both ways; within each run the kernel rows take turns. The two builds take turns
// too, and the best of their runs counts: what else the machine does only ever adds time.
// SPDX-License-Identifier: MIT

import { execFileSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureFiles, printFiles } from './bench-files.mjs';
import { printTargets } from './bench-targets.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const json = args.includes('--json');
const filter = args.filter((arg) => !arg.startsWith('--'));

const PASSES = 3;

/** @param {string} command @param {string[]} words */
const quietly = (command, words) => execFileSync(command, words, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });

/** Builds what is missing or old; says so on stderr, since the first time takes a minute. */
function build() {
	console.error('bench: building build/wasm and build/native');
	quietly('emcmake', ['cmake', '-S', '.', '-B', 'build/wasm', '-DCMAKE_BUILD_TYPE=Release']);
	quietly('cmake', ['--build', 'build/wasm', '-j2', '--target', 'blockquant-bench']);
	quietly('cmake', ['-S', '.', '-B', 'build/native', '-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_C_COMPILER=gcc']);
	quietly('cmake', ['--build', 'build/native', '-j2', '--target', 'blockquant-bench']);
}

/** @param {string} command @param {string[]} words @returns {any[]} the JSON of each line */
function lines(command, words) {
	const out = execFileSync(command, words, { cwd: root, encoding: 'utf8' }).trim();
	return out.split('\n').map((line) => JSON.parse(line));
}

function measure() {
	const wasm = ['--no-warnings', join(root, 'tests/c/run_wasi.mjs'), 'build/wasm/blockquant-bench.wasm', ...filter];
	const runs = {
		wasm: () => lines(process.execPath, wasm),
		native: () => lines(join(root, 'build/native/blockquant-bench'), filter),
	};
	/** @type {Map<string, any>} */
	const rows = new Map();
	for (let pass = 0; pass < PASSES; pass++)
		for (const [build, run] of Object.entries(runs))
			for (const { preset, path, op, kernels, melems } of run()) {
				const key = [preset, path, op].join('|');
				const row = rows.get(key) ?? { preset, path, op };
				row[`${build} ${kernels}`] = Math.max(melems, row[`${build} ${kernels}`] ?? 0);
				rows.set(key, row);
			}
	return [...rows.values()];
}

const COLUMNS = ['wasm simd128', 'wasm scalar', 'native scalar', 'native simd128'];

/** @param {any[]} rows */
function print(rows) {
	const copy = rows.find((row) => row.op === 'copy');
	console.log(
		`Node ${process.versions.node}, V8 ${process.versions.v8}; gaussian weights, 64 K values in L2, one thread; Melem/s`,
	);
	console.log(
		`limit: memcpy of the same float32 values ${copy['wasm memcpy']} in wasm, ${copy['native memcpy']} natively\n`,
	);
	const head = ['preset', 'path', 'operation', ...COLUMNS, 'GB/s in', 'simd/scalar', 'wasm simd/native scalar'];
	const body = rows
		.filter((row) => row !== copy)
		.map((row) => [
			...[row.preset, row.path, row.op],
			...COLUMNS.map((column) => String(row[column] ?? '')),
			((4 * row['wasm simd128']) / 1000).toFixed(1),
			(row['wasm simd128'] / row['wasm scalar']).toFixed(1),
			(row['wasm simd128'] / row['native scalar']).toFixed(1),
		]);
	const widths = head.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i].length)));
	/** @param {string[]} cells */
	const line = (cells) =>
		cells.map((cell, i) => (i < 3 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
	for (const cells of [head, ...body]) console.log(line(cells));
	printTargets(rows);
}

/** Ours and the reference's speed for each type; what is below 1 is slower than the reference. */
function compareWithReference() {
	quietly('cmake', ['--build', 'build/native', '-j2', '--target', 'blockquant-bench-reference']);
	const library = join(root, '.cache/llama/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml-base.so');
	const results = lines(join(root, 'build/native/blockquant-bench-reference'), [library, ...filter]);
	console.log('native scalar, checks of the input included, beside ggml; Melem/s; bytes are the same\n');
	for (const { preset, op, ours, reference } of results)
		console.log(
			preset.padEnd(14),
			op.padEnd(16),
			...[ours, reference].map((melems) => melems.toFixed(1).padStart(9)),
			(ours / reference).toFixed(2).padStart(7),
		);
}

if (args.includes('--torch')) {
	const { benchTorch } = await import('./bench-torch.mjs');
	await benchTorch(root).catch((error) => {
		console.error(`bench: ${error.message}`);
		process.exit(1);
	});
	process.exit();
}
build();
if (args.includes('--reference')) {
	compareWithReference();
	process.exit();
}
const rows = measure();
if (!json) print(rows);
const files = await measureFiles(filter, 3);
if (json) console.log(JSON.stringify([...rows, ...files], null, '\t'));
else {
	console.log('');
	printFiles(files);
}
