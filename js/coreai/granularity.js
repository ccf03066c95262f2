// granularity.js - which values share parameters, in Core AI's words: read, and as edges of a block (coreai.md, section 3).
// SPDX-License-Identifier: MIT

import { any, optional } from '../arguments.js';
import { MAX_RANK } from '../core/abi.js';
import { shown } from '../errors.js';
import { nullable, readFields, word } from '../problems.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

/** @typedef {{ type: string, axis: number | null, block_size?: number | number[] }} Granularity */

/** Default axes by the kind of module that consumes a weight: its outputs, its inputs. */
const MODULE_AXES = {
	per_channel: { plain: 0, transposed: 1 },
	per_block: { plain: 1, transposed: 0 },
};

/** An integer, or text that is one, as YAML and forms have it. @param {unknown} value @returns {number | undefined} */
export function integerOf(value) {
	const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
	return Number.isSafeInteger(number) ? /** @type {number} */ (number) : undefined;
}

/** @type {Reader<number>} */
const readAxis = (axis, at) => integerOf(axis) ?? at.fail(`expected an integer, got ${shown(axis)}`);

/** @type {Reader<number | number[]>} */
function readBlockSize(size, at) {
	const tuple = Array.isArray(size);
	const sizes = (tuple ? size : [size]).map(integerOf);
	const legal = sizes.every((each) => each !== undefined && (each > 0 || (tuple && each === -1)));
	if (!legal || sizes.length === 0 || sizes.length > MAX_RANK)
		return at.fail(`expected a positive integer, or a list of 1 to ${MAX_RANK} or -1; got ${shown(size)}`);
	return /** @type {number | number[]} */ (tuple ? sizes : sizes[0]);
}

const AXIS = { axis: { default: null, read: nullable(readAxis) } };
/** @type {Map<string, Record<string, import('../problems.js').Field>>} */
const FIELDS = new Map(
	Object.entries({
		per_tensor: AXIS,
		per_channel: AXIS,
		per_block: { ...AXIS, block_size: { read: readBlockSize } },
	}),
);
/** Of a type that is not known. */
const ANY = { axis: optional(any), block_size: optional(any) };
const TYPE = { type: { read: word([...FIELDS.keys()]) } };

/** @type {Reader<Granularity>} */
export function readGranularity(json, at) {
	const fields = { ...TYPE, ...(FIELDS.get(json?.type) ?? ANY) };
	const granularity = /** @type {Granularity | undefined} */ (readFields(fields, json, at));
	if (granularity?.type === undefined) return undefined;
	const { type, axis, block_size: size } = granularity;
	if (axis !== null && type === 'per_tensor') at.add('axis', 'a whole tensor has no axis; expected null');
	if (axis !== null && Array.isArray(size))
		at.add('axis', 'a list of block sizes says all axes already; expected null');
	return granularity;
}

/** Classes whose weights have default axes. */
const WEIGHTED = /(?:^|\.)(?:Linear|Embedding|Conv(?:Transpose)?[123]d)$/;

/** A class of convolutions, with its axes of space. */
const CONVOLUTION = /(?:^|\.)Conv(Transpose)?([123])d$/;

/**
 * The axes of a tensor where nobody says them.
 * @param {Granularity} granularity
 * @param {'weight' | 'activation'} target
 * @param {string} module the consuming module's class
 */
export function rankOf({ block_size: size }, target, module) {
	if (Array.isArray(size)) return size.length;
	const space = target === 'weight' ? CONVOLUTION.exec(module)?.[2] : undefined;
	return 2 + Number(space ?? 0);
}

/**
 * The axis that a granularity without one gets for the weight of a module.
 * @param {Granularity} granularity
 * @param {string | undefined} module the consuming module's class, such as Linear or torch.nn.ConvTranspose2d
 * @returns {Granularity}
 */
export function withAxis(granularity, module) {
	const { type, axis, block_size: size } = granularity;
	if (module === undefined || !WEIGHTED.test(module) || axis !== null || type === 'per_tensor' || Array.isArray(size))
		return granularity;
	const axes = MODULE_AXES[/** @type {keyof typeof MODULE_AXES} */ (type)];
	return { ...granularity, axis: CONVOLUTION.exec(module)?.[1] ? axes.transposed : axes.plain };
}

/**
 * The edges of a block, one for each axis, -1 for a whole axis.
 * @param {Granularity} granularity
 * @param {number} rank of the tensor
 * @param {'weight' | 'activation'} target
 * @param {import('../problems.js').Problems} problems at the granularity's field
 * @returns {number[]}
 */
export function edgesOf(granularity, rank, target, problems) {
	const { type, axis, block_size: size } = granularity;
	const edges = Array(rank).fill(-1);
	if (type === 'per_tensor') return edges;
	if (Array.isArray(size)) {
		if (size.length !== rank) problems.add('block_size', `has ${size.length} axes, the tensor ${rank}`);
		return size;
	}
	if (axis === null) {
		problems.add('axis', 'missing: only the weight of a known module has a default');
		return edges;
	}
	const at = axis < 0 ? axis + rank : axis;
	if (at < 0 || at >= rank) {
		problems.add(
			'axis',
			`${axis} is none of the ${rank} axes of the tensor; expected ${-rank} to ${rank - 1}, or another rank`,
		);
		return edges;
	}
	// A block of a weight spans whole axes after the second, one of an activation its axis alone.
	if (type === 'per_block') for (let i = 0; i < (target === 'weight' ? Math.min(rank, 2) : rank); i++) edges[i] = 1;
	edges[at] = type === 'per_block' ? /** @type {number} */ (size) : 1;
	return edges;
}
