// block-size.js - Burn's BlockSize: the edges of a block, and what follows from them for a tensor.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { checkAxes, checkRank } from './check.js';
import { Problems } from '../problems.js';
import { edgesJson, readList } from './edges.js';
import { checkShape, countOf } from '../shape.js';

export class BlockSize {
	/** @param {readonly number[]} edges 1 to 255 each; the ones in front do not count */
	constructor(edges) {
		const problems = new Problems();
		const own = readList(edges, problems);
		problems.check('bad-scheme', 'block size');
		/** Canonical. @type {readonly number[]} */
		this.edges = Object.freeze(own ?? []);
		Object.freeze(this);
	}

	/** Values of one block. */
	get numElements() {
		return countOf(this.edges);
	}

	/**
	 * The edge on each axis of a tensor.
	 * @param {number} rank not less than the block has axes; where it is, Burn drops the block's last edges
	 * @returns {number[]}
	 */
	toDims(rank) {
		checkRank(rank);
		const missing = rank - this.edges.length;
		if (missing < 0)
			throw new BlockQuantError(
				'bad-shape',
				`a block of ${shown(this.edges)} has more axes than a tensor of ${rank}`,
			);
		return [...Array(missing).fill(1), ...this.edges];
	}

	/** The grid of blocks, partial ones counted. @param {readonly number[]} shape @returns {number[]} */
	numBlocks(shape) {
		checkShape(shape);
		const edges = this.toDims(shape.length);
		return shape.map((dim, axis) => Math.ceil(dim / edges[axis]));
	}

	/** The block of a tensor whose axes are those of another, in this order. @param {number} rank @param {number[]} axes */
	permuted(rank, axes) {
		const edges = this.toDims(rank);
		checkAxes(axes);
		if (axes.length !== rank)
			throw new BlockQuantError('bad-argument', `axes: expected ${rank}, got ${shown(axes)}`);
		return new BlockSize(axes.map((axis) => edges[axis]));
	}

	/** As serde writes it. */
	toJSON() {
		return edgesJson(this.edges);
	}
}
