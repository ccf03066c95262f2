// sample.js - `blockquant sample OUT.safetensors`: a model to try things with where none can be downloaded.
// SPDX-License-Identifier: MIT

import { dirname, join } from 'node:path';
import { readOrNull } from '../node/config-file.js';
import { FileTransaction } from '../node/file-sink.js';
import { warn } from './errors.js';
import { bytes, printJson, printLines } from './print.js';
import { sampleConfig, sampleFile, sampleTensors } from '../sample/model.js';
import { cancellable } from './signals.js';

/**
 * @param {string} output
 * @param {{ seed: number, layers: number, dtype: 'bf16' | 'f32', json?: boolean }} options
 */
export async function sampleCommand(output, { seed, layers, dtype, json }) {
	const tensors = sampleTensors(layers, dtype);
	const config = `${JSON.stringify(sampleConfig(layers, dtype), null, 2)}\n`;
	const configPath = await configPathFor(output, config);
	const transaction = new FileTransaction();
	let nbytes = 0;
	try {
		await cancellable(async (signal) => {
			const sink = await transaction.open(output);
			for (const bytes of sampleFile({ seed, layers, dtype })) {
				signal.throwIfAborted();
				await sink.write(bytes, nbytes);
				nbytes += bytes.byteLength;
			}
			await (await transaction.open(configPath)).write(new TextEncoder().encode(config), 0);
			await transaction.commit();
		});
	} catch (error) {
		await transaction.abort();
		throw error;
	}
	if (configPath !== usualConfigPath(output))
		warn([`${usualConfigPath(output)} is of another model and stays; ours is ${configPath}`]);
	if (json) {
		printJson({
			command: 'sample',
			output,
			config: configPath,
			seed,
			layers,
			dtype,
			tensors: tensors.length,
			nbytes,
		});
		return;
	}
	printLines(`${output}: ${layers} layers, ${tensors.length} tensors, ${bytes(nbytes)} of ${dtype}, seed ${seed}`);
}

/** @param {string} output */
const usualConfigPath = (output) => join(dirname(output), 'config.json');

/**
 * A config.json that is another model's stays.
 * @param {string} output
 * @param {string} config
 */
async function configPathFor(output, config) {
	const usual = usualConfigPath(output);
	const beside = `${output}.config.json`;
	// The one that has the file's name is read before the usual one.
	if ((await readOrNull(beside)) !== null) return beside;
	const existing = await readOrNull(usual);
	return existing === null || existing === config ? usual : beside;
}
