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
/** @typedef {import('../model/compare.js').TensorError} TensorError */

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
			if (json)
				printJson({
					command: 'compare',
					a: pathA,
					b: pathB,
					...result,
					changed: changedOf(result.tensors),
					warnings,
				});
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

/**
 * Everything that differs, taken together. The weights that are equal would only thin the error out.
 * @param {TensorError[]} tensors
 */
function changedOf(tensors) {
	// Not `mse > 0`: a NaN on either side differs, too.
	const changed = tensors.filter(({ mse }) => mse !== 0);
	let [values, error, signal, maxAbs] = [0, 0, 0, 0];
	for (const tensor of changed) {
		const count = tensor.shape.reduce((product, edge) => product * edge, 1);
		values += count;
		error += tensor.mse * count;
		signal += tensor.mse * count * 10 ** (tensor.sqnrDb / 10);
		maxAbs = Math.max(maxAbs, tensor.maxAbs);
	}
	const mse = values === 0 ? 0 : error / values;
	return {
		...{
			tensors: changed.length,
			quantized: changed.filter(({ quantized }) => quantized).length,
			values,
			mse,
			rmse: Math.sqrt(mse),
			maxAbs,
		},
		sqnrDb: error === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(signal / error),
	};
}

const COLUMNS = ['>SQNR dB', '>RMSE', '>max abs', '>cosine'];

/** @param {Omit<Comparison, 'cosine' | 'mse'> & { cosine?: number }} figures */
function cells({ sqnrDb, rmse, maxAbs, cosine }) {
	return [fixed(sqnrDb, 2), decimal(rmse), decimal(maxAbs), cosine === undefined ? '' : fixed(cosine, 6)];
}

/**
 * @param {import('../model/compare.js').ModelComparison} result
 * @param {boolean | undefined} eachTensor
 */
function print({ tensors, summary }, eachTensor) {
	const changed = changedOf(tensors);
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
