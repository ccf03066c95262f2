// files-support.js - what the tests of files share: small files made in memory, seeded bytes, the golden folder.
// SPDX-License-Identifier: MIT

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
