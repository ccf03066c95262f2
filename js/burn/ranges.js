// ranges.js - Burn's calibration: the range of every block, and the scales that it asks for before they are rounded.
// SPDX-License-Identifier: MIT

import { given, optionsOf, policy } from '../arguments.js';
import { quantize } from '../arrays/quantize.js';
import { convert } from '../core/convert.js';
import { BlockQuantError } from '../errors.js';
import { BlockLayout } from './block-layout.js';
import { word } from '../problems.js';
import { arrayOf, readCalibration } from './check.js';
import { checkScheme } from './quant-scheme.js';
import { globalScaleDtype, quantizable } from './sizes.js';
import { CALIBRATIONS, QUANT_VALUES, SCALE_DTYPES } from './tables.js';
import { checkShape, countOf } from '../shape.js';

/** @typedef {import('./quant-scheme.js').QuantScheme} QuantScheme */

/** @typedef {{ min: Float32Array, max: Float32Array, shape: number[] }} CalibrationRange over the grid of the innermost scales */

/**
 * Scales before they are rounded to their dtypes.
 * @typedef {object} QParams
 * @property {Float32Array} scales of the innermost level, in the order of its grid
 * @property {number | null} global the tensor-wide one above block scales
 */

/** Burn's least scale: float32's least normal number. */
const MIN_POSITIVE = 2 ** -126;

/** @param {Float32Array} data @param {number[]} shape @param {QuantScheme} scheme @returns {CalibrationRange} */
function minMax(data, shape, { block }) {
	const blocks = block && new BlockLayout(shape, block.size);
	const min = new Float32Array(blocks?.numBlocks ?? 1).fill(Infinity);
	const max = new Float32Array(min.length).fill(-Infinity);
	data.forEach((x, i) => {
		const b = blocks ? blocks.blockOf(i) : 0;
		min[b] = Math.min(min[b], x); // NaN stays
		max[b] = Math.max(max[b], x);
	});
	return { min, max, shape: block ? block.size.numBlocks(shape) : [1] };
}

/** The mean magnitude of each block, either sign. @param {Float32Array} data @param {number[]} shape @param {QuantScheme} scheme @returns {CalibrationRange} */
function absMean(data, shape, { block }) {
	const edges = block?.size.edges ?? [];
	// A scale of -1, 0 and 1 is the mean itself.
	const scheme = {
		value: 'i2-narrow',
		scales: [{ dtype: 'f32', block: block ? (edges.length ? [...edges] : 1) : /** @type {const} */ ('tensor') }],
		calibration: CALIBRATIONS.AbsMean,
		rules: 'plain',
	};
	const { planes } = quantize(data, { scheme, shape, nonfinite: 'allow' });
	const { bytes } = /** @type {NonNullable<typeof planes>} */ (planes)['scales.0'];
	const max = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
	return { min: max.map((mean) => -mean), max, shape: block ? block.size.numBlocks(shape) : [1] };
}

/**
 * The range of every block, or of the tensor: Burn's compute_range. quantize() takes it as `ranges`.
 * @param {QuantScheme} scheme
 * @param {Float32Array} data
 * @param {number[]} shape
 * @param {'MinMax' | 'AbsMean'} [calibration]
 * @returns {CalibrationRange}
 * @throws {BlockQuantError} bad-argument, bad-shape
 */
export function computeRange(scheme, data, shape, calibration = 'MinMax') {
	checkScheme(scheme);
	checkShape(shape);
	const plain = arrayOf('data', data, 'Float32Array');
	const count = countOf(shape);
	if (count !== plain.length || count === 0)
		throw new BlockQuantError(
			'bad-shape',
			`shape [${shape.join(', ')}] has ${count} values, data has ${plain.length}; expected as many, at least one`,
		);
	return given('calibration', calibration, readCalibration) === 'MinMax'
		? minMax(plain, shape, scheme)
		: absMean(plain, shape, scheme);
}

/** @type {Record<string, import('../problems.js').Field>} */
const OPTIONS = {
	dtype: { default: 'f32', read: word(['f32', 'f16', 'bf16']) },
	nonfinite: { default: 'error', read: policy },
};

/** A function that rounds numbers to a dtype. @param {'f32' | 'f16' | 'bf16'} dtype */
const rounder = (dtype) => (/** @type {Float32Array} */ values) =>
	new Float32Array(convert(convert(new Uint8Array(values.buffer), 'f32', dtype), dtype, 'f32').buffer);

/** @param {QuantScheme} scheme @param {any} range @param {'error' | 'allow'} nonfinite @returns {Float32Array[]} */
function endsOf({ block }, range, nonfinite) {
	const ends = ['min', 'max'].map((end) => arrayOf(`range.${end}`, range?.[end], 'Float32Array'));
	const [min, max] = ends;
	if (min.length !== max.length || (!block && min.length !== 1))
		throw new BlockQuantError(
			'bad-argument',
			`range: ${min.length} minima and ${max.length} maxima; expected ${block ? 'as many' : 'one each, of the tensor'}`,
		);
	const at = min.findIndex((lo, i) => !Number.isFinite(lo) || !Number.isFinite(max[i]));
	if (at >= 0 && nonfinite === 'error')
		throw new BlockQuantError(
			'nonfinite',
			`range: block ${at} is [${min[at]}, ${max[at]}]; expected finite numbers`,
		);
	const swapped = min.findIndex((lo, i) => lo > max[i]);
	if (swapped >= 0)
		throw new BlockQuantError(
			'bad-argument',
			`range: block ${swapped} is [${min[swapped]}, ${max[swapped]}]; expected the least value first`,
		);
	return ends;
}

/**
 * The scales that ranges ask for: Burn's compute_q_params.
 * @param {QuantScheme} scheme
 * @param {{ min: Float32Array, max: Float32Array }} range
 * @param {object} [options]
 * @param {'f32' | 'f16' | 'bf16'} [options.dtype] of the weights: their scales are made in it
 * @param {'error' | 'allow'} [options.nonfinite] ranges that are not finite: an error, or scales that are not
 * @returns {QParams}
 * @throws {BlockQuantError} bad-argument; nonfinite; unsupported: block scales that span all of float32 cannot stand under another
 */
export function computeQParams(scheme, range, options = {}) {
	checkScheme(scheme);
	const { dtype, nonfinite } = optionsOf(OPTIONS, options);
	const [min, max] = endsOf(scheme, range, nonfinite);
	const [low, high] = QUANT_VALUES[scheme.value].range;
	// A table is spread to its largest magnitude, as quantize() does it.
	const span = scheme.table ? 2 * Math.max(...scheme.table.map((entry) => Math.abs(Math.fround(entry)))) : high - low;
	const rounded = rounder(dtype);
	const widths = rounded(min.map((lo, i) => 2 * Math.max(Math.abs(lo), Math.abs(max[i]))));
	const scales = rounded(widths.map((width) => width / span));
	if (globalScaleDtype(scheme) === null) return { scales, global: null };
	if (!quantizable(scheme))
		throw new BlockQuantError(
			'unsupported',
			`two levels: expected block scales of F16 or UE4M3 under F32, got ${scheme.scaleDtype} under ${scheme.tensor}`,
		);
	const largest = scales.reduce((a, b) => Math.max(a, b), 0);
	const ideal = Math.fround(largest / SCALE_DTYPES[scheme.scaleDtype].max);
	const global = Math.max(ideal, MIN_POSITIVE); // NaN stays
	return { scales: rounded(scales.map((scale) => scale / global)), global };
}
