// block-layout.js - Burn's BlockLayout: which block of a tensor an element is in.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { BlockSize } from './block-size.js';
import { checkIndex } from './check.js';
import { checkShape, countOf } from '../shape.js';

const readBlockSize = kind((size) => size instanceof BlockSize, 'a BlockSize');

export class BlockLayout {
	#axes;
	#count;

	/** @param {readonly number[]} shape @param {BlockSize} blockSize its blocks at the ends may be partial */
	constructor(shape, blockSize) {
		checkShape(shape);
		given('blockSize', blockSize, readBlockSize);
		const edges = blockSize.toDims(shape.length);
		const counts = blockSize.numBlocks(shape);
		let stride = 1;
		/** Last axis first. */
		this.#axes = shape
			.map((dim, axis) => ({ dim, edge: edges[axis], count: counts[axis] }))
			.reverse()
			.map((axis) => {
				const placed = { ...axis, stride };
				stride *= axis.count;
				return placed;
			});
		this.numBlocks = stride;
		this.#count = countOf(shape);
		/** Whether no block is partial. */
		this.divides = this.#axes.every(({ dim, edge }) => dim % edge === 0);
	}

	/** Row-major index of the block that holds an element. @param {number} element row-major index */
	blockOf(element) {
		checkIndex('element', element, this.#count - 1);
		let block = 0;
		let rest = element;
		for (const { dim, edge, stride } of this.#axes) {
			block += Math.floor((rest % dim) / edge) * stride;
			rest = Math.floor(rest / dim);
		}
		return block;
	}

	/** Whether no element is missing from a block. @param {number} block row-major index */
	isWhole(block) {
		checkIndex('block', block, this.numBlocks - 1);
		return this.#axes.every(({ dim, edge, count, stride }) => {
			const at = Math.floor(block / stride) % count;
			return (at + 1) * edge <= dim;
		});
	}
}
