// quantization-config.js - QuantizationConfig: what a config.json says of a quantized model.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { inside, Problems } from '../problems.js';
import { float, isObject, list, nullable, readFields, text, word } from './coerce.js';
import { presetJson, presetNameToScheme } from './preset-schemes.js';
import { readArgs, writeQuantizationArgs } from './quantization-args.js';
import { readScheme, writeQuantizationScheme } from './quantization-scheme.js';

/** @typedef {import('../problems.js').Fail} Fail */
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

/** @param {unknown} value @param {Fail} fail */
function strictInteger(value, fail) {
	return Number.isInteger(value) ? /** @type {number} */ (value) : fail(`expected an integer, got ${shown(value)}`);
}

/** @param {unknown} json @param {string} where @param {Problems} problems */
function readConfig(json, where, problems) {
	/** @param {string} key @param {(value: unknown, where: string, problems: Problems) => unknown} read */
	const nested = (key, read) => nullable((value) => read(value, inside(where, key), problems));
	const fields = {
		config_groups: { read: groups(inside(where, 'config_groups'), problems) },
		quant_method: { default: METHOD, read: text },
		kv_cache_scheme: { default: null, read: nested('kv_cache_scheme', readArgs) },
		format: { default: 'fakequant', read: text },
		quantization_status: { default: STATUSES[0], read: word(STATUSES) },
		global_compression_ratio: { default: null, read: nullable(float) },
		ignore: { default: [], read: nullable(list(text)) },
		moe_sparsity_config: {
			default: null,
			read: nested('moe_sparsity_config', (value, at) => readFields(MOE, value, at, problems, 'ignore')),
		},
	};
	// Other keys are other parts' (version, sparsity_config, transform_config), or older releases' (run_compressed).
	return readFields(fields, json, where, problems, 'ignore');
}

/**
 * Groups by name; a list of targets is the preset that the group is named after.
 * @param {string} where @param {Problems} problems
 * @returns {import('./coerce.js').Reader<Record<string, QuantizationScheme | undefined>>}
 */
const groups = (where, problems) => (value, fail) => {
	if (!isObject(value)) return fail(`expected an object of groups, got ${shown(value)}`);
	const entries = Object.entries(value).map(([name, group]) => {
		const at = inside(where, name);
		return [name, Array.isArray(group) ? presetGroup(name, group, at, problems) : readScheme(group, at, problems)];
	});
	return Object.fromEntries(entries);
};

/** @param {string} name @param {unknown[]} given @param {string} where @param {Problems} problems */
function presetGroup(name, given, where, problems) {
	const fail = problems.at(where);
	const targets = list(text)(given, fail);
	try {
		return targets && presetNameToScheme(name, targets);
	} catch (error) {
		if (error instanceof BlockQuantError && error.code === 'unknown-scheme') return fail(error.detail);
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
	const config = readConfig(json, '', problems);
	problems.check();
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
export function writeQuantizationConfig(json, { correct = false } = {}) {
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
export function requiresCalibrationData({ kv_cache_scheme: cache, config_groups: all }) {
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
