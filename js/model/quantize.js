// quantize.js - a model file in, the same model with quantized weights out, band by band.
// SPDX-License-Identifier: MIT

import { decodeJob } from '../arrays/decode-job.js';
import { containerOf } from '../containers.js';
import { NBYTES } from '../core/abi.js';
import { BlockQuantError, quoted } from '../errors.js';
import { withImatrix } from '../imatrix/imatrix.js';
import { guarded } from '../io/guarded.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { withPool } from '../workers/pool.js';
import { encodeTensor } from '../workers/tensor.js';
import { convertStep } from './convert.js';
import { errorReport } from './errors.js';
import { jobOf, plan } from './plan.js';
import { rewriteModel } from './rewrite.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {import('./plan.js').PlannedTensor} PlannedTensor */
/** @typedef {import('./types.js').Step} Step */
/** @typedef {import('../arrays/compare.js').Comparer} Comparer */
/** @typedef {import('../imatrix/imatrix.js').Imatrix} Imatrix */
/** @typedef {import('../io/source.js').SourceLike} SourceLike */

/**
 * @typedef {object} RunOptions
 * @property {number} [workers] started for this call; default 1: none, the caller's thread works
 * @property {import('../workers/pool.js').Pool} [pool] of createPool(), instead of workers
 * @property {AbortSignal} [signal] stops within one band
 * @property {(progress: import('./rewrite.js').Progress) => void} [onProgress]
 * @property {string | Uint8Array | null} [config] the text of the model's config.json
 * @property {boolean} [measure] decode what is made and compare it with the weights, which are read once: `errors` of the result
 * @property {Imatrix | SourceLike} [imatrix] GGUF: how much each column matters, as readImatrix() gives it, or the file to read
 */

/** @typedef {Omit<import('./plan.js').PlanOptions, 'imatrix'> & RunOptions} QuantizeOptions */

/** @typedef {import('./errors.js').ErrorReport & { kept: string[] }} QuantizeErrors of the tensors made anew; kept: the others */

/**
 * @typedef {object} QuantizeResult
 * @property {Plan} plan
 * @property {({ name: string } & ReturnType<import('../arrays/job.js').TensorJob['finish']>)[]} report what each tensor's job found
 * @property {QuantizeErrors | null} errors null: not asked for
 * @property {number} nbytes written, headers and index included
 * @property {string | null} config the text of the new config.json, if one was given
 * @property {object | null} quantizationConfig its `quantization_config`, for those without one
 * @property {string[]} warnings
 */

/**
 * Writes the quantized model to the sink. Everything that can be checked without reading the
 * weights is checked before the first byte is written; on any error, wrong arguments too, the sink is aborted.
 * @param {Model} model
 * @param {Sink | DirectorySink} sink a DirectorySink for a model of several files
 * @param {QuantizeOptions} options
 * @returns {Promise<QuantizeResult>}
 */
export async function quantizeModel(model, sink, options) {
	return guarded(sink, () => quantizeInto(model, sink, options));
}

/** @type {typeof quantizeModel} */
async function quantizeInto(model, sink, given) {
	const options = await withImatrix(given);
	const decided = plan(model, options);
	const container = containerOf(model);
	const { config, quantizationConfig } = container.quantizedConfig(decided, options.config);
	const ofConfig = config === null ? container.needOfConfig(decided) : [];
	const planned = new Map(decided.tensors.map((tensor) => [tensor.name, tensor]));
	/** @type {Findings} */
	const findings = { reports: new Map(), errors: new Map() };
	/** @type {import('./rewrite.js').RewriteOptions['step']} */
	const step = (tensor) => {
		const planOf = planned.get(tensor.name);
		if (!planOf?.quantize) return null;
		const values = container.floats(tensor);
		if (planOf.scheme === null) return convertStep(values, planOf.planes[0], options, findings);
		return quantizeStep(values, planOf, planOf.scheme, options, findings);
	};
	const { signal, onProgress } = options;
	const { nbytes, warnings } = await withPool(options, async (pool) => ({
		nbytes: await rewriteModel(model, sink, { step, stamp: decided.stamp, pool, signal, onProgress }),
		warnings: pool.warnings,
	}));
	// In the model's order, whatever the one in which tensors were done.
	const report = decided.tensors.flatMap(({ name }) => findings.reports.get(name) ?? []);
	return {
		plan: decided,
		report,
		errors: options.measure ? errorsOf(decided, findings) : null,
		nbytes,
		config,
		quantizationConfig,
		warnings: [...model.warnings, ...ofConfig, ...warnings, ...warningsOf(decided, report)],
	};
}

/**
 * What was found out on the way, by tensor name.
 * @typedef {{ reports: Map<string, QuantizeResult['report'][number]>, errors: Map<string, Comparer> }} Findings
 */

/**
 * @param {Plan} decided
 * @param {Findings} findings
 * @returns {QuantizeErrors}
 */
function errorsOf({ tensors }, { errors }) {
	const measured = tensors.flatMap(({ name, shape, scheme }) => {
		const comparer = errors.get(name);
		return comparer === undefined ? [] : [{ name, shape, quantized: scheme !== null, comparer }];
	});
	const kept = tensors.filter(({ quantize }) => !quantize).map(({ name }) => name);
	return { ...errorReport(measured), kept };
}

/**
 * @param {import('./types.js').FloatTensor} tensor
 * @param {PlannedTensor} planned
 * @param {import('../scheme.js').Scheme} scheme
 * @param {QuantizeOptions} options
 * @param {Findings} findings
 * @returns {Step}
 */
function quantizeStep(tensor, planned, scheme, options, { reports, errors }) {
	return {
		outputs: planned.planes,
		async run(write, run) {
			try {
				const { importance } = planned;
				const job = jobOf(tensor, { scheme, importance }, options);
				if (options.measure) {
					const { planes } = job;
					errors.set(tensor.name, job.measure(decodeJob({ scheme, shape: tensor.shape, planes })));
				}
				const valueNbytes = NBYTES[WEIGHT_DTYPES[tensor.dtype]];
				/** @param {{ valueOffset: number, nvalues: number }} band */
				const read = ({ valueOffset, nvalues }) =>
					tensor.read(valueOffset * valueNbytes, nvalues * valueNbytes);
				/** @param {{ nvalues: number }} band */
				const first = ({ nvalues }) => tensor.first?.(nvalues);
				await encodeTensor(run, job, { read, first }, write);
				reports.set(tensor.name, { name: tensor.name, ...job.finish() });
			} catch (error) {
				throw error instanceof BlockQuantError ? error.withTensor(tensor.name) : error;
			}
		},
	};
}

/**
 * @param {Plan} decided
 * @param {QuantizeResult['report']} report
 */
function warningsOf({ tensors }, report) {
	const fallbacks = tensors.filter(({ fallback }) => fallback);
	return [
		...(fallbacks.length === 0 ? [] : [fallbackText(fallbacks)]),
		...tensors
			.filter(({ refused }) => refused)
			.map(({ name, reason }) => `tensor ${quoted(name)} is kept: ${reason}`),
		...[...tensors, ...report].flatMap(tensorWarnings),
	];
}

/** @param {{ name: string, warnings: string[] }} tensor */
export function tensorWarnings({ name, warnings }) {
	return warnings.map((text) => `tensor ${quoted(name)}: ${text}`);
}

/** @param {PlannedTensor[]} fallbacks */
function fallbackText(fallbacks) {
	const types = [...new Set(fallbacks.map(({ to }) => to))].join(', ');
	const count = fallbacks.length === 1 ? 'one tensor becomes' : `${fallbacks.length} tensors become`;
	return `${count} ${types} instead: the ${fallbacks[0].reason}, as in ${fallbacks[0].name}`;
}
