// edges.js - the edges of Burn's blocks: up to five, aligned to a tensor's last axes, without the ones in front; as JSON.
// SPDX-License-Identifier: MIT

import { kind } from '../arguments.js';
import { shown } from '../errors.js';
import { isObject, readFields } from '../problems.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

const MAX_AXES = 5;
const MAX_EDGE = 255;

/** @param {unknown} edge */
const isEdge = (edge) => Number.isInteger(edge) && Number(edge) >= 1 && Number(edge) <= MAX_EDGE;

/** Without the ones in front. @param {number[]} edges */
function canonical(edges) {
	const first = edges.findIndex((edge) => edge !== 1);
	return first < 0 ? [] : edges.slice(first);
}

/** A list of edges, canonical; Burn keeps the first five of more, and divides by an edge of 0. @type {Reader<number[]>} */
export function readList(edges, at) {
	if (!Array.isArray(edges) || !edges.every(isEdge))
		return at.fail(`expected a list of edges from 1 to ${MAX_EDGE}, got ${shown(edges)}`);
	const own = canonical(edges);
	if (own.length <= MAX_AXES) return own;
	return at.fail(`expected at most ${MAX_AXES} axes after the ones in front, got ${own.length}`);
}

const STORED = {
	storage: { read: kind((list) => Array.isArray(list) && list.length === MAX_AXES, `${MAX_AXES} edges`) },
	len: { read: kind((n) => Number.isInteger(n) && n >= 0 && n <= MAX_AXES, `0 to ${MAX_AXES} axes`) },
};

/** The edges that some JSON says: a list, or what serde wrote; canonical. @type {Reader<number[]>} */
export function readEdges(json, at) {
	if (!isObject(json)) return readList(json, at);
	const { storage, len } = readFields(STORED, json, at) ?? {};
	if (!storage || len === undefined) return undefined;
	if (storage.slice(len).every((/** @type {unknown} */ edge) => edge === 1))
		return readList(storage.slice(0, len), at);
	return at.fail(`expected edges of 1 from len (${len}) on, got ${shown(storage)}`);
}

/** As serde writes them. @param {readonly number[]} edges canonical */
export const edgesJson = (edges) => ({
	storage: [...edges, ...Array(MAX_AXES - edges.length).fill(1)],
	len: edges.length,
});
