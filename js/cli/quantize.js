// quantize.js - `blockquant quantize IN OUT --scheme NAME`, and its dry run.
// SPDX-License-Identifier: MIT

import { init, openModelPath, plan, quantizeModelPath, readImatrixPath } from '../entry/node.js';
import { tensorWarnings } from '../model/quantize.js';
import { warn } from './errors.js';
import { bytes, integer, printJson, printLines, shapeText } from './print.js';
import { withProgress } from './progress.js';
import { schemeOfArgument } from './scheme-argument.js';
import { cancellable } from './signals.js';
import { table } from './table.js';
import { countOf } from '../shape.js';

/** @typedef {import('../model/plan.js').Plan} Plan */

/**
 * @typedef {object} QuantizeArguments
 * @property {string} scheme
 * @property {string[]} [include]
 * @property {string[]} [exclude]
 * @property {number} [workers]
 * @property {boolean} [pure]
 * @property {string} [imatrix] path
 * @property {'error' | 'ones'} [missingImportance]
 * @property {string} [report] path
 * @property {boolean} [allowRequantize]
 * @property {boolean} [dryRun]
 * @property {boolean} [json]
 * @property {'error' | 'allow'} [overflow]
 * @property {'error' | 'allow'} [nonfinite]
 * @property {boolean} [correct]
 */

/**
 * @param {string} input
 * @param {string | undefined} output absent in a dry run only
 * @param {QuantizeArguments} given
 */
export async function quantizeCommand(input, output, { dryRun, json, report, ...given }) {
	await init();
	const options = { ...given, scheme: await schemeOfArgument(given.scheme), imatrix: await imatrixOf(given.imatrix) };
	if (dryRun || output === undefined) return printPlan(input, output, options, json);
	const start = performance.now();
	const result = await cancellable((signal) =>
		withProgress(
			(perSecond) => `${bytes(perSecond)}/s`,
			(onProgress) => quantizeModelPath(input, output, { ...options, report, signal, onProgress }),
		),
	);
	const seconds = (performance.now() - start) / 1000;
	const totals = totalsOf(result.plan);
	warn(result.warnings);
	if (json) {
		printJson({
			...{ command: 'quantize', input, output, files: result.files, config: result.configPath },
			...{
				target: result.plan.target,
				scheme: result.plan.scheme,
				totals,
				nbytes: result.nbytes,
				seconds,
				nbytesPerSecond: totals.nbytesBefore / seconds,
			},
			...{ tensors: withoutData(result.plan), report: result.report, warnings: result.warnings },
		});
		return;
	}
	printLines(
		`${result.files.join(', ')}: ${quantizedText(result.plan)}`,
		sizesText(totals),
		`${seconds.toFixed(2)} s, ${bytes(totals.nbytesBefore / seconds)}/s`,
	);
}

/** @param {string | undefined} path */
async function imatrixOf(path) {
	return path === undefined ? undefined : readImatrixPath(path);
}

/**
 * @param {string} input
 * @param {string | undefined} output
 * @param {import('../model/plan.js').PlanOptions} options
 * @param {boolean | undefined} json
 */
async function printPlan(input, output, options, json) {
	const model = await openModelPath(input);
	try {
		const decided = plan(model, options);
		const totals = totalsOf(decided);
		const warnings = [...model.warnings, ...decided.tensors.flatMap(tensorWarnings)];
		warn(warnings);
		if (json) {
			const { scheme, target } = decided;
			printJson({
				command: 'quantize',
				dryRun: true,
				input,
				output: output ?? null,
				target,
				scheme,
				totals,
				tensors: withoutData(decided),
				warnings,
			});
			return;
		}
		const rows = decided.tensors.map((tensor) => [
			...[tensor.name, shapeText(tensor.shape), tensor.from, tensor.to],
			...[integer(tensor.nbytesBefore), integer(tensor.nbytesAfter), tensor.reason],
		]);
		printLines(
			table(['tensor', 'shape', 'from', 'to', '>bytes before', '>bytes after', 'why'], rows),
			'',
			`${quantizedText(decided)} (dry run: nothing is written)`,
			sizesText(totals),
		);
	} finally {
		await model.close();
	}
}

/** The name in `to` says the scheme; importance is said by whether there is some. @param {Plan} plan */
function withoutData({ tensors }) {
	return tensors.map(({ scheme: _, importance, ...tensor }) => ({ ...tensor, weighted: importance !== null }));
}

/** @param {Plan} plan */
function totalsOf({ tensors, totals }) {
	const quantized = tensors.filter(({ quantize }) => quantize);
	/** @param {typeof tensors} some */
	const bitsOf = (some) =>
		(8 * some.reduce((sum, { nbytesAfter }) => sum + nbytesAfter, 0)) /
		some.reduce((sum, { shape }) => sum + countOf(shape), 0);
	return {
		...totals,
		kept: totals.tensors - totals.quantized,
		ratio: totals.nbytesBefore / totals.nbytesAfter,
		bitsPerQuantizedWeight: quantized.length === 0 ? null : bitsOf(quantized),
		bitsPerWeight: bitsOf(tensors),
	};
}

/** @param {Plan} plan */
function quantizedText({ target, scheme, tensors, totals: { quantized } }) {
	const done = scheme === null ? 'converted' : 'quantized';
	const others = tensors.filter(({ fallback }) => fallback).length;
	const all = `${quantized - others} of ${tensors.length} tensors ${done} to ${target}`;
	return `${all}${others ? `, ${others} made into another type` : ''}, ${tensors.length - quantized} kept`;
}

/** @param {ReturnType<typeof totalsOf>} totals */
function sizesText({ nbytesBefore, nbytesAfter, ratio, bitsPerQuantizedWeight, bitsPerWeight }) {
	return (
		`${bytes(nbytesBefore)} -> ${bytes(nbytesAfter)}, ratio ${ratio.toFixed(2)}; bits per weight: ` +
		`${bitsPerQuantizedWeight === null ? '' : `${bitsPerQuantizedWeight.toFixed(3)} where quantized, `}${bitsPerWeight.toFixed(3)} over all`
	);
}
