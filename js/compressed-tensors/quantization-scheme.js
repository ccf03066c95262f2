// quantization-scheme.js - QuantizationScheme: which modules are quantized, and how their weights, inputs and outputs are.
// SPDX-License-Identifier: MIT

import { Problems, isObject, list, nullable, readFields, text, word } from '../problems.js';
import { readArgs, writeQuantizationArgs } from './quantization-args.js';

/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */

/**
 * QuantizationScheme with every field.
 * @typedef {object} QuantizationScheme
 * @property {string[]} targets names, `re:` patterns or classes of modules
 * @property {QuantizationArgs | null} weights
 * @property {QuantizationArgs | null} input_activations
 * @property {QuantizationArgs | null} output_activations
 * @property {string | null} format one of FORMATS, null: inferred
 */

export const MIXED = 'mixed-precision';

/** How a module is stored. Of the legacy ones (`sparse-*`, `marlin-24`) nothing but the name is left. */
export const FORMATS = [
	...['dense', 'sparse-bitmask', 'sparse-24-bitmask', 'int-quantized', 'float-quantized', 'naive-quantized'],
	...['pack-quantized', 'marlin-24', MIXED, 'nvfp4-pack-quantized', 'mxfp4-pack-quantized', 'mxfp6-pack-quantized'],
	'mxfp8-quantized',
];

export const ROLES = /** @type {const} */ (['weights', 'input_activations', 'output_activations']);
const INPUT_STRATEGIES = ['token', 'tensor', 'group', 'tensor_group', 'attn_head'];

const FIELDS = {
	targets: { read: list(text) },
	...Object.fromEntries(ROLES.map((role) => [role, { default: null, read: nullable(readArgs) }])),
	format: { default: null, read: nullable(word(FORMATS)) },
};

/** Complete unless there are problems. @type {import('../problems.js').Reader<QuantizationScheme>} */
export function readScheme(json, at) {
	const scheme = /** @type {QuantizationScheme | undefined} */ (readFields(FIELDS, json, at));
	if (scheme) combine(scheme, at);
	return scheme;
}

/** @param {QuantizationScheme} scheme @param {Problems} at */
function combine({ input_activations: inputs, output_activations: outputs, format }, at) {
	if (inputs?.strategy && !INPUT_STRATEGIES.includes(inputs.strategy))
		at.add(
			'input_activations.strategy',
			`activations have no strategy ${inputs.strategy}; expected ${INPUT_STRATEGIES.join(', ')}`,
		);
	for (const [role, args] of Object.entries({ input_activations: inputs, output_activations: outputs }))
		if ((args?.actorder ?? null) !== null) at.add(`${role}.actorder`, 'only weights have one; expected null');
	if (format === MIXED) at.add('format', `${MIXED} is said of a whole model only`);
}

/**
 * Validates a QuantizationScheme and completes it, with all of its QuantizationArgs.
 * @param {unknown} json as a group of config.json has it
 * @returns {QuantizationScheme}
 * @throws {BlockQuantError} bad-scheme: every problem, each with its field and the rule
 */
export function quantizationScheme(json) {
	const problems = new Problems();
	const scheme = readScheme(json, problems);
	problems.check();
	return /** @type {QuantizationScheme} */ (scheme);
}

/** The same where it does not matter which modules it is for. @param {unknown} json @returns {QuantizationScheme} */
export const completeScheme = (json) => quantizationScheme(isObject(json) ? { targets: [], ...json } : json);

/**
 * The JSON that compressed-tensors 0.20.1 writes for a QuantizationScheme that it has read.
 * @param {Record<string, any>} json QuantizationScheme, complete or not
 * @returns {Record<string, any> & { targets: string[] }}
 * @throws {BlockQuantError} bad-scheme
 */
export function writeQuantizationScheme(json) {
	const { targets, format } = quantizationScheme(json);
	const roles = ROLES.map((role) => [role, json[role] ? writeQuantizationArgs(json[role]) : null]);
	return { targets, ...Object.fromEntries(roles), format };
}
