// decode-job.js - one quantized tensor back to values, band by band.
// SPDX-License-Identifier: MIT

import { DTYPES, NBYTES } from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { sizesOf } from './job.js';
import { bandsOf, planTensor } from './plan.js';
import { addReport, emptyReport, perform } from './task.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./plan.js').Band} Band */

/** @param {import('../layouts.js').PlaneInfo} expected @param {{ name: string, dtype: string, shape: number[], nbytes: number } | undefined} given */
function checkPlane(expected, given) {
	const said = (/** @type {any} */ plane) =>
		`${plane.dtype} [${plane.shape.map(shown).join(', ')}], ${plane.nbytes} bytes`;
	if (!given) throw new BlockQuantError('bad-shape', `plane ${expected.name} is missing; expected ${said(expected)}`);
	if (said(given) !== said(expected))
		throw new BlockQuantError('bad-shape', `plane ${expected.name} is ${said(given)}; expected ${said(expected)}`);
}

/** The first level that is stored in the weights' own dtype, which no other plane tells. @param {Scheme} scheme */
function inputRole({ scales, mins = [] }) {
	for (const [name, levels] of Object.entries({ scales, mins })) {
		const at = levels.findIndex(({ dtype }) => dtype === 'input');
		if (at >= 0) return `${name}.${at}`;
	}
	return null;
}

/** Decodes one tensor: decode() at once, or the tasks of its bands, done anywhere. */
export class DecodeJob {
	#fake;
	#shape;
	#report = emptyReport();

	/**
	 * @param {object} options
	 * @param {Scheme} options.scheme
	 * @param {number[]} options.shape of the weights
	 * @param {{ name: string, dtype: string, shape: number[], nbytes: number }[]} options.planes
	 * @param {'f32' | 'f16' | 'bf16'} [options.dtype] of the weights; by default that of an `input` level's plane
	 * @param {boolean} [options.fake] the fake quantizer's values, in dtype
	 */
	constructor({ scheme, shape, planes, dtype, fake = false }) {
		const byName = new Map(planes.map((plane) => [plane.name, plane]));
		/** The core's plan and its bytes. */
		this.planned = planTensor(scheme, shape, dtype ?? 'f32');
		const level = dtype === undefined && inputRole(scheme);
		if (level) {
			const { name } = /** @type {{ name: string }} */ (this.planned.planes.find(({ role }) => role === level));
			const weights = WEIGHT_DTYPES[byName.get(name)?.dtype ?? ''];
			if (weights) this.planned = planTensor(scheme, shape, weights);
		}
		/** Of the weights, as far as it matters. */
		this.dtype = /** @type {'f32' | 'f16' | 'bf16'} */ (DTYPES[this.planned.plan.input]);
		this.#fake = fake;
		this.#shape = shape;
		/** The planes in the order that decode() takes them. */
		this.planes = this.planned.planes;
		for (const plane of this.planes) checkPlane(plane, byName.get(plane.name));
	}

	/** @param {number} maxBytes of float32 values; a band is at least one step */
	bands(maxBytes) {
		return bandsOf(this.planned, (maxBytes / 4) * NBYTES[this.dtype]);
	}

	/** @param {Band} band @param {Uint8Array[]} planes the bytes of each plane that band.planes says */
	decode(band, planes) {
		this.check(planes);
		const done = perform(this.task(band), planes);
		this.take(done);
		return new Float32Array(done.bytes.buffer, done.bytes.byteOffset, band.nvalues);
	}

	/** A plane that says the shape must say this one. @param {Uint8Array[]} planes of a band, before its task is run */
	check(planes) {
		const at = this.planes.findIndex((plane) => plane.role === 'shape');
		if (at < 0) return;
		const { buffer, byteOffset, byteLength } = planes[at];
		const view = new DataView(buffer, byteOffset, byteLength);
		const said = this.#shape.map((_, i) => view.getBigInt64(8 * i, true));
		if (said.every((dim, i) => dim === BigInt(this.#shape[i]))) return;
		throw new BlockQuantError(
			'bad-shape',
			`the shape stored is [${said.join(', ')}]; expected [${this.#shape.join(', ')}]`,
		);
	}

	/**
	 * @param {Band} band
	 * @param {'f32' | 'f16' | 'bf16'} [dtype] of the result
	 * @returns {import('./task.js').DecodeTask}
	 */
	task(band, dtype = 'f32') {
		const { plan, bytes } = this.planned;
		return { call: 'decode', plan: bytes, sizes: sizesOf(plan), band: band.struct, fake: this.#fake, dtype };
	}

	/** @param {Pick<import('./task.js').Done, 'report'>} done of a band */
	take({ report }) {
		addReport(this.#report, report);
	}

	/** Which path ran. */
	finish() {
		return { fusedValues: this.#report.fused_values, genericValues: this.#report.generic_values };
	}
}

/** @param {ConstructorParameters<typeof DecodeJob>[0]} options */
export const decodeJob = (options) => new DecodeJob(options);
