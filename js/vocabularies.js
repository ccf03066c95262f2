// vocabularies.js - the JSON that a scheme can come in: other systems' vocabularies, told by their keys, else our own.
// SPDX-License-Identifier: MIT

import { fromBurn } from './burn/from.js';
import { QUANT_VALUES } from './burn/tables.js';
import { fromCompressedTensors } from './compressed-tensors/from.js';
import { CONFIG_KEYS, refuseConfig } from './configs.js';
import { fromCoreAI } from './coreai/from.js';
import { BlockQuantError, shown } from './errors.js';
import { didYouMean } from './nearest.js';
import { nameProblem, presetOf } from './presets.js';
import { isObject } from './problems.js';
import { SCHEME_FIELDS, structOfScheme } from './scheme/read.js';

/** @typedef {import('./scheme.js').Scheme} Scheme */

/** One row for each vocabulary but ours: fields, or words for a value, that it alone has. @type {{ keys: string[], values?: string[], read: (json: any) => Scheme }[]} */
const VOCABULARIES = [
	{
		keys: [
			...['weights', 'input_activations', 'output_activations', 'targets', 'num_bits', 'type', 'strategy'],
			...['group_size', 'block_structure', 'actorder', 'zp_dtype', 'observer_kwargs'],
		],
		read: fromCompressedTensors,
	},
	{
		keys: [
			...['dtype', 'qscheme', 'qformulation', 'granularity', 'qparam_qspec', 'scale_dtype'],
			...['float_range', 'qparam_calculator_cls', 'range_calculator_cls', 'averaging_constant'],
		],
		read: fromCoreAI,
	},
	{ keys: ['store', 'mode', 'tensor', 'block'], values: Object.keys(QUANT_VALUES), read: fromBurn },
];

/** What is looked at below, and all that tells a vocabulary or a config. */
const OWN = [...SCHEME_FIELDS, 'scheme'];
const KEYS = [...OWN, ...VOCABULARIES.flatMap(({ keys }) => keys), ...CONFIG_KEYS];

/**
 * The scheme that some JSON says. What `blockquant schemes NAME --json` prints is taken, too.
 * @param {any} json
 * @returns {Scheme} a preset's scheme where it has the preset's name
 * @throws {BlockQuantError} bad-scheme, naming the field
 */
export function schemeOfJson(json) {
	if (!isObject(json)) throw new BlockQuantError('bad-scheme', `scheme: expected a JSON object, got ${shown(json)}`);
	refuseConfig(json);
	const vocabulary = VOCABULARIES.find(
		({ keys, values }) =>
			keys.some((key) => Object.hasOwn(json, key)) ||
			(typeof json.value === 'string' && values?.includes(json.value.toUpperCase())),
	);
	if (vocabulary) return vocabulary.read(json);
	const fields = Object.keys(json);
	if (fields.length && !fields.some((key) => OWN.includes(key))) {
		const said = fields.map((key) => `scheme.${key}: a field of no vocabulary${didYouMean(key, KEYS)}`);
		throw new BlockQuantError('bad-scheme', said.join('; '));
	}
	const scheme = /** @type {any} */ (isObject(json.scheme) ? json.scheme : json);
	structOfScheme(scheme);
	const misnamed = nameProblem(scheme);
	if (misnamed) throw new BlockQuantError('bad-scheme', `scheme.name: ${misnamed}`);
	return presetOf(scheme)?.scheme ?? scheme;
}
