// select.js - which tensors of a model are quantized, and why the others are not.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { WEIGHT_DTYPES } from '../layouts.js';
import { moduleOf, roleOf } from './names.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/**
 * @typedef {object} Selection
 * @property {boolean} quantize
 * @property {boolean} explicit asked for by name: what the scheme cannot do is then an error
 * @property {string} reason
 */

/**
 * Patterns are searched anywhere in a tensor's name. Without any, the 2-D weights of linear layers
 * are selected. `include` adds what it matches, `exclude` takes away, and wins.
 * @typedef {object} SelectOptions
 * @property {(RegExp | string)[] | RegExp | string} [include]
 * @property {(RegExp | string)[] | RegExp | string} [exclude]
 */

/** @type {Partial<Record<import('./names.js').TensorRole, string>>} */
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
 * Decides for every tensor.
 * @param {ModelTensor[]} tensors
 * @param {SelectOptions} [options]
 * @returns {Selection[]}
 */
export function select(tensors, options = {}) {
	const include = patterns(options.include, 'include');
	const exclude = patterns(options.exclude, 'exclude');
	const transposed = isTransposed(tensors);
	return tensors.map((tensor) => {
		const out = exclude.find((pattern) => pattern.test(tensor.name));
		if (out !== undefined) return keep(`excluded by ${out}`);
		const refusal = refusalOf(tensor);
		const by = include.find((pattern) => pattern.test(tensor.name));
		if (by !== undefined) {
			if (refusal === null) return { quantize: true, explicit: true, reason: `included by ${by}` };
			throw new BlockQuantError('unsupported', `included by ${by}, but ${refusal}`, {
				tensor: tensor.name,
			});
		}
		if (refusal !== null) return keep(refusal);
		const unfit = ROLE_REASONS[roleOf(tensor.name)];
		if (unfit !== undefined) return keep(unfit);
		if (tensor.shape.length !== 2) return keep(`${tensor.shape.length}-D, not a matrix`);
		if (tensor.shape.includes(0)) return keep('it has no elements');
		if (transposed(tensor.name)) return keep('stored transposed (GPT-2 Conv1D), unlike a linear layer');
		return { quantize: true, explicit: false, reason: 'the weight of a linear layer' };
	});
}

/**
 * @param {string} reason
 * @returns {Selection}
 */
function keep(reason) {
	return { quantize: false, explicit: false, reason };
}

/**
 * Why no scheme can take this tensor; null if one may.
 * @param {ModelTensor} tensor
 */
function refusalOf({ name, dtype }) {
	if (moduleOf(name) === null) {
		return /(^|[._])bias$/.test(name) ? 'a bias' : 'only tensors named *.weight are quantized';
	}
	return dtype in WEIGHT_DTYPES ? null : `its dtype ${dtype} is not F32, F16 or BF16`;
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

/**
 * @param {(RegExp | string)[] | RegExp | string | undefined} given
 * @param {string} option
 * @returns {RegExp[]}
 */
function patterns(given, option) {
	if (given === undefined) return [];
	return (Array.isArray(given) ? given : [given]).map((pattern) => {
		try {
			// Without "g" and "y", whose `test` remembers where the last match ended.
			const { source, flags } = new RegExp(pattern);
			return new RegExp(source, flags.replace(/[gy]/g, ''));
		} catch (cause) {
			throw new BlockQuantError('bad-argument', `${option}: ${shown(pattern)} is no regular expression`, {
				cause,
			});
		}
	});
}
