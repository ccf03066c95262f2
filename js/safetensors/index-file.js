// index-file.js - model.safetensors.index.json: which tensor is in which shard.
// SPDX-License-Identifier: MIT

import { BlockQuantError, quoted } from '../errors.js';
import { JsonNumber, formatJson } from '../json/value.js';
import { parseJson } from '../json/read.js';

/** @typedef {import('../json/value.js').JsonObject} JsonObject */

/**
 * @typedef {object} SafetensorsIndex
 * @property {JsonObject} metadata members of its `metadata`, total_size among them
 * @property {Map<string, string>} weightMap tensor -> shard
 * @property {string[]} shards in the order of their first tensor
 */

/** An index is read whole; the largest public ones have some 10 MB. */
export const MAX_INDEX_NBYTES = 100_000_000;

/**
 * @param {string} name of a file
 */
export function isIndexName(name) {
	return name.endsWith('.safetensors.index.json');
}

/**
 * @param {Uint8Array} bytes
 * @param {string} [file]
 * @returns {SafetensorsIndex}
 */
export function readIndex(bytes, file) {
	/** @param {string} message @returns {never} */
	const fail = (message) => {
		throw new BlockQuantError('bad-file', message, { file });
	};
	const root = parseJson(bytes, { file, python: true });
	const map = root instanceof Map ? root.get('weight_map') : undefined;
	if (!(root instanceof Map) || !(map instanceof Map)) {
		return fail('no safetensors index: "weight_map" must be an object');
	}
	/** @type {Map<string, string>} */
	const weightMap = new Map();
	for (const [tensor, shard] of map) {
		if (typeof shard !== 'string' || !isPlainFileName(shard) || shard === file) {
			fail(`tensor ${quoted(tensor)} is said to be in ${shardText(shard)}, which is no plain file name`);
		}
		weightMap.set(tensor, /** @type {string} */ (shard));
	}
	const shards = [...new Set(weightMap.values())];
	if (shards.length === 0) fail('its "weight_map" names no tensor');
	const metadata = root.get('metadata') ?? new Map();
	if (!(metadata instanceof Map)) return fail('"metadata" must be an object');
	return { metadata, weightMap, shards };
}

/** @param {unknown} shard */
function shardText(shard) {
	return typeof shard === 'string' ? quoted(shard) : 'something that is no string';
}

/**
 * A shard is a file in the index's own directory, whatever the operating system reads into names.
 * @param {string} name
 */
function isPlainFileName(name) {
	return name !== '' && name !== '.' && name !== '..' && !/[/\\:\u0000-\u001f]/.test(name);
}

/**
 * The text of an index, as transformers writes it.
 * @param {Map<string, string>} weightMap
 * @param {number} totalSize bytes of all tensors
 * @param {JsonObject} [metadata] further members of `metadata`
 */
export function writeIndex(weightMap, totalSize, metadata = new Map()) {
	const members = new Map(metadata).set('total_size', new JsonNumber(String(totalSize)));
	/** @type {JsonObject} */
	const root = new Map();
	root.set('metadata', members).set('weight_map', new Map(weightMap));
	return `${formatJson(root)}\n`;
}
