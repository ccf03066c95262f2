// write.js - a safetensors header for tensors whose bytes are written later.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { alignmentOf } from './dtypes.js';
import { MAX_HEADER_NBYTES } from './read.js';

/**
 * A tensor to write. Its place among the data follows `rank` (equal ranks: the order given), the
 * header keeps the order given.
 * @typedef {object} OutputTensor
 * @property {string} name
 * @property {string} [rawName] the name's JSON text without quotes, to repeat an input's spelling
 * @property {string} dtype
 * @property {number[]} shape
 * @property {number} nbytes
 * @property {number} [rank] default: its index
 */

/**
 * @typedef {object} SafetensorsLayout
 * @property {Uint8Array} header the bytes before the data: length, JSON, padding
 * @property {number[]} offsets of each tensor's bytes in the file, in the order given
 * @property {number} nbytes of the whole file
 */

/** The data start at a multiple of this, as the safetensors library writes it. */
const HEADER_ALIGNMENT = 8;

/**
 * @param {OutputTensor[]} tensors
 * @param {string | null} [rawMetadata] JSON text of `__metadata__`
 * @param {{ keepOrder?: boolean }} [options] keepOrder: never reorder data to align them
 * @returns {SafetensorsLayout}
 */
export function layoutSafetensors(tensors, rawMetadata = null, { keepOrder = false } = {}) {
	const { begins, end } = placeData(tensors, keepOrder);
	const members = tensors.map(({ name, rawName, dtype, shape, nbytes }, i) => {
		const begin = begins[i] ?? 0;
		const key = rawName === undefined ? JSON.stringify(name) : `"${rawName}"`;
		return `${key}:{"dtype":"${dtype}","shape":[${shape}],"data_offsets":[${begin},${begin + nbytes}]}`;
	});
	if (rawMetadata !== null) members.unshift(`"__metadata__":${rawMetadata}`);
	const json = new TextEncoder().encode(`{${members.join(',')}}`);
	const padded = Math.ceil(json.byteLength / HEADER_ALIGNMENT) * HEADER_ALIGNMENT;
	if (padded > MAX_HEADER_NBYTES) {
		throw new BlockQuantError(
			'unsupported',
			`the header would have ${padded} bytes; readers allow ${MAX_HEADER_NBYTES}`,
		);
	}
	const header = new Uint8Array(8 + padded).fill(0x20);
	new DataView(header.buffer).setBigUint64(0, BigInt(padded), true);
	header.set(json, 8);
	return {
		header,
		offsets: begins.map((begin) => header.byteLength + begin),
		nbytes: header.byteLength + end,
	};
}

/**
 * Offsets in the data section. The format allows no padding between tensors, so a tensor of odd
 * length moves all that follow it: if that would put one at an address that its dtype does not like,
 * those of wider dtypes go first.
 * @param {OutputTensor[]} tensors
 * @param {boolean} keepOrder
 */
function placeData(tensors, keepOrder) {
	const order = tensors
		.map((tensor, index) => ({ tensor, index, rank: tensor.rank ?? index }))
		.sort((a, b) => a.rank - b.rank || a.index - b.index);
	const place = () => {
		const begins = new Array(tensors.length).fill(0);
		let end = 0;
		let aligned = true;
		for (const { tensor, index } of order) {
			aligned &&= end % alignmentOf(tensor.dtype) === 0;
			begins[index] = end;
			end += tensor.nbytes;
		}
		return { begins, end, aligned };
	};
	const placed = place();
	if (placed.aligned || keepOrder) return placed;
	order.sort((a, b) => alignmentOf(b.tensor.dtype) - alignmentOf(a.tensor.dtype));
	return place();
}
