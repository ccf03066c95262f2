// model.js - a small model of Llama's shape with random weights that are distributed as trained ones are.
// SPDX-License-Identifier: MIT

import { layoutSafetensors } from '../safetensors/write.js';
import { roughlyNormal, uniform, xoshiro128 } from './random.js';
import { countOf } from '../shape.js';

/** @typedef {{ name: string, dtype: 'BF16' | 'F32', shape: number[], nbytes: number }} SampleTensor */

const HIDDEN = 512;
const INTERMEDIATE = 1536;
const HEADS = 8;
const KEY_VALUE_HEADS = 4;
const VOCABULARY = 2048;

/** Made at a time: 4 MB as float32. */
const MAX_VALUES = 2 ** 20;

/** @param {number} layers @param {'bf16' | 'f32'} dtype */
export function sampleConfig(layers, dtype) {
	return {
		architectures: ['LlamaForCausalLM'],
		hidden_act: 'silu',
		hidden_size: HIDDEN,
		intermediate_size: INTERMEDIATE,
		max_position_embeddings: 2048,
		model_type: 'llama',
		num_attention_heads: HEADS,
		num_hidden_layers: layers,
		num_key_value_heads: KEY_VALUE_HEADS,
		rms_norm_eps: 1e-5,
		rope_theta: 10000.0,
		tie_word_embeddings: false,
		torch_dtype: dtype === 'bf16' ? 'bfloat16' : 'float32',
		vocab_size: VOCABULARY,
	};
}

/**
 * @param {number} layers
 * @param {'bf16' | 'f32'} dtype
 * @returns {SampleTensor[]}
 */
export function sampleTensors(layers, dtype) {
	const keyValue = (HIDDEN / HEADS) * KEY_VALUE_HEADS;
	/** @type {[string, ...number[]][]} */
	const layer = [
		['input_layernorm', HIDDEN],
		['self_attn.q_proj', HIDDEN, HIDDEN],
		['self_attn.k_proj', keyValue, HIDDEN],
		['self_attn.v_proj', keyValue, HIDDEN],
		['self_attn.o_proj', HIDDEN, HIDDEN],
		['post_attention_layernorm', HIDDEN],
		['mlp.gate_proj', INTERMEDIATE, HIDDEN],
		['mlp.up_proj', INTERMEDIATE, HIDDEN],
		['mlp.down_proj', HIDDEN, INTERMEDIATE],
	];
	/** @type {[string, ...number[]][]} */
	const modules = [
		['model.embed_tokens', VOCABULARY, HIDDEN],
		...Array.from({ length: layers }, (_, i) =>
			layer.map(
				([name, ...shape]) => /** @type {[string, ...number[]]} */ ([`model.layers.${i}.${name}`, ...shape]),
			),
		).flat(),
		['model.norm', HIDDEN],
		['lm_head', VOCABULARY, HIDDEN],
	];
	const width = dtype === 'bf16' ? 2 : 4;
	return modules.map(([module, ...shape]) => ({
		name: `${module}.weight`,
		dtype: dtype === 'bf16' ? 'BF16' : 'F32',
		shape,
		nbytes: countOf(shape, width),
	}));
}

/**
 * The bytes of the model's file, in order, a few MB at a time; the first are the header's.
 * @param {{ seed: number, layers: number, dtype: 'bf16' | 'f32' }} options
 * @returns {Generator<Uint8Array>}
 */
export function* sampleFile({ seed, layers, dtype }) {
	const tensors = sampleTensors(layers, dtype);
	yield layoutSafetensors(tensors, '{"format":"pt"}').header;
	for (const [i, tensor] of tensors.entries()) {
		// A seed of its own, so that more layers change no layer before.
		for (const values of sampleValues(tensor, seed * 65536 + i, MAX_VALUES)) {
			const words = dtype === 'bf16' ? toBfloat16(values) : values;
			yield new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
		}
	}
}

/** One input channel of so many is an outlier, as in trained models. */
const OUTLIER_ONE_IN = 400;

/**
 * The values of a tensor, some rows at a time. A row (output channel) has a deviation of its own, 0.7 to 1.3 times the usual; a
 * few columns (input channels) are 2.5 to 5 times as large.
 * @param {SampleTensor} tensor
 * @param {number} seed of this tensor
 * @param {number} maxValues at a time, at least a row
 * @returns {Generator<Float32Array>}
 */
export function* sampleValues({ shape }, seed, maxValues) {
	const random = xoshiro128(seed);
	const [cols = 1] = shape.slice(-1);
	if (shape.length === 1) {
		yield Float32Array.from({ length: cols }, () => 1 + 0.1 * roughlyNormal(random));
		return;
	}
	const [rows = 1] = shape;
	const columnScale = Float64Array.from({ length: cols }, () =>
		random() % OUTLIER_ONE_IN === 0 ? 2.5 + 2.5 * uniform(random) : 0.9 + 0.2 * uniform(random),
	);
	const deviation = 1 / Math.sqrt(cols);
	const rowsAtOnce = Math.max(1, Math.floor(maxValues / cols));
	for (let row = 0; row < rows; row += rowsAtOnce) {
		const values = new Float32Array(Math.min(rowsAtOnce, rows - row) * cols);
		for (let at = 0; at < values.length; at += cols) {
			const scale = deviation * (0.7 + 0.6 * uniform(random));
			for (let col = 0; col < cols; col++) values[at + col] = roughlyNormal(random) * scale * columnScale[col];
		}
		yield values;
	}
}

/**
 * Finite values as bfloat16, rounded to the nearest, ties to even.
 * @param {Float32Array} values
 */
export function toBfloat16(values) {
	const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
	return Uint16Array.from(bits, (word) => (word + 0x7fff + ((word >>> 16) & 1)) >>> 16);
}
