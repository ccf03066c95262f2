// compare.js - `blockquant compare A B`: how far B's weights are from A's.
// SPDX-License-Identifier: MIT

import { compareModels, init, openModelPath } from '../entry/node.js';
import { quoted } from '../errors.js';
import { warn } from './errors.js';
import { decimal, fixed, integer, printJson, printLines, shapeText } from './print.js';
import { withProgress } from './progress.js';
import { cancellable } from './signals.js';
import { table } from './table.js';

/** @typedef {import('../arrays/compare.js').Comparison} Comparison */

/**
 * @param {string} pathA
 * @param {string} pathB
 * @param {{ tensors?: boolean, json?: boolean }} options
 */
export async function compareCommand(pathA, pathB, { tensors: eachTensor, json }) {
	await init();
	const a = await openModelPath(pathA);
	try {
		const b = await openModelPath(pathB);
		try {
			const result = await cancellable((signal) =>
				withProgress(
					(perSecond) => `${(perSecond / 1e6).toFixed(1)} M weights/s`,
					(onProgress) => compareModels(a, b, { configA: a.config, configB: b.config, signal, onProgress }),
				),
			);
			const warnings = [
				...a.warnings,
				...b.warnings,
				...missing(pathB, result.onlyInA),
				...missing(pathA, result.onlyInB),
				...result.unread.map(
					(name) => `tensor ${quoted(name)} is not compared: its type is not in this version`,
				),
			];
			warn(warnings);
			if (json) printJson({ command: 'compare', a: pathA, b: pathB, ...result, warnings });
			else print(result, eachTensor);
		} finally {
			await b.close();
		}
	} finally {
		await a.close();
	}
}

/**
 * @param {string} path
 * @param {string[]} names
 */
function missing(path, names) {
	if (names.length === 0) return [];
	return [`${path} lacks ${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`];
}

const COLUMNS = ['>SQNR dB', '>MSE', '>max abs', '>cosine'];

/** @param {Comparison} figures */
function cells({ sqnrDb, mse, maxAbs, cosine }) {
	return [fixed(sqnrDb, 2), decimal(mse), decimal(maxAbs), fixed(cosine, 6)];
}

/**
 * @param {import('../model/compare.js').ModelComparison} result
 * @param {boolean | undefined} eachTensor
 */
function print({ tensors, summary, changed }, eachTensor) {
	const rows = summary.map((kind) => [kind.kind, kind.tensors, kind.quantized, integer(kind.values), ...cells(kind)]);
	printLines(
		...(eachTensor
			? [
					table(
						['tensor', 'shape', ...COLUMNS],
						tensors.map((tensor) => [tensor.name, shapeText(tensor.shape), ...cells(tensor)]),
					),
					'',
				]
			: []),
		table(
			['layer kind', '>tensors', '>quantized', '>weights', ...COLUMNS],
			[
				...rows,
				['all that differ', changed.tensors, changed.quantized, integer(changed.values), ...cells(changed)],
			],
		),
	);
}
