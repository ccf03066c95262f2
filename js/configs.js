// configs.js - configs of whole models, which are no schemes: told by their keys, and refused where a scheme is expected.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from './errors.js';
import { isObject } from './problems.js';

/** The fields that each alone has, and which part of it says a scheme. */
const CONFIGS = [
	{
		keys: ['config_groups', 'quantization_config', 'quant_method'],
		what: 'a config of compressed-tensors',
		part: 'one of its config_groups',
	},
	{
		keys: ['global_config', 'module_type_configs', 'module_name_configs', 'preset_name'],
		what: 'a config of Core AI',
		part: 'the weight spec of one of its modules',
	},
];

/** All of these fields. */
export const CONFIG_KEYS = CONFIGS.flatMap(({ keys }) => keys);

/** @param {unknown} json @throws {BlockQuantError} bad-scheme, if it is a config: which part of it is a scheme */
export function refuseConfig(json) {
	const config = isObject(json) && CONFIGS.find(({ keys }) => keys.some((key) => Object.hasOwn(json, key)));
	if (config)
		throw new BlockQuantError(
			'bad-scheme',
			`scheme: ${config.what} is of a whole model; a scheme is ${config.part}`,
		);
}
