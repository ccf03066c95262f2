// from.js - Core AI's QuantizationSpec as a scheme of ours.
// SPDX-License-Identifier: MIT

import { MAX_RANK } from '../core/abi.js';
import { kind, optional, optionsOf } from '../arguments.js';
import { DTYPES, E8M0 } from './dtypes.js';
import { NARROW, blockOfEdges } from '../scheme.js';
import { edgesOf, rankOf, withAxis } from './granularity.js';
import { levelsOf, parentEdges } from './nested.js';
import { Problems, word } from '../problems.js';
import { specOf } from './spec.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Level} Level */
/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {'weight' | 'activation'} Target */

/**
 * @typedef {object} From
 * @property {Target} [target] what is quantized; default weight
 * @property {number} [rank] axes of the tensor; default those of a list of block sizes, else of the weight of a convolution, else 2
 * @property {string} [module] class of the module that consumes a weight, which decides the axis where the granularity
 *   names none: Linear (default), Conv2d, Embedding, ConvTranspose2d, ...
 */

/** @type {Record<string, import('../problems.js').Field>} */
const OPTIONS = {
	target: { default: 'weight', read: word(['weight', 'activation']) },
	rank: optional(kind((rank) => Number.isInteger(rank) && rank >= 1 && rank <= MAX_RANK, `1 to ${MAX_RANK} axes`)),
	module: { default: 'Linear', read: kind((name) => typeof name === 'string', 'the name of a class') },
};

/**
 * @param {From} options
 * @param {string[]} [names] of those that there are
 * @returns {any} From, complete
 */
export const readOptions = (options, names = Object.keys(OPTIONS)) =>
	optionsOf(Object.fromEntries(names.map((name) => [name, OPTIONS[name]])), options);

/** The levels of scales, and of mins if there are any. @param {Spec} spec @param {number} rank @param {Target} target @param {Problems} problems @returns {Level[]} */
function levels(spec, rank, target, problems) {
	const edges = edgesOf(spec.granularity, rank, target, problems.within('granularity'));
	const block = spec.granularity.type === 'per_tensor' ? 'tensor' : blockOfEdges(edges);
	const nested = spec.qparam_qspec;
	if (!nested) {
		// Ranges of two fixed ends stay float32, and so do the scales that follow from them.
		const fixed = spec.float_range.every((end) => end !== null);
		return [{ dtype: spec.scale_dtype === E8M0 ? 'e8m0' : fixed ? 'f32' : 'input', block }];
	}
	const { code, parent } = levelsOf(nested);
	const outer = parentEdges(spec, edges, target, problems.within('qparam_qspec').within('granularity'));
	return [
		{ dtype: code, block },
		{ dtype: parent, block: outer ? blockOfEdges(outer) : 'tensor' },
	];
}

/** @param {Spec} spec @param {Target} target @param {Problems} problems @returns {Scheme['observer']} */
function observerOf(spec, target, problems) {
	const { qparam_calculator_cls: given, float_range: range, averaging_constant: constant } = spec;
	const calculator = given === 'default' ? (target === 'weight' ? 'static' : 'moving_average') : given;
	const ranged = range.some((end) => end !== null);
	if (calculator === 'dynamic' && target === 'weight')
		problems.add('qparam_calculator_cls', 'dynamic is for activations: weights are there before anything runs');
	if (calculator === 'dynamic' && ranged)
		problems.add('float_range', 'the calculator dynamic measures each tensor; expected [null, null]');
	if (calculator === 'static' && !ranged) return undefined;
	return { calculator, ...(constant !== undefined && { constant }), ...(ranged && { range }) };
}

/** The scheme of a spec that was read. @param {Spec} spec @param {From} options @param {Problems} problems @returns {Scheme} */
export function schemeOfSpec(spec, options, problems) {
	const { target, rank, module } = readOptions(options);
	const placed = target === 'weight' ? { ...spec, granularity: withAxis(spec.granularity, module) } : spec;
	const { value, min } = /** @type {import('./dtypes.js').DtypeRow} */ (DTYPES.get(spec.dtype));
	const scales = levels(placed, rank ?? rankOf(spec.granularity, target, module), target, problems);
	const observer = observerOf(spec, target, problems);
	const asymmetric = spec.qscheme === 'asymmetric';
	const minval = spec.qformulation === 'minval';
	const clipped = spec.qscheme === 'symmetric_with_clipping' && min < 0;
	// Signed symmetric codes have their zero at 0; unsigned ones, integers all, need a zero point for it.
	const zero = !minval && (asymmetric || min === 0);
	return {
		value: clipped ? value + NARROW : value,
		scales,
		...(zero && { zero: value }),
		...(minval && { mins: scales }),
		...((zero || minval) && !asymmetric && { symmetric: true }),
		rules: 'coreai',
		...(observer && { observer }),
	};
}

/**
 * The scheme that a QuantizationSpec describes, its nested qparam_qspec too.
 * @param {any} json keyword arguments of QuantizationSpec
 * @param {From} [options]
 * @returns {Scheme}
 * @throws {BlockQuantError} bad-scheme, naming every field that is wrong and its rule
 */
export function fromCoreAI(json, options = {}) {
	const spec = specOf(json);
	const problems = new Problems();
	const scheme = schemeOfSpec(spec, options, problems);
	problems.check();
	return scheme;
}
