// config-of-modules.js - the QuantizationConfig of a model whose modules have schemes (QuantizationConfig.from_pretrained of
// compressed-tensors 0.20.1).
// SPDX-License-Identifier: MIT

import { any, given, iterableOf, optional, optionsOf } from '../arguments.js';
import { readFields, text } from '../problems.js';
import { inferModelFormat } from './format.js';
import { quantizationConfig } from './quantization-config.js';
import { quantizationScheme } from './quantization-scheme.js';

/**
 * @typedef {object} QuantizableModule
 * @property {string} name
 * @property {string} className
 * @property {unknown} [scheme] QuantizationScheme, if it is quantized
 */

const OPTIONS = {
	status: { default: 'compressed', read: text },
	kvCache: { default: null, read: any },
	format: optional(text),
};
const MODULE = { name: { read: text }, className: { read: text }, scheme: { default: null, read: any } };
/** @type {import('../problems.js').Reader<Record<string, any>>} */
const readModule = (value, at) => readFields(MODULE, value, at, null);

/** A class as vLLM loads it: routers and gates, but not experts with a gate, are linear layers. @param {string} name */
const loadedAs = (name) => (!name.includes('ExpertMLP') && /Router|Gating|Gate(?![a-z])/.test(name) ? 'Linear' : name);

/**
 * The config of a model: a group for each different scheme, in the order in which modules have them, and of the other modules
 * those to ignore that are of the class of a quantized one.
 * @param {Iterable<QuantizableModule>} modules in the order of the model
 * @param {{ status?: string, kvCache?: unknown, format?: string }} [options] kvCache: QuantizationArgs; format: of all
 *   modules, whatever their schemes say
 * @returns {import('./quantization-config.js').QuantizationConfig | null} null: nothing is quantized
 * @throws {BlockQuantError} bad-scheme
 */
export function configOfModules(modules, options = {}) {
	const { status, kvCache, format } = optionsOf(OPTIONS, options);
	/** Schemes by their text. @type {Map<string, import('./quantization-scheme.js').QuantizationScheme>} */
	const schemes = new Map();
	const quantized = new Set();
	/** Names by class of modules that are not. @type {Map<string, string[]>} */
	const others = new Map();
	for (const { name, className, scheme: json } of given('modules', modules, iterableOf(readModule))) {
		const scheme = json === null ? null : quantizationScheme(json);
		const loaded = loadedAs(className);
		if (scheme?.weights || scheme?.input_activations || scheme?.output_activations) {
			quantized.add(loaded);
			schemes.set(JSON.stringify(scheme), scheme);
		} else {
			const names = others.get(loaded);
			if (names) names.push(name);
			else others.set(loaded, [name]);
		}
	}
	if (schemes.size === 0 && kvCache === null) return null;
	const groups = [...schemes.values()];
	return quantizationConfig({
		config_groups: Object.fromEntries(groups.map((scheme, i) => [`group_${i}`, scheme])),
		quantization_status: status,
		kv_cache_scheme: kvCache,
		format: inferModelFormat(groups, format),
		ignore: [...others].flatMap(([loaded, names]) => (quantized.has(loaded) ? names : [])),
	});
}
