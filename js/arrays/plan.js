// plan.js - a scheme, a shape and a dtype laid out by the core, or the error that says why not.
// SPDX-License-Identifier: MIT

import { ROLES } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { statusText } from '../core/status.js';
import { BlockQuantError, shown } from '../errors.js';
import { planesOf } from '../layouts.js';
import { nameProblem, presetOf } from '../presets.js';
import { valueName } from '../scheme.js';
import { structOfScheme } from '../scheme/read.js';
import { checkShape } from '../shape.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** The most bytes of weights that are given to the core at once. */
export const MAX_BAND = 8 * 2 ** 20;

/** Rules that a shape breaks; the others are the scheme's. */
const SHAPE_RULES = ['bad-shape', 'empty', 'ragged', 'odd', 'too-big'];

/** @param {Scheme} scheme */
const describe = (scheme) =>
	scheme.name ??
	[valueName(scheme), ...scheme.scales.slice(0, 1).map(({ block }) => `in blocks of ${shown(block)}`)].join(' ');

/**
 * @param {Scheme} scheme
 * @param {number[]} shape
 * @param {'f32' | 'f16' | 'bf16'} dtype of the weights
 */
export function planTensor(scheme, shape, dtype) {
	checkShape(shape);
	const misnamed = nameProblem(scheme);
	if (misnamed) throw new BlockQuantError('bad-scheme', `scheme.name: ${misnamed}`);
	const struct = presetOf(scheme)?.struct ?? structOfScheme(scheme);
	const { broken, plan, bytes } = theCore().plan(struct, dtype, shape);
	if (broken.length) {
		const code = broken.every(({ rule }) => SHAPE_RULES.includes(rule)) ? 'bad-shape' : 'bad-scheme';
		const why = broken.map(({ field, rule }) => `${field ? `${field}: ` : ''}${statusText(rule, field)}`);
		throw new BlockQuantError(
			code,
			`${describe(scheme)} cannot take shape [${shape.join(', ')}]: ${why.join('; ')}`,
		);
	}
	return { plan, bytes, planes: planesOf(plan) };
}

/** Number of blocks that share an innermost scale. @param {any} plan struct bq_plan as an object @returns {number} */
export function cellsOf(plan) {
	const grid = plan.plane.find((/** @type {any} */ plane) => ROLES[plane.role] === 'scales.0');
	if (!grid) return plan.nvalues / plan.group;
	return grid.dims.slice(0, grid.rank).reduce((/** @type {number} */ n, /** @type {number} */ dim) => n * dim, 1);
}

/**
 * Bands of whole steps, in order.
 * @param {{ plan: any, bytes: import('../core/types.js').PlanBytes }} planned
 * @param {number} maxBytes of weights
 * @returns {Generator<Band>}
 */
export function* bandsOf({ plan, bytes }, maxBytes) {
	const steps = plan.nitems * plan.steps_per_item;
	for (let step = 0; step < steps; ) {
		const struct = theCore().band(bytes, step, maxBytes);
		yield {
			valueOffset: struct.value_offset,
			nvalues: struct.nvalues,
			planes: Array.from({ length: plan.nplanes }, (_, i) => ({
				offset: struct.plane_offset[i],
				nbytes: struct.plane_nbytes[i],
			})),
			struct,
		};
		step += struct.nsteps;
	}
}

/**
 * Some whole rows of a tensor.
 * @typedef {object} Band
 * @property {number} valueOffset first value
 * @property {number} nvalues
 * @property {{ offset: number, nbytes: number }[]} planes where its bytes lie in each plane; a plane that belongs to the
 *   whole tensor is in every band, the same each time
 * @property {import('../core/types.js').BandStruct} struct
 */
