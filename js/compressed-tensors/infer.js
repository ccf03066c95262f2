// infer.js - the scheme of a quantized module, read off the tensors that it is stored as.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { fromCompressedTensors } from './from.js';

/**
 * @typedef {object} StoredPlane
 * @property {string} name without its module, e.g. weight_scale
 * @property {string} dtype
 * @property {number[]} shape
 */

/**
 * What is known of a module from elsewhere.
 * @typedef {object} InferHints
 * @property {number[]} [shape] the weight's, from the values of weight_shape
 * @property {import('./quantization-args.js').QuantizationArgs[]} [args] weight arguments from a config.json, the likeliest
 *   first: they decide where the tensors alone fit several schemes
 * @property {boolean} [ungrouped] there is a weight_g_idx: each column is to be a group of its own
 */

/**
 * The scheme of a stored module and the shape of its weight.
 * @param {StoredPlane[]} stored
 * @param {InferHints} [hints]
 */
export function inferScheme(stored, hints) {
	const { args: found, format, shape } = inferArgs(stored, hints);
	if (hints?.ungrouped && found.strategy !== 'group') refuse(`weight_g_idx beside strategy ${found.strategy}`);
	const args = hints?.ungrouped ? { ...found, group_size: 1 } : found;
	const scheme = fromCompressedTensors({ targets: ['Linear'], weights: args, format });
	return { scheme, shape };
}

/** @typedef {{ args: Record<string, unknown>, format: string, shape: number[] }} Inferred */

/** Parameters that only a quantized module has, and that say how its weight is read. */
export const WEIGHT_PLANES = [
	'weight_packed',
	'weight_scale',
	'weight_zero_point',
	'weight_global_scale',
	'weight_shape',
	'weight_g_idx',
];
const FLOATS = ['F32', 'F16', 'BF16'];
const INT_DTYPES = new Map([
	['I8', 8],
	['I16', 16],
	['I32', 32],
]);

/**
 * The weight arguments (compressed-tensors' QuantizationArgs), the format and the weight's shape.
 * @param {StoredPlane[]} stored
 * @param {InferHints} [hints]
 * @returns {Inferred}
 */
export function inferArgs(stored, hints = {}) {
	const planes = new Map(stored.map((plane) => [plane.name, plane]));
	const packed = planes.get('weight_packed');
	const weight = packed ?? planes.get('weight');
	const scale = planes.get('weight_scale');
	if (weight === undefined || scale === undefined) return refuse('its weight or its scale is missing');
	if (packed?.dtype === 'I32') return inferInts(packed, scale, planes, hints);
	if (packed?.dtype === 'U8') return inferMinifloats(packed, scale, planes);
	if (packed !== undefined) return refuse(`weight_packed of dtype ${packed.dtype}`);
	return inferPlain(weight, scale, planes, hints);
}

/**
 * pack-quantized: the bits follow from the words per row.
 * @param {StoredPlane} packed
 * @param {StoredPlane} scale
 * @param {Map<string, StoredPlane>} planes
 * @param {InferHints} hints
 * @returns {Inferred}
 */
function inferInts(packed, scale, planes, { shape, args = [] }) {
	if (shape === undefined) return refuse('weight_shape is missing');
	const cols = shape.at(-1) ?? 0;
	const words = packed.shape.at(-1) ?? 0;
	const fitting = [1, 2, 3, 4, 5, 6, 7, 8].filter((bits) => Math.ceil((cols * bits) / 32) === words);
	const known = args.map(({ num_bits: bits }) => bits);
	const bits = fitting.length === 1 ? fitting[0] : known.find((one) => fitting.includes(one));
	if (bits === undefined) {
		return refuse(
			fitting.length === 0
				? `${words} words per row do not fit ${cols} columns`
				: `${words} words per row fit ${fitting.join(', ')} bits; config.json must say which`,
		);
	}
	return {
		args: {
			num_bits: bits,
			type: 'int',
			symmetric: !planes.has('weight_zero_point'),
			...strategyOf(scale, shape, args),
		},
		format: 'pack-quantized',
		shape,
	};
}

/**
 * The 4 and 6 bit floats differ in the packed bytes per scale: 16 values in 8 bytes, 32 values in
 * 16 or 24 bytes.
 * @param {StoredPlane} packed
 * @param {StoredPlane} scale
 * @param {Map<string, StoredPlane>} planes
 * @returns {Inferred}
 */
function inferMinifloats(packed, scale, planes) {
	const rows = packed.shape.slice(0, -1);
	const bytes = packed.shape.at(-1);
	const groups = scale.shape.at(-1);
	if (bytes === undefined || !groups || String(rows) !== String(scale.shape.slice(0, -1))) {
		return refuse(`weight_packed [${packed.shape}] and weight_scale [${scale.shape}] do not fit`);
	}
	const float = { type: 'float', symmetric: true };
	const perScale = bytes / groups;
	if (scale.dtype === 'F8_E4M3' && perScale === 8) {
		const strategy = planes.has('weight_global_scale') ? 'tensor_group' : 'group';
		const scaleDtype = 'torch.float8_e4m3fn';
		return {
			args: { ...float, num_bits: 4, group_size: 16, strategy, scale_dtype: scaleDtype },
			format: 'nvfp4-pack-quantized',
			shape: [...rows, bytes * 2],
		};
	}
	const bits = perScale === 16 ? 4 : 6;
	if (scale.dtype === 'U8' && (perScale === 16 || perScale === 24)) {
		return {
			args: { ...float, num_bits: bits, group_size: 32, strategy: 'group', scale_dtype: 'torch.uint8' },
			format: `mxfp${bits}-pack-quantized`,
			shape: [...rows, (bytes * 8) / bits],
		};
	}
	return refuse(`${perScale} packed bytes per ${scale.dtype} scale are no format of compressed-tensors`);
}

/**
 * One code per element: int-, float- and naive-quantized, mxfp8.
 * @param {StoredPlane} weight
 * @param {StoredPlane} scale
 * @param {Map<string, StoredPlane>} planes
 * @param {InferHints} hints
 * @returns {Inferred}
 */
function inferPlain(weight, scale, planes, { args = [] }) {
	const { shape, dtype } = weight;
	const symmetric = !planes.has('weight_zero_point');
	if (dtype === 'F8_E4M3' && scale.dtype === 'U8') {
		const cols = shape.at(-1) ?? 0;
		if (scale.shape.at(-1) !== cols / 32) return refuse('an mxfp8 weight has a scale per 32 columns');
		return {
			args: {
				num_bits: 8,
				type: 'float',
				symmetric,
				group_size: 32,
				strategy: 'group',
				scale_dtype: 'torch.uint8',
			},
			format: 'mxfp8-quantized',
			shape,
		};
	}
	if (!FLOATS.includes(scale.dtype)) return refuse(`weight_scale of dtype ${scale.dtype}`);
	const strategy = strategyOf(scale, shape, args);
	if (dtype === 'F8_E4M3') {
		return {
			args: { num_bits: 8, type: 'float', symmetric, ...strategy },
			format: 'float-quantized',
			shape,
		};
	}
	const width = INT_DTYPES.get(dtype);
	if (width === undefined) return refuse(`weight of dtype ${dtype} beside a weight_scale`);
	// Fewer bits are stored one per byte too; decoding is the same for all that fit.
	const bits = args.map((one) => one.num_bits).find((one) => one <= width);
	return {
		args: { num_bits: bits ?? width, type: 'int', symmetric, ...strategy },
		format: 'int-quantized',
		shape,
	};
}

/**
 * Which values share a scale, from the scales' shape.
 * @param {StoredPlane} scale
 * @param {number[]} shape of the weight
 * @param {import('./quantization-args.js').QuantizationArgs[]} args
 */
function strategyOf(scale, shape, args) {
	const rows = shape.at(-2) ?? 1;
	const cols = shape.at(-1) ?? 0;
	const scaleRows = scale.shape.at(-2) ?? 1;
	const groups = scale.shape.at(-1) ?? 0;
	if (scale.shape.length < 2) {
		if (groups !== 1) return refuse(`weight_scale of shape [${scale.shape}]`);
		return { strategy: 'tensor' };
	}
	const block = blockOf(rows, cols, scaleRows, groups, args);
	if (block !== null) return { strategy: 'block', block_structure: block };
	if (scaleRows !== rows || groups === 0 || cols % groups !== 0) {
		return refuse(`weight_scale [${scale.shape}] does not fit a weight [${shape}]`);
	}
	return groups === 1 ? { strategy: 'channel' } : { strategy: 'group', group_size: cols / groups };
}

/**
 * A block's shape: the config's if it fits; else 128 x 128, which all public models use. It is never
 * derived from rows / scale rows: that is wrong at ragged edges (compressed-tensors 0.18 did).
 * @param {number} rows
 * @param {number} cols
 * @param {number} scaleRows
 * @param {number} scaleCols
 * @param {import('./quantization-args.js').QuantizationArgs[]} args
 * @returns {[number, number] | null}
 */
function blockOf(rows, cols, scaleRows, scaleCols, args) {
	/** @param {unknown[]} block */
	const fits = ([high, wide]) =>
		Math.ceil(rows / Number(high)) === scaleRows && Math.ceil(cols / Number(wide)) === scaleCols;
	for (const { block_structure: block } of args) if (block && fits(block)) return block;
	if (scaleRows === rows) return null;
	return fits([128, 128]) ? [128, 128] : null;
}

/**
 * @param {string} why
 * @returns {never}
 */
function refuse(why) {
	throw new BlockQuantError('unsupported', `cannot tell how this weight is quantized: ${why}`);
}
