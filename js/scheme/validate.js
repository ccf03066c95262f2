// validate.js - everything that is wrong with a scheme, at once.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { statusText } from '../core/status.js';
import { readScheme } from './read.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./read.js').Problem} Problem */

/** Every layout's blocks divide it. */
const WHOLE_BLOCKS = 256;

/** Larger edges are not multiplied: they divide one another, or break a rule anyway. */
const LARGE = 2 ** 20;

/** @param {number} a @param {number} b @returns {number} */
const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/** @param {number} a @param {number} b */
function multiple(a, b) {
	const common = (a / gcd(a, b)) * b;
	return common > LARGE ? Math.max(a, b) : common;
}

/** A tensor that every block of a scheme divides, so that only the scheme can be at fault. @param {any} struct @returns {number[]} */
function anyShape({ scale, min }) {
	const shape = [2, WHOLE_BLOCKS];
	for (const { edge } of [...scale, ...min])
		edge.toReversed().forEach((/** @type {number} */ length, /** @type {number} */ i) => {
			const axis = shape.length - 1 - i;
			if (axis < 0) shape.unshift(length || 1);
			else if (length) shape[axis] = multiple(shape[axis], length);
		});
	return shape;
}

/**
 * Every rule of docs/schemes.md that a scheme breaks: first those of its words; if they are right, how they go together; then
 * what a tensor breaks.
 * @param {unknown} scheme as JSON, in BlockQuant's own language
 * @param {{ shape?: number[], dtype?: 'f32' | 'f16' | 'bf16' }} [tensor] of the weights; without a shape, the scheme is judged
 *   alone
 * @returns {Problem[]} none: the scheme is legal
 */
export function validateScheme(scheme, { shape, dtype = 'f32' } = {}) {
	const { struct, problems } = readScheme(scheme);
	if (problems.length) return problems;
	const { broken } = theCore().plan(struct, dtype, shape ?? anyShape(struct));
	return broken.map(({ rule, field }) => ({ field, rule, message: statusText(rule) }));
}
