// strategy.js - compressed-tensors' strategies as blocks of the scheme language: which values share a scale.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { blockOfEdges } from '../scheme.js';
import { scaleOf, valueOf, zeroOf } from './from.js';

/** @typedef {import('../scheme.js').Block} Block */
/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */

const GROUPED = ['group', 'tensor_group'];

/** Whether groups along the last axis share a scale. @param {QuantizationArgs} args */
export const isGrouped = ({ strategy }) => GROUPED.includes(strategy);

/**
 * The blocks in which scales are measured from the values themselves.
 * @param {QuantizationArgs} args
 * @param {number} rank of the tensor
 * @param {boolean} correct a token is the last axis of [tokens, width] too, where the reference takes the whole of it
 * @returns {Block}
 */
export function measuredBlock({ strategy, group_size: group, block_structure: structure }, rank, correct) {
	switch (strategy) {
		case 'tensor':
			return 'tensor';
		case 'channel':
			return 'channel';
		case 'block':
			return /** @type {number[]} */ (structure);
		case 'token':
			if (rank < 3) return correct ? 'channel' : 'tensor';
			return blockOfEdges(Array.from({ length: rank }, (_, axis) => (axis < 2 ? 1 : -1)));
		case 'attn_head':
			return blockOfEdges(Array.from({ length: rank }, (_, axis) => (axis === rank - 3 ? 1 : -1)));
		default:
			return /** @type {number} */ (group);
	}
}

/**
 * The blocks that scales of some shape are for: an axis of 1, or a missing one, is shared, others have a scale each.
 * @param {QuantizationArgs} args
 * @param {number[]} shape of the tensor
 * @param {number[]} grid shape of the scales
 * @returns {Block}
 * @throws {BlockQuantError} bad-shape
 */
export function broadcastBlock(args, shape, grid) {
	const { strategy, group_size: group, block_structure: structure } = args;
	if (strategy === 'block') return /** @type {number[]} */ (structure);
	if (grid.every((dim) => dim === 1) && !isGrouped(args)) return 'tensor';
	const dims = isGrouped(args) && grid.length < 2 ? [...grid, 1] : grid;
	const missing = shape.length - dims.length;
	const edges = shape.map((dim, axis) => {
		const scales = dims[axis - missing] ?? 1;
		if (axis === shape.length - 1 && isGrouped(args)) return /** @type {number} */ (group);
		if (scales === dim) return 1;
		return scales === 1 ? -1 : undefined;
	});
	if (missing < 0 || edges.includes(undefined))
		throw new BlockQuantError(
			'bad-shape',
			`scale: shape [${grid}] does not fit strategy ${strategy} of a tensor [${shape}]`,
		);
	return blockOfEdges(/** @type {number[]} */ (edges));
}

/**
 * A scheme of one tensor: codes beside scales in those blocks, under a tensor-wide one if there is one.
 * @param {QuantizationArgs} args
 * @param {Block} block
 * @param {string | undefined} dtype of the scales; undefined: what args say, else the tensor's own
 * @param {boolean} outer
 * @returns {Scheme}
 */
export function schemeOfArgs(args, block, dtype, outer) {
	const value = valueOf('args', args);
	const zero = zeroOf('args', args, value);
	const own = dtype ?? scaleOf('args', args) ?? (outer ? 'f32' : 'input');
	const scales = [
		{ dtype: own, block },
		...(outer ? [{ dtype: 'f32', block: /** @type {Block} */ ('tensor') }] : []),
	];
	return { value, scales, ...(zero && { zero }), rules: 'compressed-tensors', layout: 'planes' };
}
