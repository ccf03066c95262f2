// block-size.js - Burn's BlockSize: up to five edges, aligned to a tensor's last axes, without the ones in front.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';

const MAX_AXES = 5;
const MAX_EDGE = 255;

/** @param {unknown} edge */
const isEdge = (edge) => Number.isInteger(edge) && Number(edge) >= 1 && Number(edge) <= MAX_EDGE;

/**
 * What is wrong with a list of edges; Burn keeps the first five of more, and divides by an edge of 0.
 * @param {unknown} edges
 * @returns {string | null}
 */
export function blockSizeProblem(edges) {
	if (!Array.isArray(edges) || !edges.every(isEdge))
		return `expected a list of edges from 1 to ${MAX_EDGE}, got ${shown(edges)}`;
	const axes = canonical(edges).length;
	return axes > MAX_AXES ? `expected at most ${MAX_AXES} axes after the ones in front, got ${axes}` : null;
}

/** @param {number[]} edges */
function canonical(edges) {
	const first = edges.findIndex((edge) => edge !== 1);
	return first < 0 ? [] : edges.slice(first);
}

export class BlockSize {
	/** @param {number[]} edges 1 to 255 each; the ones in front do not count */
	constructor(edges) {
		const problem = blockSizeProblem(edges);
		if (problem) throw new BlockQuantError('bad-scheme', `block size: ${problem}`);
		/** Canonical. @type {readonly number[]} */
		this.edges = Object.freeze(canonical(edges));
		Object.freeze(this);
	}

	/** Values of one block. */
	get numElements() {
		return this.edges.reduce((product, edge) => product * edge, 1);
	}

	/**
	 * The edge on each axis of a tensor.
	 * @param {number} rank not less than the block has axes; where it is, Burn drops the block's last edges
	 * @returns {number[]}
	 */
	toDims(rank) {
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
		const edges = this.toDims(shape.length);
		return shape.map((dim, axis) => Math.ceil(dim / edges[axis]));
	}

	/** The block of a tensor whose axes are those of another, in this order. @param {number} rank @param {number[]} axes */
	permuted(rank, axes) {
		const edges = this.toDims(rank);
		return new BlockSize(axes.map((axis) => edges[axis]));
	}

	/** As serde writes it. */
	toJSON() {
		const { edges } = this;
		return { storage: [...edges, ...Array(MAX_AXES - edges.length).fill(1)], len: edges.length };
	}
}

/**
 * The edges that some JSON says: a list, or what serde wrote.
 * @param {any} json
 * @returns {{ edges: number[], problem: null } | { edges: null, problem: string }}
 */
export function edgesOfJson(json) {
	let edges = json;
	if (json && typeof json === 'object' && !Array.isArray(json)) {
		const { storage, len, ...rest } = json;
		const unknown = Object.keys(rest);
		if (unknown.length)
			return { edges: null, problem: `unknown field ${unknown.join(', ')}; expected storage, len` };
		const whole = Array.isArray(storage) && storage.length === MAX_AXES && Number.isInteger(len);
		if (!whole || len < 0 || len > MAX_AXES || storage.slice(len).some((edge) => edge !== 1))
			return {
				edges: null,
				problem: `expected { storage: ${MAX_AXES} edges, 1 from len on, len: 0 to ${MAX_AXES} }, got ${shown(json)}`,
			};
		edges = storage.slice(0, len);
	}
	const problem = blockSizeProblem(edges);
	return problem ? { edges: null, problem } : { edges, problem: null };
}
