// edges.js - the edges of Burn's blocks: up to five, aligned to a tensor's last axes, without the ones in front; as JSON.
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';

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

/** Without the ones in front. @param {readonly number[]} edges */
export function canonical(edges) {
	const first = edges.findIndex((edge) => edge !== 1);
	return first < 0 ? [] : edges.slice(first);
}

/**
 * The edges that some JSON says: a list, or what serde wrote; canonical.
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
	return problem ? { edges: null, problem } : { edges: canonical(edges), problem: null };
}

/** As serde writes them. @param {readonly number[]} edges canonical */
export const edgesJson = (edges) => ({
	storage: [...edges, ...Array(MAX_AXES - edges.length).fill(1)],
	len: edges.length,
});
