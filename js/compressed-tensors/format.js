// format.js - which compression format a quantized module is stored in, and what a whole model is said to be
// (compressed-tensors 0.20.1).
// SPDX-License-Identifier: MIT

import { given, iterableOf } from '../arguments.js';
import { list, nullable, text } from '../problems.js';
import { completeScheme, MIXED } from './quantization-scheme.js';

/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */
/** @typedef {import('./quantization-scheme.js').QuantizationScheme} QuantizationScheme */

const DENSE = 'dense';

/** Classes whose modules can be stored quantized, with those that are made from them. */
const COMPRESSIBLE = ['Linear', 'Embedding'];

/** The first row that fits. @type {[format: string, fits: (weights: QuantizationArgs, inputs: QuantizationArgs | null) => boolean][]} */
const ROWS = [
	[
		'mxfp4-pack-quantized',
		({ type, num_bits: bits, group_size: group }) => type === 'float' && bits === 4 && group === 32,
	],
	[
		'mxfp6-pack-quantized',
		({ type, num_bits: bits, group_size: group }) => type === 'float' && bits === 6 && group === 32,
	],
	[
		'mxfp8-quantized',
		({ type, num_bits: bits, group_size: group, scale_dtype: scale }) =>
			type === 'float' && bits === 8 && group === 32 && scale === 'torch.uint8',
	],
	[
		'nvfp4-pack-quantized',
		({ type, num_bits: bits, group_size: group }) => type === 'float' && bits === 4 && group === 16,
	],
	['int-quantized', ({ type }, inputs) => type === 'int' && inputs !== null],
	['pack-quantized', ({ type, num_bits: bits }) => type === 'int' && bits >= 1 && bits <= 8],
	['float-quantized', ({ type }, inputs) => type === 'float' && inputs !== null],
	['naive-quantized', () => true],
];

/**
 * The format that a module of a scheme is stored in, whatever `scheme.format` says.
 * @param {Pick<QuantizationScheme, 'weights' | 'input_activations'>} scheme complete
 * @param {string | readonly string[]} [classes] of the module, with the classes that it is made from
 * @returns {string}
 */
export function inferModuleFormat(scheme, classes = 'Linear') {
	const { weights, input_activations: inputs } = completeScheme(scheme);
	const names = given('classes', [classes].flat(), list(text));
	const compressible = names.some((name) => COMPRESSIBLE.includes(name));
	if (weights === null || !compressible) return DENSE;
	return /** @type {string} */ (ROWS.find(([, fits]) => fits(weights, inputs))?.[0]);
}

/**
 * The format of a whole model: that of its quantized modules, or `mixed-precision`; modules that stay dense do not count.
 * @param {Iterable<string>} formats of its modules
 */
export function summarizeFormats(formats) {
	const different = new Set(given('formats', formats, iterableOf(text)));
	different.delete(DENSE);
	if (different.size > 1) return MIXED;
	const [only = DENSE] = different;
	return only;
}

/**
 * The format of a model with these schemes: what is forced, else each scheme's own, else the inferred one.
 * @param {Iterable<QuantizationScheme>} schemes complete
 * @param {string | null} [forced]
 */
export function inferModelFormat(schemes, forced = null) {
	given('forced', forced, nullable(text));
	const items = iterableOf((/** @type {any} */ scheme) => scheme ?? null);
	const all = given('schemes', schemes, items).map(completeScheme);
	return summarizeFormats(all.map((scheme) => forced ?? scheme.format ?? inferModuleFormat(scheme)));
}
