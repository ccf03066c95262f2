// bits.js - bits per weight as Core AI counts them, nested scales too (coreai.md, sections A.10 and 12.8).
// SPDX-License-Identifier: MIT

import { given } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { checkOptions } from '../model/options.js';
import { E8M0 } from './dtypes.js';
import { readOptions } from './from.js';
import { edgesOf, withAxis } from './granularity.js';
import { parentEdges } from './nested.js';
import { Problems, word } from '../problems.js';
import { derived, specOf } from './spec.js';
import { checkShape, countOf } from '../shape.js';

/** Bits of a float. @type {Record<string, number>} */
const FLOAT_BITS = { float32: 32, float16: 16, bfloat16: 16 };

/** @param {number[]} shape @param {number[] | null} edges null: one block */
function blocksOf(shape, edges) {
	if (!edges) return 1;
	return shape.reduce((count, dim, i) => count * (edges[i] === -1 ? 1 : Math.ceil(dim / edges[i])), 1);
}

/** Bits of the parameters of one block, and how many parents they have. @param {import('./spec.js').Spec} spec @param {number} weightBits */
function parameterBits(spec, weightBits) {
	const nested = spec.qparam_qspec;
	const scale = nested ? derived(nested).n_bits : spec.scale_dtype === E8M0 ? 8 : weightBits;
	const minval = spec.qformulation === 'minval';
	// A minval is a number as a scale is, or a nested code as a scale is; a zero point is a code as a value is.
	const offset = minval ? (nested ? scale : weightBits) : spec.qscheme === 'asymmetric' ? derived(spec).n_bits : 0;
	const parent = nested ? FLOAT_BITS[nested.parent_dtype ?? 'float32'] * (minval ? 2 : 1) : 0;
	return { block: scale + offset, parent };
}

/**
 * @param {any} json keyword arguments of QuantizationSpec
 * @param {number[][]} shapes of the weights that it quantizes
 * @param {{ dtype?: string, module?: string }} [options] dtype of the weights: float32 (default), float16, bfloat16; module:
 *   the class of the module that consumes them, Linear by default
 * @returns {{ bits: number, weights: number, bitsPerWeight: number }}
 * @throws {BlockQuantError} bad-argument, bad-scheme, bad-shape
 */
export function bitsPerWeight(json, shapes, options = {}) {
	checkOptions(options, ['dtype', 'module']);
	const { dtype = 'float32', ...rest } = options;
	const { module } = readOptions(rest);
	if (!Array.isArray(shapes) || !shapes.length)
		throw new BlockQuantError('bad-argument', `shapes: expected a list of shapes, got ${shown(shapes)}`);
	for (const shape of shapes) checkShape(shape);
	given('dtype', dtype, word(Object.keys(FLOAT_BITS)));
	const read = specOf(json);
	const problems = new Problems();
	const spec = { ...read, granularity: withAxis(read.granularity, module) };
	const { block, parent } = parameterBits(spec, FLOAT_BITS[dtype]);
	let bits = 0;
	let weights = 0;
	for (const shape of shapes) {
		const edges = edgesOf(spec.granularity, shape.length, 'weight', problems.within('granularity'));
		const nested = problems.within('qparam_qspec').within('granularity');
		const parents = spec.qparam_qspec ? blocksOf(shape, parentEdges(spec, edges, 'weight', nested)) : 0;
		problems.check();
		const count = countOf(shape);
		weights += count;
		bits += count * derived(spec).n_bits + blocksOf(shape, edges) * block + parents * parent;
	}
	if (!weights) throw new BlockQuantError('bad-shape', `shapes: ${shown(shapes)} have no values`);
	return { bits, weights, bitsPerWeight: bits / weights };
}
