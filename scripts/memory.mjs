// memory.mjs - the command's peak memory on a model with one tensor of 1.5 GB and two hundred small ones. `npm run memory`.
// SPDX-License-Identifier: MIT
//
// The model is a sparse file: zeros that take no room on disk. With --json one line of JSON; with --limit MB exit 1 above it;
// --workers 1,2 are the numbers of workers. Names of runs as arguments (w4a16 nvfp4a16 q8_0 report compare dequantize) do only those
// and what they need.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCli, withFolder, writeGguf, writeModel } from './measure-cli.mjs';

const { values: options, positionals: chosen } = parseArgs({
	allowPositionals: true,
	options: {
		json: { type: 'boolean' },
		limit: { type: 'string' },
		workers: { type: 'string', default: '1,2' },
	},
});
const counts = options.workers.split(',');

/** What each run is: arguments, given where its files are; and another run whose output it reads. */
const runs = {
	w4a16: { args: (at) => ['quantize', at('model'), at('w4a16'), '--scheme', 'w4a16'], workers: true },
	nvfp4a16: { args: (at) => ['quantize', at('model'), at('nvfp4a16'), '--scheme', 'nvfp4a16'], workers: true },
	q8_0: {
		args: (at) => ['quantize', at('model', 'gguf'), at('q8_0', 'gguf'), '--scheme', 'q8_0', '--pure'],
		workers: true,
	},
	report: {
		args: (at) => [
			...['quantize', at('model', 'gguf'), at('q8_0', 'gguf'), '--scheme', 'q8_0', '--pure'],
			...['--report', at('report', 'json')],
		],
		workers: true,
	},
	compare: { args: (at) => ['compare', at('model'), at('w4a16')], needs: 'w4a16' },
	dequantize: { args: (at) => ['dequantize', at('w4a16'), at('back')], workers: true, needs: 'w4a16' },
};
const names = chosen.length === 0 ? Object.keys(runs) : chosen;
for (const name of names)
	if (!Object.hasOwn(runs, name)) {
		console.error(`memory: no run ${name}: there are ${Object.keys(runs).join(' ')}`);
		process.exit(2);
	}

const shapes = { 'model.layers.0.mlp.up_proj.weight': [24576, 32768] };
for (let i = 0; i < 100; i++) {
	shapes[`model.layers.${i}.self_attn.q_proj.weight`] = [128, 256];
	shapes[`model.layers.${i}.input_layernorm.weight`] = [256];
}

await withFolder((folder) => {
	const at = (name, kind = 'safetensors') => join(folder, `${name}.${kind}`);
	const nbytes = writeModel(at('model'), 'BF16', shapes);
	writeGguf(at('model', 'gguf'), 'BF16', shapes);
	const wanted = Object.keys(runs).filter((name) => names.some((one) => one === name || runs[one].needs === name));
	const peaks = {};
	for (const name of wanted)
		for (const count of runs[name].workers ? counts : [null]) {
			const label = count === null ? name : `${name}, workers ${count}`;
			const result = runCli(folder, [...runs[name].args(at), ...(count === null ? [] : ['--workers', count])]);
			if (names.includes(name)) peaks[label] = result;
			if (!options.json)
				console.log(
					`${label.padEnd(24)} ${result.peakMB.toFixed(0).padStart(5)} MB at the peak  ${result.seconds.toFixed(1).padStart(6)} s`,
				);
		}
	const worst = Math.max(...Object.values(peaks).map(({ peakMB }) => peakMB));
	if (options.json) console.log(JSON.stringify({ nbytes, peaks, worst }));
	else
		console.log(
			`peak memory ${worst.toFixed(0)} MB on a model of ${(nbytes / 1e9).toFixed(2)} GB (Node ${process.versions.node})`,
		);
	if (options.limit !== undefined && worst > Number(options.limit)) {
		console.error(`memory: ${worst.toFixed(0)} MB is above the limit of ${options.limit} MB`);
		process.exitCode = 1;
	}
});
