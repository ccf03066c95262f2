// edits.js - a QuantizerConfig with one thing changed: JSON in, JSON out, read before it is returned (coreai.md, section 8).
// SPDX-License-Identifier: MIT

import { given } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { text } from '../problems.js';
import { readConfig } from './config.js';

/** Modules that an edit is about: a pattern of whole names, or the full path of a class. @typedef {string | { type: string }} Target */

/** The JSON of a config, out of the envelope that its files have. @param {any} json */
function opened(json) {
	readConfig(json);
	return json.quantization_config ?? json;
}

/** @param {any} json @returns {any} the same, if nothing is wrong with it */
function checked(json) {
	readConfig(json);
	return json;
}

/** @param {any} configs by key, null for none @param {string} key @param {any} module */
const withKey = (configs, key, module) => Object.fromEntries(new Map(Object.entries(configs ?? {})).set(key, module));

/**
 * The config with other settings for all modules that nothing else is said of.
 * @param {any} config JSON of a QuantizerConfig
 * @param {any} module JSON of its `global_config`; null: they are left alone
 * @returns {any}
 * @throws {BlockQuantError} bad-scheme
 */
export const setGlobal = (config, module) => checked({ ...opened(config), global_config: module });

/**
 * The config with settings for a class of modules, in the place of those that it has.
 * @param {any} config
 * @param {string} type full path of the class
 * @param {any} module JSON of their config; null: they are left alone
 * @returns {any}
 * @throws {BlockQuantError} bad-scheme
 */
export function setModuleType(config, type, module) {
	given('type', type, text);
	const json = opened(config);
	return checked({ ...json, module_type_configs: withKey(json.module_type_configs, type, module) });
}

/**
 * The config with settings for modules by their name, in the place of those that it has.
 * @param {any} config
 * @param {string} name a pattern of the whole name
 * @param {any} module JSON of their config; null: they are left alone
 * @returns {any}
 * @throws {BlockQuantError} bad-scheme
 */
export function setModuleName(config, name, module) {
	given('name', name, text);
	const json = opened(config);
	return checked({ ...json, module_name_configs: withKey(json.module_name_configs, name, module) });
}

/** @param {any} config @param {Target} target @param {any} module */
function setTarget(config, target, module) {
	const own = JSON.parse(JSON.stringify(module));
	if (typeof target === 'string') return setModuleName(config, target, own);
	if (typeof target?.type === 'string') return setModuleType(config, target.type, own);
	throw new BlockQuantError(
		'bad-argument',
		`targets: expected patterns of names, or { type } of a class; got ${shown(target)}`,
	);
}

/**
 * The config for these modules alone: each gets the global settings, which all others lose.
 * @param {any} config
 * @param {...Target} targets
 * @returns {any}
 * @throws {BlockQuantError} bad-argument: no target, or no global settings to give them; bad-scheme
 */
export function onlyFor(config, ...targets) {
	const { global_config: module = {} } = opened(config);
	if (!targets.length) throw new BlockQuantError('bad-argument', 'targets: expected at least one');
	if (module === null)
		throw new BlockQuantError(
			'bad-argument',
			'config.global_config is null: there is nothing to give the targets; name them all in one call',
		);
	return targets.reduce((json, target) => setTarget(json, target, module), setGlobal(config, null));
}

/**
 * The config without these modules.
 * @param {any} config
 * @param {...Target} targets none: the same config
 * @returns {any}
 * @throws {BlockQuantError} bad-argument, bad-scheme
 */
export const without = (config, ...targets) =>
	targets.reduce((json, target) => setTarget(json, target, null), opened(config));
