// select.js - which tensors of a safetensors model are quantized: the 2-D weights of its linear layers.
// SPDX-License-Identifier: MIT

import { WEIGHT_DTYPES } from '../layouts.js';
import { moduleOf, roleOf } from '../model/names.js';

/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */

/** @type {Partial<Record<import('../model/names.js').TensorRole, string>>} */
const ROLE_REASONS = {
	embedding: 'an embedding, read by row',
	position: 'a position table',
	norm: 'a norm',
	head: 'an output head',
	router: 'a router or gate',
	bias: 'a bias',
	other: 'not the weight of a linear layer',
};

/**
 * Why no scheme can take this tensor; null if one may.
 * @param {ModelTensor} tensor
 */
export function refusalOf({ name, dtype }) {
	if (moduleOf(name) === null) {
		return /(^|[._])bias$/.test(name) ? 'a bias' : 'only tensors named *.weight are quantized';
	}
	return dtype in WEIGHT_DTYPES ? null : `its dtype ${dtype} is not F32, F16 or BF16`;
}

/**
 * @param {ModelTensor[]} tensors of the whole model
 * @returns {(tensor: ModelTensor) => string | null} why it is left alone by default; null: it is quantized
 */
export function keeper(tensors) {
	const transposed = isTransposed(tensors);
	return ({ name, shape }) => {
		const unfit = ROLE_REASONS[roleOf(name)];
		if (unfit !== undefined) return unfit;
		if (shape.length !== 2) return `${shape.length}-D, not a matrix`;
		if (shape.includes(0)) return 'it has no elements';
		return transposed(name) ? 'stored transposed (GPT-2 Conv1D), unlike a linear layer' : null;
	};
}

/**
 * GPT-2's Conv1D layers keep [in, out]: seen from its fused projection, three times as wide as high.
 * Rows of such a matrix are not what a linear layer's loader would decode.
 * @param {ModelTensor[]} tensors
 * @returns {(name: string) => boolean}
 */
function isTransposed(tensors) {
	const gpt2 = tensors.some(
		({ name, shape: [rows, cols] }) =>
			name.endsWith('attn.c_attn.weight') && rows !== undefined && cols === 3 * rows,
	);
	return (name) => gpt2 && /\.c_(attn|proj|fc)\.weight$/.test(name);
}
