// job.js - one tensor through the core, band by band: the way that arrays and files share.
// SPDX-License-Identifier: MIT

import { NBYTES } from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { isObject } from '../problems.js';
import { Comparer } from './compare.js';
import { GivenParameters } from './parameters.js';
import { bandsOf, cellsOf, planTensor } from './plan.js';
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
 * @property {Float32Array | 'ones'} [imatrix] one importance per column, or one row of them per item of the first axis; all 1
 * @property {{ min: Float32Array, max: Float32Array }} [ranges] of each cell of the innermost scale
 * @property {import('./parameters.js').Parameters} [parameters] of every cell: stored as they are, and the values made against what
 *   they decode to; or of the tensor-wide outer levels alone
 * @property {'error' | 'allow'} [overflow]
 * @property {'error' | 'allow'} [nonfinite]
 * @property {boolean} [correct]
 */

/** @param {unknown} array @param {string} name @returns {Float32Array} */
function finiteNumbers(array, name) {
	const plain = plainArray(array, ['Float32Array']);
	if (!plain) throw new BlockQuantError('bad-argument', `${name}: expected a Float32Array, not detached`);
	const at = plain.findIndex((x) => !Number.isFinite(x));
	if (at >= 0)
		throw new BlockQuantError('bad-argument', `${name}: ${plain[at]} at index ${at}; expected finite numbers`);
	return plain;
}

/** @param {TensorOptions} options @param {any} plan @returns {{ importance: Float32Array, nimportance: number }} rows of one per column */
function importanceOf({ imatrix, shape, scheme }, plan) {
	const cols = shape[shape.length - 1];
	const importance = imatrix === 'ones' ? new Float32Array(cols).fill(1) : finiteNumbers(imatrix, 'imatrix');
	if (!plan.takes_importance)
		throw new BlockQuantError('bad-argument', `imatrix: ${scheme.name ?? 'this scheme'} makes no use of one`);
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
	if (!isObject(ranges))
		throw new BlockQuantError('bad-argument', `ranges: expected { min, max }, got ${shown(ranges)}`);
	const cells = cellsOf(plan);
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

/** Whether a scheme says all of its ranges itself. @param {Scheme} scheme */
const isFixed = ({ observer }) => observer?.range?.every((end) => end !== null) ?? false;

/** The ranges that a scheme says itself. @param {Scheme} scheme @param {any} plan @returns {TensorOptions['ranges']} */
function fixedRanges(scheme, plan) {
	const { range } = scheme.observer ?? {};
	if (!range) return undefined;
	if (!isFixed(scheme))
		throw new BlockQuantError(
			'bad-argument',
			'scheme.observer.range fixes one end: expected the ranges of an observer, which measures the other',
		);
	const [min, max] = range.map((end) => new Float32Array(cellsOf(plan)).fill(/** @type {number} */ (end)));
	return { min, max };
}

/**
 * Quantizes one tensor: range() and encode() at once; or the tasks of its bands, done anywhere in any order, and their
 * results taken in the order of the bands, which decides what the first error is.
 */
export class TensorJob {
	#options;
	/** @type {{ importance?: Float32Array, nimportance?: number, lo?: Float32Array, hi?: Float32Array }} */
	#more = {};
	/** @type {GivenParameters | undefined} */
	#parameters;
	#range = emptyRange();
	#report = emptyReport();
	/** @type {{ decoder: Decoder, comparer: Comparer } | undefined} */
	#meter;

	/** @param {TensorOptions} options */
	constructor(options) {
		/** The core's plan and its bytes. */
		this.planned = planTensor(options.scheme, options.shape, options.dtype);
		// Ranges that are not the weights' are numbers of float32, and so are the scales made of them.
		const correct = isFixed(options.scheme) || options.correct;
		this.#options = { ...options, correct };
		const { plan } = this.planned;
		if (options.imatrix !== undefined) this.#more = importanceOf(options, plan);
		else if (plan.needs_importance)
			throw new BlockQuantError(
				'needs-importance',
				`${options.scheme.name} is not made without an importance matrix: give one as imatrix, or 'ones' to weigh all columns alike`,
			);
		const ranges = options.ranges === undefined ? fixedRanges(options.scheme, plan) : options.ranges;
		if (ranges !== undefined) {
			const { lo, hi } = rangesOf(ranges, plan);
			this.#more = { ...this.#more, lo, hi };
		}
		if (options.parameters !== undefined)
			this.#parameters = new GivenParameters(options.parameters, this.planned.plan, options.nonfinite);
		if (this.#parameters?.ofBlocks && options.ranges !== undefined)
			throw new BlockQuantError('bad-argument', 'parameters, ranges of blocks: expected one of them, not both');
		this.planes = this.planned.planes;
		this.nbytes = this.planned.plan.nbytes;
		/** 2: call range() for every band before the first encode(). */
		this.passes = this.#parameters ? 1 : this.planned.plan.passes;
	}

	/** @param {number} maxBytes of weights; a band is at least one step */
	bands(maxBytes) {
		return bandsOf(this.planned, maxBytes);
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

	/** What is given with a band's weights. @param {Band} band @returns {import('../core/types.js').Given} */
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
		const { plan, bytes } = this.planned;
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
		const { plan, bytes } = this.planned;
		const given = {
			...this.#givenOf(band),
			range: this.passes === 2 ? this.#range : undefined,
			parameters: this.#parameters?.ofBand(band.struct),
		};
		const { dtype } = this.#options;
		const measure = this.#meter && { dtype, decode: this.#meter.decoder.task(band) };
		return { call: 'encode', plan: bytes, sizes: sizesOf(plan), band: band.struct, given, measure };
	}

	/** @param {Pick<Done, 'report' | 'measured'>} done of the next band */
	takeEncoded({ report, measured }) {
		if (measured) this.#meter?.comparer.merge(measured);
		addReport(this.#report, report);
		this.#refuseNonfinite();
		const [lost] = this.#lost();
		if (lost && this.#options.overflow !== 'allow') throw new BlockQuantError('overflow', lost);
	}

	/** What became of blocks that their format cannot hold. */
	#lost() {
		const { overflow_blocks: overflow, heavy_blocks: heavy } = this.#report;
		const limit = "times the square of a block's largest weight (1 at least), 1.44e17 at most";
		return [
			...(overflow ? [`${overflow} block(s) have a scale that ${this.#floatLevels()} cannot hold`] : []),
			...(heavy ? [`${heavy} block(s) have importance too large to search with; expected, ${limit}`] : []),
		];
	}

	#floatLevels() {
		const { scheme, dtype } = this.#options;
		// Codes of a nested level are made to fit; it is float levels that overflow.
		const levels = scheme.scales.map((level) => (level.dtype === 'input' ? dtype : level.dtype));
		const floats = new Set(levels.filter((level) => !/^[iu]\d/.test(level)));
		return [...floats].join(' or ');
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
		warnings.push(...this.#lost());
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

/** @param {any} plan @returns {import('../core/types.js').Sizes} */
export const sizesOf = ({ nplanes, workspace_nbytes, tables_nbytes, scheme: { fused } }) => ({
	...{ nplanes, workspace_nbytes, tables_nbytes, fused },
});
