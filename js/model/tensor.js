// tensor.js - a stored tensor, whose bytes alone its reads can reach.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/**
 * @param {Omit<ModelTensor, 'read'>} tensor
 * @param {import('../io/source.js').Source} source
 * @param {number} start of its bytes in the file
 * @returns {ModelTensor}
 */
export function modelTensor(tensor, source, start) {
	const { name, nbytes, file } = tensor;
	return {
		...tensor,
		async read(offset, length) {
			// Checked here again: what is read beyond a tensor would be written into the output.
			if (offset < 0 || length < 0 || offset + length > nbytes) {
				throw new BlockQuantError('internal', `read of bytes ${offset} to ${offset + length}`, {
					file,
					tensor: name,
				});
			}
			return source.read(start + offset, length);
		},
	};
}
