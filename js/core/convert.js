// convert.js - numbers of one dtype in another.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { NBYTES } from './abi.js';
import { theCore } from './init.js';

/**
 * Numbers of one dtype in another, by way of float32.
 * @param {Uint8Array} bytes
 * @param {string} from
 * @param {string} to
 * @returns {Uint8Array}
 */
export function convert(bytes, from, to) {
	const count = bytes.length / NBYTES[from];
	const core = theCore();
	const wide = from === 'f32' ? bytes : core.convert(from, 'f32', count, bytes, 4 * count);
	const narrow = wide && (to === 'f32' ? wide : core.convert('f32', to, count, wide, NBYTES[to] * count));
	if (narrow) return narrow;
	throw new BlockQuantError('internal', `no conversion from ${from} to ${to}`);
}
