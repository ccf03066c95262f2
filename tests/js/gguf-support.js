// gguf-support.js - GGUF files made in memory, byte by byte, right and wrong ones.
// SPDX-License-Identifier: MIT

import { FILE_TYPES } from '../../js/gguf/ftypes.js';
import { memorySink } from '../../js/io/sink.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { rewriteModel } from '../../js/model/rewrite.js';
import { schemes } from '../../js/presets.js';

const utf8 = new TextEncoder();

/** @param {(Uint8Array | number[])[]} parts */
export const join = (...parts) => joined(parts);

/** @param {(Uint8Array | number[])[]} parts perhaps more than a call takes */
export function joined(parts) {
	const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return all;
}

/** A number of some bytes. @param {string} setter of DataView @param {number} nbytes */
const number = (setter, nbytes) => (/** @type {number | bigint} */ value) => {
	const bytes = new Uint8Array(nbytes);
	new DataView(bytes.buffer)[setter](0, nbytes === 8 && setter !== 'setFloat64' ? BigInt(value) : value, true);
	return bytes;
};
export const u8 = number('setUint8', 1);
export const i8 = number('setInt8', 1);
export const u16 = number('setUint16', 2);
export const i16 = number('setInt16', 2);
export const u32 = number('setUint32', 4);
export const i32 = number('setInt32', 4);
export const f32 = number('setFloat32', 4);
export const u64 = number('setBigUint64', 8);
export const i64 = number('setBigInt64', 8);
export const f64 = number('setFloat64', 8);

/** A string: its length and its bytes. @param {string | Uint8Array} text */
export function str(text) {
	const bytes = typeof text === 'string' ? utf8.encode(text) : text;
	return join(u64(bytes.length), bytes);
}

/** Types by name, in the order of their numbers. */
export const TYPES = 'u8 i8 u16 i16 u32 i32 f32 bool str arr u64 i64 f64'.split(' ');
const WRITE = { u8, i8, u16, i16, u32, i32, f32, bool: u8, str, u64, i64, f64 };

/** A value's bytes. @param {string} type @param {any} value of an array: { of, items } */
export function valueBytes(type, value) {
	if (type !== 'arr') return WRITE[type](value);
	const items = value.items.map((item) => valueBytes(value.of, item));
	return joined([u32(TYPES.indexOf(value.of)), u64(items.length), ...items]);
}

/** A metadata pair. @param {string | Uint8Array} key @param {string | number} type @param {any} value its bytes, if type is a number */
export function pair(key, type, value) {
	const id = typeof type === 'number' ? type : TYPES.indexOf(type);
	return join(str(key), u32(id), typeof type === 'number' ? value : valueBytes(type, value));
}

/**
 * A tensor's info. dims: row length first.
 * @param {{ name: string | Uint8Array, dims: (number | bigint)[], type: number, offset: number | bigint, ndims?: number }} tensor
 */
export const info = ({ name, dims, type, offset, ndims = dims.length }) =>
	join(str(name), u32(ndims), ...dims.map(u64), u32(type), u64(offset));

/** @typedef {{ name: string | Uint8Array, dims: (number | bigint)[], type: number, data: Uint8Array, offset?: number | bigint }} Tensor */

/**
 * A file. What is given in `set` takes the place of what would be right.
 * @param {{ pairs?: Uint8Array[], tensors?: Tensor[], alignment?: number, version?: number, ntensors?: number | bigint,
 *   npairs?: number | bigint, tail?: number }} parts tail: bytes of the last padding that are left out
 */
export function gguf({ pairs = [], tensors = [], alignment = 32, version = 3, ntensors, npairs, tail = 0 }) {
	let end = 0;
	const pad = (nbytes) => new Uint8Array((alignment - (nbytes % alignment)) % alignment);
	const infos = tensors.map(({ data, offset, ...tensor }) => {
		const begin = end;
		end += data.length + pad(data.length).length;
		return info({ ...tensor, offset: offset ?? begin });
	});
	const counts = [u64(ntensors ?? tensors.length), u64(npairs ?? pairs.length)];
	const head = join(utf8.encode('GGUF'), u32(version), ...counts, ...pairs, ...infos);
	const data = tensors.map((tensor) => join(tensor.data, pad(tensor.data.length)));
	const file = join(head, pad(head.length), ...data);
	return file.subarray(0, file.length - tail);
}

/** The pairs that a small Llama needs, so that llama.cpp's quantizer takes the file, too. */
export const LLAMA = [
	pair('general.architecture', 'str', 'llama'),
	pair('llama.block_count', 'u32', 2),
	pair('llama.context_length', 'u32', 128),
	pair('llama.embedding_length', 'u32', 256),
	pair('llama.feed_forward_length', 'u32', 512),
	pair('llama.attention.head_count', 'u32', 4),
	pair('llama.attention.head_count_kv', 'u32', 2),
	pair('llama.attention.layer_norm_rms_epsilon', 'f32', 1e-5),
];

/** Whether this build makes a tensor type, by its own list: a type that joins the presets joins the tests. @param {string} type */
export const canMake = (type) =>
	['F16', 'BF16', 'F32'].includes(type) || schemes().some(({ name }) => name === `ggml:${type.toLowerCase()}`);

/** The same of a file type. @param {string} name */
export const canWrite = (name) => canMake(FILE_TYPES.find((each) => each.name === name)?.type ?? '');

/** The file written anew without a change. @param {Uint8Array | Uint8Array[]} bytes */
export async function copy(bytes) {
	const sink = memorySink();
	await rewriteModel(await openModel(bytes), sink, { step: () => null });
	return sink.bytes();
}

/** @param {any} input @param {any} options */
export async function quantized(input, options) {
	const sink = memorySink();
	const result = await quantizeModel(await openModel(input), sink, { pure: true, ...options });
	return { ...result, bytes: sink.bytes() };
}
