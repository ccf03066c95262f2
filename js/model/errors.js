// errors.js - how far the weights of a model are from what they were: by tensor, by layer kind, and all that differ together.
// SPDX-License-Identifier: MIT

import { Comparer } from '../arrays/compare.js';
import { kindOf } from './names.js';

/** @typedef {import('../arrays/compare.js').Comparison} Comparison */

/** @typedef {{ name: string, kind: string, shape: number[], quantized: boolean } & Comparison} TensorError */
/** @typedef {{ tensors: number, values: number, quantized: number } & Comparison} GroupError */
/** @typedef {{ kind: string } & GroupError} KindError */

/**
 * @typedef {object} ErrorReport
 * @property {TensorError[]} tensors
 * @property {KindError[]} summary per layer kind
 * @property {GroupError} changed the tensors that differ, together; those that are equal would only thin the error out
 */

class Group {
	#tensors = 0;
	#quantized = 0;
	#comparer = new Comparer();

	/** @param {{ quantized: boolean }} tensor @param {Comparer} comparer */
	add({ quantized }, comparer) {
		this.#tensors++;
		this.#quantized += quantized ? 1 : 0;
		this.#comparer.merge(comparer);
	}

	/** @returns {GroupError} */
	result() {
		const { count: values } = this.#comparer;
		return { tensors: this.#tensors, quantized: this.#quantized, values, ...this.#comparer.result() };
	}
}

/**
 * @param {{ name: string, shape: number[], quantized: boolean, comparer: Comparer }[]} measured in the order of the report
 * @returns {ErrorReport}
 */
export function errorReport(measured) {
	/** @type {Map<string, Group>} */
	const kinds = new Map();
	const changed = new Group();
	const tensors = measured.map(({ comparer, ...tensor }) => {
		const kind = kindOf(tensor.name);
		const group = kinds.get(kind) ?? new Group();
		kinds.set(kind, group);
		group.add(tensor, comparer);
		const error = comparer.result();
		// Not `mse > 0`: a NaN on either side differs, too.
		if (error.mse !== 0) changed.add(tensor, comparer);
		return { kind, ...tensor, ...error };
	});
	const summary = [...kinds].map(([kind, group]) => ({ kind, ...group.result() }));
	return { tensors, summary, changed: changed.result() };
}
