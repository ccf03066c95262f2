// from.js - compressed-tensors' QuantizationScheme as a scheme of ours.
// SPDX-License-Identifier: MIT

import { LAYOUTS } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { BlockQuantError, shown } from '../errors.js';
import { asPreset } from '../presets.js';
import { isObject } from '../problems.js';
import { schemeError } from '../scheme/read.js';
import { validateScheme } from '../scheme/validate.js';
import { inferModuleFormat } from './format.js';
import { quantizationScheme } from './quantization-scheme.js';
import { ATTN_HEAD, SCALE_DTYPES } from './tables.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Block} Block */
/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */

/** Dtypes of scales, where a format has its own and older releases did not say so. @type {Record<string, string>} */
const FORMAT_SCALES = {
	'nvfp4-pack-quantized': 'f8e4m3',
	'mxfp4-pack-quantized': 'e8m0',
	'mxfp6-pack-quantized': 'e8m0',
	'mxfp8-quantized': 'e8m0',
};

/** Dtypes of the zero points of integers and floats, as the package infers them. @type {Record<string, string>} */
const ZERO_DTYPES = { int: 'torch.int8', float: 'torch.float8_e4m3fn' };

/** @param {string} field @param {string} message @returns {never} */
function refuse(field, message) {
	throw new BlockQuantError('bad-scheme', `${field}: ${message}`);
}

/** The dtype of the codes. @param {string} where @param {QuantizationArgs} args */
export function valueOf(where, { type, num_bits: bits }) {
	if (type === 'int' && bits >= 1 && bits <= 8) return `i${bits}`;
	if (type === 'float' && bits === 8) return 'f8e4m3';
	if (type === 'float' && bits === 4) return 'f4e2m1';
	if (type === 'float' && bits === 6) return 'f6e2m3';
	return refuse(
		`${where}.num_bits`,
		`expected int of 1 to 8 or float of 4, 6 or 8 bits, got ${shown(type)} of ${bits}`,
	);
}

/** Which values share a scale. @param {QuantizationArgs} args @returns {Block} */
function blockOf({ strategy, group_size: group, block_structure: block }) {
	if (strategy === 'tensor') return 'tensor';
	if (strategy === 'attn_head') return [...ATTN_HEAD];
	if (strategy === 'block') return /** @type {number[]} */ (block);
	return strategy === 'channel' || strategy === 'token' ? 'channel' : /** @type {number} */ (group);
}

/**
 * The dtype of scales that is said; undefined: that of the values.
 * @param {string} where @param {QuantizationArgs} args
 */
export function scaleOf(where, { scale_dtype: said, type, group_size: group }) {
	if (said === null) return undefined;
	const scale = Object.keys(SCALE_DTYPES).find((dtype) => SCALE_DTYPES[dtype] === said);
	if (scale === undefined)
		return refuse(
			`${where}.scale_dtype`,
			`expected ${Object.values(SCALE_DTYPES).join(', ')} or null, got ${said}`,
		);
	if (scale === 'e8m0' && !(type === 'float' && group === 32))
		return refuse(`${where}.scale_dtype`, `${said} is for floats in groups of 32 (MX), got ${type} in ${group}`);
	return scale;
}

/** The dtype of zero points, none if symmetric. @param {string} where @param {QuantizationArgs} args @param {string} value */
export function zeroOf(where, { symmetric, type, zp_dtype: said }, value) {
	if (symmetric) return undefined;
	if (type === 'float' && value !== 'f8e4m3')
		return refuse(`${where}.symmetric`, 'floats below 8 bits have no zero point; expected true');
	const own = ZERO_DTYPES[type];
	return said === own ? value : refuse(`${where}.zp_dtype`, `expected ${own}, got ${said}`);
}

/** @param {QuantizationArgs} args @returns {import('../scheme.js').Activations} */
function activationsOf(args) {
	const where = 'input_activations';
	const scale = scaleOf(where, args);
	if (args.strategy === 'tensor_group' && args.dynamic !== 'local')
		refuse(
			`${where}.strategy`,
			`a scheme has tensor_group of dynamic "local" only, got ${args.dynamic}; expected group`,
		);
	return {
		mode: args.dynamic === true ? 'dynamic' : args.dynamic === 'local' ? 'local' : 'static',
		value: valueOf(where, args),
		block: blockOf(args),
		...(scale !== undefined && { scale }),
		...(!args.symmetric && { symmetric: /** @type {false} */ (false) }),
	};
}

/** @param {QuantizationArgs} args @param {string} layout @returns {Pick<Scheme, 'value' | 'scales' | 'zero' | 'rules'>} */
function weightsOf(args, layout) {
	const where = 'weights';
	const value = valueOf(where, args);
	if (args.dynamic) refuse(`${where}.dynamic`, 'weights are quantized once; expected false');
	if (args.strategy === 'attn_head') refuse(`${where}.strategy`, 'weights have no strategy attn_head');
	const zero = zeroOf(where, args, value);
	const usual = args.type === 'float' ? FORMAT_SCALES[layout] : undefined;
	const dtype = scaleOf(where, args) ?? usual ?? 'input';
	/** @type {Scheme['scales']} */
	const scales = [{ dtype, block: blockOf(args) }];
	if (args.strategy === 'tensor_group') scales.push({ dtype: 'f32', block: 'tensor' });
	return { value, scales, ...(zero && { zero }), rules: 'compressed-tensors' };
}

/**
 * The scheme that a QuantizationScheme describes, its weights' part and what must be said of inputs.
 * @param {any} json QuantizationScheme ({ weights, input_activations, ... }; targets may be left out), or QuantizationArgs of
 *   weights alone
 * @returns {Scheme} a preset's scheme where one says the same
 * @throws {BlockQuantError} bad-scheme: all that breaks a rule of compressed-tensors, by its field; or the first field that a
 *   scheme does not say
 */
export function fromCompressedTensors(json) {
	theCore();
	if (!isObject(json)) refuse('scheme', `expected a QuantizationScheme object, got ${shown(json)}`);
	const whole = 'weights' in json || 'targets' in json ? json : { weights: json };
	const complete = quantizationScheme({ targets: [], ...whole });
	const { weights, input_activations: inputs, output_activations: outputs } = complete;
	if (weights === null) return refuse('weights', 'null: this scheme quantizes no weights');
	if (outputs) refuse('output_activations', 'a scheme says nothing of outputs; expected null');
	const layout = complete.format ?? inferModuleFormat(complete);
	if (!LAYOUTS.includes(layout)) refuse('format', `nothing is stored as ${layout} here`);
	const scheme = { ...weightsOf(weights, layout), layout, ...(inputs && { activations: activationsOf(inputs) }) };
	const problems = validateScheme(scheme);
	if (problems.some(({ field }) => field === 'layout'))
		refuse('format', `${layout} does not hold such weights; expected ${inferModuleFormat(complete)}`);
	if (problems.length) throw schemeError(problems);
	return asPreset(scheme);
}
