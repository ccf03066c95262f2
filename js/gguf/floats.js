// floats.js - a GGUF tensor seen as plain floats: itself, or blocks and the task that decodes them.
// SPDX-License-Identifier: MIT

import { decodeJob } from '../arrays/decode-job.js';
import { planTensor } from '../arrays/plan.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { presetOfType, typeNamed } from './types.js';

/**
 * @param {import('../model/types.js').ModelTensor} tensor
 * @returns {import('../model/types.js').FloatTensor}
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
	/** @param {number} nbytes of float32 values */
	const stored = (nbytes) => (nbytes / (4 * type.block)) * type.nbytes;
	return {
		...tensor,
		dtype: 'F32',
		nbytes: (tensor.nbytes / type.nbytes) * type.block * 4,
		read: (offset, length) => tensor.read(stored(offset), stored(length)),
		first(nvalues) {
			// Rows are whole blocks: any blocks that follow one another are a row of their own, and a row is one band.
			const shape = [1, nvalues];
			const job = decodeJob({ scheme, shape, planes: planTensor(scheme, shape, 'f32').planes });
			const [band] = job.bands(4 * nvalues);
			return job.task(band);
		},
	};
}
