// compare.js - how far the weights of one model are from another's, tensor by tensor.
// SPDX-License-Identifier: MIT

import { Comparer } from '../arrays/compare.js';
import { containerOf } from '../containers.js';
import { BlockQuantError, quoted } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { errorReport } from './errors.js';
import { checkOptions, COMPARE_OPTIONS } from './options.js';
import { checkModel } from './open.js';
import { decodeModule, floatValues, quantizedModules } from './weights.js';
import { countOf } from '../shape.js';

/** @typedef {import('./types.js').Model} Model */

/**
 * @typedef {object} Unmatched
 * @property {string[]} onlyInA
 * @property {string[]} onlyInB
 * @property {string[]} unread tensors of types that this version cannot decode
 */

/** @typedef {import('./errors.js').ErrorReport & Unmatched} ModelComparison of the tensors that both models have */

/**
 * @typedef {object} CompareOptions
 * @property {string | Uint8Array | null} [configA] config.json of the first model
 * @property {string | Uint8Array | null} [configB]
 * @property {AbortSignal} [signal]
 * @property {(progress: { tensor: string, done: number, total: number }) => void} [onProgress] in values
 */

/**
 * A weight as values, however it is stored.
 * @typedef {object} Weight
 * @property {string} name
 * @property {number[]} shape
 * @property {boolean} quantized
 * @property {(signal?: AbortSignal) => AsyncGenerator<Float32Array>} values
 */

/**
 * Compares what both models hold under the same name; quantized weights count as the values that a
 * loader decodes. The first model is the reference.
 * @param {Model} a
 * @param {Model} b
 * @param {CompareOptions} [options]
 * @returns {Promise<ModelComparison>}
 * @throws {BlockQuantError} nothing-to-do where they have no name in common; what reading throws
 */
export async function compareModels(a, b, options = {}) {
	checkModel(a);
	checkModel(b);
	checkOptions(options, COMPARE_OPTIONS);
	const { configA, configB, signal, onProgress } = options;
	const left = await weightsOf(a, configA);
	const right = await weightsOf(b, configB);
	const pairs = [...left.values()].flatMap((weight) => {
		const other = right.get(weight.name);
		return other === undefined ? [] : [/** @type {const} */ ([weight, other])];
	});
	if (pairs.length === 0 && left.size + right.size > 0) {
		const [one, other] = [left, right].map((weights) => namesIn([...weights.keys()]));
		throw new BlockQuantError(
			'nothing-to-do',
			`no weight is in both models: the first has ${one}, the second ${other}`,
		);
	}
	const total = pairs.reduce((sum, [{ shape }]) => sum + countOf(shape), 0);
	let done = 0;
	const measured = [];
	for (const [weight, other] of pairs) {
		const { name, shape } = weight;
		const comparer = new Comparer();
		onProgress?.({ tensor: name, done, total });
		await compareWeights(weight, other, signal, (x, y) => {
			comparer.add(x, y);
			done += x.length;
			onProgress?.({ tensor: name, done, total });
		});
		measured.push({ name, shape, quantized: weight.quantized || other.quantized, comparer });
	}
	return {
		...errorReport(measured),
		onlyInA: [...left.keys()].filter((name) => !right.has(name)),
		onlyInB: [...right.keys()].filter((name) => !left.has(name)),
		unread: [
			...new Set(
				[a, b].flatMap((model) =>
					containerOf(model)
						.opaque(model)
						.map(({ name }) => name),
				),
			),
		],
	};
}

/** @param {string[]} names */
function namesIn(names) {
	const [first, ...more] = names;
	return first === undefined ? 'none' : `${quoted(first)}${more.length > 0 ? ` and ${more.length} more` : ''}`;
}

/**
 * @param {Model} model
 * @param {string | Uint8Array | null | undefined} config
 * @returns {Promise<Map<string, Weight>>}
 */
async function weightsOf(model, config) {
	const owners = await quantizedModules(model, config);
	/** @type {Map<string, Weight>} */
	const weights = new Map();
	for (const tensor of model.tensors) {
		const module = owners.get(tensor.name);
		if (module !== undefined) {
			const { name, shape } = module;
			weights.set(name, { name, shape, quantized: true, values: (signal) => decodeModule(module, signal) });
		} else if (tensor.dtype in WEIGHT_DTYPES) {
			const { name, shape } = tensor;
			weights.set(name, { name, shape, quantized: false, values: (signal) => floatValues(tensor, signal) });
		}
	}
	return weights;
}

/**
 * The two sides come in bands of their own lengths; what both have so far is compared.
 * @param {Weight} a
 * @param {Weight} b
 * @param {AbortSignal | undefined} signal
 * @param {(x: Float32Array, y: Float32Array) => void} add as many values of each
 */
async function compareWeights(a, b, signal, add) {
	// GGUF files do not keep outer axes of 1.
	const [own, other] = [a, b].map(({ shape }) => String(shape.slice(shape.findIndex((edge) => edge !== 1))));
	if (own !== other) {
		throw new BlockQuantError('bad-shape', `[${a.shape}] in one model, [${b.shape}] in the other`, {
			tensor: a.name,
		});
	}
	const left = a.values(signal);
	const right = b.values(signal);
	/** @type {[Float32Array, Float32Array]} */
	let [x, y] = [new Float32Array(0), new Float32Array(0)];
	try {
		for (;;) {
			if (x.length === 0) x = await nextOf(left);
			if (y.length === 0) y = await nextOf(right);
			const count = Math.min(x.length, y.length);
			if (count === 0) break;
			add(x.subarray(0, count), y.subarray(0, count));
			x = x.subarray(count);
			y = y.subarray(count);
		}
	} finally {
		await left.return(undefined);
		await right.return(undefined);
	}
}

/**
 * The next values that are not none; none at the end.
 * @param {AsyncGenerator<Float32Array>} values
 */
async function nextOf(values) {
	for (;;) {
		const { done, value } = await values.next();
		if (done) return new Float32Array(0);
		if (value.length > 0) return value;
	}
}
