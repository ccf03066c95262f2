// task.js - what the core does with one band, as plain data: the same task runs here or in a worker.
// SPDX-License-Identifier: MIT

import { SUM_LIMBS } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { Comparer } from './compare.js';
import { countInfinite, narrowed, unfitOf, widened } from './floats.js';

/** @typedef {import('../core/types.js').PlanBytes} PlanBytes */
/** @typedef {import('../core/types.js').BandStruct} BandStruct */
/** @typedef {{ lo: number, hi: number, scale: number, min: number, sum: number[], seen: number }} Range */
/** @typedef {import('../core/types.js').Sizes} Sizes */
/** @typedef {ReturnType<typeof emptyReport>} Report */

/** @typedef {import('./floats.js').FloatDtype} FloatDtype */

/**
 * A band's errors: what its planes are decoded to, against the weights.
 * @typedef {{ dtype: 'f32' | 'f16' | 'bf16', decode: DecodeTask }} Measure dtype: of the weights
 * @typedef {Pick<Comparer, 'sums' | 'count'>} Measured
 */

/**
 * @typedef {{ call: 'range', plan: PlanBytes, band: BandStruct, sizes: Sizes, given: import('../core/types.js').Given }} RangeTask of [weights]
 * @typedef {{ call: 'encode', plan: PlanBytes, band: BandStruct, sizes: Sizes, measure?: Measure,
 *   given: Parameters<import('../core/core.js').Core['encode']>[4] }} EncodeTask of [weights]
 * @typedef {{ call: 'decode', plan: PlanBytes, band: BandStruct, sizes: Sizes, fake: boolean,
 *   dtype: FloatDtype }} DecodeTask of the planes; dtype: of the result
 * @typedef {{ call: 'convert', from: FloatDtype, dtype: FloatDtype, measure?: boolean }} ConvertTask of [values]
 * @typedef {(RangeTask | EncodeTask | DecodeTask | ConvertTask) & { first?: DecodeTask }} Task first: makes the input of this
 *   one out of what is given
 * @typedef {{ report: Report, range: Range, planes: Uint8Array[], measured?: Measured, bytes: Uint8Array,
 *   infinite: number, unfit: import('./floats.js').Unfit }} Done range: of a range task; planes: of an encode task; measured: of one that
 *   asks for it; bytes: of a decode or convert
 *   task; infinite: of a decode task, values that have become so in a dtype of 16 bits; unfit: of a convert task
 */

/** A struct bq_report of nothing. */
export const emptyReport = () => ({
	fused_values: 0,
	generic_values: 0,
	overflow_blocks: 0,
	heavy_blocks: 0,
	nonfinite_values: 0,
	first_nonfinite: 0,
});

/** Range of no values: every range has zero in it. @returns {Range} */
export const emptyRange = () => ({ lo: 0, hi: 0, scale: 0, min: 0, sum: new Array(SUM_LIMBS).fill(0), seen: 0 });

/** Adds the report of the next band. @param {Report} sum @param {Report} band */
export function addReport(sum, band) {
	if (!sum.nonfinite_values) sum.first_nonfinite = band.first_nonfinite;
	sum.fused_values += band.fused_values;
	sum.generic_values += band.generic_values;
	sum.overflow_blocks += band.overflow_blocks;
	sum.heavy_blocks += band.heavy_blocks;
	sum.nonfinite_values += band.nonfinite_values;
}

/** Widens a range by that of another band, as bq_range does: a NaN stays. @param {Range} sum @param {Range} band */
export function addRange(sum, band) {
	sum.lo = Math.min(sum.lo, band.lo);
	sum.hi = Math.max(sum.hi, band.hi);
	sum.scale = Math.max(sum.scale, band.scale);
	sum.min = Math.max(sum.min, band.min);
	let carry = 0;
	for (let i = 0; i < SUM_LIMBS; i++) {
		const limb = sum.sum[i] + band.sum[i] + carry;
		sum.sum[i] = limb % 2 ** 32;
		carry = Math.floor(limb / 2 ** 32);
	}
	sum.seen |= band.seen;
}

/**
 * Runs a task, without the one that comes first, on the core of this thread.
 * @param {Task} task
 * @param {Uint8Array[]} inputs
 * @returns {Done}
 */
export function perform(task, inputs) {
	const core = theCore();
	const report = emptyReport();
	const done = /** @type {Done} */ ({ report });
	if (task.call === 'range') {
		done.range = emptyRange();
		core.range(task.plan, task.sizes, task.band, inputs[0], task.given, done.range, report);
	} else if (task.call === 'encode') {
		done.planes = core.encode(task.plan, task.sizes, task.band, inputs[0], task.given, report);
		if (task.measure) done.measured = measured(task.measure, inputs[0], done.planes);
	} else if (task.call === 'decode') {
		const values = core.decode(task.plan, task.sizes, task.band, inputs, task.fake, report);
		done.bytes = narrowed(values, task.dtype);
		done.infinite = task.dtype === 'f32' ? 0 : countInfinite(done.bytes, task.dtype);
	} else {
		const values = widened(inputs[0], task.from);
		done.unfit = unfitOf(values, task.dtype);
		done.bytes = narrowed(values, task.dtype);
		if (task.measure) done.measured = compared(values, widened(done.bytes, task.dtype));
	}
	return done;
}

/**
 * @param {Measure} measure
 * @param {Uint8Array} weights
 * @param {Uint8Array[]} planes
 * @returns {Measured}
 */
function measured({ dtype, decode }, weights, planes) {
	const { plan, sizes, band, fake } = decode;
	const values = theCore().decode(plan, sizes, band, planes, fake, emptyReport());
	return compared(widened(weights, dtype), values);
}

/** @param {Float32Array} weights @param {Float32Array} values @returns {Measured} */
function compared(weights, values) {
	const comparer = new Comparer();
	comparer.add(weights, values);
	return comparer;
}
