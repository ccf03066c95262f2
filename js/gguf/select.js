// select.js - which tensors of a GGUF model are quantized: llama-quantize's rules, by name.
// SPDX-License-Identifier: MIT

import { WEIGHT_DTYPES } from '../layouts.js';
import { dimsOf, typeNamed } from './types.js';

/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */

/** Parts of names, with what such a tensor is (llama.cpp of Nov 2026, src/llama-quant.cpp). @type {[string, RegExp][]} */
const KEPT = [
	['a norm', /_norm\.weight/],
	['a router', /ffn_gate_inp\.weight/],
	['a table of expert numbers', /ffn_gate_tid2eid\.weight/],
	['small and sensitive', /altup|laurel|per_layer_model_proj/],
	['a convolution', /ssm_conv1d|shortconv\.conv\.weight/],
	['an indexer', /indexer\.[kq]_proj\.weight/],
	[
		'a parameter of RWKV',
		/time_mix_(first|w[012]|v[012]|a[012]|g[12]|decay_w[12])\.weight|time_mix_lerp_fused\.weight/,
	],
	['a position table', /\.position_embd|\.rel_pos|attn_rel_b\.weight|^position_embd\.weight$/],
	['a token type table', /^token_types\.weight$/],
	[
		'a part of a vision or audio model',
		/sam\.(pos_embd|neck\.|net_)|\.patch_(embd|merger)|a\.rvq\.codebook|mm\.a\.code_embd/,
	],
];

/**
 * Why no scheme can take this tensor; null if one may.
 * @param {ModelTensor} tensor
 */
export function refusalOf({ dtype }) {
	if (dtype in WEIGHT_DTYPES) return null;
	// Whether a quantized tensor may be quantized again, the target says.
	return typeNamed(dtype)?.quantized ? null : `its type ${dtype} is not F32, F16 or BF16`;
}

/**
 * Why a tensor is left alone by default; null: it is quantized.
 * @param {ModelTensor} tensor
 */
export function keptBecause({ name, shape }) {
	// The tool looks for "weight" at length - 6, which for a name of five letters is "not found", and equal to that.
	if (!name.endsWith('weight') && new TextEncoder().encode(name).length !== 5) return 'no *weight';
	const found = KEPT.find(([, pattern]) => pattern.test(name));
	if (found !== undefined) return found[0];
	return dimsOf(shape).length < 2 ? 'a vector' : null;
}
