// scales.js - one scale as its dtype stores it.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { theCore } from '../core/init.js';
import { SCALE_DTYPES } from './tables.js';
import { scaleSize } from './sizes.js';

const readScale = kind((scale) => typeof scale === 'number' && !(scale < 0), 'a number not below 0');

/**
 * A scale rounded upwards to a dtype, so that the largest value of its block is not cut.
 * @param {number} scale not negative
 * @param {string} dtype of SCALE_DTYPES
 * @returns {number}
 */
export function scaleToDtype(scale, dtype) {
	scaleSize(dtype);
	given('scale', scale, readScale);
	return theCore().roundUp(SCALE_DTYPES[dtype].dtype, scale);
}
