// weights.js - a model seen as its weights: quantized ones decoded, plain ones as they are.
// SPDX-License-Identifier: MIT

import { widened } from '../arrays/floats.js';
import { MAX_BAND } from '../arrays/plan.js';
import { containerOf } from '../containers.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { pieces, readAhead } from './bands.js';
import { moduleJob } from './module-job.js';

/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./module-job.js').QuantizedModule} QuantizedModule */

/**
 * The quantized weights of a model, by the name of each tensor that belongs to one.
 * @param {Model} model
 * @param {string | Uint8Array | null} [config] its config.json, which says what shapes alone cannot
 * @returns {Promise<Map<string, QuantizedModule>>}
 */
export async function quantizedModules(model, config) {
	return containerOf(model).modules(model, config);
}

/**
 * The bytes of a band in each plane.
 * @param {ModelTensor[]} tensors
 * @param {import('../arrays/plan.js').Band} band
 */
export function readPlanes(tensors, { planes }) {
	return Promise.all(planes.map(({ offset, nbytes }, i) => tensors[i].read(offset, nbytes)));
}

/**
 * The values of a quantized weight, in order.
 * @param {QuantizedModule} module
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Float32Array>}
 */
export async function* decodeModule(module, signal) {
	try {
		if (module.planes.length === 0) return;
		const { job, tensors } = moduleJob(module);
		const bands = readAhead(job.bands(MAX_BAND), (band) => readPlanes(tensors, band), signal);
		for await (const { item, bytes } of bands) yield job.decode(item, bytes);
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withTensor(module.name) : error;
	}
}

/**
 * The values of a float tensor, in order.
 * @param {ModelTensor} tensor of a dtype in WEIGHT_DTYPES
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Float32Array>}
 */
export async function* floatValues(tensor, signal) {
	const dtype = WEIGHT_DTYPES[tensor.dtype];
	const reads = readAhead(pieces(tensor.nbytes), ({ offset, length }) => tensor.read(offset, length), signal);
	for await (const { bytes } of reads) yield widened(bytes, dtype);
}
