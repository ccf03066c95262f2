// sizes.js - how large a tensor becomes under a scheme, before there is any data.
// SPDX-License-Identifier: MIT

import { optionsOf } from '../arguments.js';
import { planTensor } from '../arrays/plan.js';
import { TENSOR } from './validate.js';
import { resolveScheme } from '../presets.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../layouts.js').PlaneInfo} PlaneInfo */

/**
 * One level of parameters: a number for each block.
 * @typedef {object} Grid
 * @property {string} role `scales.0` (innermost), `scales.1`, ..., `mins.0`, ..., `zeros`
 * @property {string} dtype of a number, `input` resolved
 * @property {import('../scheme.js').Block} block which weights share one
 * @property {number[]} shape of the grid; [1] for a whole tensor
 */

/**
 * @typedef {object} Sizes
 * @property {number} nvalues
 * @property {number} nbytes of everything stored
 * @property {number} bitsPerWeight 8 * nbytes / nvalues: codes, every level of scales and mins, zero points, shapes
 * @property {number} codeBits of one code, where codes are packed
 * @property {PlaneInfo[]} planes what is stored, in order: dtype as safetensors names it, shape, nbytes
 * @property {Grid[]} grids of parameters; in a format of blocks they lie inside the blocks
 */

/**
 * The sizes of a tensor under a scheme: the core's own plan.
 * @param {string | Scheme} nameOrScheme
 * @param {{ shape: number[], dtype?: 'f32' | 'f16' | 'bf16' }} tensor dtype of the weights: `input` scales take it; default f32
 * @returns {Sizes}
 * @throws {BlockQuantError} unknown-scheme; bad-scheme, bad-shape: the rule of docs/schemes.md that is broken
 */
export function schemeSizes(nameOrScheme, tensor) {
	const { shape, dtype } = optionsOf(TENSOR, tensor);
	const scheme = resolveScheme(nameOrScheme);
	const { plan, planes } = planTensor(scheme, shape, dtype);
	return {
		nvalues: plan.nvalues,
		nbytes: plan.nbytes,
		bitsPerWeight: (8 * plan.nbytes) / plan.nvalues,
		codeBits: plan.value_bits,
		planes,
		grids: gridsOf(scheme, shape, dtype),
	};
}

/** @param {Scheme} scheme @param {number[]} shape @param {'f32' | 'f16' | 'bf16'} dtype @returns {Grid[]} */
function gridsOf({ name: _, packing: __, ...scheme }, shape, dtype) {
	/** @type {Record<string, import('../scheme.js').Level>} */
	const levels = Object.fromEntries([
		...scheme.scales.map((level, i) => [`scales.${i}`, level]),
		...(scheme.mins ?? []).map((level, i) => [`mins.${i}`, level]),
		...(scheme.zero === undefined ? [] : [['zeros', { dtype: scheme.zero, block: scheme.scales[0].block }]]),
	]);
	// In this layout every grid is a plane of its own.
	return planTensor({ ...scheme, layout: 'planes' }, shape, dtype)
		.planes.filter(({ role }) => role in levels)
		.map(({ role, shape: grid }) => {
			const { dtype: own, block } = levels[role];
			return { role, dtype: own === 'input' ? dtype : own, block, shape: grid };
		});
}
