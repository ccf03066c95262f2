// parameters.js - scales and zero points as planes: what numbers they hold, whether they are fit to be used.
// SPDX-License-Identifier: MIT

import { plainArray } from '../arrays/typed.js';
import { NBYTES } from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { countOf } from '../shape.js';

/** @typedef {import('../arrays/quantize.js').Plane} Plane */

/** The dtypes that scales are stored and computed in, as planes name them. */
const FLOATS = Object.keys(WEIGHT_DTYPES);

/**
 * A plane that an argument gives.
 * @param {string} name
 * @param {unknown} plane
 * @param {string[]} dtypes that it may have
 * @returns {Plane}
 */
export function givenPlane(name, plane, dtypes = FLOATS) {
	const { dtype, shape, bytes } = /** @type {any} */ (plane) ?? {};
	const plain = plainArray(bytes, ['Uint8Array']);
	if (!plain || !Array.isArray(shape) || !shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0))
		throw new BlockQuantError('bad-argument', `${name}: expected { dtype, shape, bytes: Uint8Array }`);
	if (!dtypes.includes(dtype))
		throw new BlockQuantError('bad-argument', `${name}.dtype: expected ${dtypes.join(', ')}; got ${shown(dtype)}`);
	const width = NBYTES[WEIGHT_DTYPES[dtype]] ?? 1;
	const expected = countOf(shape, width);
	if (plain.length !== expected)
		throw new BlockQuantError(
			'bad-shape',
			`${name}: shape [${shape}] of ${dtype} has ${expected} bytes, got ${plain.length}`,
		);
	return { dtype, shape, bytes: plain };
}

/** The scale of a whole tensor. @param {unknown} plane @returns {Plane} */
export function givenGlobal(plane) {
	const global = givenPlane('globalScale', plane, ['F32']);
	const numbers = Array.from(new Float32Array(global.bytes.slice().buffer));
	if (numbers.length === 1 && Number.isFinite(numbers[0]) && numbers[0] !== 0) return global;
	throw new BlockQuantError('bad-argument', `globalScale: expected one finite number that is not 0, got ${numbers}`);
}
