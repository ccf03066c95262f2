// config.js - Core AI's QuantizerConfig, read: which spec for which tensors of which modules and ops (coreai.md, section 8).
// SPDX-License-Identifier: MIT

import { messageOf, shown } from '../errors.js';
import { Pattern } from '../patterns.js';
import { Problems } from '../problems.js';
import { integerOf } from './granularity.js';
import { readSpec } from './spec.js';

/** @typedef {import('./spec.js').Spec} Spec */
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
const MODULE_SPECS = ['module_input_spec', 'module_output_spec', 'module_state_spec'];
const OPS = ['op_type_config', 'op_name_config'];
const OP_FIELDS = Object.keys(DEFAULTS);
const MODULE_FIELDS = [...OP_FIELDS, ...OPS, ...MODULE_SPECS, 'qat_schedule'];
const FIELDS = [
	'global_config',
	'module_type_configs',
	'module_name_configs',
	'preserved_attributes',
	'execution_mode',
];

/** @param {unknown} json @returns {json is Record<string, any>} */
const isObject = (json) => json !== null && typeof json === 'object' && !Array.isArray(json);

/** @param {any} json @param {string[]} fields @param {Problems} problems @returns {boolean} */
function checkFields(json, fields, problems) {
	if (!isObject(json)) {
		problems.add('', `expected an object of ${fields.join(', ')}; got ${shown(json)}`);
		return false;
	}
	problems.checkFields(json, fields);
	return true;
}

/** @param {string} field @param {string} key @returns {number | string | undefined} */
function keyOf(field, key) {
	if (key === '*') return key;
	if (field.endsWith('state_spec')) return key;
	const index = integerOf(key);
	return index === undefined || index < 0 || (field.endsWith('output_spec') && index > 0) ? undefined : index;
}

/** @param {any} json of a field; null says that nothing is quantized @param {string} field @param {Problems} problems at it @returns {Specs} */
function readSpecs(json, field, problems) {
	/** @type {Specs} */
	const specs = new Map();
	if (json === null) return specs;
	if (!isObject(json)) {
		problems.add('', `expected an object of specs or null, got ${shown(json)}`);
		return specs;
	}
	for (const [text, spec] of Object.entries(json)) {
		const key = keyOf(field, text);
		if (key === undefined)
			problems.add(text, `expected ${field.endsWith('output_spec') ? '0' : 'an index'} or "*" for a key`);
		else if (specs.has(key)) problems.add(text, `the key ${key} twice`);
		else specs.set(key, spec === null ? null : readSpec(spec, problems.within(text)));
	}
	return specs;
}

/** @param {any} json @param {Problems} problems @returns {QatSchedule | null} */
function readSchedule(json, problems) {
	if (json === undefined || json === null) return null;
	const schedule = { enable_observer: 0, enable_fake_quant: 0, disable_observer: null };
	if (!checkFields(json, Object.keys(schedule), problems)) return schedule;
	Object.assign(schedule, json);
	const { enable_observer: on, enable_fake_quant: quantize, disable_observer: off } = schedule;
	if (!Number.isSafeInteger(on) || on < 0) problems.add('enable_observer', `expected 0 or more, got ${shown(on)}`);
	if (!Number.isSafeInteger(quantize) || quantize < on)
		problems.add('enable_fake_quant', `expected ${on} (enable_observer) or more, got ${shown(quantize)}`);
	if (off !== null && !(Number.isSafeInteger(off) && off > on && off >= quantize))
		problems.add('disable_observer', `expected null, or more than ${on} and not less than ${quantize}`);
	return schedule;
}

/** An op's or module's fields that both have. @param {any} json @param {Problems} problems @returns {any} */
function readOpSpecs(json, problems) {
	return Object.fromEntries(
		Object.entries(DEFAULTS).map(([field, specs]) => [
			field,
			readSpecs(json[field] === undefined ? specs : json[field], field, problems.within(field)),
		]),
	);
}

/** What says nothing of anything still wins over less specific configs. */
const NOTHING = Object.fromEntries(OP_FIELDS.map((field) => [field, null]));

/** @param {any} json @param {Problems} problems @returns {OpConfig} */
function readOp(json, problems) {
	const given = json === null ? NOTHING : json;
	return readOpSpecs(checkFields(given, OP_FIELDS, problems) ? given : NOTHING, problems);
}

/** @template T @param {any} json @param {Problems} problems @param {(json: any, problems: Problems) => T} read @param {(key: string) => string} [wrong] @returns {Map<string, T>} */
function readMap(json, problems, read, wrong = () => '') {
	const map = new Map();
	if (json === undefined || json === null) return map;
	if (!isObject(json)) {
		problems.add('', `expected an object, got ${shown(json)}`);
		return map;
	}
	for (const [key, value] of Object.entries(json)) {
		const message = wrong(key);
		if (message) problems.add(key, message);
		map.set(key, read(value, problems.within(key)));
	}
	return map;
}

/** @param {string} pattern */
function patternProblem(pattern) {
	try {
		new Pattern(pattern);
		return '';
	} catch (error) {
		return messageOf(error);
	}
}

/** @param {any} json @param {Problems} problems @param {string[]} [fields] @returns {ModuleConfig} */
function readModule(json, problems, fields = MODULE_FIELDS) {
	const given = json === null ? NOTHING : json;
	const legal = checkFields(given, fields, problems) ? given : NOTHING;
	const own = MODULE_SPECS.map((field) => [field, readSpecs(legal[field] ?? null, field, problems.within(field))]);
	return {
		...readOpSpecs(legal, problems),
		...Object.fromEntries(own),
		op_type_config: readMap(legal.op_type_config, problems.within('op_type_config'), readOp),
		op_name_config: readMap(legal.op_name_config, problems.within('op_name_config'), readOp, patternProblem),
		qat_schedule: readSchedule(legal.qat_schedule, problems.within('qat_schedule')),
	};
}

/** @param {string} key */
const typeProblem = (key) => (key.includes('.') ? '' : 'expected the full path of a class, such as torch.nn.Linear');

/**
 * A QuantizerConfig, as JSON of its fields or inside `quantization_config` as its files have it.
 * @param {any} json
 * @returns {QuantizerConfig}
 * @throws {import('../errors.js').BlockQuantError} bad-scheme, naming every field that is wrong
 */
export function readConfig(json) {
	const problems = new Problems();
	const wrapped = isObject(json) && Object.hasOwn(json, 'quantization_config');
	if (wrapped) checkFields(json, ['quantization_config', 'quantization_spec'], problems);
	const at = wrapped ? problems.within('quantization_config') : problems;
	const given = wrapped ? json.quantization_config : json;
	const config = readWhole(checkFields(given, FIELDS, at) ? given : {}, at);
	problems.check();
	return config;
}

/** @param {any} json @param {Problems} problems @returns {QuantizerConfig} */
function readWhole(json, problems) {
	const { global_config = {}, preserved_attributes: preserved = [], execution_mode: mode = 'graph' } = json;
	const globals = MODULE_FIELDS.filter((field) => !MODULE_SPECS.includes(field));
	if (!Array.isArray(preserved) || !preserved.every((name) => typeof name === 'string'))
		problems.add('preserved_attributes', `expected a list of names, got ${shown(preserved)}`);
	problems.checkWord('execution_mode', mode, ['graph', 'eager']);
	/** @param {string} field @param {(key: string) => string} wrong */
	const modules = (field, wrong) =>
		readMap(json[field], problems.within(field), (module, at) => readModule(module, at), wrong);
	return {
		global_config: readModule(global_config, problems.within('global_config'), globals),
		module_type_configs: modules('module_type_configs', typeProblem),
		module_name_configs: modules('module_name_configs', patternProblem),
		preserved_attributes: preserved,
		execution_mode: mode,
	};
}
