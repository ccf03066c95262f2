// measure-cli.mjs - what memory.mjs and bench-files.mjs share: the command run with a probe inside, and large model files.
// SPDX-License-Identifier: MIT
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = resolve(dirname(fileURLToPath(import.meta.url)), '../dist/cli.mjs');

/** Runs with a folder of its own, which is gone afterwards. @template T @param {(folder: string) => T | Promise<T>} use */
export async function withFolder(use) {
	const folder = mkdtempSync(join(tmpdir(), 'blockquant-measure-'));
	try {
		return await use(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/**
 * In the child, at its end: the most memory that it ever had, in kB (VmHWM, unlike maxrss, knows nothing of the parent), and
 * the processor time of all its threads, in microseconds.
 * @param {string} file to write it to
 */
const probe = (file) => `
	import { readFileSync, writeFileSync } from 'node:fs';
	import { isMainThread } from 'node:worker_threads';
	if (isMainThread) process.on('exit', () => {
		let peak = process.resourceUsage().maxRSS;
		try {
			peak = Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
		} catch {}
		const { user, system } = process.cpuUsage();
		writeFileSync(${JSON.stringify(file)}, JSON.stringify({ peak, cpu: user + system }));
	});
`;

/**
 * Runs the command to its end.
 * @param {string} folder for the probe's file
 * @param {string[]} args
 * @returns {{ seconds: number, cpu: number, peakMB: number }} wall and processor time; peak memory in MB of 10^6 bytes;
 *   all workers included
 */
export function runCli(folder, args) {
	const file = join(folder, 'peak');
	const imported = `data:text/javascript,${encodeURIComponent(probe(file))}`;
	const start = performance.now();
	const { status, stderr } = spawnSync(process.execPath, ['--import', imported, cli, ...args], { encoding: 'utf8' });
	const seconds = (performance.now() - start) / 1000;
	if (status !== 0) throw new Error(`blockquant ${args.join(' ')} ended with ${status}: ${stderr}`);
	const { peak, cpu } = JSON.parse(readFileSync(file, 'utf8'));
	return { seconds, cpu: cpu / 1e6, peakMB: (peak * 1024) / 1e6 };
}

/** ggml's numbers of the types that the models here have. */
const GGML_TYPES = { F32: 0, BF16: 30 };

/**
 * Writes a GGUF file.
 * @param {string} path
 * @param {'F32' | 'BF16'} dtype
 * @param {Record<string, number[]>} shapes by name, rows first
 * @param {Uint8Array} [data] repeated to fill it; without, zeros that take no room on disk
 */
export function writeGguf(path, dtype, shapes, data) {
	const numbers = (/** @type {number[]} */ ...values) => {
		const bytes = Buffer.alloc(8 * values.length);
		values.forEach((value, i) => bytes.writeBigUInt64LE(BigInt(value), 8 * i));
		return bytes;
	};
	const u32 = (/** @type {number} */ value) => numbers(value).subarray(0, 4);
	let end = 0;
	const infos = Object.entries(shapes).flatMap(([name, shape]) => {
		const begin = end;
		end += shape.reduce((product, edge) => product * edge, dtype === 'F32' ? 4 : 2);
		const place = [u32(shape.length), numbers(...shape.toReversed()), u32(GGML_TYPES[dtype]), numbers(begin)];
		return [numbers(name.length), Buffer.from(name), ...place];
	});
	const start = Buffer.concat([Buffer.from('GGUF'), u32(3), numbers(Object.keys(shapes).length, 0), ...infos]);
	fill(path, Buffer.concat([start, Buffer.alloc(-start.length & 31)]), end, data);
}

/** A file of a start and so many bytes of data. @param {string} path @param {Uint8Array} start @param {number} end @param {Uint8Array} [data] */
function fill(path, start, end, data) {
	const file = openSync(path, 'w');
	try {
		writeSync(file, start);
		for (let done = 0; data && done < end; done += data.length)
			writeSync(file, data, 0, Math.min(data.length, end - done), start.length + done);
		ftruncateSync(file, start.length + end);
	} finally {
		closeSync(file);
	}
}

/**
 * Writes a safetensors file.
 * @param {string} path
 * @param {'F32' | 'BF16'} dtype
 * @param {Record<string, number[]>} shapes by name
 * @param {Uint8Array} [data] repeated to fill it; without, zeros that take no room on disk
 * @returns {number} its bytes
 */
export function writeModel(path, dtype, shapes, data) {
	let end = 0;
	/** @type {Record<string, object>} */
	const header = {};
	for (const [name, shape] of Object.entries(shapes)) {
		const begin = end;
		end += shape.reduce((product, edge) => product * edge, dtype === 'F32' ? 4 : 2);
		header[name] = { dtype, shape, data_offsets: [begin, end] };
	}
	const json = Buffer.from(JSON.stringify(header));
	const length = Buffer.alloc(8);
	const padding = Buffer.alloc((8 - (json.length % 8)) % 8, ' ');
	length.writeBigUInt64LE(BigInt(json.length + padding.length));
	const start = Buffer.concat([length, json, padding]);
	fill(path, start, end, data);
	return start.length + end;
}
