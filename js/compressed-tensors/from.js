// from.js - compressed-tensors' QuantizationScheme as a scheme of ours.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { BlockQuantError, shown } from '../errors.js';
import { presets } from '../presets.js';
import { schemeOfStruct } from '../scheme.js';
import { structOfScheme } from '../scheme/read.js';
import { inferFormat } from './format.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Block} Block */

const SCHEME_KEYS = ['targets', 'weights', 'input_activations', 'output_activations', 'format'];

/** Keys of QuantizationArgs and their defaults. */
const ARGS = {
	num_bits: 8,
	type: 'int',
	symmetric: true,
	group_size: null,
	strategy: null,
	block_structure: null,
	dynamic: false,
	actorder: null,
	scale_dtype: null,
	zp_dtype: null,
	observer: null,
	observer_kwargs: {},
};

const STRATEGIES = ['tensor', 'channel', 'group', 'block', 'token', 'tensor_group', 'attn_head'];

/** Dtypes of scales that are not the weights' own. @type {Record<string, string>} */
const SCALE_DTYPES = { float8_e4m3fn: 'f8e4m3', uint8: 'e8m0' };

/** @param {string} field @param {string} message @returns {never} */
function refuse(field, message) {
	throw new BlockQuantError('bad-scheme', `${field}: ${message}`);
}

/** @param {unknown} text */
const lower = (text) => (typeof text === 'string' ? text.toLowerCase() : text);

/** @param {string} where @param {any} args */
function strategyOf(where, args) {
	const { strategy, group_size: group, block_structure: block } = args;
	const given =
		group === null
			? 'tensor'
			: group > 0
				? 'group'
				: group === -1
					? 'channel'
					: refuse(`${where}.group_size`, `expected -1 or a positive number, got ${group}`);
	const name = strategy ?? given;
	if (!STRATEGIES.includes(name))
		refuse(`${where}.strategy`, `expected one of ${STRATEGIES.join(', ')}; got ${shown(name)}`);
	const grouped = name === 'group' || name === 'tensor_group';
	if (grouped !== group > 0)
		refuse(`${where}.group_size`, `strategy ${name} ${grouped ? 'needs' : 'takes no'} group_size; got ${group}`);
	if ((name === 'block') !== (block !== null))
		refuse(
			`${where}.block_structure`,
			`strategy ${name} ${name === 'block' ? 'needs' : 'takes no'} block_structure`,
		);
	return name;
}

/**
 * QuantizationArgs with defaults filled in, names in lower case.
 * @param {string} where @param {any} given
 */
function readArgs(where, given) {
	if (!given || typeof given !== 'object' || Array.isArray(given))
		refuse(where, 'expected an object of QuantizationArgs');
	for (const key of Object.keys(given))
		if (!Object.hasOwn(ARGS, key))
			refuse(`${where}.${key}`, `unknown key; expected ${Object.keys(ARGS).join(', ')}`);
	const args = { ...ARGS, ...given, type: lower(given.type ?? ARGS.type), strategy: lower(given.strategy ?? null) };
	if (typeof args.block_structure === 'string') args.block_structure = args.block_structure.split('x').map(Number);
	if (!Number.isInteger(args.num_bits))
		refuse(`${where}.num_bits`, `expected an integer, got ${shown(args.num_bits)}`);
	if (args.group_size !== null && !Number.isInteger(args.group_size))
		refuse(`${where}.group_size`, `expected an integer or null, got ${shown(args.group_size)}`);
	if (typeof args.symmetric !== 'boolean')
		refuse(`${where}.symmetric`, `expected true or false, got ${shown(args.symmetric)}`);
	if (![true, false, 'local'].includes(args.dynamic))
		refuse(`${where}.dynamic`, `expected true, false or "local", got ${shown(args.dynamic)}`);
	if (![null, false, 'weight', 'static'].includes(args.actorder))
		refuse(`${where}.actorder`, `expected "weight", "static", false or null, got ${shown(args.actorder)}`);
	args.scale =
		args.scale_dtype === null ? null : SCALE_DTYPES[shown(args.scale_dtype).replace(/^"(torch\.)?|"$/g, '')];
	if (args.scale === undefined)
		refuse(
			`${where}.scale_dtype`,
			`expected torch.float8_e4m3fn, torch.uint8 or null, got ${shown(args.scale_dtype)}`,
		);
	args.strategy = strategyOf(where, args);
	return args;
}

/** @param {string} where @param {any} args */
function valueOf(where, { type, num_bits: bits }) {
	if (type === 'int' && bits >= 1 && bits <= 8) return `i${bits}`;
	if (type === 'float' && bits === 8) return 'f8e4m3';
	if (type === 'float' && bits === 4) return 'f4e2m1';
	if (type === 'float' && bits === 6) return 'f6e2m3';
	return refuse(
		`${where}.num_bits`,
		`expected int of 1 to 8 or float of 4, 6 or 8 bits, got ${shown(type)} of ${bits}`,
	);
}

/** @param {any} args @returns {Block} */
function blockOf(args) {
	if (args.strategy === 'tensor') return 'tensor';
	if (args.strategy === 'block') return args.block_structure;
	return args.strategy === 'channel' || args.strategy === 'token' ? 'channel' : args.group_size;
}

/** @param {any} args @returns {Scheme['activations']} */
function activationsOf(args) {
	const where = 'input_activations';
	if (args.strategy === 'channel' || args.strategy === 'block')
		refuse(`${where}.strategy`, `activations have no strategy ${args.strategy}`);
	return {
		mode: args.dynamic === true ? 'dynamic' : args.dynamic === 'local' ? 'local' : 'static',
		value: valueOf(where, args),
		block: blockOf(args),
		...(args.scale && { scale: args.scale }),
		...(!args.symmetric && { symmetric: /** @type {false} */ (false) }),
	};
}

/** @param {any} weights @returns {Pick<Scheme, 'value' | 'scales' | 'zero' | 'rules'>} */
function weightsOf(weights) {
	const value = valueOf('weights', weights);
	if (weights.dynamic) refuse('weights.dynamic', 'weights are quantized once; expected false');
	if (weights.strategy === 'token' || weights.strategy === 'attn_head')
		refuse('weights.strategy', `weights have no strategy ${weights.strategy}`);
	if (!weights.symmetric && weights.type === 'float')
		refuse('weights.symmetric', 'float values have no zero point; expected true');
	const inner = {
		dtype: weights.scale ?? (weights.strategy === 'tensor_group' ? 'f8e4m3' : 'input'),
		block: blockOf(weights),
	};
	/** @type {Scheme['scales']} */
	const scales = weights.strategy === 'tensor_group' ? [inner, { dtype: 'f32', block: 'tensor' }] : [inner];
	return { value, scales, ...(!weights.symmetric && { zero: value }), rules: 'compressed-tensors' };
}

/** The preset that says the same, if there is one. @param {Scheme} scheme */
function asPreset(scheme) {
	const same = JSON.stringify(schemeOfStruct(structOfScheme(scheme)));
	if (scheme.activations?.symmetric === false) return scheme;
	for (const preset of presets().values())
		if (JSON.stringify(schemeOfStruct({ ...preset.struct, fused: 0 })) === same) return preset.scheme;
	return scheme;
}

/**
 * The scheme that a QuantizationScheme describes, its weights' part and what must be said of activations.
 * @param {any} json QuantizationScheme ({ targets, weights, input_activations, ... }), or QuantizationArgs of weights alone
 * @returns {Scheme} a preset's scheme where one says the same
 * @throws {BlockQuantError} bad-scheme, naming the field
 */
export function fromCompressedTensors(json) {
	theCore();
	if (!json || typeof json !== 'object') refuse('scheme', 'expected a QuantizationScheme object');
	const whole = 'weights' in json || 'targets' in json ? json : { weights: json };
	for (const key of Object.keys(whole))
		if (!SCHEME_KEYS.includes(key)) refuse(key, `unknown key; expected ${SCHEME_KEYS.join(', ')}`);
	if (!whole.weights) refuse('weights', 'null: this scheme quantizes no weights');
	if (whole.output_activations) refuse('output_activations', 'not carried by this version; expected null');
	const weights = readArgs('weights', whole.weights);
	const inputs = whole.input_activations ? readArgs('input_activations', whole.input_activations) : null;
	const scale_dtype = weights.scale === 'e8m0' ? 'torch.uint8' : weights.scale_dtype;
	return asPreset({
		...weightsOf(weights),
		layout: whole.format ?? inferFormat({ ...weights, scale_dtype }, inputs),
		...(inputs && { activations: activationsOf(inputs) }),
	});
}
