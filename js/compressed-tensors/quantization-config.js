// quantization-config.js - QuantizationConfig: what a config.json says of a quantized model.
// SPDX-License-Identifier: MIT

import { optional, optionsOf } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { Problems, flag, isObject, list, nullable, readFields, text, word } from '../problems.js';
import { float } from './coerce.js';
import { presetJson, presetNameToScheme } from './preset-schemes.js';
import { readArgs, writeQuantizationArgs } from './quantization-args.js';
import { readScheme, writeQuantizationScheme } from './quantization-scheme.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */
/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */
/** @typedef {import('./quantization-scheme.js').QuantizationScheme} QuantizationScheme */

/** The release whose files these are; readers compare it with what they know. */
export const VERSION = '0.20.1';

export const METHOD = 'compressed-tensors';

/** In the order that a model goes through them. */
export const STATUSES = ['initialized', 'calibration', 'frozen', 'compressed', 'decompressed'];

/**
 * QuantizationConfig with every field.
 * @typedef {object} QuantizationConfig
 * @property {Record<string, QuantizationScheme>} config_groups
 * @property {string} quant_method
 * @property {QuantizationArgs | null} kv_cache_scheme
 * @property {string | null} format of all groups, `mixed-precision` if they differ
 * @property {string} quantization_status
 * @property {number | null} global_compression_ratio
 * @property {string[] | null} ignore modules that are not quantized, as targets
 * @property {{ method: string, num_experts: (number | null)[] } | null} moe_sparsity_config
 */

const MOE = {
	method: { read: word(['prune', 'novice']) },
	num_experts: { read: list(nullable(strictInteger)) },
};

/** @type {Reader<number>} */
function strictInteger(value, at) {
	return Number.isInteger(value) ? value : at.fail(`expected an integer, got ${shown(value)}`);
}

const FIELDS = {
	config_groups: { read: readGroups },
	quant_method: { default: METHOD, read: text },
	kv_cache_scheme: { default: null, read: nullable(readArgs) },
	format: { default: 'fakequant', read: text },
	quantization_status: { default: STATUSES[0], read: word(STATUSES) },
	global_compression_ratio: { default: null, read: nullable(float) },
	ignore: { default: [], read: nullable(list(text)) },
	moe_sparsity_config: { default: null, read: nullable((json, at) => readFields(MOE, json, at, null)) },
};

/** Groups by name; a list of targets is the preset that the group is named after. @type {Reader<Record<string, QuantizationScheme | undefined>>} */
function readGroups(json, at) {
	if (!isObject(json)) return at.fail(`expected an object of groups, got ${shown(json)}`);
	const entries = Object.entries(json).map(([name, group]) => {
		const place = at.within(name);
		return [name, Array.isArray(group) ? presetGroup(name, group, place) : readScheme(group, place)];
	});
	return Object.fromEntries(entries);
}

/** @param {string} name @param {unknown[]} given @param {Problems} at */
function presetGroup(name, given, at) {
	const targets = list(text)(given, at);
	try {
		return targets && presetNameToScheme(name, targets);
	} catch (error) {
		if (error instanceof BlockQuantError && error.code === 'unknown-scheme') return at.fail(error.detail);
		throw error;
	}
}

/**
 * Validates a QuantizationConfig and completes it: presets expanded, every field of every group filled in.
 * @param {unknown} json the `quantization_config` of a config.json
 * @returns {QuantizationConfig}
 * @throws {BlockQuantError} bad-scheme: every problem, each with its field and the rule
 */
export function quantizationConfig(json) {
	const problems = new Problems();
	// Other keys are other parts' (version, sparsity_config, transform_config), or older releases' (run_compressed).
	const config = readFields(FIELDS, json, problems, null);
	problems.check('bad-scheme', 'config');
	return /** @type {QuantizationConfig} */ (config);
}

/**
 * The `quantization_config` that compressed-tensors 0.20.1 writes into a config.json for one that it has read.
 * @param {Record<string, any>} json QuantizationConfig, complete or not; its `transform_config` is kept
 * @param {{ correct?: boolean }} [options] correct: a target that two groups have is left to the later one, whose it is. In the
 *   file groups stand in the order of their names, and readers would take the last of that order
 * @returns {Record<string, any>}
 * @throws {BlockQuantError} bad-scheme
 */
export function writeQuantizationConfig(json, options = {}) {
	const { correct } = optionsOf({ correct: optional(flag) }, options);
	const config = quantizationConfig(json);
	const written = Object.entries(json.config_groups).map(([name, group]) => {
		const given = Array.isArray(group) ? presetJson(name, group) : group;
		return /** @type {const} */ ([name, writeQuantizationScheme(given)]);
	});
	if (correct) {
		const last = new Map(written.flatMap(([name, { targets }]) => targets.map((target) => [target, name])));
		for (const [name, group] of written)
			group.targets = group.targets.filter((target) => last.get(target) === name);
	}
	return {
		...config,
		config_groups: Object.fromEntries(written),
		kv_cache_scheme: json.kv_cache_scheme ? writeQuantizationArgs(json.kv_cache_scheme) : null,
		quant_method: METHOD,
		sparsity_config: {},
		transform_config: json.transform_config ?? {},
		version: VERSION,
	};
}

/**
 * Whether such a model can only be made with data: static or partly static activations, a KV cache, weights by importance.
 * @param {QuantizationConfig} config complete
 */
export function requiresCalibrationData(config) {
	const { kv_cache_scheme: cache, config_groups: all } = quantizationConfig(config);
	return (
		cache !== null ||
		Object.values(all).some(
			({ weights, input_activations: inputs, output_activations: outputs }) =>
				weights?.observer === 'imatrix_mse' ||
				(inputs !== null && inputs.dynamic !== true) ||
				(outputs !== null && !outputs.dynamic),
		)
	);
}
