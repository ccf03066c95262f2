// config.js - the config.json beside a safetensors model, before and after.
// SPDX-License-Identifier: MIT

import { addQuantizationConfig, removeQuantizationConfig } from '../compressed-tensors/config-file.js';
import { configOfModules } from '../compressed-tensors/config-of-modules.js';
import { writeQuantizationConfig } from '../compressed-tensors/quantization-config.js';
import { storedScheme } from '../compressed-tensors/to.js';
import { BlockQuantError, quoted } from '../errors.js';
import { moduleOf, parameterName, roleOf } from '../model/names.js';
import { misread } from './read-back.js';

/** @typedef {import('../model/plan.js').Plan} Plan */

/**
 * The text with its quantization_config, and that section alone.
 * @param {Plan} decided
 * @param {string | Uint8Array | null} [text] of a config.json
 */
export function quantizedConfig(decided, text) {
	if (decided.scheme === null) throw new BlockQuantError('internal', 'a safetensors plan without a scheme');
	const modules = modulesOf(decided);
	const quantized = modules.filter((module) => module.quantize);
	const named = quantized.filter(({ className }) => className !== LINEAR).map(({ name }) => name);
	const targets = named.length < quantized.length ? [LINEAR, ...named] : named;
	const scheme = storedScheme(decided.scheme, targets);
	const config = configOfModules(modules.map((module) => ({ ...module, scheme: module.quantize ? scheme : null })));
	const section = writeQuantizationConfig({ ...config, config_groups: { group_0: scheme } });
	return {
		config: text == null ? null : addQuantizationConfig(text, section),
		quantizationConfig: section,
	};
}

/**
 * What tells its scheme by its tensors needs no config; of all else a reader must have one: why, or nothing.
 * @param {Plan} decided
 * @returns {string[]}
 */
export function needOfConfig({ tensors }) {
	/** A model has few shapes, and many tensors of each. @type {Map<string, string | null>} */
	const known = new Map();
	for (const { name, shape, scheme, planes } of tensors) {
		const module = moduleOf(name);
		if (scheme === null || module === null) continue;
		const kind = String(shape);
		const start = parameterName(module, '').length;
		const stored = planes.map((plane) => ({ ...plane, name: plane.name.slice(start) }));
		const why = known.has(kind) ? known.get(kind) : misread(scheme, shape, stored, []);
		known.set(kind, why ?? null);
		if (why)
			return [
				`readers need a config.json with quantizationConfig beside this file, of tensor ${quoted(name)} without one: ${why}`,
			];
	}
	return [];
}

/** @param {string | Uint8Array | null} [text] of a config.json */
export function plainConfig(text) {
	return text == null ? null : removeQuantizationConfig(text);
}

const LINEAR = 'Linear';

/** Roles of weights that are torch's Linear: heads, routers and gates are too. */
const LINEAR_LAYER = /^(linear\..*|head|router)$/;

/**
 * The modules of a model with their classes, as far as names of tensors tell them.
 * @param {Plan} decided
 */
function modulesOf({ tensors }) {
	return tensors.flatMap(({ name: tensor, shape, quantize }) => {
		const name = moduleOf(tensor);
		if (name === null) return [];
		const role = roleOf(tensor);
		const isLinear = LINEAR_LAYER.test(role) && (quantize || shape.length === 2);
		return [{ name, className: isLinear ? LINEAR : role, quantize }];
	});
}
