// nested.js - qparam_qspec: how the grid of a spec's scales (and mins) is quantized in turn (coreai.md, section 12).
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';
import { DTYPES, PARENTS } from './dtypes.js';
import { edgesOf } from './granularity.js';
import { word } from '../problems.js';

/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {import('../problems.js').Problems} Problems */

/**
 * The qscheme that a nested spec must have: scales are not negative, so unsigned codes begin at 0 and the others are
 * symmetric about it. Others cost half of the codes, or clip the largest scale.
 * @param {import('./dtypes.js').DtypeRow} dtype
 */
const schemeOf = ({ integer, min }) => (!integer ? 'symmetric' : min < 0 ? 'symmetric_with_clipping' : 'asymmetric');

/** Fields that a nested spec may have in addition. */
export const NESTED_FIELDS = { parent_dtype: { default: 'float32', read: word(Object.keys(PARENTS)) } };

/**
 * @param {Spec} spec the nested one, read as any
 * @param {any} json what it was read from
 * @param {Problems} problems at qparam_qspec
 */
export function checkNested(spec, json, problems) {
	const dtype = DTYPES.get(spec.dtype);
	if (dtype && !dtype.integer && dtype.bits < 8)
		problems.add('dtype', `expected an integer or 8 bits, got ${spec.dtype}`);
	else if (dtype && spec.qscheme && spec.qscheme !== schemeOf(dtype))
		problems.add('qscheme', `expected ${schemeOf(dtype)}: ${spec.qscheme} wastes codes of ${spec.dtype} or clips`);
	if (spec.qformulation === 'minval') problems.add('qformulation', 'scales are not negative and need no minval');
	if (spec.float_range?.some((end) => end !== null))
		problems.add('float_range', 'a grid of scales has no fixed range');
	if (json.scale_dtype !== undefined && json.scale_dtype !== null)
		problems.add(
			'scale_dtype',
			`parents are numbers: say parent_dtype; expected null, got ${shown(json.scale_dtype)}`,
		);
	if (!['default', 'static'].includes(spec.qparam_calculator_cls))
		problems.add('qparam_calculator_cls', 'the ranges are those of the outer spec; expected default or static');
	if (spec.granularity?.type === 'per_channel' && spec.granularity.axis === null)
		problems.add('granularity.axis', 'missing: which axis of the grid of scales?');
}

/**
 * The edges, in values, of the blocks that share a parent: the nested granularity on the grid of outer blocks.
 * @param {Spec} outer with an axis
 * @param {number[]} edges of the outer blocks
 * @param {'weight' | 'activation'} target
 * @param {Problems} problems at qparam_qspec.granularity
 * @returns {number[] | null} null: one parent for all
 */
export function parentEdges(outer, edges, target, problems) {
	const nested = /** @type {Spec} */ (outer.qparam_qspec);
	// One scale has one parent, whatever the nested spec says of a larger grid.
	if (nested.granularity.type === 'per_tensor' || edges.every((edge) => edge === -1)) return null;
	let { granularity } = nested;
	const { axis, type, block_size: size } = granularity;
	if (type === 'per_block' && axis === null && !Array.isArray(size)) {
		if (outer.granularity.axis === null) {
			problems.add('axis', 'missing: the outer blocks span several axes, none of which it could follow');
			return null;
		}
		granularity = { ...granularity, axis: outer.granularity.axis };
	}
	const cells = edgesOf(granularity, edges.length, target, problems);
	return cells.map((cell, i) => (cell === -1 || edges[i] === -1 ? -1 : cell * edges[i]));
}

/** A nested dtype's level and its parent's. @param {Spec} nested */
export function levelsOf(nested) {
	const { value } = /** @type {import('./dtypes.js').DtypeRow} */ (DTYPES.get(nested.dtype));
	return { code: value, parent: PARENTS[nested.parent_dtype ?? 'float32'] };
}

/** The nested spec of levels, without its granularity. @param {string} code @param {string} parent */
export function nestedOfLevels(code, parent) {
	const found = [...DTYPES].find(([, { value, bits, integer }]) => value === code && (integer || bits === 8));
	const name = Object.keys(PARENTS).find((dtype) => PARENTS[dtype] === parent);
	if (!found || !name) return undefined;
	const [dtype, row] = found;
	const qscheme = schemeOf(row);
	return { dtype, qscheme, ...(name !== 'float32' && { parent_dtype: name }) };
}
