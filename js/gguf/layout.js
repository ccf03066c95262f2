// layout.js - the GGUF file that a model becomes: llama-quantize's order of keys and tensors, and its padding.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { STRING, U32 } from './pairs.js';
import { MAGIC, padded, VERSION } from './read.js';
import { SPLIT_KEYS } from './split.js';
import { dimsOf, typeNamed } from './types.js';

/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('../model/types.js').Step} Step */
/** @typedef {import('../model/types.js').OutputFile} OutputFile */

/** @typedef {{ fileType: number, importance: [string, string | number][] }} Stamp importance: more pairs */

/** The version of ggml's quantized blocks; it is said wherever a tool went over the file. */
const QUANTIZATION_VERSION = 2;

const utf8 = new TextEncoder();

/**
 * @param {Model} model
 * @param {(tensor: ModelTensor) => Step} stepOf
 * @param {Stamp | null} stamp null: the metadata stay as they are
 * @returns {OutputFile[]}
 */
export function layoutGguf(model, stepOf, stamp) {
	const { header } = model.files[0];
	const steps = inOrder(model.tensors).map((tensor) => ({ tensor, step: stepOf(tensor) }));
	const { alignment } = header;
	let end = 0;
	const places = steps.map(({ step }) =>
		step.outputs.map((output) => {
			const begin = end;
			end = padded(begin + output.nbytes, alignment);
			return { output, begin };
		}),
	);
	const infos = places.flat().map(({ output, begin }) => tensorInfo(output, begin));
	const pairs = pairsOf(header, stamp);
	const start = new Uint8Array(24);
	start.set(utf8.encode(MAGIC));
	const view = new DataView(start.buffer);
	view.setUint32(4, VERSION, true);
	view.setBigUint64(8, BigInt(infos.length), true);
	view.setBigUint64(16, BigInt(pairs.length), true);
	const bytes = concatenated([start, ...pairs, ...infos], alignment);
	return [
		{
			name: model.name,
			header: bytes,
			parts: steps.map(({ tensor, step }, i) => ({
				tensor,
				step,
				offsets: places[i].map(({ begin }) => bytes.byteLength + begin),
			})),
			padding: places.flat().map(({ output: { nbytes }, begin }) => ({
				offset: bytes.byteLength + begin + nbytes,
				nbytes: padded(begin + nbytes, alignment) - begin - nbytes,
			})),
			nbytes: bytes.byteLength + end,
		},
	];
}

/**
 * Tensors outside of blocks first, then by the number of the block; names by their bytes.
 * @param {ModelTensor[]} tensors
 */
export function inOrder(tensors) {
	const keyed = tensors.map((tensor) => ({ tensor, layer: layerOf(tensor.name), name: utf8.encode(tensor.name) }));
	keyed.sort((a, b) => a.layer - b.layer || compareBytes(a.name, b.name));
	return keyed.map(({ tensor }) => tensor);
}

/** As the tool's sscanf("blk.%d.") reads it. @param {string} name */
function layerOf(name) {
	const [, number] = /^blk\.\s*([+-]?\d+)/.exec(name) ?? [];
	return number === undefined ? -1 : Number(number);
}

/** @param {Uint8Array} a @param {Uint8Array} b */
function compareBytes(a, b) {
	const length = Math.min(a.length, b.length);
	for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] - b[i];
	return a.length - b.length;
}

/**
 * The pairs as they stand in the input, byte for byte, without those of shards; what is set anew goes to the end.
 * @param {import('./read.js').GgufHeader} header
 * @param {Stamp | null} stamp
 */
function pairsOf({ bytes, pairs }, stamp) {
	const added =
		stamp === null
			? []
			: [
					...Object.entries({
						'general.quantization_version': QUANTIZATION_VERSION,
						'general.file_type': stamp.fileType,
					}),
					...stamp.importance,
				];
	const gone = new Set([...SPLIT_KEYS, ...added.map(([key]) => key)]);
	return [
		...pairs.filter(({ key }) => !gone.has(key)).map(({ start, end }) => bytes.subarray(start, end)),
		...added.map(([key, value]) =>
			concatenated([
				text(key),
				...(typeof value === 'string' ? [u32(STRING), text(value)] : [u32(U32), u32(value)]),
			]),
		),
	];
}

/** @param {number} value */
function u32(value) {
	const bytes = new Uint8Array(4);
	new DataView(bytes.buffer).setUint32(0, value, true);
	return bytes;
}

/** @param {number} value */
function u64(value) {
	const bytes = new Uint8Array(8);
	new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
	return bytes;
}

/** A string as the format stores it. @param {string} value */
function text(value) {
	const characters = utf8.encode(value);
	return concatenated([u64(characters.length), characters]);
}

/**
 * @param {import('../model/types.js').OutputTensor} output
 * @param {number} begin
 */
function tensorInfo({ name, dtype, shape }, begin) {
	const type = typeNamed(dtype);
	if (type === undefined) throw new BlockQuantError('internal', `no GGUF type ${dtype}`, { tensor: name });
	const dims = dimsOf(shape);
	return concatenated([text(name), u32(dims.length), ...dims.map(u64), u32(type.id), u64(begin)]);
}

/**
 * @param {Uint8Array[]} parts
 * @param {number} [alignment]
 */
function concatenated(parts, alignment = 1) {
	const nbytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
	const bytes = new Uint8Array(padded(nbytes, alignment));
	let at = 0;
	for (const part of parts) {
		bytes.set(part, at);
		at += part.byteLength;
	}
	return bytes;
}
