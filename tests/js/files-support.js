// files-support.js - what the tests of files share: small files made in memory, seeded bytes, the golden folder.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BlockQuantError } from '../../js/errors.js';
import { memorySink } from '../../js/io/sink.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { rewriteModel } from '../../js/model/rewrite.js';
import { layoutSafetensors } from '../../js/safetensors/write.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** @param {string} part of the golden data @returns {string | null} its folder, if it is here */
export function goldenPath(part) {
	const folders = [join(root, 'tests/golden', part), join(root, '../shared/golden', part)];
	return folders.find((folder) => existsSync(folder)) ?? null;
}

/** Seeded bytes (mulberry32). @param {number} nbytes @param {number} seed */
export function noise(nbytes, seed) {
	let state = seed;
	return Uint8Array.from({ length: nbytes }, () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return (t ^ (t >>> 14)) >>> 24;
	});
}

/** Seeded weights, about as large as a model's. @param {number} count @param {number} seed */
export function weights(count, seed) {
	const bytes = noise(count * 4, seed);
	return Float32Array.from({ length: count }, (_, i) => {
		const sum = bytes[4 * i] + bytes[4 * i + 1] + bytes[4 * i + 2] + bytes[4 * i + 3];
		return Math.fround((sum - 510) / 5000);
	});
}

/** The bytes of an array. @param {ArrayBufferView} array */
export function bytesOf(array) {
	return new Uint8Array(array.buffer, array.byteOffset, array.byteLength).slice();
}

/**
 * A safetensors file.
 * @param {{ name: string, dtype: string, shape: number[], data: Uint8Array }[]} tensors
 * @param {Record<string, string> | null} [metadata]
 */
export function safetensors(tensors, metadata = null) {
	const entries = tensors.map(({ data, ...tensor }) => ({ ...tensor, nbytes: data.length }));
	const layout = layoutSafetensors(entries, metadata && JSON.stringify(metadata));
	const file = new Uint8Array(layout.nbytes);
	file.set(layout.header);
	tensors.forEach(({ data }, i) => file.set(data, layout.offsets[i]));
	return file;
}

/** bf16 bits of values that are cut, not rounded. @param {Float32Array} values */
function bf16(values) {
	const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
	return bytesOf(Uint16Array.from(bits, (word) => word >>> 16));
}

/** A model file of one small Llama layer in BF16, with metadata. @param {number} seed */
export function llama(seed) {
	const layer = 'model.layers.0';
	/** @type {[string, number[]][]} */
	const shapes = [
		['lm_head.weight', [40, 128]],
		['model.embed_tokens.weight', [40, 128]],
		[`${layer}.input_layernorm.weight`, [128]],
		[`${layer}.mlp.down_proj.weight`, [128, 256]],
		[`${layer}.mlp.gate_proj.weight`, [256, 128]],
		[`${layer}.mlp.up_proj.weight`, [256, 128]],
		[`${layer}.self_attn.k_proj.weight`, [64, 128]],
		[`${layer}.self_attn.o_proj.weight`, [128, 128]],
		[`${layer}.self_attn.q_proj.weight`, [128, 128]],
		[`${layer}.self_attn.v_proj.weight`, [64, 128]],
		['model.norm.weight', [128]],
	];
	const tensors = shapes.map(([name, shape], i) => {
		const count = shape.reduce((product, edge) => product * edge, 1);
		return { name, dtype: 'BF16', shape, data: bf16(weights(count, seed * 100 + i)) };
	});
	return safetensors(tensors, { format: 'pt', made: 'by a test' });
}

/** A tensor for safetensors(). @param {string} name @param {number[]} shape @param {Float32Array} values */
export const f32 = (name, shape, values) => ({ name, dtype: 'F32', shape, data: bytesOf(values) });

/** A file of any header text over some data. @param {string} header @param {number} nbytes */
export function file(header, nbytes = 0) {
	const json = new TextEncoder().encode(header);
	const bytes = new Uint8Array(8 + json.length + nbytes);
	new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
	bytes.set(json, 8);
	return bytes;
}

/** A tensor in a header's text. @param {string} dtype @param {number[]} shape @param {number[]} offsets */
export const entry = (dtype, shape, offsets) => `{"dtype":"${dtype}","shape":[${shape}],"data_offsets":[${offsets}]}`;

/** Opening the bytes must fail in this way. @param {Uint8Array} bytes @param {RegExp} message @param {string} [code] */
export async function refused(bytes, message, code = 'bad-file') {
	await assert.rejects(openModel(bytes), (error) => {
		assert.ok(error instanceof BlockQuantError, `${error}`);
		assert.equal(error.code, code, error.message);
		assert.match(error.message, message);
		assert.ok(!/[\n\r]/.test(error.message), 'one line');
		return true;
	});
}

/** The file written anew without a change. @param {Uint8Array} bytes */
export async function copy(bytes) {
	const sink = memorySink();
	await rewriteModel(await openModel(bytes), sink, { step: () => null });
	return sink.bytes();
}

/** @param {Uint8Array} bytes @param {import('../../js/model/quantize.js').QuantizeOptions} options */
export async function quantized(bytes, options) {
	const sink = memorySink();
	const result = await quantizeModel(await openModel(bytes), sink, options);
	assert.equal(sink.bytes().length, result.nbytes);
	return { ...result, bytes: sink.bytes(), model: await openModel(sink.bytes()) };
}

/** The stored bytes of a tensor. @param {import('../../js/model/types.js').Model} model @param {string} name */
export async function stored(model, name) {
	const tensor = model.tensors.find((one) => one.name === name);
	assert.ok(tensor, name);
	return tensor.read(0, tensor.nbytes);
}
