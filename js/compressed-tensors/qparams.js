// qparams.js - scales and zero points from ranges or from the values themselves (calculate_qparams, generate_gparam and
// compute_dynamic_scales_and_zp of compressed-tensors 0.20.1). The core makes them.
// SPDX-License-Identifier: MIT

import { any, optional, optionsOf, policy } from '../arguments.js';
import { run } from '../arrays/quantize.js';
import { plainWeights, weightsDtype } from '../arrays/weights.js';
import { BlockQuantError } from '../errors.js';
import { flag } from '../problems.js';
import { convert } from '../core/convert.js';
import { givenGlobal } from './parameters.js';
import { quantizationArgs } from './quantization-args.js';
import { measuredBlock, schemeOfArgs } from './strategy.js';

/** @typedef {import('../arrays/quantize.js').Plane} Plane */
/** @typedef {import('../arrays/weights.js').Weights} Weights */

/**
 * @typedef {object} NumericOptions
 * @property {'f32' | 'f16' | 'bf16'} [dtype] of a Uint16Array: the working dtype, to which each step is rounded
 * @property {boolean} [correct] all arithmetic in float32, and tokens of [tokens, width] a scale each
 * @property {'error' | 'allow'} [overflow] a scale that its dtype cannot hold: refuse, or what the reference makes of it
 * @property {'error' | 'allow'} [nonfinite] NaN and infinite values: refuse, or what the reference makes of them
 */

/**
 * @typedef {object} Qparams
 * @property {Plane} scale in the working dtype; F32 under a global scale
 * @property {Plane | null} zeroPoint I8, of floats F8_E4M3; null: symmetric
 */

/** What is any here is looked at where it is used. */
export const NUMERIC = {
	...{ dtype: optional(any), correct: optional(flag), overflow: optional(policy), nonfinite: optional(policy) },
};
/** And of a tensor. */
export const OF_TENSOR = { ...NUMERIC, args: optional(any), shape: optional(any), globalScale: optional(any) };

/** Codes of the parameters that a tensor has been quantized with. @param {ReturnType<typeof run>} done @param {string} role */
function planeOf({ job, stored }, role) {
	const at = job.planes.findIndex((plane) => plane.role === role);
	return at < 0 ? null : { dtype: job.planes[at].dtype, shape: job.planes[at].shape, bytes: stored[at] };
}

/**
 * The parameters of a tensor that has been quantized, in the dtype that the arithmetic goes on with.
 * @param {ReturnType<typeof run>} done
 * @param {import('../scheme.js').Scheme} scheme
 * @returns {Qparams}
 */
function qparamsOf(done, { scales: [inner, outer] }) {
	const { shape, bytes } = /** @type {Plane} */ (planeOf(done, 'scales.0'));
	const from = inner.dtype === 'input' ? done.dtype : inner.dtype;
	const to = outer ? 'f32' : done.dtype;
	return {
		scale: { dtype: to.toUpperCase(), shape, bytes: from === to ? bytes : convert(bytes, from, to) },
		zeroPoint: planeOf(done, 'zeros'),
	};
}

/** Two ends of as many ranges, as float32 numbers. @param {Weights} min @param {Weights} max @param {NumericOptions} options */
function rangesOf(min, max, { dtype: said }) {
	const ends = [min, max].map((end) => plainWeights(end));
	const dtype = weightsDtype(ends[0], said);
	if (ends[0].length !== ends[1].length || weightsDtype(ends[1], said) !== dtype)
		throw new BlockQuantError(
			'bad-argument',
			`min, max: ${ends[0].length} and ${ends[1].length} numbers of one dtype expected`,
		);
	const [lo, hi] = ends.map((end) => {
		if (!(end instanceof Uint16Array)) return Float32Array.from(end);
		const bytes = convert(new Uint8Array(end.buffer, end.byteOffset, end.byteLength), dtype, 'f32');
		return new Float32Array(bytes.buffer, bytes.byteOffset, end.length);
	});
	const count = lo.length;
	// A tensor of one value a range, which are then the blocks; the values themselves do not matter.
	const values = dtype === 'f32' ? new Float32Array(count) : new Uint16Array(count);
	return { values, dtype, count, ranges: { min: lo, max: hi } };
}

/**
 * Scales and zero points from ranges.
 * @param {Weights} min the lowest value of each range; what is above 0 counts as 0
 * @param {Weights} max the highest, likewise
 * @param {unknown} args QuantizationArgs; their strategy does not matter
 * @param {NumericOptions & { globalScale?: Plane }} [options] globalScale: F32, one number, that multiplies the scales
 * @returns {Qparams} one a range: shape [ranges]
 * @throws {BlockQuantError} bad-scheme, bad-argument, overflow
 */
export function calculateQparams(min, max, args, options = {}) {
	const { globalScale, ...how } = optionsOf({ ...NUMERIC, globalScale: optional(any) }, options);
	const { values, dtype, count, ranges } = rangesOf(min, max, how);
	const scheme = schemeOfArgs(quantizationArgs(args), 'channel', undefined, globalScale !== undefined);
	const parameters = globalScale && { 'scales.1': givenGlobal(globalScale).bytes };
	const done = run(values, { ...how, dtype, scheme, shape: [count, 1], ranges, parameters });
	const { scale, zeroPoint } = qparamsOf(done, scheme);
	return { scale: { ...scale, shape: [count] }, zeroPoint: zeroPoint && { ...zeroPoint, shape: [count] } };
}

/**
 * The global scale of a tensor for FP4 under E4M3 scales, which multiplies them: 448 * 6 / the largest magnitude; 1 for a tensor
 * of zeros, and (overflow 'allow') where the working dtype cannot hold it.
 * @param {Weights} min of the tensor, or of its parts
 * @param {Weights} max
 * @param {NumericOptions} [options]
 * @returns {Plane} F32 [1]
 * @throws {BlockQuantError} bad-argument, overflow
 */
export function generateGparam(min, max, options = {}) {
	const how = optionsOf(NUMERIC, options);
	const { values, dtype, count, ranges } = rangesOf(min, max, how);
	/** @type {import('../scheme.js').Scheme} */
	const scheme = {
		value: 'f4e2m1',
		scales: [
			{ dtype: 'f8e4m3', block: 'channel' },
			{ dtype: 'f32', block: 'tensor' },
		],
		rules: 'compressed-tensors',
	};
	return /** @type {Plane} */ (
		planeOf(run(values, { ...how, dtype, scheme, shape: [count, 1], ranges }), 'scales.1')
	);
}

/**
 * Quantizes a tensor with parameters that are measured from its own values.
 * @param {Weights} data
 * @param {NumericOptions & { args: unknown, shape: number[], globalScale?: Plane }} options
 */
export function measured(data, options) {
	const { args: json, globalScale, ...how } = /** @type {any} */ (optionsOf(OF_TENSOR, options));
	const args = quantizationArgs(json);
	if (args.strategy === 'attn_head' && how.shape?.length < 3)
		throw new BlockQuantError('bad-shape', `strategy attn_head needs three axes or more, got [${how.shape}]`);
	const block = measuredBlock(args, how.shape?.length, how.correct === true);
	const scheme = schemeOfArgs(args, block, undefined, globalScale !== undefined);
	const parameters = globalScale && { 'scales.1': givenGlobal(globalScale).bytes };
	return { scheme, done: run(data, { ...how, scheme, parameters }) };
}

/**
 * The scales and zero points that dynamic quantization gives a tensor: from the ranges of its own values, by strategy.
 * token: one for each item of the first two axes, the whole of a tensor with no more than two (`correct`: one for each row).
 * @param {Weights} data activations, or weights
 * @param {NumericOptions & { args: unknown, shape: number[], globalScale?: Plane }} options globalScale: the stored
 *   input_global_scale of dynamic "local"
 * @returns {Qparams} in the shape of the grid of blocks
 * @throws {BlockQuantError} bad-scheme, bad-shape, bad-argument, nonfinite, overflow
 */
export function dynamicQparams(data, options) {
	const { scheme, done } = measured(data, options);
	return qparamsOf(done, scheme);
}
