// granularity.js - which values share parameters, in Core AI's words: read, and as edges of a block (coreai.md, section 3).
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';

/** @typedef {{ type: string, axis: number | null, block_size?: number | number[] }} Granularity */

const KEYS = {
	per_tensor: ['type', 'axis'],
	per_channel: ['type', 'axis'],
	per_block: ['type', 'axis', 'block_size'],
};

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

/** @param {unknown} size @param {boolean} inTuple */
function blockSize(size, inTuple) {
	const number = integerOf(size);
	return number !== undefined && (number > 0 || (inTuple && number === -1)) ? number : undefined;
}

/**
 * @param {any} json
 * @param {import('../problems.js').Problems} problems at the granularity's field
 * @returns {Granularity}
 */
export function readGranularity(json, problems) {
	/** @type {Granularity} */
	const granularity = { type: 'per_tensor', axis: null };
	if (!json || typeof json !== 'object' || Array.isArray(json)) {
		problems.add('', `expected an object with a type, got ${shown(json)}`);
		return granularity;
	}
	problems.checkWord('type', json.type, Object.keys(KEYS));
	if (!Object.hasOwn(KEYS, json.type)) return granularity;
	granularity.type = json.type;
	const keys = KEYS[/** @type {keyof typeof KEYS} */ (json.type)];
	problems.checkFields(json, keys);
	if (json.axis !== undefined && json.axis !== null) {
		granularity.axis = integerOf(json.axis) ?? null;
		if (json.type === 'per_tensor') problems.add('axis', 'a whole tensor has no axis; expected null');
		else if (granularity.axis === null) problems.add('axis', `expected an integer, got ${shown(json.axis)}`);
	}
	if (json.type === 'per_block') readBlockSize(json, granularity, problems);
	return granularity;
}

/** @param {any} json @param {Granularity} granularity @param {import('../problems.js').Problems} problems */
function readBlockSize({ block_size: size, axis }, granularity, problems) {
	if (size === undefined) return problems.add('block_size', 'missing; expected a size, or one for each axis');
	const tuple = Array.isArray(size);
	const sizes = (tuple ? size : [size]).map((/** @type {unknown} */ each) => blockSize(each, tuple));
	if (!sizes.length || sizes.includes(undefined))
		return problems.add('block_size', `expected positive integers, in a list also -1; got ${shown(size)}`);
	if (tuple && axis !== undefined && axis !== null)
		return problems.add('axis', 'a list of block sizes says all axes already; expected null');
	granularity.block_size = /** @type {number | number[]} */ (tuple ? sizes : sizes[0]);
}

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
	if (module === undefined || axis !== null || type === 'per_tensor' || Array.isArray(size)) return granularity;
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
