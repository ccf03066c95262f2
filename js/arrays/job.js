// job.js - one tensor through the core, band by band: the way that arrays and files share.
// SPDX-License-Identifier: MIT

import { NBYTES } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { presetOf } from '../presets.js';
import { bandsOf, planTensor } from './plan.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./plan.js').Band} Band */

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

/** Quantizes one tensor. Synchronous. */
export class TensorJob {
	#planned;
	#options;
	#nimportance = 0;
	#range = { lo: 0, hi: 0, seen: 0 };
	#report = { fused_values: 0, generic_values: 0, overflow_blocks: 0, nonfinite_values: 0, first_nonfinite: 0 };

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
		theCore().range(this.#planned.bytes, band.struct, weights, this.#range, this.#report);
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
		const { imatrix, ranges, correct } = this.#options;
		const { cell_offset: cell, ncells } = band.struct;
		const more = {
			importance: imatrix,
			nimportance: this.#nimportance,
			range: this.#planned.plan.passes === 2 ? this.#range : undefined,
			lo: ranges?.min.subarray(cell, cell + ncells),
			hi: ranges?.max.subarray(cell, cell + ncells),
			correct,
		};
		const planes = theCore().encode(
			this.#planned.bytes,
			this.#planned.plan,
			band.struct,
			weights,
			more,
			this.#report,
		);
		this.#refuseNonfinite();
		if (this.#report.overflow_blocks && this.#options.overflow !== 'allow')
			throw new BlockQuantError('overflow', this.#overflowText());
		return planes;
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

/** @param {import('../layouts.js').PlaneInfo} expected @param {{ name: string, dtype: string, shape: number[], nbytes: number } | undefined} given */
function checkPlane(expected, given) {
	const said = (/** @type {any} */ plane) => `${plane.dtype} [${plane.shape.join(', ')}], ${plane.nbytes} bytes`;
	if (!given) throw new BlockQuantError('bad-shape', `plane ${expected.name} is missing; expected ${said(expected)}`);
	if (said(given) !== said(expected))
		throw new BlockQuantError('bad-shape', `plane ${expected.name} is ${said(given)}; expected ${said(expected)}`);
}

/** Decodes one tensor. Synchronous. */
export class DecodeJob {
	#planned;
	#fake;
	#report = { fused_values: 0, generic_values: 0 };

	/**
	 * @param {object} options
	 * @param {Scheme} options.scheme
	 * @param {number[]} options.shape of the weights
	 * @param {{ name: string, dtype: string, shape: number[], nbytes: number }[]} options.planes
	 * @param {'f32' | 'f16' | 'bf16'} [options.dtype] of the weights; by default that of an `input` scale plane
	 * @param {boolean} [options.fake] the fake quantizer's values, in dtype
	 */
	constructor({ scheme, shape, planes, dtype, fake = false }) {
		const byName = new Map(planes.map((plane) => [plane.name, plane]));
		const scale = byName.get('weight_scale') ?? byName.get('scales.0');
		const weights = dtype ?? WEIGHT_DTYPES[scale?.dtype ?? ''] ?? 'f32';
		this.#planned = planTensor(scheme, shape, weights);
		this.#fake = fake;
		/** The planes in the order that decode() takes them. */
		this.planes = this.#planned.planes;
		for (const plane of this.planes) checkPlane(plane, byName.get(plane.name));
	}

	/** @param {number} maxBytes of float32 values; a band is at least one step */
	bands(maxBytes) {
		return bandsOf(this.#planned, (maxBytes / 4) * NBYTES[this.#inputDtype()]);
	}

	#inputDtype() {
		return ['f32', 'f16', 'bf16'][this.#planned.plan.input - 1];
	}

	/** @param {Band} band @param {Uint8Array[]} planes the bytes of each plane that band.planes says */
	decode(band, planes) {
		return theCore().decode(this.#planned.bytes, this.#planned.plan, band.struct, planes, this.#fake, this.#report);
	}

	/** Which path ran. */
	finish() {
		return { fusedValues: this.#report.fused_values, genericValues: this.#report.generic_values };
	}
}

/** @param {ConstructorParameters<typeof DecodeJob>[0]} options */
export const decodeJob = (options) => new DecodeJob(options);
