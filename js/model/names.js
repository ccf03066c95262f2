// names.js - what a tensor is for, read from its name: the one place that knows models' habits.
// SPDX-License-Identifier: MIT

/**
 * - `linear.*`: the weight of a linear layer, by its place in a transformer
 * - the others are matrices too, or may be, but are read by row, or decide more than they weigh
 * @typedef {'linear.q' | 'linear.k' | 'linear.v' | 'linear.qkv' | 'linear.o' | 'linear.gate'
 *   | 'linear.up' | 'linear.gate_up' | 'linear.down' | 'linear.other' | 'embedding' | 'position'
 *   | 'norm' | 'head' | 'router' | 'bias' | 'other'} TensorRole
 */

/** A norm is one by the last part of its module's path: `norm1.linear` is a linear layer. */
const NORM = /norm|^ln(_.*|\d+)?$|^rms$/;

/** Roles found in any part of the path. */
const ANYWHERE = /** @type {[TensorRole, RegExp][]} */ ([
	['position', /position|^(wpe|rotary_emb|relative_attention_bias|rel_pos.*|pos_?emb.*)$/],
	['head', /^(lm_head|embed_out|qa_outputs|output_projection|heads?|cls|vocab_.*)$/],
	['embedding', /embed|^(wte|emb|shared|word_emb.*|token_embd)$/],
	['router', /router|(?<!^ffn)_gate$|^ffn_gate_inp|^gate$|^wg$/],
]);

/** Heads that share a plain name with layers inside the stack: only where no layer has a number. */
const OUTSIDE_LAYERS = /^(output|output_layer|score|classifier|decoder|.*_head|seq_relationship)$/;

/** Linear layers, by the last parts of the module's path. */
const LINEAR = /** @type {[TensorRole, RegExp][]} */ ([
	['linear.qkv', /(^|\.)(qkv|qkv_proj|query_key_value|c_attn|Wqkv|in_proj|attn_qkv)$/],
	['linear.q', /(^|\.)(q|wq|q_proj|q_[ab]_proj|query|q_lin|to_q|attn_q)$/],
	['linear.k', /(^|\.)(k|wk|k_proj|key|k_lin|to_k|attn_k|kv_a_proj_with_mqa|kv_b_proj)$/],
	['linear.v', /(^|\.)(v|wv|v_proj|value|v_lin|to_v|attn_v)$/],
	[
		'linear.o',
		/(^|\.)(o|wo|o_proj|out_proj|out_lin|attn_output)$|att[^.]*\.(output\.)?(dense|c_proj|proj|to_out\.0)$/,
	],
	['linear.gate_up', /(^|\.)(gate_up_proj|wi_fused|dense_h_to_4h_swiglu)$/],
	['linear.gate', /(^|\.)(gate_proj|w1|wi_0|ffn_gate(_exps|_shexp)?)$/],
	[
		'linear.down',
		/(^|\.)(down_proj|w2|wo_ff|fc2|lin2|c_proj|dense_4h_to_h|ffn_down(_exps|_shexp)?)$|(^|\.)output\.dense$/,
	],
	['linear.up', /(^|\.)(up_proj|w3|wi|wi_1|fc1|lin1|c_fc|dense_h_to_4h|ffn_up(_exps|_shexp)?|intermediate\.dense)$/],
]);

/** T5 calls its feed-forward output `wo`, as Llama's own checkpoints call the attention's. */
const FEED_FORWARD_WO = /(DenseReluDense|feed_forward|mlp)\.wo$/;

/**
 * @param {string} name of a tensor
 * @returns {TensorRole}
 */
export function roleOf(name) {
	if (/(^|[._])bias$/.test(name)) return 'bias';
	const module = moduleOf(name) ?? name;
	const parts = module.split('.');
	const last = parts.at(-1) ?? '';
	if (NORM.test(last.toLowerCase())) return 'norm';
	for (const [role, pattern] of ANYWHERE) {
		if (parts.some((part) => pattern.test(part.toLowerCase()))) return role;
	}
	if (!parts.some((part) => /^\d+$/.test(part)) && OUTSIDE_LAYERS.test(last)) return 'head';
	if (moduleOf(name) === null) return 'other';
	if (FEED_FORWARD_WO.test(module)) return 'linear.down';
	for (const [role, pattern] of LINEAR) if (pattern.test(module)) return role;
	return 'linear.other';
}

/**
 * The module that a `*.weight` belongs to: '' for the bare name `weight`, null for other tensors.
 * @param {string} name
 */
export function moduleOf(name) {
	if (name === 'weight') return '';
	return name.endsWith('.weight') ? name.slice(0, -'.weight'.length) : null;
}

/**
 * The name of a module's tensor.
 * @param {string} module
 * @param {string} parameter
 */
export function parameterName(module, parameter) {
	return module === '' ? parameter : `${module}.${parameter}`;
}

const KINDS = /** @type {Partial<Record<TensorRole, string>>} */ ({
	'linear.q': 'attention q',
	'linear.k': 'attention k',
	'linear.v': 'attention v',
	'linear.qkv': 'attention qkv',
	'linear.o': 'attention o',
	'linear.gate': 'mlp gate',
	'linear.up': 'mlp up',
	'linear.gate_up': 'mlp gate and up',
	'linear.down': 'mlp down',
	'linear.other': 'other linear',
	embedding: 'embeddings',
	position: 'embeddings',
	head: 'heads',
	norm: 'norms',
});

/**
 * The layer kind under which an error summary counts a tensor.
 * @param {string} name
 */
export function kindOf(name) {
	return KINDS[roleOf(name)] ?? 'other';
}
