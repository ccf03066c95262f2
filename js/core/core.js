// core.js - core.wasm from the inside: the calls of include/blockquant.h. Nothing that it returns is a view of wasm memory.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import {
	Band,
	DTYPES,
	FIELDS,
	KERNELS,
	MAX_PROBLEMS,
	MAX_RANK,
	Plan,
	Problem,
	Report,
	STATUSES,
	Scheme,
	TensorRange,
} from './abi.js';
import { Arena } from './arena.js';
import { statusText } from './status.js';

/** @import { BandStruct, Broken, Given, PlanBytes, Sizes } from './types.js' */

/** One instance of the module. Its memory beyond the C stack and the tables is one arena, used anew by every call. */
export class Core {
	/** @type {any} */
	#exports;
	#arena;

	/**
	 * @param {WebAssembly.Instance} instance
	 * @param {'scalar' | 'simd128'} kernels
	 */
	constructor(instance, kernels) {
		this.#exports = instance.exports;
		this.#exports._initialize?.();
		this.#arena = new Arena(this.#exports.memory, this.#exports.__heap_base.value >>> 0);
		this.kernels = KERNELS.indexOf(kernels);
		if (this.kernels < 0 || !(this.#exports.bq_kernel_rows() & (1 << this.kernels)))
			throw new BlockQuantError('bad-argument', `kernels: no ${shown(kernels)} in this build`);
	}

	/** The table of presets. @returns {{ name: string, description: string, scheme: any }[]} */
	presets() {
		const presets = [];
		for (let at, i = 0; (at = this.#exports.bq_preset_at(i)); i++) {
			const view = this.#arena.view();
			presets.push({
				name: this.#arena.string(view.getUint32(at, true)),
				description: this.#arena.string(view.getUint32(at + 4, true)),
				scheme: Scheme.read(view, at + 8),
			});
		}
		return presets;
	}

	/** @param {any} scheme struct bq_scheme as an object @param {string} input @returns {number} */
	bitsPerWeight(scheme, input) {
		return this.#arena.scope(() =>
			this.#exports.bq_bits_per_weight(this.#arena.putStruct(Scheme, scheme), DTYPES.indexOf(input)),
		);
	}

	/**
	 * Lays a tensor out.
	 * @param {any} scheme struct bq_scheme as an object; table: the values of its codebook, if it has one
	 * @param {string} input dtype of the weights
	 * @param {number[]} shape
	 * @returns {{ broken: Broken[], plan: any, bytes: PlanBytes }} broken: every rule that is; plan: struct bq_plan as an
	 *   object, only if there is none
	 */
	plan(scheme, input, shape) {
		return this.#arena.scope(() => {
			const schemeAt = this.#arena.putStruct(Scheme, scheme);
			const tableAt = this.#arena.put(scheme.table);
			const dimsAt = this.#arena.take(8 * MAX_RANK);
			const planAt = this.#arena.take(Plan.size);
			const problemsAt = this.#arena.take(MAX_PROBLEMS * Problem.size);
			const dtype = DTYPES.indexOf(input);
			const view = this.#arena.view();
			shape.slice(0, MAX_RANK).forEach((dim, i) => view.setBigUint64(dimsAt + 8 * i, BigInt(dim), true));
			const { bq_plan, bq_check } = this.#exports;
			const broken = bq_plan(schemeAt, tableAt, dtype, this.kernels, shape.length, dimsAt, planAt)
				? bq_check(schemeAt, tableAt, dtype, shape.length, dimsAt, problemsAt)
				: 0;
			return {
				broken: Array.from({ length: broken }, (_, i) => {
					const { status, field } = Problem.read(this.#arena.view(), problemsAt + i * Problem.size);
					return { rule: STATUSES[status], field: FIELDS[field] };
				}),
				plan: Plan.read(this.#arena.view(), planAt),
				bytes: /** @type {PlanBytes} */ (this.#arena.bytes(planAt, Plan.size).slice()),
			};
		});
	}

	/** @param {PlanBytes} plan @param {number} firstStep @param {number} maxBytes of input @returns {BandStruct} */
	band(plan, firstStep, maxBytes) {
		return this.#arena.scope(() => {
			const at = this.#arena.take(Band.size);
			this.#exports.bq_band(this.#arena.put(plan), BigInt(firstStep), Math.min(maxBytes, 2 ** 31), at);
			return Band.read(this.#arena.view(), at);
		});
	}

	/**
	 * Merges what a band says of the tensor into range and its counts into report.
	 * @param {PlanBytes} plan
	 * @param {{ workspace_nbytes: number }} sizes of the same plan
	 * @param {BandStruct} band
	 * @param {Uint8Array} weights
	 * @param {Given} given
	 * @param {any} range
	 * @param {any} report
	 */
	range(plan, sizes, band, weights, given, range, report) {
		this.#arena.scope(() => {
			const rangeAt = this.#arena.putStruct(TensorRange, range);
			const reportAt = this.#arena.putStruct(Report, report);
			const planAt = this.#arena.put(plan);
			const bandAt = this.#arena.putStruct(Band, band);
			const weightsAt = this.#arena.put(weights);
			const importanceAt = this.#arena.put(given.importance);
			const loAt = this.#arena.put(given.lo);
			const hiAt = this.#arena.put(given.hi);
			const workspaceAt = this.#arena.take(sizes.workspace_nbytes);
			this.#exports.bq_range(
				...[planAt, bandAt, weightsAt, importanceAt, given.nimportance ?? 0, loAt, hiAt],
				...[given.correct ? 1 : 0, workspaceAt, rangeAt, reportAt],
			);
			Object.assign(range, TensorRange.read(this.#arena.view(), rangeAt));
			Object.assign(report, Report.read(this.#arena.view(), reportAt));
		});
	}

	/** Memory for every plane of a band, and an array of pointers to them. @param {BandStruct} band @param {number} nplanes */
	#planes(band, nplanes) {
		const at = Array.from({ length: nplanes }, (_, i) => this.#arena.take(band.plane_nbytes[i]));
		return { at, table: this.#arena.putTable(at) };
	}

	/**
	 * Quantizes a band.
	 * @param {PlanBytes} plan
	 * @param {Sizes} sizes of the same plan
	 * @param {BandStruct} band
	 * @param {Uint8Array} weights
	 * @param {Given & { range?: any, parameters?: (Uint8Array | undefined)[] }} given range: after a first pass; parameters: codes of each
	 *   level's cells of the band, by role
	 * @param {any} report
	 * @returns {Uint8Array[]} the bytes of each plane
	 */
	encode(plan, sizes, band, weights, given, report) {
		const prepare = (/** @type {number} */ at) => this.#exports.bq_prepare(this.#arena.put(plan), at);
		const tablesAt = this.#arena.kept(sizes.fused, sizes.tables_nbytes, prepare);
		return this.#arena.scope(() => {
			const reportAt = this.#arena.putStruct(Report, report);
			const planAt = this.#arena.put(plan);
			const bandAt = this.#arena.putStruct(Band, band);
			const weightsAt = this.#arena.put(weights);
			const importanceAt = this.#arena.put(given.importance);
			const rangeAt = given.range ? this.#arena.putStruct(TensorRange, given.range) : 0;
			const loAt = this.#arena.put(given.lo);
			const hiAt = this.#arena.put(given.hi);
			const givenAt = given.parameters
				? this.#arena.putTable(given.parameters.map((codes) => this.#arena.put(codes)))
				: 0;
			const planes = this.#planes(band, sizes.nplanes);
			const workspaceAt = this.#arena.take(sizes.workspace_nbytes);
			const status = this.#exports.bq_encode(
				...[planAt, bandAt, weightsAt, importanceAt, given.nimportance ?? 0, rangeAt, loAt, hiAt, givenAt],
				...[given.correct ? 1 : 0, tablesAt, planes.table, workspaceAt, reportAt],
			);
			if (status) throw new BlockQuantError('bad-scheme', statusText(STATUSES[status]));
			Object.assign(report, Report.read(this.#arena.view(), reportAt));
			return planes.at.map((at, i) => this.#arena.bytes(at, band.plane_nbytes[i]).slice());
		});
	}

	/**
	 * Decodes a band.
	 * @param {PlanBytes} plan
	 * @param {Sizes} sizes of the same plan
	 * @param {BandStruct} band
	 * @param {Uint8Array[]} planes
	 * @param {boolean} fake the fake quantizer's values instead of the decoder's
	 * @param {any} report
	 * @returns {Float32Array}
	 */
	decode(plan, sizes, band, planes, fake, report) {
		return this.#arena.scope(() => {
			const reportAt = this.#arena.putStruct(Report, report);
			const planAt = this.#arena.put(plan);
			const bandAt = this.#arena.putStruct(Band, band);
			const { at, table } = this.#planes(band, sizes.nplanes);
			planes.forEach((bytes, i) => this.#arena.bytes(at[i], bytes.length).set(bytes));
			const valuesAt = this.#arena.take(4 * band.nvalues);
			const workspaceAt = this.#arena.take(sizes.workspace_nbytes);
			this.#exports.bq_decode(planAt, bandAt, table, fake ? 1 : 0, valuesAt, workspaceAt, reportAt);
			Object.assign(report, Report.read(this.#arena.view(), reportAt));
			const values = new Float32Array(band.nvalues);
			this.#arena.get(valuesAt, values);
			return values;
		});
	}

	/**
	 * Takes codes and parameters of a band out of its planes.
	 * @param {PlanBytes} plan @param {{ nplanes: number, workspace_nbytes: number }} sizes of the same plan @param {BandStruct} band
	 * @param {Uint8Array[]} planes
	 * @param {number[]} nbytes of each part, by role
	 * @returns {Uint8Array[]} by role
	 */
	unpack(plan, sizes, band, planes, nbytes) {
		return this.#arena.scope(() => {
			const planAt = this.#arena.put(plan);
			const bandAt = this.#arena.putStruct(Band, band);
			const planesAt = this.#arena.putTable(planes.map((bytes) => this.#arena.put(bytes)));
			const parts = nbytes.map((count) => this.#arena.take(count));
			const partsAt = this.#arena.putTable(parts);
			this.#exports.bq_unpack(planAt, bandAt, planesAt, partsAt, this.#arena.take(sizes.workspace_nbytes));
			return parts.map((at, role) => this.#arena.bytes(at, nbytes[role]).slice());
		});
	}

	/**
	 * The planes of a band from its codes and parameters.
	 * @param {PlanBytes} plan @param {{ nplanes: number, workspace_nbytes: number }} sizes of the same plan @param {BandStruct} band
	 * @param {Uint8Array[]} parts by role
	 * @returns {Uint8Array[]} the bytes of each plane
	 */
	pack(plan, sizes, band, parts) {
		return this.#arena.scope(() => {
			const planAt = this.#arena.put(plan);
			const bandAt = this.#arena.putStruct(Band, band);
			const partsAt = this.#arena.putTable(parts.map((bytes) => this.#arena.put(bytes)));
			const { at, table } = this.#planes(band, sizes.nplanes);
			const workspaceAt = this.#arena.take(sizes.workspace_nbytes);
			const status = this.#exports.bq_pack(planAt, bandAt, partsAt, table, workspaceAt);
			if (status)
				throw new BlockQuantError('unsupported', 'only the kernel of its own preset writes this layout');
			return at.map((pointer, i) => this.#arena.bytes(pointer, band.plane_nbytes[i]).slice());
		});
	}

	/**
	 * Converts numbers between f32 and another float dtype; null where there is no such conversion.
	 * @param {string} from @param {string} to @param {number} count @param {ArrayBufferView} input @param {number} nbytes of the result
	 */
	convert(from, to, count, input, nbytes) {
		return this.#arena.scope(() => {
			const inputAt = this.#arena.put(input);
			const outAt = this.#arena.take(nbytes);
			const [given, wanted] = [from, to].map((name) => DTYPES.indexOf(name));
			const failed = this.#exports.bq_convert(this.kernels, given, wanted, count, inputAt, outAt);
			return failed ? null : this.#arena.bytes(outAt, nbytes).slice();
		});
	}

	/** Widens the ranges of a band's blocks. @param {PlanBytes} plan @param {{ workspace_nbytes: number }} sizes @param {BandStruct} band @param {Uint8Array} weights @param {Float32Array} lo @param {Float32Array} hi */
	observe(plan, sizes, band, weights, lo, hi) {
		this.#arena.scope(() => {
			const [planAt, weightsAt, loAt, hiAt] = [plan, weights, lo, hi].map((array) => this.#arena.put(array));
			const workspaceAt = this.#arena.take(sizes.workspace_nbytes);
			this.#exports.bq_observe(planAt, this.#arena.putStruct(Band, band), weightsAt, loAt, hiAt, workspaceAt);
			this.#arena.get(loAt, lo);
			this.#arena.get(hiAt, hi);
		});
	}

	/** Moves running towards batch. @param {string} dtype @param {number} constant @param {Float32Array} batch @param {Float32Array} running */
	average(dtype, constant, batch, running) {
		this.#arena.scope(() => {
			const runningAt = this.#arena.put(running);
			this.#exports.bq_average(
				DTYPES.indexOf(dtype),
				constant,
				running.length,
				this.#arena.put(batch),
				runningAt,
			);
			this.#arena.get(runningAt, running);
		});
	}

	/** The least value of a dtype that is not below x. @param {string} dtype @param {number} x @returns {number} */
	roundUp(dtype, x) {
		return this.#exports.bq_round_up(DTYPES.indexOf(dtype), x);
	}

	/** Adds to sums: squared error, both squares, product, and the largest error. @param {Float32Array} a @param {Float32Array} b @param {Float64Array} sums */
	compare(a, b, sums) {
		this.#arena.scope(() => {
			const sumsAt = this.#arena.put(sums);
			this.#exports.bq_compare(a.length, this.#arena.put(a), this.#arena.put(b), sumsAt);
			this.#arena.get(sumsAt, sums);
		});
	}
}
