// bench-files.mjs - the whole-file rows of `npm run bench`: the command and quantizeAsync() with one worker and with two.
// By itself: node scripts/bench-files.mjs [FILTER] [--json] [--repeat N]
//
// One worker is the caller's thread alone. The model is 1.5 GB of float32 noise, just written, so the cache is warm. Runs with
// one worker and with two take turns and the best of each counts: what else the machine does shows in their ratio first. The
// processor time, of all threads together, is the same on a busy machine: twice that of one worker over that of two is the
// ratio that two idle cores can reach at most.
// SPDX-License-Identifier: MIT
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createPool, init, quantizeAsync } from '../dist/node.mjs';
import { runCli, withFolder, writeGguf, writeModel } from './measure-cli.mjs';

/** A row: what is run, and on how many float32 values. */
const rows = [
	{ name: 'file q4_k', scheme: 'q4_k', container: 'gguf' },
	{ name: 'file w4a16', scheme: 'w4a16', container: 'safetensors' },
	{ name: 'file nvfp4a16', scheme: 'nvfp4a16', container: 'safetensors' },
	{ name: 'array q4_k', scheme: 'q4_k' },
	{ name: 'array nvfp4a16', scheme: 'nvfp4a16' },
];
const FILE_SHAPE = [91552, 4096];
const ARRAY_SHAPE = [16384, 4096];
const WORKERS = [1, 2];

/** 8 MB of values about as spread as weights are, the same each time. */
function noise() {
	const values = new Float32Array(2 ** 21);
	let state = 1;
	const next = () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
	for (let i = 0; i < values.length; i++) values[i] = (next() + next() + next() - 1.5) / 25;
	return values;
}

/** @param {number[]} shape */
const countOf = ([a, b]) => a * b;

/** The command on a file. @param {typeof rows[number]} row @param {string} folder @param {number} workers */
function onFile({ scheme, container }, folder, workers) {
	const at = (/** @type {string} */ name) => join(folder, `${name}.${container}`);
	const pure = container === 'gguf' ? ['--pure'] : [];
	const args = ['quantize', at('model'), at('out'), '--scheme', scheme, ...pure, '--workers', String(workers)];
	return runCli(folder, args);
}

/** @param {typeof rows[number]} row @param {Float32Array} data @param {import('../js/workers/pool.js').Pool} pool */
async function onArray({ scheme }, data, pool) {
	const start = performance.now();
	const before = process.cpuUsage();
	await quantizeAsync(data, { scheme, shape: ARRAY_SHAPE, pool });
	const { user, system } = process.cpuUsage(before);
	return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6, peakMB: null };
}

/**
 * Whole-file rows.
 * @param {string[]} filter parts of names
 * @param {number} repeat
 */
export async function measureFiles(filter, repeat) {
	const chosen = rows.filter(({ name }) => filter.length === 0 || filter.some((part) => name.includes(part)));
	const results = [];
	if (chosen.length === 0) return [];
	await init();
	const block = noise();
	const data = chosen.some(({ container }) => !container)
		? new Float32Array(countOf(ARRAY_SHAPE))
		: new Float32Array(0);
	for (let at = 0; at < data.length; at += block.length) data.set(block, at);
	const pools = WORKERS.map((workers) => createPool({ workers }));
	return withFolder(async (folder) => {
		const model = /** @type {const} */ (['F32', { 'a.weight': FILE_SHAPE }, new Uint8Array(block.buffer)]);
		if (chosen.some(({ container }) => container === 'gguf')) writeGguf(join(folder, 'model.gguf'), ...model);
		if (chosen.some(({ container }) => container === 'safetensors'))
			writeModel(join(folder, 'model.safetensors'), ...model);
		for (const row of chosen) {
			/** @type {{ workers: number, seconds: number, cpu: number, peakMB: number | null }[]} */
			const best = WORKERS.map((workers) => ({ workers, seconds: Infinity, cpu: Infinity, peakMB: 0 }));
			for (let i = 0; i < repeat; i++)
				for (const [w, workers] of WORKERS.entries()) {
					const run = row.container ? onFile(row, folder, workers) : await onArray(row, data, pools[w]);
					best[w].peakMB = run.peakMB && Math.max(best[w].peakMB ?? 0, run.peakMB);
					best[w].seconds = Math.min(best[w].seconds, run.seconds);
					best[w].cpu = Math.min(best[w].cpu, run.cpu);
				}
			const nvalues = countOf(row.container ? FILE_SHAPE : ARRAY_SHAPE);
			const ratios = { ratio: best[0].seconds / best[1].seconds, cpuRatio: (2 * best[0].cpu) / best[1].cpu };
			results.push({ name: row.name, nvalues, runs: best, ...ratios, load: load() });
		}
		await Promise.all(pools.map((pool) => pool.close()));
		return results;
	});
}

/** Threads that want to run, averaged over a minute: above the number of cores, figures are of a busy machine. */
function load() {
	try {
		return Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);
	} catch {
		return null;
	}
}

/** @param {Awaited<ReturnType<typeof measureFiles>>} results */
export function printFiles(results) {
	const line = (/** @type {string[]} */ cells) =>
		console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(16) : cell.padStart(11))).join('  '));
	line([
		'whole',
		'GB of f32',
		'1 worker, s',
		'2 workers',
		'ratio',
		'CPU s, 1',
		'CPU s, 2',
		'at most',
		'peak MB, 1',
		'peak MB, 2',
		'load',
	]);
	for (const { name, nvalues, runs, ratio, cpuRatio, load: busy } of results)
		line([
			name,
			((4 * nvalues) / 1e9).toFixed(2),
			...runs.map(({ seconds }) => seconds.toFixed(2)),
			ratio.toFixed(2),
			...runs.map(({ cpu }) => cpu.toFixed(2)),
			cpuRatio.toFixed(2),
			...runs.map(({ peakMB }) => peakMB?.toFixed(0) ?? ''),
			String(busy ?? ''),
		]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: { json: { type: 'boolean' }, repeat: { type: 'string', default: '3' } },
	});
	const results = await measureFiles(positionals, Number(values.repeat));
	if (values.json) console.log(JSON.stringify(results));
	else printFiles(results);
}
