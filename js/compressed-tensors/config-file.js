// config-file.js - the quantization_config in the text of a config.json: added, found, taken out.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { formatJson, toJsonValue, toPlain } from '../json/value.js';
import { parseJson } from '../json/read.js';
import { METHOD, quantizationConfig, writeQuantizationConfig } from './quantization-config.js';
import { ROLES } from './quantization-scheme.js';

/** @typedef {import('../json/value.js').JsonObject} JsonObject */

const SECTION = 'quantization_config';
const SECTIONS = [SECTION, 'compression_config'];

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

/** Of actorder that 0.20 took out again: files made with it say so by their weight_g_idx. */
const REMOVED_ORDERS = ['group', 'dynamic', true];

/**
 * What a config.json says of the quantized modules, by any release of compressed-tensors.
 * @param {string | Uint8Array} text
 * @returns {import('./quantization-config.js').QuantizationConfig | null} null: nothing, or in another system's words
 * @throws {BlockQuantError} bad-scheme, with the file's name
 */
export function readModuleConfig(text) {
	const section = /** @type {any} */ (readQuantizationConfig(text));
	if (section === null || (section.quant_method ?? METHOD) !== METHOD) return null;
	for (const group of Object.values(section.config_groups ?? {}))
		for (const role of ROLES) if (REMOVED_ORDERS.includes(group?.[role]?.actorder)) group[role].actorder = null;
	try {
		return quantizationConfig(section);
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withFile('config.json') : error;
	}
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
		const ours = writeQuantizationConfig({ config_groups: {} });
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
