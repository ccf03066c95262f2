// job.js - one tensor through the core, band by band: the way that arrays and files share.
// SPDX-License-Identifier: MIT

import { NBYTES, ROLES } from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { presetOf } from '../presets.js';
import { Comparer } from './compare.js';
import { parametersOf } from './parameters.js';
import { MAX_BAND, bandsOf, planTensor } from './plan.js';
import { addRange, addReport, emptyRange, emptyReport, perform } from './task.js';
import { plainArray } from './typed.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./plan.js').Band} Band */
/** @typedef {import('./task.js').Done} Done */
/** @typedef {Pick<import('./decode-job.js').DecodeJob, 'task'>} Decoder */

/**
 * @typedef {object} TensorOptions
 * @property {Scheme} scheme
 * @property {number[]} shape
 * @property {'f32' | 'f16' | 'bf16'} dtype of the weights
 * @property {Float32Array} [imatrix] one importance per column, or one row of them per item of the first axis
 * @property {{ min: Float32Array, max: Float32Array }} [ranges] of each cell of the innermost scale
 * @property {import('./parameters.js').Parameters} [parameters] codes of every level, in place of parameters made of the weights
 * @property {'error' | 'allow'} [overflow]
 * @property {'error' | 'allow'} [nonfinite]
 * @property {boolean} [correct]
 */

const policies = ['error', 'allow'];

/** @param {string} name @param {unknown} policy */
function checkPolicy(name, policy) {
	if (policy !== undefined && !policies.includes(/** @type {string} */ (policy)))
		throw new BlockQuantError('bad-argument', `${name}: expected 'error' or 'allow', got ${shown(policy)}`);
}

/** @param {unknown} array @param {string} name @returns {Float32Array} */
function finiteNumbers(array, name) {
	const plain = plainArray(array, ['Float32Array']);
	if (!plain) throw new BlockQuantError('bad-argument', `${name}: expected a Float32Array, not detached`);
	const at = plain.findIndex((x) => !Number.isFinite(x));
	if (at >= 0)
		throw new BlockQuantError('bad-argument', `${name}: ${plain[at]} at index ${at}; expected finite numbers`);
	return plain;
}

/** Whether a scheme's calibration heeds importance. @param {Scheme} scheme */
const isWeighted = ({ calibration }) =>
	calibration === 'mse' || (typeof calibration === 'object' && 'mse' in calibration);

/** @param {TensorOptions} options @returns {{ importance: Float32Array, nimportance: number }} rows of one per column */
function importanceOf({ imatrix, shape, scheme }) {
	const importance = finiteNumbers(imatrix, 'imatrix');
	if (!presetOf(scheme)?.struct.fused && !isWeighted(scheme))
		throw new BlockQuantError('bad-argument', `imatrix: ${scheme.name ?? 'this scheme'} makes no use of one`);
	const cols = shape[shape.length - 1];
	const experts = shape.at(-3) ?? 1;
	if (importance.length !== cols && importance.length !== experts * cols) {
		const or = experts > 1 ? ` or ${experts} x ${cols}` : '';
		throw new BlockQuantError('bad-argument', `imatrix: expected ${cols} numbers${or}, got ${importance.length}`);
	}
	const negative = importance.findIndex((x) => x < 0);
	if (negative >= 0)
		throw new BlockQuantError(
			'bad-argument',
			`imatrix: ${importance[negative]} at index ${negative}; expected none below 0`,
		);
	if (!importance.some((x) => x > 0))
		throw new BlockQuantError('bad-argument', 'imatrix: all 0; some column must matter');
	// A copy: a part of a larger array would be posted with all of its buffer.
	return { importance: importance.slice(), nimportance: importance.length / cols };
}

/** @param {TensorOptions['ranges']} ranges @param {any} plan */
function rangesOf(ranges, plan) {
	if (!ranges || typeof ranges !== 'object')
		throw new BlockQuantError('bad-argument', 'ranges: expected { min, max }');
	const grid = plan.plane.find((/** @type {any} */ plane) => ROLES[plane.role] === 'scales.0');
	const cells = grid
		? grid.dims.slice(0, grid.rank).reduce((/** @type {number} */ n, /** @type {number} */ dim) => n * dim, 1)
		: plan.nvalues / plan.group;
	const [lo, hi] = /** @type {const} */ (['min', 'max']).map((end) => {
		const numbers = finiteNumbers(ranges[end], `ranges.${end}`);
		if (numbers.length === cells) return numbers;
		throw new BlockQuantError(
			'bad-argument',
			`ranges.${end}: expected ${cells} numbers, one for each block, got ${numbers.length}`,
		);
	});
	return { lo, hi };
}

/**
 * Quantizes one tensor: range() and encode() at once; or the tasks of its bands, done anywhere in any order, and their
 * results taken in the order of the bands, which decides what the first error is.
 */
export class TensorJob {
	#planned;
	#options;
	/** @type {{ importance?: Float32Array, nimportance?: number, lo?: Float32Array, hi?: Float32Array }} */
	#more = {};
	/** @type {((band: Band) => (Uint8Array | undefined)[]) | undefined} */
	#parameters;
	#range = emptyRange();
	#report = emptyReport();
	/** @type {{ decoder: Decoder, comparer: Comparer } | undefined} */
	#meter;

	/** @param {TensorOptions} options */
	constructor(options) {
		checkPolicy('overflow', options.overflow);
		checkPolicy('nonfinite', options.nonfinite);
		this.#planned = planTensor(options.scheme, options.shape, options.dtype);
		this.#options = options;
		if (options.imatrix !== undefined) this.#more = importanceOf(options);
		if (options.parameters !== undefined)
			this.#parameters = parametersOf(options.parameters, this.#planned.plan, bandsOf(this.#planned, MAX_BAND));
		if (options.ranges !== undefined) {
			const { lo, hi } = rangesOf(options.ranges, this.#planned.plan);
			this.#more = { ...this.#more, lo, hi };
		}
		this.planes = this.#planned.planes;
		this.nbytes = this.#planned.plan.nbytes;
		/** 2: call range() for every band before the first encode(). */
		this.passes = this.#parameters ? 1 : this.#planned.plan.passes;
	}

	/** @param {number} maxBytes of weights; a band is at least one step */
	bands(maxBytes) {
		return bandsOf(this.#planned, maxBytes);
	}

	/**
	 * From now on each band is decoded when it is encoded, and compared with its weights.
	 * @param {Decoder} decoder of the same planes
	 * @returns {Comparer} adds up what the bands differ by
	 */
	measure(decoder) {
		this.#meter = { decoder, comparer: new Comparer() };
		return this.#meter.comparer;
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

	/** What is given with a band's weights. @param {Band} band @returns {import('../core/core.js').Given} */
	#givenOf(band) {
		const { importance, nimportance, lo, hi } = this.#more;
		const [cell] = band.struct.cell_offset;
		const end = cell + band.struct.ncells[0];
		// Copies: a subarray would be posted with all of its buffer.
		return {
			importance,
			nimportance,
			lo: lo?.slice(cell, end),
			hi: hi?.slice(cell, end),
			correct: this.#options.correct,
		};
	}

	/** @param {Band} band @returns {import('./task.js').RangeTask} */
	rangeTask(band) {
		const { plan, bytes } = this.#planned;
		return { call: 'range', plan: bytes, sizes: sizesOf(plan), band: band.struct, given: this.#givenOf(band) };
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
		const range = this.passes === 2 ? this.#range : undefined;
		const given = { ...this.#givenOf(band), range, parameters: this.#parameters?.(band) };
		const { dtype } = this.#options;
		const measure = this.#meter && { dtype, decode: this.#meter.decoder.task(band) };
		return { call: 'encode', plan: bytes, sizes: sizesOf(plan), band: band.struct, given, measure };
	}

	/** @param {Pick<Done, 'report' | 'measured'>} done of the next band */
	takeEncoded({ report, measured }) {
		if (measured) this.#meter?.comparer.merge(measured);
		addReport(this.#report, report);
		this.#refuseNonfinite();
		if (this.#report.overflow_blocks && this.#options.overflow !== 'allow')
			throw new BlockQuantError('overflow', this.#overflowText());
	}

	#overflowText() {
		const { scheme, dtype } = this.#options;
		// Codes of a nested level are made to fit; it is float levels that overflow.
		const levels = scheme.scales.map((level) => (level.dtype === 'input' ? dtype : level.dtype));
		const floats = levels.filter((level) => !/^[iu]\d/.test(level));
		return `${this.#report.overflow_blocks} block(s) have a scale that ${floats.join(' or ')} cannot hold`;
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
