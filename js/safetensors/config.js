// config.js - the config.json beside a safetensors model, before and after.
// SPDX-License-Identifier: MIT

import { schemeToArgs } from '../compressed-tensors/args.js';
import { addQuantizationConfig, quantizationConfig, removeQuantizationConfig } from '../compressed-tensors/config.js';
import { BlockQuantError } from '../errors.js';
import { moduleOf, roleOf } from '../model/names.js';

/** @typedef {import('../model/plan.js').Plan} Plan */

/**
 * The text with its quantization_config, and that section alone.
 * @param {Plan} decided
 * @param {string | Uint8Array | null} [text] of a config.json
 */
export function quantizedConfig(decided, text) {
	if (decided.scheme === null) throw new BlockQuantError('internal', 'a safetensors plan without a scheme');
	const section = quantizationConfig(schemeToArgs(decided.scheme), modulesOf(decided));
	return { config: text == null ? null : addQuantizationConfig(text, section), quantizationConfig: section };
}

/** @param {string | Uint8Array | null} [text] of a config.json */
export function plainConfig(text) {
	return text == null ? null : removeQuantizationConfig(text);
}

/**
 * What a config.json must know of the modules: which are quantized although they are no linear
 * layers, and which are linear layers although they are not quantized.
 * @param {Plan} decided
 */
function modulesOf({ tensors }) {
	/** @type {string[]} */
	const others = [];
	/** @type {string[]} */
	const ignore = [];
	let linear = false;
	for (const { name, shape, quantize } of tensors) {
		const module = moduleOf(name);
		if (module === null) continue;
		const isLinear = LINEAR_LAYER.test(roleOf(name));
		if (quantize && isLinear) linear = true;
		else if (quantize) others.push(module);
		else if (isLinear && shape.length === 2) ignore.push(module);
	}
	return { targets: linear ? ['Linear', ...others] : others, ignore };
}

/** Roles of weights that are torch's Linear: heads, routers and gates are too. */
const LINEAR_LAYER = /^(linear\..*|head|router)$/;
