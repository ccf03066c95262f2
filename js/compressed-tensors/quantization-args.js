// quantization-args.js - QuantizationArgs: how one role's tensors (weights, inputs, outputs, the KV cache) are quantized.
// Fields, defaults, inferences and refusals are those of compressed-tensors 0.20.1.
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';
import { Problems, isObject, nullable, readFields, text, word } from '../problems.js';
import { boolean, integer } from './coerce.js';
import { torchDtype } from './torch-dtypes.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

/**
 * QuantizationArgs with every field.
 * @typedef {object} QuantizationArgs
 * @property {number} num_bits
 * @property {'int' | 'float'} type
 * @property {boolean} symmetric
 * @property {number | null} group_size
 * @property {Strategy} strategy inferred from group_size where it is not given
 * @property {[number, number] | null} block_structure rows and columns
 * @property {boolean | 'local'} dynamic
 * @property {'weight' | 'static' | null} actorder
 * @property {string | null} scale_dtype such as `torch.float8_e4m3fn`; null: that of the values
 * @property {string} zp_dtype inferred where it is not given
 * @property {string | null} observer
 * @property {Record<string, unknown>} observer_kwargs
 */

/** @typedef {'tensor' | 'channel' | 'group' | 'block' | 'token' | 'tensor_group' | 'attn_head'} Strategy */

const TYPES = ['int', 'float'];
const STRATEGIES = ['tensor', 'channel', 'group', 'block', 'token', 'tensor_group', 'attn_head'];
const GROUPED = ['group', 'tensor_group'];
const DYNAMIC = ['token', 'tensor', 'tensor_group', 'group'];

/** @template T @param {Reader<T>} read of a word @returns {Reader<T>} */
const anyCase = (read) => (value, at) => read(typeof value === 'string' ? value.toLowerCase() : value, at);

const FIELDS = {
	num_bits: { default: 8, read: integer },
	type: { default: 'int', read: anyCase(word(TYPES)) },
	symmetric: { default: true, read: boolean },
	group_size: { default: null, read: nullable(groupSize) },
	strategy: { default: null, read: nullable(anyCase(word(STRATEGIES))) },
	block_structure: { default: null, read: nullable(blockStructure) },
	dynamic: { default: false, read: dynamic },
	actorder: { default: null, read: nullable(actorder) },
	scale_dtype: { default: null, read: nullable(torchDtype) },
	zp_dtype: { default: null, read: nullable(torchDtype) },
	observer: { default: null, read: nullable(text) },
	observer_kwargs: { default: {}, read: kwargs },
};

/** @type {Reader<number>} */
function groupSize(value, at) {
	if (typeof value === 'string') return at.fail(`expected an integer, got ${shown(value)}`);
	const size = integer(value, at);
	return size !== undefined && size < -1
		? at.fail(`expected a positive number, or -1 for channels; got ${size}`)
		: size;
}

/** @type {Reader<number[]>} */
function blockStructure(value, at) {
	const edges = typeof value === 'string' ? value.split('x').map((edge) => integer(edge, new Problems())) : value;
	const legal =
		Array.isArray(edges) &&
		edges.length === 2 &&
		edges.every((edge) => edge === true || (Number.isInteger(edge) && edge > 0));
	return legal ? edges.map(Number) : at.fail(`expected [rows, columns], two positive integers; got ${shown(value)}`);
}

/** @type {Reader<boolean | 'local'>} */
function dynamic(value, at) {
	const said = typeof value === 'string' ? value.toLowerCase() : value;
	if (said === 'local') return said;
	const plain = typeof said === 'string' ? undefined : boolean(value, new Problems());
	return plain ?? at.fail(`expected true, false or "local", got ${shown(value)}`);
}

/** Gone since 0.20: files that were made with them are read by their weight_g_idx. */
const REMOVED = ['group', 'dynamic'];

/** @type {Reader<'weight' | 'static' | null>} */
function actorder(value, at) {
	if (value === false) return null;
	if (value === true || (typeof value === 'string' && REMOVED.includes(value.toLowerCase())))
		return at.fail(`${shown(value)} was removed in compressed-tensors 0.20; expected "weight", "static" or null`);
	if (value === 'weight' || value === 'static') return value;
	return at.fail(`expected "weight", "static" or null, got ${shown(value)}`);
}

/** @type {Reader<Record<string, any>>} */
function kwargs(value, at) {
	return isObject(value) ? value : at.fail(`expected an object, got ${shown(value)}`);
}

/** @param {number | null} group */
function inferStrategy(group) {
	if (group === null) return 'tensor';
	return group === -1 ? 'channel' : 'group';
}

/** What a file stores of one value or zero point. @param {{ type: string, num_bits: number }} args */
function inferZeroDtype({ type, num_bits: bits }) {
	if (type === 'float') return [4, 6, 8].includes(bits) ? 'torch.float8_e4m3fn' : null;
	return bits <= 8 ? 'torch.int8' : bits <= 16 ? 'torch.int16' : 'torch.int32';
}

/**
 * What the fields mean together, as far as each could be read.
 * @param {Record<string, any>} args is completed
 * @param {Problems} at
 */
function combine(args, at) {
	const { strategy: said, group_size: group, block_structure: block, type, num_bits: bits } = args;
	if (said === null && group === 0) at.add('group_size', 'expected a positive number, or -1 for channels; got 0');
	else if (said === null && group !== undefined) args.strategy = inferStrategy(group);
	const { strategy } = args;
	if (strategy) {
		const grouped = GROUPED.includes(strategy);
		if (grouped && group !== undefined && !(group > 0))
			at.add('group_size', `strategy ${strategy} needs a positive group_size, got ${group}`);
		if (!grouped && group > 0)
			at.add(
				'group_size',
				`strategy ${strategy} takes no group_size, got ${group}; expected group or tensor_group`,
			);
		if (strategy === 'block' && block === null) at.add('block_structure', 'strategy block needs block_structure');
		if (strategy !== 'block' && block)
			at.add('block_structure', `strategy ${strategy} takes no block_structure; expected block`);
		combineDynamic(strategy, args.dynamic, at.within('dynamic'));
	}
	if (args.zp_dtype === null && bits !== undefined && type !== undefined) {
		args.zp_dtype = inferZeroDtype({ type, num_bits: bits });
		if (args.zp_dtype === null) at.add('num_bits', `floats have 4, 6 or 8 bits, got ${bits}`);
	}
}

/** @param {string} strategy @param {boolean | 'local' | undefined} said @param {Problems} at */
function combineDynamic(strategy, said, at) {
	if (strategy === 'token' && said === false) at.fail('strategy token is dynamic; expected true');
	if (said && !DYNAMIC.includes(strategy))
		at.fail(`strategy ${strategy} is static; expected false, or strategy ${DYNAMIC.join(', ')}`);
	else if (said === 'local' && strategy !== 'tensor_group')
		at.fail(`"local" is for strategy tensor_group, got ${strategy}`);
}

/** Complete unless there are problems. @type {Reader<QuantizationArgs>} */
export function readArgs(json, at) {
	const args = readFields(FIELDS, json, at);
	if (args) combine(args, at);
	return /** @type {QuantizationArgs | undefined} */ (args);
}

/**
 * Validates QuantizationArgs and completes them: every field, defaults and inferred values filled in, spellings normalised.
 * @param {unknown} json as config.json has it
 * @returns {QuantizationArgs}
 * @throws {BlockQuantError} bad-scheme: every problem, each with its field and the rule
 */
export function quantizationArgs(json) {
	const problems = new Problems();
	const args = readArgs(json, problems);
	problems.check();
	return /** @type {QuantizationArgs} */ (args);
}

/** Left out of files where they are null. */
const OPTIONAL = ['actorder', 'block_structure', 'scale_dtype'];
/** Left out of files also where they were inferred. */
const UNLESS_GIVEN = ['observer', 'zp_dtype'];

/**
 * The JSON that compressed-tensors 0.20.1 writes for QuantizationArgs that it has read: what is null, inferred or of no use
 * is left out.
 * @param {Record<string, any>} json QuantizationArgs, complete or not
 * @returns {Record<string, unknown>}
 * @throws {BlockQuantError} bad-scheme
 */
export function writeQuantizationArgs(json) {
	const { observer_kwargs: more, ...args } = quantizationArgs(json);
	/** @param {string} key @param {unknown} value */
	const written = (key, value) => {
		if (OPTIONAL.includes(key)) return value !== null;
		if (key === 'zp_dtype' && args.symmetric) return false;
		return !UNLESS_GIVEN.includes(key) || (value !== null && Object.hasOwn(json, key));
	};
	const kept = Object.entries(args).filter(([key, value]) => written(key, value));
	return Object.fromEntries(Object.keys(more).length > 0 ? [...kept, ['observer_kwargs', more]] : kept);
}
