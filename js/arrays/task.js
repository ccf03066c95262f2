// task.js - what the core does with one band, as plain data: the same task runs here or in a worker.
// SPDX-License-Identifier: MIT

import { SUM_LIMBS } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { Comparer } from './compare.js';

/** @typedef {import('../core/core.js').PlanBytes} PlanBytes */
/** @typedef {import('../core/core.js').BandStruct} BandStruct */
/** @typedef {{ lo: number, hi: number, scale: number, min: number, sum: number[], seen: number }} Range */
/** @typedef {ReturnType<typeof emptyReport>} Report */

/**
 * A band's errors: what its planes are decoded to, against the weights.
 * @typedef {{ dtype: 'f32' | 'f16' | 'bf16', decode: DecodeTask }} Measure dtype: of the weights
 * @typedef {Pick<Comparer, 'sums' | 'count'>} Measured
 */

/**
 * @typedef {{ call: 'range', plan: PlanBytes, band: BandStruct, sizes: Sizes, given: import('../core/core.js').Given }} RangeTask of [weights]
 * @typedef {{ call: 'encode', plan: PlanBytes, band: BandStruct, sizes: Sizes, measure?: Measure,
 *   given: Parameters<import('../core/core.js').Core['encode']>[4] }} EncodeTask of [weights]
 * @typedef {{ call: 'decode', plan: PlanBytes, band: BandStruct, sizes: Sizes, fake: boolean,
 *   dtype: 'f32' | 'f16' | 'bf16' }} DecodeTask of the planes; dtype: of the result
 * @typedef {{ nplanes: number, workspace_nbytes: number }} Sizes of the plan
 * @typedef {RangeTask | EncodeTask | DecodeTask} Task
 * @typedef {{ report: Report, range: Range, planes: Uint8Array[], measured?: Measured, bytes: Uint8Array }} Done range: of a
 *   range task; planes, measured: of an encode task; bytes: of a decode task
 */

/** A struct bq_report of nothing. */
export const emptyReport = () => ({
	fused_values: 0,
	generic_values: 0,
	overflow_blocks: 0,
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
 * Runs a task on the core of this thread.
 * @param {Task} task
 * @param {Uint8Array[]} inputs
 * @returns {Done}
 */
export function perform(task, inputs) {
	const core = theCore();
	const { plan, band } = task;
	const report = emptyReport();
	const done = /** @type {Done} */ ({ report });
	if (task.call === 'range') {
		done.range = emptyRange();
		core.range(plan, task.sizes, band, inputs[0], task.given, done.range, report);
	} else if (task.call === 'encode') {
		done.planes = core.encode(plan, task.sizes, band, inputs[0], task.given, report);
		if (task.measure) done.measured = measured(task.measure, inputs[0], done.planes);
	} else {
		const values = core.decode(plan, task.sizes, band, inputs, task.fake, report);
		done.bytes = narrowed(values, task.dtype);
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
	const comparer = new Comparer();
	comparer.add(widened(weights, dtype), values);
	return comparer;
}

/**
 * @param {Uint8Array} bytes little-endian values, at any offset of their buffer
 * @param {'f32' | 'f16' | 'bf16'} dtype
 */
export function widened(bytes, dtype) {
	const count = bytes.byteLength / (dtype === 'f32' ? 4 : 2);
	const wide = dtype === 'f32' ? bytes.slice() : theCore().convert(dtype, 'f32', count, bytes, count * 4);
	if (wide === null) throw new BlockQuantError('internal', `no conversion from ${dtype}`);
	return new Float32Array(wide.buffer, 0, count);
}

/**
 * @param {Float32Array} values
 * @param {'f32' | 'f16' | 'bf16'} dtype
 * @returns {Uint8Array}
 */
export function narrowed(values, dtype) {
	if (dtype === 'f32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
	const narrow = theCore().convert('f32', dtype, values.length, values, values.length * 2);
	if (narrow === null) throw new BlockQuantError('internal', `no conversion to ${dtype}`);
	return narrow;
}
