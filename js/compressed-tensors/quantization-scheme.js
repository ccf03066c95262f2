// quantization-scheme.js - QuantizationScheme: which modules are quantized, and how their weights, inputs and outputs are.
// SPDX-License-Identifier: MIT

import { inside, Problems } from '../problems.js';
import { list, nullable, readFields, text, word } from './coerce.js';
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

/**
 * @param {unknown} json
 * @param {string} where
 * @param {Problems} problems
 * @returns {QuantizationScheme | undefined} complete unless there are problems
 */
export function readScheme(json, where, problems) {
	/** @param {string} role */
	const args = (role) => ({
		default: null,
		read: nullable((value) => readArgs(value, inside(where, role), problems)),
	});
	const fields = {
		targets: { read: list(text) },
		...Object.fromEntries(ROLES.map((role) => [role, args(role)])),
		format: { default: null, read: nullable(word(FORMATS)) },
	};
	const scheme = /** @type {QuantizationScheme | undefined} */ (readFields(fields, json, where, problems));
	if (scheme) combine(scheme, (key) => problems.at(inside(where, key)));
	return scheme;
}

/** @param {QuantizationScheme} scheme @param {(key: string) => import('../problems.js').Fail} at */
function combine({ input_activations: inputs, output_activations: outputs, format }, at) {
	if (inputs?.strategy && !INPUT_STRATEGIES.includes(inputs.strategy))
		at('input_activations.strategy')(
			`activations have no strategy ${inputs.strategy}; expected ${INPUT_STRATEGIES.join(', ')}`,
		);
	if ((inputs?.actorder ?? null) !== null) at('input_activations.actorder')('only weights have one; expected null');
	if ((outputs?.actorder ?? null) !== null) at('output_activations.actorder')('only weights have one; expected null');
	if (format === MIXED) at('format')(`${MIXED} is said of a whole model only`);
}

/**
 * Validates a QuantizationScheme and completes it, with all of its QuantizationArgs.
 * @param {unknown} json as a group of config.json has it
 * @returns {QuantizationScheme}
 * @throws {BlockQuantError} bad-scheme: every problem, each with its field and the rule
 */
export function quantizationScheme(json) {
	const problems = new Problems();
	const scheme = readScheme(json, '', problems);
	problems.check();
	return /** @type {QuantizationScheme} */ (scheme);
}

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
