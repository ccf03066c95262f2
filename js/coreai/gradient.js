// gradient.js - the straight-through estimator's gradient of a fake quantizer: which values it passes on (coreai.md, section 6.4).
// SPDX-License-Identifier: MIT

import { dequantize, quantize } from '../arrays/quantize.js';
import { BlockQuantError, shown } from '../errors.js';
import { asFloats } from '../observers/observer.js';
import { resolveScheme } from '../presets.js';
import { DTYPES, dtypeOfValue } from './dtypes.js';
import { derived } from './spec.js';
import { countOf } from '../shape.js';

/** @typedef {import('../scheme.js').Level} Level */
/** @typedef {import('../arrays/quantize.js').Plane} Plane */

/** To which a float64 below 2^51 is added to be rounded to an integer, half to even. */
const INTEGERS = 1.5 * 2 ** 52;

/**
 * A parameter of every value: what a code of 1 stands for under it.
 * @param {number[]} shape
 * @param {Level[]} levels
 * @param {(Plane | undefined)[]} planes of the levels
 */
function spread(shape, levels, planes) {
	const ones = new Uint8Array(countOf(shape)).fill(1);
	const named = planes.map((plane, level) => [`scales.${level}`, plane]);
	return dequantize({
		scheme: { value: 'i8', scales: levels, rules: 'coreai' },
		shape,
		planes: { values: { dtype: 'I8', shape, bytes: ones }, ...Object.fromEntries(named) },
	});
}

/** Zero points as a level of scales. @param {Plane} plane @returns {Plane} */
function asScales({ dtype, shape, bytes }) {
	const numbers = Float32Array.from(
		dtype === 'I8' ? new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length) : bytes,
	);
	return { dtype: 'F32', shape, bytes: new Uint8Array(numbers.buffer) };
}

/**
 * What the gradient of every value is multiplied by on its way through the fake quantizer: 1 where the value, scaled (and
 * rounded, for integers), is a code; 0 where it is cut to one, or where its scale is 0.
 * @param {import('../arrays/weights.js').Weights} data
 * @param {import('../arrays/quantize.js').QuantizeOptions} options as for quantize(); after an observer its `ranges`
 * @returns {Uint8Array}
 * @throws {BlockQuantError} unsupported: a scheme that is none of Core AI's; what quantize() refuses
 */
export function gradientMask(data, options) {
	const quantized = quantize(data, options);
	const { shape } = quantized;
	const { rules, layout = 'planes', value, scales, mins, zero } = resolveScheme(quantized.scheme);
	const { dtype, narrow } = dtypeOfValue(value);
	if (rules !== 'coreai' || layout !== 'planes' || !dtype)
		throw new BlockQuantError(
			'unsupported',
			`scheme: expected one of Core AI's: rules coreai, layout planes; got ${shown(rules)}, ${shown(layout)}`,
		);
	const planes = /** @type {Record<string, Plane>} */ (quantized.planes);
	const { quant_min: least, quant_max: most } = derived({
		dtype,
		qscheme: narrow ? 'symmetric_with_clipping' : 'symmetric',
	});
	const rounds = DTYPES.get(dtype)?.integer;
	const x = asFloats(data, options.dtype);
	/** @param {Level[]} levels @param {string} role */
	const levelsOf = (levels, role) =>
		spread(
			shape,
			levels,
			levels.map((_, level) => planes[`${role}.${level}`]),
		);
	const scale = levelsOf(scales, 'scales');
	const min = mins && levelsOf(mins, 'mins');
	const at = zero && spread(shape, [{ dtype: 'f32', block: scales[0].block }], [asScales(planes.zeros)]);
	return Uint8Array.from(x, (own, i) => {
		const scaled = Math.fround(Math.fround(own + (min?.[i] ?? 0)) / scale[i]);
		const code = rounds ? scaled + INTEGERS - INTEGERS + (at?.[i] ?? (min ? least : 0)) : scaled;
		return Number(code >= least && code <= most);
	});
}
