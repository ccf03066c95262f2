// core.js - core.wasm from the inside: the only file that sees a pointer. Nothing that it returns is a view of wasm memory.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { Band, DTYPES, KERNELS, MAX_RANK, Plan, Report, STATUSES, Scheme, TensorRange } from './abi.js';

const PAGE = 65536;

/** Every array begins at a multiple of this. */
const ALIGN = 16;

/** @typedef {Uint8Array & { readonly plan: unique symbol }} PlanBytes a struct bq_plan */

/**
 * @typedef {object} BandStruct a struct bq_band
 * @property {number} first_step
 * @property {number} nsteps
 * @property {number} value_offset
 * @property {number} nvalues
 * @property {number} cell_offset
 * @property {number} ncells
 * @property {number[]} plane_offset
 * @property {number[]} plane_nbytes
 */

/** One instance of the module. Its memory beyond the C stack is one arena, used anew by every call. */
export class Core {
	/** @type {any} */
	#exports;
	#heap;
	#used = 0;

	/**
	 * @param {WebAssembly.Instance} instance
	 * @param {'scalar' | 'simd128'} kernels
	 */
	constructor(instance, kernels) {
		this.#exports = instance.exports;
		this.#exports._initialize?.();
		this.#heap = this.#exports.__heap_base.value >>> 0;
		this.kernels = KERNELS.indexOf(kernels);
		if (this.kernels < 0 || !(this.#exports.bq_kernel_rows() & (1 << this.kernels)))
			throw new BlockQuantError('bad-argument', `kernels: no ${shown(kernels)} in this build`);
	}

	/** Runs one call with an empty arena. @template T @param {() => T} call @returns {T} */
	#scope(call) {
		this.#used = this.#heap;
		return call();
	}

	/** @param {number} nbytes */
	#take(nbytes) {
		const at = Math.ceil(this.#used / ALIGN) * ALIGN;
		this.#used = at + nbytes;
		const missing = Math.ceil((this.#used - this.#exports.memory.buffer.byteLength) / PAGE);
		if (missing > 0) {
			try {
				this.#exports.memory.grow(missing);
			} catch (cause) {
				throw new BlockQuantError('out-of-memory', `no memory for ${nbytes} bytes more`, { cause });
			}
		}
		return at;
	}

	/** A fresh view: growing memory detaches the ones before. */
	#view() {
		return new DataView(this.#exports.memory.buffer);
	}

	/** @param {number} at @param {number} nbytes */
	#bytes(at, nbytes) {
		return new Uint8Array(this.#exports.memory.buffer, at, nbytes);
	}

	/** @param {ArrayBufferView | undefined} array */
	#put(array) {
		if (!array) return 0;
		const at = this.#take(array.byteLength);
		this.#bytes(at, array.byteLength).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
		return at;
	}

	/** @param {import('./structs.js').Type} type @param {any} value */
	#putStruct(type, value) {
		const at = this.#take(type.size);
		type.write(this.#view(), at, value);
		return at;
	}

	/** @param {number} at @returns {string} */
	#string(at) {
		const bytes = new Uint8Array(this.#exports.memory.buffer, at);
		return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
	}

	/** The table of presets. @returns {{ name: string, description: string, scheme: any }[]} */
	presets() {
		const presets = [];
		for (let at, i = 0; (at = this.#exports.bq_preset_at(i)); i++) {
			const view = this.#view();
			presets.push({
				name: this.#string(view.getUint32(at, true)),
				description: this.#string(view.getUint32(at + 4, true)),
				scheme: Scheme.read(view, at + 8),
			});
		}
		return presets;
	}

	/** @param {any} scheme struct bq_scheme as an object @param {string} input @returns {number} */
	bitsPerWeight(scheme, input) {
		return this.#scope(() =>
			this.#exports.bq_bits_per_weight(this.#putStruct(Scheme, scheme), DTYPES.indexOf(input)),
		);
	}

	/**
	 * Lays a tensor out.
	 * @param {any} scheme struct bq_scheme as an object
	 * @param {string} input dtype of the weights
	 * @param {number[]} shape
	 * @returns {{ status: string, plan: any, bytes: PlanBytes }} plan: struct bq_plan as an object
	 */
	plan(scheme, input, shape) {
		if (shape.length > MAX_RANK) return { status: 'bad-shape', plan: null, bytes: /** @type {any} */ (null) };
		return this.#scope(() => {
			const schemeAt = this.#putStruct(Scheme, scheme);
			const dimsAt = this.#take(8 * MAX_RANK);
			const view = this.#view();
			shape.forEach((dim, i) => view.setBigUint64(dimsAt + 8 * i, BigInt(dim), true));
			const planAt = this.#take(Plan.size);
			const status = this.#exports.bq_plan(
				schemeAt,
				DTYPES.indexOf(input),
				this.kernels,
				shape.length,
				dimsAt,
				planAt,
			);
			const bytes = /** @type {PlanBytes} */ (this.#bytes(planAt, Plan.size).slice());
			return { status: STATUSES[status], plan: Plan.read(this.#view(), planAt), bytes };
		});
	}

	/** @param {PlanBytes} plan @param {number} firstStep @param {number} maxBytes of input @returns {BandStruct} */
	band(plan, firstStep, maxBytes) {
		return this.#scope(() => {
			const at = this.#take(Band.size);
			this.#exports.bq_band(this.#put(plan), BigInt(firstStep), Math.min(maxBytes, 2 ** 31), at);
			return Band.read(this.#view(), at);
		});
	}

	/**
	 * Merges a band's range into range and its counts into report.
	 * @param {PlanBytes} plan @param {BandStruct} band @param {Uint8Array} weights @param {any} range @param {any} report
	 */
	range(plan, band, weights, range, report) {
		this.#scope(() => {
			const rangeAt = this.#putStruct(TensorRange, range);
			const reportAt = this.#putStruct(Report, report);
			this.#exports.bq_range(this.#put(plan), this.#putStruct(Band, band), this.#put(weights), rangeAt, reportAt);
			Object.assign(range, TensorRange.read(this.#view(), rangeAt));
			Object.assign(report, Report.read(this.#view(), reportAt));
		});
	}

	/** Memory for every plane of a band, and an array of pointers to them. @param {BandStruct} band @param {number} nplanes */
	#planes(band, nplanes) {
		const at = Array.from({ length: nplanes }, (_, i) => this.#take(band.plane_nbytes[i]));
		const table = this.#take(4 * nplanes);
		const view = this.#view();
		at.forEach((pointer, i) => view.setUint32(table + 4 * i, pointer, true));
		return { at, table };
	}

	/**
	 * Quantizes a band.
	 * @param {PlanBytes} plan
	 * @param {{ nplanes: number, workspace_nbytes: number }} sizes of the same plan
	 * @param {BandStruct} band
	 * @param {Uint8Array} weights
	 * @param {{ importance?: Float32Array, nimportance?: number, range?: any, lo?: Float32Array, hi?: Float32Array, correct?: boolean }} more
	 * @param {any} report
	 * @returns {Uint8Array[]} the bytes of each plane
	 */
	encode(plan, sizes, band, weights, more, report) {
		return this.#scope(() => {
			const reportAt = this.#putStruct(Report, report);
			const planAt = this.#put(plan);
			const bandAt = this.#putStruct(Band, band);
			const weightsAt = this.#put(weights);
			const importanceAt = this.#put(more.importance);
			const rangeAt = more.range ? this.#putStruct(TensorRange, more.range) : 0;
			const loAt = this.#put(more.lo);
			const hiAt = this.#put(more.hi);
			const planes = this.#planes(band, sizes.nplanes);
			const workspaceAt = this.#take(sizes.workspace_nbytes);
			const status = this.#exports.bq_encode(
				...[planAt, bandAt, weightsAt, importanceAt, more.nimportance ?? 0, rangeAt, loAt, hiAt],
				...[more.correct ? 1 : 0, planes.table, workspaceAt, reportAt],
			);
			if (status) throw new BlockQuantError('bad-scheme', statusText(STATUSES[status]));
			Object.assign(report, Report.read(this.#view(), reportAt));
			return planes.at.map((at, i) => this.#bytes(at, band.plane_nbytes[i]).slice());
		});
	}

	/**
	 * Decodes a band.
	 * @param {PlanBytes} plan
	 * @param {{ nplanes: number, workspace_nbytes: number }} sizes of the same plan
	 * @param {BandStruct} band
	 * @param {Uint8Array[]} planes
	 * @param {boolean} fake the fake quantizer's values instead of the decoder's
	 * @param {any} report
	 * @returns {Float32Array}
	 */
	decode(plan, sizes, band, planes, fake, report) {
		return this.#scope(() => {
			const reportAt = this.#putStruct(Report, report);
			const planAt = this.#put(plan);
			const bandAt = this.#putStruct(Band, band);
			const { at, table } = this.#planes(band, sizes.nplanes);
			planes.forEach((bytes, i) => this.#bytes(at[i], bytes.length).set(bytes));
			const valuesAt = this.#take(4 * band.nvalues);
			const workspaceAt = this.#take(sizes.workspace_nbytes);
			this.#exports.bq_decode(planAt, bandAt, table, fake ? 1 : 0, valuesAt, workspaceAt, reportAt);
			Object.assign(report, Report.read(this.#view(), reportAt));
			return new Float32Array(this.#exports.memory.buffer, valuesAt, band.nvalues).slice();
		});
	}

	/**
	 * Converts numbers between f32 and another float dtype; null where there is no such conversion.
	 * @param {string} from @param {string} to @param {number} count @param {ArrayBufferView} input @param {number} nbytes of the result
	 */
	convert(from, to, count, input, nbytes) {
		return this.#scope(() => {
			const inputAt = this.#put(input);
			const outAt = this.#take(nbytes);
			const failed = this.#exports.bq_convert(
				this.kernels,
				DTYPES.indexOf(from),
				DTYPES.indexOf(to),
				count,
				inputAt,
				outAt,
			);
			return failed ? null : this.#bytes(outAt, nbytes).slice();
		});
	}

	/** Adds to sums: squared error, both squares, product, and the largest error. @param {Float32Array} a @param {Float32Array} b @param {Float64Array} sums */
	compare(a, b, sums) {
		this.#scope(() => {
			const sumsAt = this.#put(sums);
			this.#exports.bq_compare(a.length, this.#put(a), this.#put(b), sumsAt);
			sums.set(new Float64Array(this.#exports.memory.buffer, sumsAt, 5));
		});
	}
}

/** What each broken rule means; docs/schemes.md says more under the same word. @type {Record<string, string>} */
const RULE_TEXTS = {
	'bad-value': 'value is no dtype for codes, or narrow is not for a signed integer',
	'bad-levels': 'there must be 1 to 3 scale levels, and as many min levels with the same blocks, or none',
	'bad-level-dtype': 'the dtype of a level cannot hold a scale there',
	'bad-block': 'a block has more axes than the tensor, or is no multiple of the block inside it',
	'bad-zero': 'a zero point needs integer values of its own kind, no mins, and at least as many bits as the values',
	'bad-rules': 'these rules do not say how to make the parameters of this scheme',
	'bad-layout': 'this layout has no place for what the scheme stores',
	'bad-fused': 'this kernel does not do this scheme',
	'bad-shape': 'a shape has 1 to 5 axes and at most 2^53 values',
	empty: 'a tensor without values cannot be quantized',
	ragged: 'rows are not whole blocks, and this format stores only whole ones',
	odd: 'rows have an odd number of values, and this format stores two in a byte',
	'needs-kernel': 'the parameters of this scheme are found by a search, which does not take given ranges',
	'too-big': 'the rows that share a block do not fit in memory together',
	'bad-dtype': 'weights are f32, f16 or bf16',
	'bad-kernels': 'this build lacks these kernels',
};

/** @param {string} status */
export function statusText(status) {
	return `${RULE_TEXTS[status]} (rule ${status} of docs/schemes.md)`;
}
