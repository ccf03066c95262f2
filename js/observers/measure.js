// measure.js - the ranges of one batch: of each block of the innermost scale.
// SPDX-License-Identifier: MIT

import { any, optional, optionsOf } from '../arguments.js';
import { narrowed, widened } from '../arrays/floats.js';
import { sizesOf } from '../arrays/job.js';
import { MAX_BAND, bandsOf, cellsOf, planTensor } from '../arrays/plan.js';
import { checkCount, plainWeights, weightBytes, weightsDtype } from '../arrays/weights.js';
import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';

/** @typedef {{ shape: number[], dtype?: 'f32' | 'f16' | 'bf16' }} BatchOptions */
export const BATCH = { shape: optional(any), dtype: optional(any) };

/**
 * @param {import('../scheme.js').Scheme} scheme
 * @param {import('../arrays/weights.js').Weights} given
 * @param {BatchOptions} options
 * @returns {{ lo: Float32Array, hi: Float32Array, dtype: 'f32' | 'f16' | 'bf16' }} 0 is in every range
 */
export function measure(scheme, given, options) {
	const { shape, dtype: said } = optionsOf(BATCH, options);
	const data = plainWeights(given);
	const dtype = weightsDtype(data, said);
	checkCount(data, shape);
	const planned = planTensor(scheme, shape, dtype);
	const cells = cellsOf(planned.plan);
	const lo = new Float32Array(cells);
	const hi = new Float32Array(cells);
	for (const { struct, valueOffset, nvalues } of bandsOf(planned, MAX_BAND)) {
		const weights = weightBytes(data, valueOffset, nvalues, dtype);
		const [cell] = struct.cell_offset;
		const [low, high] = [lo, hi].map((ends) => ends.subarray(cell, cell + struct.ncells[0]));
		theCore().observe(planned.bytes, sizesOf(planned.plan), struct, weights, low, high);
	}
	const at = lo.findIndex((low, i) => !Number.isFinite(low) || !Number.isFinite(hi[i]));
	if (at >= 0) throw new BlockQuantError('nonfinite', `NaN or infinity in block ${at}; expected finite values`);
	return { lo, hi, dtype };
}

/**
 * Ranges with the ends that are fixed. A single one is rounded to the values' dtype; two make all of it float32.
 * @param {{ lo: Float32Array, hi: Float32Array, dtype: 'f32' | 'f16' | 'bf16' }} measured
 * @param {[number | null, number | null]} range
 */
export function withFixedEnds({ lo, hi, dtype }, [low, high]) {
	const work = low !== null && high !== null ? 'f32' : dtype;
	/** @param {number} end */
	const rounded = (end) => {
		const [number] = widened(narrowed(Float32Array.of(end), work), work);
		if (Number.isFinite(number)) return number;
		throw new BlockQuantError('bad-argument', `observer.range: ${end} is beyond the ${work} of the values`);
	};
	return {
		lo: low === null ? lo : new Float32Array(lo.length).fill(rounded(low)),
		hi: high === null ? hi : new Float32Array(hi.length).fill(rounded(high)),
	};
}
