// config.js - Core AI's QuantizerConfig, read: which spec for which tensors of which modules and ops (coreai.md, section 8).
// SPDX-License-Identifier: MIT

import { messageOf, shown } from '../errors.js';
import { scheduleReader } from '../observers/schedule.js';
import { Pattern } from '../patterns.js';
import { Problems, isObject, list, nullable, readFields, text, word } from '../problems.js';
import { integerOf } from './granularity.js';
import { readSpec } from './spec.js';

/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {import('../problems.js').Field} Field */
/** @template T @typedef {import('../problems.js').Reader<T>} Reader */
/** @typedef {Map<number | string, Spec | null>} Specs by index or local name, or "*"; null: left alone */
/** @typedef {{ enable_observer: number, enable_fake_quant: number, disable_observer: number | null }} QatSchedule */

/**
 * @typedef {object} OpConfig
 * @property {Specs} op_input_spec
 * @property {Specs} op_output_spec
 * @property {Specs} op_state_spec
 */

/**
 * @typedef {object} ModuleOnly
 * @property {Map<string, OpConfig>} op_type_config
 * @property {Map<string, OpConfig>} op_name_config
 * @property {Specs} module_input_spec
 * @property {Specs} module_output_spec
 * @property {Specs} module_state_spec
 * @property {QatSchedule | null} qat_schedule
 */

/** @typedef {OpConfig & ModuleOnly} ModuleConfig */

/**
 * @typedef {object} QuantizerConfig
 * @property {ModuleConfig} global_config
 * @property {Map<string, ModuleConfig>} module_type_configs
 * @property {Map<string, ModuleConfig>} module_name_configs
 * @property {string[]} preserved_attributes
 * @property {'graph' | 'eager'} execution_mode
 */

/** What an omitted field means. */
const ACTIVATIONS = { '*': { qparam_calculator_cls: 'moving_average' } };
const DEFAULTS = {
	op_input_spec: ACTIVATIONS,
	op_output_spec: ACTIVATIONS,
	op_state_spec: { weight: { granularity: { type: 'per_channel', axis: 0 }, qparam_calculator_cls: 'static' } },
};
/** @param {string} field @param {string} key @returns {number | string | undefined} */
function keyOf(field, key) {
	if (key === '*') return key;
	if (field.endsWith('state_spec')) return key;
	const index = integerOf(key);
	return index === undefined || index < 0 || (field.endsWith('output_spec') && index > 0) ? undefined : index;
}

/** Null says that nothing is quantized. @param {string} field @returns {Reader<Specs>} */
const specsOf = (field) => (json, at) => {
	/** @type {Specs} */
	const specs = new Map();
	if (json === null) return specs;
	if (!isObject(json)) return at.fail(`expected an object of specs or null, got ${shown(json)}`);
	for (const [text, spec] of Object.entries(json)) {
		const key = keyOf(field, text);
		if (key === undefined)
			at.add(text, `expected ${field.endsWith('output_spec') ? '0' : 'an index'} or "*" for a key`);
		else if (specs.has(key)) at.add(text, `the key ${key} twice`);
		else specs.set(key, spec === null ? null : (readSpec(spec, at.within(text)) ?? null));
	}
	return specs;
};

/** Null says nothing. @template T @param {Reader<T>} read @param {(key: string) => string} [wrong] what is wrong with a key @returns {Reader<Map<string, T | undefined>>} */
const mapOf =
	(read, wrong = () => '') =>
	(json, at) => {
		if (json === null) return new Map();
		if (!isObject(json)) return at.fail(`expected an object, got ${shown(json)}`);
		const entries = Object.entries(json).map(([key, value]) => {
			const message = wrong(key);
			if (message) at.add(key, message);
			return /** @type {const} */ ([key, read(value, at.within(key))]);
		});
		return new Map(entries);
	};

/** @param {string} pattern */
function patternProblem(pattern) {
	try {
		new Pattern(pattern);
		return '';
	} catch (error) {
		return messageOf(error);
	}
}

/** @param {string} key */
const typeProblem = (key) => (key.includes('.') ? '' : 'expected the full path of a class, such as torch.nn.Linear');

/** @param {Record<string, any>} defaults what a field means that is left out @returns {Record<string, Field>} */
const specFields = (defaults) =>
	Object.fromEntries(
		Object.entries(defaults).map(([field, json]) => {
			const read = specsOf(field);
			return [field, { default: read(json, new Problems()), read }];
		}),
	);

/** What says nothing of anything still wins over less specific configs. */
const NOTHING = Object.fromEntries(Object.keys(DEFAULTS).map((field) => [field, null]));

/** @param {Record<string, Field>} fields @returns {Reader<any>} */
const orNothing = (fields) => (json, at) => readFields(fields, json ?? NOTHING, at);

const OP = specFields(DEFAULTS);
/** @type {Reader<OpConfig>} */
const readOp = orNothing(OP);

const GLOBAL = {
	...OP,
	op_type_config: { default: new Map(), read: mapOf(readOp) },
	op_name_config: { default: new Map(), read: mapOf(readOp, patternProblem) },
	qat_schedule: {
		default: null,
		read: nullable(scheduleReader('enable_observer', 'enable_fake_quant', 'disable_observer')),
	},
};
const MODULE_ONLY = specFields({ module_input_spec: null, module_output_spec: null, module_state_spec: null });
const NO_MODULE = readFields(MODULE_ONLY, {}, new Problems());
/** @type {Reader<ModuleConfig>} */
const readModule = orNothing({ ...GLOBAL, ...MODULE_ONLY });

/** @type {Reader<ModuleConfig>} */
function readGlobal(json, at) {
	const config = orNothing(GLOBAL)(json, at);
	return config && { ...NO_MODULE, ...config };
}

const CONFIG = {
	global_config: { default: readGlobal({}, new Problems()), read: readGlobal },
	module_type_configs: { default: new Map(), read: mapOf(readModule, typeProblem) },
	module_name_configs: { default: new Map(), read: mapOf(readModule, patternProblem) },
	preserved_attributes: { default: [], read: list(text) },
	execution_mode: { default: 'graph', read: word(['graph', 'eager']) },
};
const FILE = {
	quantization_config: {
		read: (/** @type {unknown} */ json, /** @type {Problems} */ at) => readFields(CONFIG, json, at),
	},
};

/**
 * A QuantizerConfig, as JSON of its fields or inside `quantization_config` as its files have it.
 * @param {any} json
 * @returns {QuantizerConfig}
 * @throws {import('../errors.js').BlockQuantError} bad-scheme, naming every field that is wrong
 */
export function readConfig(json) {
	const problems = new Problems();
	const isFile = isObject(json) && Object.hasOwn(json, 'quantization_config');
	const config = isFile
		? readFields(FILE, json, problems, ['quantization_spec'])?.quantization_config
		: readFields(CONFIG, json, problems);
	problems.check('bad-scheme', 'config');
	return config;
}
