// entries.js - what the readers of both kinds of importance matrices check of each entry.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

export class ImatrixEntries {
	/** @type {Map<string, Float32Array>} */
	tensors = new Map();

	/** @param {string} tensor @param {string} message @returns {never} */
	fail(tensor, message) {
		throw new BlockQuantError('bad-file', message, { tensor });
	}

	/** @param {string} tensor @param {Float32Array} values */
	add(tensor, values) {
		if (this.tensors.has(tensor)) this.fail(tensor, 'has two entries');
		const odd = values.findIndex((value) => !(value >= 0 && value < Number.POSITIVE_INFINITY));
		if (odd >= 0)
			this.fail(
				tensor,
				`its importance is ${values[odd]} at index ${odd}; expected finite numbers, none below 0`,
			);
		this.tensors.set(tensor, values);
	}

	finish() {
		if (this.tensors.size === 0) throw new BlockQuantError('bad-file', 'holds no importance of any tensor');
		return this.tensors;
	}
}
