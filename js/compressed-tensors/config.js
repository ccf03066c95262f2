// config.js - the quantization_config of a config.json, as compressed-tensors 0.20.1 writes it.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { formatJson, toJsonValue, toPlain } from '../safetensors/json-value.js';
import { parseJson } from '../safetensors/json.js';

/** @typedef {import('../safetensors/json-value.js').JsonObject} JsonObject */

/** The release whose files these are; readers compare it with what they know. */
const VERSION = '0.20.1';
const SECTION = 'quantization_config';
const SECTIONS = [SECTION, 'compression_config'];

/**
 * @typedef {object} QuantizationScheme the parts that are not the same in every file of ours
 * @property {object} weights QuantizationArgs as JSON
 * @property {object | null} [input_activations]
 * @property {string} format
 */

/**
 * @param {QuantizationScheme} scheme
 * @param {{ targets: string[], ignore: string[] }} modules
 */
export function quantizationConfig({ weights, input_activations = null, format }, modules) {
	return {
		config_groups: {
			group_0: {
				format,
				input_activations,
				output_activations: null,
				targets: modules.targets,
				weights,
			},
		},
		format,
		global_compression_ratio: null,
		ignore: modules.ignore,
		kv_cache_scheme: null,
		moe_sparsity_config: null,
		quant_method: 'compressed-tensors',
		quantization_status: 'compressed',
		sparsity_config: {},
		transform_config: {},
		version: VERSION,
	};
}

/**
 * A config.json with the section added: keys sorted, numbers as they were, no newline at the end.
 * @param {string | Uint8Array} text
 * @param {object} section
 */
export function addQuantizationConfig(text, section) {
	const config = parseConfig(text);
	for (const { name } of sectionsOf(config)) {
		throw new BlockQuantError(
			'unsupported',
			`config.json has a ${name} already: the model is quantized; dequantize it first`,
		);
	}
	return formatJson(config.set(SECTION, toJsonValue(section)));
}

/**
 * A config.json without what says that the model is quantized.
 * @param {string | Uint8Array} text
 */
export function removeQuantizationConfig(text) {
	const config = parseConfig(text);
	for (const [, holder] of holders(config)) for (const key of SECTIONS) holder.delete(key);
	return formatJson(config);
}

/**
 * The quantization_config of a config.json, where the releases put it; null if there is none.
 * @param {string | Uint8Array} text
 * @returns {Record<string, unknown> | null}
 */
export function readQuantizationConfig(text) {
	for (const { section } of sectionsOf(parseConfig(text))) {
		if (section instanceof Map) return /** @type {Record<string, unknown>} */ (toPlain(section));
	}
	return null;
}

/**
 * Whether a config.json is one that we wrote for a model with this config, whatever the scheme.
 * @param {string} text
 * @param {string | null} original the model's own, before
 */
export function isWrittenByUs(text, original) {
	if (original === null) return false;
	try {
		const config = parseConfig(text);
		const section = config.get(SECTION);
		if (!(section instanceof Map)) return false;
		const ours = quantizationConfig({ weights: {}, format: '' }, { targets: [], ignore: [] });
		const sameKeys = [...section.keys()].sort().join() === Object.keys(ours).sort().join();
		const same = ['quant_method', 'version'].every((key) => section.get(key) === Reflect.get(ours, key));
		return sameKeys && same && removeQuantizationConfig(text) === removeQuantizationConfig(original);
	} catch (error) {
		// No config.json that we cannot read is ours.
		if (error instanceof BlockQuantError) return false;
		throw error;
	}
}

/**
 * The weight arguments of all groups of a config.json.
 * @param {string | Uint8Array} text
 * @returns {Record<string, unknown>[]}
 */
export function weightArgsOf(text) {
	const groups = readQuantizationConfig(text)?.config_groups ?? {};
	if (typeof groups !== 'object' || groups === null) return [];
	return Object.values(groups)
		.map((group) => group?.weights)
		.filter((weights) => typeof weights === 'object' && weights !== null);
}

/**
 * What says that a model is quantized, wherever the releases put it.
 * @param {JsonObject} config
 */
function* sectionsOf(config) {
	for (const [place, holder] of holders(config)) {
		for (const key of SECTIONS) {
			const section = holder.get(key);
			if (section !== undefined && section !== null) yield { name: place + key, section };
		}
	}
}

/**
 * @param {JsonObject} config
 * @returns {[string, JsonObject][]}
 */
function holders(config) {
	const inner = config.get('text_config');
	return inner instanceof Map
		? [
				['', config],
				['text_config.', inner],
			]
		: [['', config]];
}

/**
 * @param {string | Uint8Array} text
 * @returns {JsonObject}
 */
function parseConfig(text) {
	const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
	const config = parseJson(bytes, { file: 'config.json', python: true });
	if (config instanceof Map) return config;
	throw new BlockQuantError('bad-file', 'must be a JSON object', { file: 'config.json' });
}
