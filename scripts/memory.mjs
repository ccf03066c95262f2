// memory.mjs - the command's peak memory on a model with one tensor of 1.5 GB and two hundred small ones. `npm run memory`.
// SPDX-License-Identifier: MIT
//
// The model is a sparse file: zeros that take no room on disk. With --json one line of JSON; with --limit MB exit 1 above it.
// Names of runs as arguments (w4a16 nvfp4a16 q8_0 compare dequantize) do only those and what they need.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeSync, ftruncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const cli = resolve(dirname(fileURLToPath(import.meta.url)), '../dist/cli.mjs');
const { values: options, positionals: chosen } = parseArgs({
	allowPositionals: true,
	options: { json: { type: 'boolean' }, limit: { type: 'string' } },
});
const folder = mkdtempSync(join(tmpdir(), 'blockquant-memory-'));
const model = join(folder, 'model.safetensors');
const ggufModel = join(folder, 'model.gguf');
const inFolder = (name) => join(folder, name);

/** In the child, at its end: the most memory that it ever had, in kB. VmHWM, unlike maxrss, knows nothing of the parent. */
const probe = `
	import { readFileSync, writeFileSync } from 'node:fs';
	process.on('exit', () => {
		let peak = process.resourceUsage().maxRSS;
		try {
			peak = Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
		} catch {}
		writeFileSync(${JSON.stringify(inFolder('peak'))}, String(peak));
	});
`;

const runs = {
	w4a16: ['quantize', model, inFolder('w4a16.safetensors'), '--scheme', 'w4a16'],
	nvfp4a16: ['quantize', model, inFolder('nvfp4a16.safetensors'), '--scheme', 'nvfp4a16'],
	q8_0: ['quantize', ggufModel, inFolder('q8_0.gguf'), '--scheme', 'q8_0', '--pure'],
	compare: ['compare', model, inFolder('w4a16.safetensors')],
	dequantize: ['dequantize', inFolder('w4a16.safetensors'), inFolder('back.safetensors')],
};
const needs = { compare: 'w4a16', dequantize: 'w4a16' };
const names = chosen.length === 0 ? Object.keys(runs) : chosen;
for (const name of names)
	if (!Object.hasOwn(runs, name)) {
		console.error(`memory: no run ${name}: there are ${Object.keys(runs).join(' ')}`);
		process.exit(2);
	}

try {
	const nbytes = writeModel();
	writeGguf();
	const wanted = Object.keys(runs).filter((name) => names.some((one) => one === name || needs[one] === name));
	const peaks = {};
	for (const name of wanted) {
		const start = performance.now();
		const peakMB = run(name);
		const seconds = (performance.now() - start) / 1000;
		peaks[name] = { peakMB, seconds };
		if (!options.json)
			console.log(
				`${name.padEnd(12)} ${peakMB.toFixed(0).padStart(5)} MB at the peak  ${seconds.toFixed(1).padStart(6)} s`,
			);
	}
	const worst = Math.max(...names.map((name) => peaks[name].peakMB));
	if (options.json) console.log(JSON.stringify({ nbytes, peaks, worst }));
	else
		console.log(
			`peak memory ${worst.toFixed(0)} MB on a model of ${(nbytes / 1e9).toFixed(2)} GB (Node ${process.versions.node})`,
		);
	if (options.limit !== undefined && worst > Number(options.limit)) {
		console.error(`memory: ${worst.toFixed(0)} MB is above the limit of ${options.limit} MB`);
		process.exitCode = 1;
	}
} finally {
	rmSync(folder, { recursive: true, force: true });
}

/** The tensors of the model, in the order of their names in a GGUF file. */
function shapesOfModel() {
	const shapes = { 'model.layers.0.mlp.up_proj.weight': [24576, 32768] };
	for (let i = 0; i < 100; i++) {
		shapes[`model.layers.${i}.self_attn.q_proj.weight`] = [128, 256];
		shapes[`model.layers.${i}.input_layernorm.weight`] = [256];
	}
	return shapes;
}

/** A sparse file: what it begins with, and zeros. */
function writeSparse(path, start, nbytes) {
	const file = openSync(path, 'w');
	writeSync(file, start);
	ftruncateSync(file, nbytes);
	closeSync(file);
}

/** The same tensors in GGUF, as BF16. */
function writeGguf() {
	const numbers = (...values) => {
		const bytes = Buffer.alloc(8 * values.length);
		values.forEach((value, i) => bytes.writeBigUInt64LE(BigInt(value), 8 * i));
		return bytes;
	};
	const u32 = (value) => numbers(value).subarray(0, 4);
	let end = 0;
	const infos = Object.entries(shapesOfModel()).map(([name, shape]) => {
		const begin = end;
		end += shape.reduce((product, edge) => product * edge, 2);
		return [
			numbers(name.length),
			Buffer.from(name),
			u32(shape.length),
			numbers(...shape.toReversed()),
			u32(30),
			numbers(begin),
		];
	});
	const start = Buffer.concat([Buffer.from('GGUF'), u32(3), numbers(infos.length, 0), ...infos.flat()]);
	writeSparse(ggufModel, start, Math.ceil(start.length / 32) * 32 + end);
}

/** Writes the model's header and as many zeros as it promises; gives its size. */
function writeModel() {
	const shapes = shapesOfModel();
	let end = 0;
	const header = {};
	for (const [name, shape] of Object.entries(shapes)) {
		const begin = end;
		end += shape.reduce((product, edge) => product * edge, 2);
		header[name] = { dtype: 'BF16', shape, data_offsets: [begin, end] };
	}
	const json = Buffer.from(JSON.stringify(header));
	const length = Buffer.alloc(8);
	const padding = Buffer.alloc((8 - (json.length % 8)) % 8, ' ');
	length.writeBigUInt64LE(BigInt(json.length + padding.length));
	const start = Buffer.concat([length, json, padding]);
	writeSparse(model, start, start.length + end);
	return start.length + end;
}

/** Peak memory of a run, in MB of 10^6 bytes. */
function run(name) {
	const imported = `data:text/javascript,${encodeURIComponent(probe)}`;
	const { status, stderr } = spawnSync(process.execPath, ['--import', imported, cli, ...runs[name]], {
		encoding: 'utf8',
	});
	if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
	return (Number(readFileSync(inFolder('peak'), 'utf8')) * 1024) / 1e6;
}
