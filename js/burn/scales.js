// scales.js - one scale as its dtype stores it.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { BlockQuantError, shown } from '../errors.js';
import { SCALE_DTYPES } from './tables.js';
import { scaleSize } from './sizes.js';

/**
 * A scale rounded upwards to a dtype, so that the largest value of its block is not cut.
 * @param {number} scale not negative
 * @param {string} dtype of SCALE_DTYPES
 * @returns {number}
 */
export function scaleToDtype(scale, dtype) {
	scaleSize(dtype);
	if (typeof scale !== 'number' || scale < 0)
		throw new BlockQuantError('bad-argument', `scale: expected a number not below 0, got ${shown(scale)}`);
	return theCore().roundUp(SCALE_DTYPES[dtype].dtype, scale);
}
