// quantize.js - quantize, dequantize and fake_quantize of compressed-tensors 0.20.1 on arrays: every strategy, with parameters
// that are given or measured. The core computes.
// SPDX-License-Identifier: MIT

import { any, optional, optionsOf } from '../arguments.js';
import { decodeJob } from '../arrays/decode-job.js';
import { planTensor } from '../arrays/plan.js';
import { decodeAll, run } from '../arrays/quantize.js';
import { plainArray } from '../arrays/typed.js';
import { NBYTES } from '../core/abi.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { groupOfColumns, spread } from './g-idx.js';
import { convert } from '../core/convert.js';
import { givenGlobal, givenPlane } from './parameters.js';
import { measured, OF_TENSOR } from './qparams.js';
import { quantizationArgs } from './quantization-args.js';
import { broadcastBlock, isGrouped, schemeOfArgs } from './strategy.js';
import { checkShape } from '../shape.js';

/** @typedef {import('../arrays/quantize.js').Plane} Plane */
/** @typedef {import('../arrays/weights.js').Weights} Weights */
/** @typedef {import('./qparams.js').NumericOptions} NumericOptions */
/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */

/**
 * Parameters that are given. The shape of the scales says what they are for: an axis of 1, or a missing one, shares a scale.
 * @typedef {object} GivenQparams
 * @property {unknown} args QuantizationArgs
 * @property {Plane} scale F32, F16 or BF16; [1], [rows, 1], [rows, groups], [row blocks, column blocks], [batch, tokens, 1],
 *   [heads, 1, 1], ...
 * @property {Plane | null} [zeroPoint] I8, of 8-bit floats F8_E4M3, in the same shape; asymmetric args only
 * @property {Plane} [globalScale] F32, one number
 */

/** What is any here is looked at where it is used. */
const GIVEN = { scale: optional(any), zeroPoint: optional(any) };
const DECODING = { ...GIVEN, args: optional(any), globalScale: optional(any), gIdx: optional(any) };

/** What zero points may be, as planes name it. @param {import('./quantization-args.js').QuantizationArgs} args */
const zeroDtypes = ({ type }) => [type === 'float' ? 'F8_E4M3' : 'I8'];

/** @param {GivenQparams} given @param {number[]} shape of the tensor */
function prepare({ args: json, scale: said, zeroPoint, globalScale }, shape) {
	checkShape(shape);
	const args = quantizationArgs(json);
	const scale = givenPlane('scale', said);
	const block = broadcastBlock(args, shape, scale.shape);
	const scheme = schemeOfArgs(args, block, WEIGHT_DTYPES[scale.dtype], globalScale !== undefined);
	if (globalScale !== undefined && !isGrouped(args))
		throw new BlockQuantError(
			'bad-argument',
			`globalScale: strategy ${args.strategy} has none; expected group or tensor_group`,
		);
	if (!args.symmetric && (zeroPoint ?? null) === null)
		throw new BlockQuantError('bad-argument', 'zeroPoint: missing; these args are asymmetric');
	/** @type {Record<string, Uint8Array>} */
	const parameters = { 'scales.0': scale.bytes };
	if (globalScale !== undefined) parameters['scales.1'] = givenGlobal(globalScale).bytes;
	const zeros = (zeroPoint ?? null) !== null ? givenPlane('zeroPoint', zeroPoint, zeroDtypes(args)).bytes : undefined;
	if (zeros && !args.symmetric) parameters.zeros = zeros;
	else if (zeros?.some((zero) => zero !== 0))
		throw new BlockQuantError('bad-argument', 'zeroPoint: not 0, and these args are symmetric');
	return { args, scheme, scale, parameters };
}

/**
 * The codes of a tensor.
 * @param {Weights} data
 * @param {NumericOptions & GivenQparams & { shape: number[] }} options dtype: of the data; the quotient is rounded to it, or is
 *   float32 where the scales' dtype is another
 * @returns {Plane} I8; F8_E4M3; or U8 with one E2M1 or E2M3 code a byte
 * @throws {BlockQuantError} bad-scheme, bad-shape, bad-argument, nonfinite
 */
export function quantize(data, options) {
	const { args, scale, zeroPoint, globalScale, ...how } = optionsOf({ ...OF_TENSOR, ...GIVEN }, options);
	const { scheme, parameters } = prepare({ args, scale, zeroPoint, globalScale }, how.shape);
	const { job, stored } = run(data, { shape: how.shape, ...how, scheme, parameters });
	const [{ dtype, shape }] = job.planes;
	return { dtype, shape, bytes: stored[0] };
}

/**
 * The values of codes, widened to float32: (code - zero point) * scale, each step rounded to the dtype of the scales (float32
 * under a global one).
 * @param {Plane} codes as quantize() gives them
 * @param {GivenQparams & { gIdx?: Int32Array }} options gIdx: weight_g_idx, the group of each column (until compressed-tensors
 *   0.18); -1 anywhere: there is none
 * @returns {Float32Array}
 * @throws {BlockQuantError} bad-scheme, bad-shape, bad-argument
 */
export function dequantize(codes, options) {
	const { gIdx, ...given } = /** @type {any} */ (optionsOf(DECODING, options));
	const plane = givenPlane('codes', codes, ['I8', 'U8', 'F8_E4M3']);
	return decode(plane, gIdx !== undefined ? inOrder(given, gIdx, plane.shape.at(-1) ?? 1) : given);
}

/**
 * @param {Plane} plane of codes
 * @param {GivenQparams} given
 * @param {'f32' | 'f16' | 'bf16'} [fake] the dtype of the fake quantizer's values; none: the decoder's
 */
function decode(plane, given, fake) {
	const { scheme, scale, parameters } = prepare(given, plane.shape);
	const dtype = fake ?? WEIGHT_DTYPES[scale.dtype];
	/** @type {Record<string, Uint8Array>} */
	const bytes = { ...parameters, values: plane.bytes };
	// The core's own shapes for parameters: ours need only mean the same grid.
	const planes = planTensor(scheme, plane.shape, dtype).planes.map((info) => ({
		...info,
		dtype: info.role === 'values' ? plane.dtype : info.dtype,
		nbytes: bytes[info.role].length,
	}));
	const job = decodeJob({ scheme, shape: plane.shape, planes, dtype, fake: fake !== undefined });
	return decodeAll(
		job,
		plane.bytes.length,
		planes.map(({ role }) => bytes[role]),
	);
}

/**
 * The same parameters with one for each column.
 * @param {GivenQparams} given
 * @param {Int32Array} gIdx
 * @param {number} columns of the tensor
 * @returns {GivenQparams}
 */
function inOrder(given, gIdx, columns) {
	const args = quantizationArgs(given.args);
	const scale = givenPlane('scale', given.scale);
	const groups = scale.shape.at(-1) ?? 1;
	const plain = plainArray(gIdx, ['Int32Array']);
	if (plain?.length !== columns || !isGrouped(args))
		throw new BlockQuantError(
			'bad-argument',
			`gIdx: expected an Int32Array of ${columns} columns and strategy group, got ${plain?.length} of ${args.strategy}`,
		);
	const order = groupOfColumns(plain, groups);
	if (order === null) return given;
	/** @param {Plane} plane @returns {Plane} */
	const wide = ({ dtype, shape, bytes }) => ({
		dtype,
		shape: [...shape.slice(0, -1), columns],
		bytes: spread(bytes, groups, order, NBYTES[WEIGHT_DTYPES[dtype]] ?? 1),
	});
	const zeroPoint = given.zeroPoint && wide(givenPlane('zeroPoint', given.zeroPoint, zeroDtypes(args)));
	return { ...given, args: { ...args, group_size: 1 }, scale: wide(scale), zeroPoint };
}

/**
 * The values of a tensor after quantize() and dequantize(), widened to float32; in groups, rounded to the dtype of the data, else
 * to that of the scales. Integer codes keep no sign of zero: -0 where the reference has one is 0.
 * @param {Weights} data
 * @param {NumericOptions & { args: unknown, shape: number[], globalScale?: Plane, scale?: Plane, zeroPoint?: Plane | null }} options
 *   without a scale it is measured, as by dynamicQparams()
 * @returns {Float32Array}
 * @throws {BlockQuantError} bad-scheme, bad-shape, bad-argument, nonfinite, overflow
 */
export function fakeQuantize(data, options) {
	const { scale, zeroPoint, ...how } = /** @type {any} */ (optionsOf({ ...OF_TENSOR, ...GIVEN }, options));
	const { args, shape, globalScale } = how;
	if (scale === undefined) {
		const { scheme, done } = measured(data, how);
		const { job, dtype, count, stored } = done;
		return decodeAll(decodeJob({ scheme, shape, planes: job.planes, dtype, fake: true }), count, stored);
	}
	const given = { args, scale, zeroPoint, globalScale };
	const codes = quantize(data, { ...how, ...given });
	const { dtype = 'f32' } = how;
	// The product is float32 under a global scale, else of the dtype of the scales; groups come back in that of the data.
	if (globalScale !== undefined) return decode(codes, given, dtype);
	const values = decode(codes, given);
	if (dtype === 'f32' || !isGrouped(quantizationArgs(args))) return values;
	const rounded = convert(convert(new Uint8Array(values.buffer), 'f32', dtype), dtype, 'f32');
	return new Float32Array(rounded.buffer, rounded.byteOffset, values.length);
}
