// validate.js - everything that is wrong with a scheme, at once.
// SPDX-License-Identifier: MIT

import { any, optional, optionsOf } from '../arguments.js';
import { DTYPES, RULES } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { statusText } from '../core/status.js';
import { nameProblem } from '../presets.js';
import { word } from '../problems.js';
import { readScheme } from './read.js';
import { checkShape } from '../shape.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./read.js').Problem} Problem */

/** Of the weights that a scheme is for. */
export const TENSOR = { shape: optional(any), dtype: { default: 'f32', read: word(['f32', 'f16', 'bf16']) } };

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

/** @param {any} struct @param {string} dtype @param {number[]} shape @returns {Problem[]} */
const brokenBy = (struct, dtype, shape) =>
	theCore()
		.plan(struct, dtype, shape)
		.broken.map(({ rule, field }) => ({ field, rule, message: statusText(rule, field) }));

/** Which of their fields says what a scheme of theirs would. @type {Record<string, string>} */
const ACTIVATION_FIELDS = { 'scales[0]': '.scale', value: '.value', zero: '.symmetric', layout: '' };

/**
 * The rules that activations break as a scheme of their own: codes of a value, under one level of scales.
 * @param {import('../scheme.js').Activations} activations
 * @param {any} weights their struct, whose rules hold for both
 * @returns {Problem[]}
 */
function activationProblems({ mode, value, block, scale = 'input', symmetric }, weights) {
	const own = {
		value,
		scales: [{ dtype: scale, block }, ...(mode === 'local' ? [{ dtype: 'f32', block: 'tensor' }] : [])],
		rules: RULES[weights.rules],
	};
	const struct = { ...readScheme(own).struct, zero: symmetric === false ? DTYPES.indexOf(value) : 0 };
	return brokenBy(struct, 'f32', anyShape(struct)).map(({ field, ...problem }) => ({
		field: `activations${ACTIVATION_FIELDS[field] ?? ''}`,
		...problem,
	}));
}

/**
 * Every rule of docs/schemes.md that a scheme breaks: first those of its words; if they are right, how they go together; then
 * what a tensor breaks.
 * @param {unknown} scheme as JSON, in BlockQuant's own language
 * @param {{ shape?: number[], dtype?: 'f32' | 'f16' | 'bf16' }} [tensor] of the weights; without a shape, the scheme is judged
 *   alone
 * @returns {Problem[]} none: the scheme is legal
 */
export function validateScheme(scheme, tensor = {}) {
	const { shape, dtype } = optionsOf(TENSOR, tensor);
	if (shape !== undefined) checkShape(shape);
	const { struct, problems } = readScheme(scheme);
	if (problems.length) return problems;
	const said = /** @type {Scheme} */ (scheme);
	const misnamed = nameProblem(said);
	return [
		...(misnamed ? [{ field: 'name', rule: 'bad-field', message: misnamed }] : []),
		...brokenBy(struct, dtype, shape ?? anyShape(struct)),
		...(said.activations ? activationProblems(said.activations, struct) : []),
	];
}
