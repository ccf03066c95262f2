// modules.js - the quantized weights of a GGUF model: each is one tensor.
// SPDX-License-Identifier: MIT

import { planTensor } from '../arrays/plan.js';
import { presetOfType, typeNamed } from './types.js';

/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('../model/module-job.js').QuantizedModule} QuantizedModule */

/** @param {ModelTensor} tensor */
const isQuantized = ({ dtype }) => typeNamed(dtype)?.quantized === true;

/**
 * The weights that can be decoded, by tensor name.
 * @param {Model} model
 * @returns {Map<string, QuantizedModule>}
 */
export function ggufModules(model) {
	/** @type {Map<string, QuantizedModule>} */
	const modules = new Map();
	for (const tensor of model.tensors) {
		const { name, shape } = tensor;
		const scheme = isQuantized(tensor) ? presetOfType(tensor.dtype)?.scheme : undefined;
		if (scheme === undefined) continue;
		const stored = tensor.nbytes === 0 ? [] : planTensor(scheme, shape, 'f32').planes;
		const planes = stored.map((plane) => ({ ...plane, tensor }));
		modules.set(name, { name, shape, scheme, planes, tensors: [tensor], activations: [], dtype: 'f16' });
	}
	return modules;
}

/**
 * Quantized tensors whose types this version does not decode.
 * @param {Model} model
 */
export function opaqueTensors(model) {
	return model.tensors.filter((tensor) => isQuantized(tensor) && presetOfType(tensor.dtype) === undefined);
}
