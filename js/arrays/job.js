// job.js - one tensor through the core, band by band: the way that arrays and files share.
// SPDX-License-Identifier: MIT

import { NBYTES } from '../core/abi.js';
import { BlockQuantError } from '../errors.js';
import { presetOf } from '../presets.js';
import { bandsOf, planTensor } from './plan.js';
import { addRange, addReport, emptyRange, emptyReport, perform } from './task.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./plan.js').Band} Band */
/** @typedef {import('./task.js').Done} Done */

/**
 * @typedef {object} TensorOptions
 * @property {Scheme} scheme
 * @property {number[]} shape
 * @property {'f32' | 'f16' | 'bf16'} dtype of the weights
 * @property {Float32Array} [imatrix] one importance per column, or one row of them per item of the first axis
 * @property {{ min: Float32Array, max: Float32Array }} [ranges] of each cell of the innermost scale
 * @property {'error' | 'allow'} [overflow]
 * @property {'error' | 'allow'} [nonfinite]
 * @property {boolean} [correct]
 */

const policies = ['error', 'allow'];

/** @param {string} name @param {unknown} policy */
function checkPolicy(name, policy) {
	if (policy !== undefined && !policies.includes(/** @type {string} */ (policy)))
		throw new BlockQuantError(
			'bad-argument',
			`${name}: expected 'error' or 'allow', got ${JSON.stringify(policy)}`,
		);
}

/** @param {unknown} array @param {string} name @returns {asserts array is Float32Array} */
function checkFinite(array, name) {
	if (!(array instanceof Float32Array)) throw new BlockQuantError('bad-argument', `${name}: expected a Float32Array`);
	const at = array.findIndex((x) => !Number.isFinite(x));
	if (at >= 0)
		throw new BlockQuantError('bad-argument', `${name}: ${array[at]} at index ${at}; expected finite numbers`);
}

/** @param {Float32Array} imatrix @param {number[]} shape @param {Scheme} scheme @returns {number} rows of it */
function checkImatrix(imatrix, shape, scheme) {
	checkFinite(imatrix, 'imatrix');
	if (!presetOf(scheme)?.struct.fused)
		throw new BlockQuantError('bad-argument', `imatrix: ${scheme.name ?? 'this scheme'} makes no use of one`);
	const cols = shape[shape.length - 1];
	const experts = shape.length === 3 ? shape[0] : 1;
	if (imatrix.length !== cols && imatrix.length !== experts * cols)
		throw new BlockQuantError(
			'bad-argument',
			`imatrix: expected ${cols} numbers${experts > 1 ? ` or ${experts} x ${cols}` : ''}, got ${imatrix.length}`,
		);
	return imatrix.length / cols;
}

/** @param {{ min: Float32Array, max: Float32Array }} ranges @param {any} plan */
function checkRanges(ranges, plan) {
	const grid = plan.plane.find((/** @type {any} */ plane) => plane.role === 1);
	const cells = grid
		? grid.dims.slice(0, grid.rank).reduce((/** @type {number} */ n, /** @type {number} */ d) => n * d, 1)
		: plan.nvalues / plan.group;
	for (const end of /** @type {const} */ (['min', 'max'])) {
		checkFinite(ranges[end], `ranges.${end}`);
		if (ranges[end].length !== cells)
			throw new BlockQuantError(
				'bad-argument',
				`ranges.${end}: expected ${cells} numbers, one for each block, got ${ranges[end].length}`,
			);
	}
}

/**
 * Quantizes one tensor: range() and encode() at once; or the tasks of its bands, done anywhere in any order, and their
 * results taken in the order of the bands, which decides what the first error is.
 */
export class TensorJob {
	#planned;
	#options;
	#nimportance = 0;
	#range = emptyRange();
	#report = emptyReport();

	/** @param {TensorOptions} options */
	constructor(options) {
		checkPolicy('overflow', options.overflow);
		checkPolicy('nonfinite', options.nonfinite);
		this.#planned = planTensor(options.scheme, options.shape, options.dtype);
		this.#options = options;
		if (options.imatrix) this.#nimportance = checkImatrix(options.imatrix, options.shape, options.scheme);
		if (options.ranges) {
			checkRanges(options.ranges, this.#planned.plan);
			for (const lo of options.ranges.min) this.#range.lo = Math.min(this.#range.lo, lo);
			for (const hi of options.ranges.max) this.#range.hi = Math.max(this.#range.hi, hi);
		}
		this.planes = this.#planned.planes;
		this.nbytes = this.#planned.plan.nbytes;
		/** 2: call range() for every band before the first encode(). */
		this.passes = options.ranges ? 1 : this.#planned.plan.passes;
	}

	/** @param {number} maxBytes of weights; a band is at least one step */
	bands(maxBytes) {
		return bandsOf(this.#planned, maxBytes);
	}

	/** @param {Band} band @param {Uint8Array} weights */
	#check(band, weights) {
		const expected = band.nvalues * NBYTES[this.#options.dtype];
		if (weights.byteLength !== expected)
			throw new BlockQuantError('internal', `a band of ${expected} bytes got ${weights.byteLength}`);
	}

	/** The first pass over a band. @param {Band} band @param {Uint8Array} weights its bytes */
	range(band, weights) {
		this.#check(band, weights);
		this.takeRange(perform(this.rangeTask(band), [weights]));
	}

	/** @param {Band} band @returns {import('./task.js').RangeTask} */
	rangeTask(band) {
		return { call: 'range', plan: this.#planned.bytes, band: band.struct };
	}

	/** @param {Done} done of the next band */
	takeRange({ range, report }) {
		addRange(this.#range, range);
		addReport(this.#report, report);
		this.#refuseNonfinite();
	}

	/**
	 * The bytes of a band in every plane, to be written at band.planes[p].offset.
	 * @param {Band} band
	 * @param {Uint8Array} weights its bytes
	 * @returns {Uint8Array[]}
	 */
	encode(band, weights) {
		this.#check(band, weights);
		const done = perform(this.encodeTask(band), [weights]);
		this.takeEncoded(done);
		return done.planes;
	}

	/** Only after the last takeRange(), if there are two passes. @param {Band} band @returns {import('./task.js').EncodeTask} */
	encodeTask(band) {
		const { plan, bytes } = this.#planned;
		const { imatrix, ranges, correct } = this.#options;
		const { cell_offset: cell, ncells } = band.struct;
		const more = {
			importance: imatrix,
			nimportance: this.#nimportance,
			range: plan.passes === 2 ? this.#range : undefined,
			// Copies: a subarray would be posted with all of its buffer.
			lo: ranges?.min.slice(cell, cell + ncells),
			hi: ranges?.max.slice(cell, cell + ncells),
			correct,
		};
		return { call: 'encode', plan: bytes, sizes: sizesOf(plan), band: band.struct, more };
	}

	/** @param {Pick<Done, 'report'>} done of the next band */
	takeEncoded({ report }) {
		addReport(this.#report, report);
		this.#refuseNonfinite();
		if (this.#report.overflow_blocks && this.#options.overflow !== 'allow')
			throw new BlockQuantError('overflow', this.#overflowText());
	}

	#overflowText() {
		const { scheme, dtype } = this.#options;
		// Codes of a nested level are made to fit; it is their outermost level that overflows.
		const level = scheme.scales.find((each) => !/^[iu]\d/.test(each.dtype))?.dtype;
		return `${this.#report.overflow_blocks} block(s) have a scale that ${level === 'input' ? dtype : level} cannot hold`;
	}

	#refuseNonfinite() {
		const { nonfinite_values: count, first_nonfinite: first } = this.#report;
		if (count && this.#options.nonfinite !== 'allow')
			throw new BlockQuantError(
				'nonfinite',
				`NaN or infinite weight at index ${first}${count > 1 ? ` and ${count - 1} more by then` : ''}; expected finite weights`,
			);
	}

	/** What happened: which path ran, and what was allowed. */
	finish() {
		const { nonfinite_values: nonfinite, overflow_blocks: overflow } = this.#report;
		const warnings = [];
		if (nonfinite) warnings.push(`${nonfinite} NaN or infinite weight(s)`);
		if (overflow) warnings.push(this.#overflowText());
		return {
			fusedValues: this.#report.fused_values,
			genericValues: this.#report.generic_values,
			overflowBlocks: overflow,
			nonfiniteValues: nonfinite,
			warnings,
		};
	}
}

/** @param {TensorOptions} options */
export const tensorJob = (options) => new TensorJob(options);

/** @param {any} plan @returns {import('./task.js').Sizes} */
export const sizesOf = ({ nplanes, workspace_nbytes }) => ({ nplanes, workspace_nbytes });
