// dequantize.js - `blockquant dequantize IN OUT`.
// SPDX-License-Identifier: MIT

import { dequantizeModelPath, init } from '../entry/node.js';
import { warn } from './errors.js';
import { bytes, printJson, printLines } from './print.js';
import { withProgress } from './progress.js';
import { cancellable } from './signals.js';

/**
 * @param {string} input
 * @param {string} output
 * @param {{ dtype?: 'f32' | 'f16' | 'bf16', json?: boolean, workers?: number }} options
 */
export async function dequantizeCommand(input, output, { json, ...options }) {
	await init();
	const start = performance.now();
	const result = await cancellable((signal) =>
		withProgress(
			(perSecond) => `${bytes(perSecond)}/s`,
			(onProgress) => dequantizeModelPath(input, output, { ...options, signal, onProgress }),
		),
	);
	const seconds = (performance.now() - start) / 1000;
	const { tensors, nbytes, files, configPath, warnings } = result;
	warn(warnings);
	if (json) {
		printJson({
			command: 'dequantize',
			input,
			output,
			files,
			config: configPath,
			nbytes,
			seconds,
			tensors,
			warnings,
		});
		return;
	}
	const schemes = [...new Set(tensors.map(({ scheme }) => scheme))].join(', ');
	const dtypes = [...new Set(tensors.map(({ dtype }) => dtype))].join(', ');
	printLines(
		`${files.join(', ')}: ${tensors.length} weights decoded from ${schemes} to ${dtypes}`,
		`${bytes(nbytes)} written, ${seconds.toFixed(2)} s, ${bytes(nbytes / seconds)}/s`,
	);
}
