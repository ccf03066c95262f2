// export.js - a weight as Core AI's export stores it: parameters in the weights' dtype, codes made again (coreai.md, section 9).
// SPDX-License-Identifier: MIT

import { countInfinite, narrowed } from '../arrays/floats.js';
import { quantize } from '../arrays/quantize.js';
import { plainWeights, weightsDtype } from '../arrays/weights.js';
import { BlockQuantError } from '../errors.js';
import { checkOptions } from '../model/options.js';
import { createObserver } from '../observers/observer.js';
import { checkBackend } from './backends.js';
import { fromCoreAI } from './from.js';
import { specOf } from './spec.js';
import { checkShape } from '../shape.js';

/** @typedef {import('../scheme.js').Level} Level */
/** @typedef {'f32' | 'f16' | 'bf16'} FloatDtype */

/** Scales of float32 get the weights' dtype. @param {Level} level @returns {Level} */
const cast = ({ dtype, block }) => ({ dtype: dtype === 'f32' ? 'input' : dtype, block });

/** @param {import('../arrays/quantize.js').Plane} plane of parameters @param {FloatDtype} dtype */
function castBytes({ dtype: own, bytes }, dtype) {
	if (own !== 'F32' || dtype === 'f32') return bytes;
	const halves = narrowed(new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), dtype);
	if (countInfinite(halves, dtype))
		throw new BlockQuantError('overflow', `float_range: its scale is beyond ${dtype}, the dtype of the weights`);
	return halves;
}

/**
 * A weight as the backend CoreAI stores it. Scales and minvals of fixed ranges are float32 while a model is prepared; here they
 * are cast to the weights' dtype, and the codes made against what was cast. All others have that dtype already.
 * @param {import('../arrays/weights.js').Weights} data
 * @param {any} json keyword arguments of QuantizationSpec
 * @param {{ shape: number[], dtype?: FloatDtype, module?: string }} options dtype: of a Uint16Array; module: as fromCoreAI() has it
 * @returns {import('../arrays/quantize.js').QuantizedTensor}
 * @throws {BlockQuantError} unsupported: the backend stores no such thing; overflow; what fromCoreAI() and quantize() refuse
 */
export function exportWeight(data, json, options) {
	checkOptions(options, ['shape', 'dtype', 'module']);
	const { shape, dtype: said, module } = options;
	checkShape(shape);
	const rank = shape.length;
	checkBackend(specOf(json), 'CoreAI', { rank });
	const { observer: how, ...scheme } = fromCoreAI(json, { rank, module });
	const dtype = weightsDtype(plainWeights(data), said);
	const observer = createObserver({ ...scheme, observer: how }, { target: 'weight' });
	observer.observe(data, { shape, dtype });
	const { planes } = quantize(data, { scheme: { ...scheme, observer: how }, shape, dtype, ranges: observer.ranges });
	const { values: _, ...parameters } = /** @type {NonNullable<typeof planes>} */ (planes);
	return quantize(data, {
		scheme: { ...scheme, scales: scheme.scales.map(cast), ...(scheme.mins && { mins: scheme.mins.map(cast) }) },
		...{ shape, dtype },
		parameters: Object.fromEntries(
			Object.entries(parameters).map(([role, plane]) => [role, castBytes(plane, dtype)]),
		),
	});
}
