// module-job.js - a quantized weight as the job that decodes it.
// SPDX-License-Identifier: MIT

import { decodeJob } from '../arrays/decode-job.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/**
 * A quantized weight.
 * @typedef {object} QuantizedModule
 * @property {string} name of the weight that it stands for
 * @property {number[]} shape of that weight
 * @property {import('../scheme.js').Scheme} scheme
 * @property {{ name: string, dtype: string, shape: number[], nbytes: number, tensor: ModelTensor }[]} planes as the scheme
 *   names them; none: it has no elements
 * @property {ModelTensor[]} tensors all that hold the weight
 * @property {ModelTensor[]} activations static parameters of its inputs and outputs
 * @property {'f32' | 'f16' | 'bf16'} dtype that its values fit in
 */

/**
 * @param {Pick<QuantizedModule, 'scheme' | 'shape' | 'planes'>} module
 * @returns the job, and the tensors in the order that it takes them
 */
export function moduleJob({ scheme, shape, planes }) {
	const job = decodeJob({ scheme, shape, planes });
	const byName = new Map(planes.map(({ name, tensor }) => [name, tensor]));
	return { job, tensors: job.planes.map(({ name }) => /** @type {ModelTensor} */ (byName.get(name))) };
}
