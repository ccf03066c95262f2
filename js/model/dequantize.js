// dequantize.js - the way back: a quantized model file in, plain float weights out.
// SPDX-License-Identifier: MIT

import { containerOf } from '../containers.js';
import { BlockQuantError, quoted, shown } from '../errors.js';
import { guarded } from '../io/guarded.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { withPool } from '../workers/pool.js';
import { decodeTensor } from '../workers/tensor.js';
import { moduleJob } from './module-job.js';
import { checkOptions, DEQUANTIZE_OPTIONS } from './options.js';
import { checkModel } from './open.js';
import { rewriteModel } from './rewrite.js';
import { quantizedModules, readPlanes } from './weights.js';
import { countOf } from '../shape.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./module-job.js').QuantizedModule} QuantizedModule */
/** @typedef {import('./types.js').Step} Step */

/**
 * @typedef {object} DequantizeOptions
 * @property {'f32' | 'f16' | 'bf16'} [dtype] of the weights; default: that of the scales where it is one of these, else bf16
 * @property {string | Uint8Array | null} [config] the text of the model's config.json
 * @property {number} [workers] started for this call; default 1: none, the caller's thread works
 * @property {import('../workers/pool.js').Pool} [pool] of createPool(), instead of workers
 * @property {AbortSignal} [signal]
 * @property {(progress: import('./rewrite.js').Progress) => void} [onProgress]
 */

/**
 * @typedef {object} DequantizeResult
 * @property {{ name: string, scheme: string, dtype: string, shape: number[] }[]} tensors that were decoded
 * @property {number} nbytes written, headers and index included
 * @property {string | null} config the text of the new config.json, if one was given
 * @property {string[]} warnings
 */

/**
 * Writes the model with every quantized weight decoded, in the place of its first plane. On any error the sink is aborted.
 * @param {Model} model
 * @param {Sink | DirectorySink} sink a DirectorySink for a model of several files
 * @param {DequantizeOptions} [options]
 * @returns {Promise<DequantizeResult>}
 */
export async function dequantizeModel(model, sink, options = {}) {
	return guarded(sink, () => dequantizeInto(model, sink, options));
}

/**
 * @param {Model} model
 * @param {Sink | DirectorySink} sink
 * @param {DequantizeOptions} options
 * @returns {Promise<DequantizeResult>}
 */
async function dequantizeInto(model, sink, options) {
	checkModel(model);
	checkOptions(options, DEQUANTIZE_OPTIONS);
	const { dtype, signal, onProgress } = options;
	if (dtype !== undefined && !Object.values(WEIGHT_DTYPES).includes(dtype)) {
		throw new BlockQuantError('bad-argument', `dtype: expected f32, f16 or bf16, got ${shown(dtype)}`);
	}
	const container = containerOf(model);
	const [opaque] = container.opaque(model);
	if (opaque !== undefined) {
		throw new BlockQuantError('unsupported', `type ${opaque.dtype} is not one that this version decodes`, {
			tensor: opaque.name,
		});
	}
	const owners = await quantizedModules(model, options.config);
	if (owners.size === 0) throw new BlockQuantError('nothing-to-do', 'no tensor of the model is quantized');
	checkNames(model, owners);
	const config = container.plainConfig(options.config);
	const modules = [...new Set(owners.values())];
	const results = new Map(modules.map((module) => [module, dtype ?? module.dtype]));
	const started = new Set();
	/** Numbers of values that the dtype cannot hold, by weight. @type {Map<string, number>} */
	const infinite = new Map();
	/** @type {import('./rewrite.js').RewriteOptions['step']} */
	const step = (tensor) => {
		const module = owners.get(tensor.name);
		if (module === undefined) return null;
		if (started.has(module)) return { outputs: [], run: async () => {} };
		started.add(module);
		return decodeStep(module, results.get(module) ?? 'bf16', infinite);
	};
	const stamp = container.plainStamp(dtype ?? modules[0].dtype);
	const { nbytes, warnings } = await withPool(options, async (pool) => ({
		nbytes: await rewriteModel(model, sink, { step, stamp, pool, signal, onProgress }),
		warnings: pool.warnings,
	}));
	const dropped = modules.flatMap(({ activations }) => activations);
	return {
		tensors: modules.map((module) => ({
			name: module.name,
			scheme: module.scheme.name ?? module.scheme.layout ?? 'custom scheme',
			dtype: results.get(module) ?? 'bf16',
			shape: module.shape,
		})),
		nbytes,
		config,
		warnings: [
			...model.warnings,
			...warnings,
			...modules.flatMap((module) => infiniteText(module.name, infinite.get(module.name), results.get(module))),
			...(dropped.length === 0 ? [] : [`${dropped.length} static activation scales are dropped`]),
		],
	};
}

/**
 * @param {QuantizedModule} module
 * @param {'f32' | 'f16' | 'bf16'} dtype
 * @param {Map<string, number>} infinite is told of
 * @returns {Step}
 */
function decodeStep(module, dtype, infinite) {
	const { name, shape } = module;
	const width = dtype === 'f32' ? 4 : 2;
	const nbytes = countOf(shape, width);
	return {
		outputs: [{ name, dtype: dtype.toUpperCase(), shape, nbytes }],
		async run(write, run) {
			if (module.planes.length === 0) return;
			try {
				const { job, tensors } = moduleJob(module);
				await decodeTensor(
					run,
					job,
					dtype,
					(band) => readPlanes(tensors, band),
					(bytes, { valueOffset }, count) => {
						if (count > 0) infinite.set(name, (infinite.get(name) ?? 0) + count);
						return write(0, bytes, valueOffset * width);
					},
				);
			} catch (error) {
				throw error instanceof BlockQuantError ? error.withTensor(name) : error;
			}
		},
	};
}

/**
 * @param {string} name
 * @param {number | undefined} count
 * @param {string | undefined} dtype
 */
function infiniteText(name, count, dtype) {
	return count === undefined
		? []
		: [`tensor ${quoted(name)}: ${count} value(s) are infinite: ${dtype} holds none so large`];
}

/**
 * @param {Model} model
 * @param {Map<string, QuantizedModule>} owners
 */
function checkNames(model, owners) {
	const kept = new Set(model.tensors.map(({ name }) => name).filter((name) => !owners.has(name)));
	for (const { name } of new Set(owners.values())) {
		if (kept.has(name)) throw new BlockQuantError('name-clash', 'exists beside its own planes', { tensor: name });
	}
}
