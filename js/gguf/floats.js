// floats.js - a GGUF tensor seen as plain floats: itself, or decoded block by block while it is read.
// SPDX-License-Identifier: MIT

import { decodeJob } from '../arrays/decode-job.js';
import { MAX_BAND, planTensor } from '../arrays/plan.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { presetOfType, typeNamed } from './types.js';

/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */

/**
 * @param {ModelTensor} tensor
 * @returns {ModelTensor} of a dtype in WEIGHT_DTYPES
 */
export function floats(tensor) {
	if (tensor.dtype in WEIGHT_DTYPES) return tensor;
	const type = typeNamed(tensor.dtype);
	const preset = presetOfType(tensor.dtype);
	if (type === undefined || preset === undefined) {
		throw new BlockQuantError('unsupported', `type ${tensor.dtype} is not one that this version decodes`, {
			tensor: tensor.name,
		});
	}
	const { scheme } = preset;
	return {
		...tensor,
		dtype: 'F32',
		nbytes: (tensor.nbytes / type.nbytes) * type.block * 4,
		async read(offset, length) {
			const [first, count] = [offset / (4 * type.block), length / (4 * type.block)];
			if (!Number.isInteger(first) || !Number.isInteger(count)) {
				throw new BlockQuantError('internal', `read of values ${offset / 4} to ${(offset + length) / 4}`, {
					tensor: tensor.name,
				});
			}
			if (count === 0) return new Uint8Array(0);
			const bytes = await tensor.read(first * type.nbytes, count * type.nbytes);
			// Rows are whole blocks: any blocks that follow one another are a row of their own.
			const shape = [1, count * type.block];
			const job = decodeJob({ scheme, shape, planes: planTensor(scheme, shape, 'f32').planes });
			const values = new Float32Array(count * type.block);
			for (const band of job.bands(MAX_BAND)) {
				const [{ offset: at, nbytes }] = band.planes;
				values.set(job.decode(band, [bytes.subarray(at, at + nbytes)]), band.valueOffset);
			}
			return new Uint8Array(values.buffer);
		},
	};
}
