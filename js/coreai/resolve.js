// resolve.js - which config each module gets, and which spec each of its tensors (coreai.md, section 8).
// SPDX-License-Identifier: MIT

import { kind, optional, optionsOf } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { BACKENDS, checkBackend } from './backends.js';
import { schemeOfSpec } from './from.js';
import { checkModules } from './modules.js';
import { Pattern } from '../patterns.js';
import { Problems, word } from '../problems.js';

/** @typedef {import('./config.js').ModuleConfig} ModuleConfig */
/** @typedef {import('./config.js').OpConfig} OpConfig */
/** @typedef {import('./config.js').Specs} Specs */
/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {import('./modules.js').Op} Op */
/** @typedef {import('./modules.js').Module} Module */

/** Classes that are an op. @type {Record<string, string>} */
const CLASS_OPS = {
	Linear: 'linear',
	Embedding: 'embedding',
	...Object.fromEntries([1, 2, 3].map((n) => [`Conv${n}d`, `conv${n}d`])),
	...Object.fromEntries([1, 2, 3].map((n) => [`ConvTranspose${n}d`, `conv_transpose${n}d`])),
	MaxPool2d: 'max_pool2d',
	AdaptiveAvgPool2d: 'adaptive_avg_pool2d',
};

/** Axes of what these take and give: batch, channels, space. @type {Record<string, number>} */
const ACTIVATION_AXES = {
	...Object.fromEntries(
		[1, 2, 3].flatMap((n) => [
			[`conv${n}d`, n + 2],
			[`conv_transpose${n}d`, n + 2],
		]),
	),
	...{ max_pool2d: 4, adaptive_avg_pool2d: 4 },
};

/** @param {string} type */
const className = (type) => type.slice(type.lastIndexOf('.') + 1);

/** @param {string} name @param {string} ancestor */
const isBelow = (name, ancestor) => name !== ancestor && (ancestor === '' || name.startsWith(`${ancestor}.`));

/** @param {string} name */
const depth = (name) => (name ? name.split('.').length : 0);

/** What only a module that an entry names gets, not those inside it. @param {ModuleConfig} config @returns {ModuleConfig} */
const inherited = (config) => ({
	...config,
	module_input_spec: new Map(),
	module_output_spec: new Map(),
	module_state_spec: new Map(),
});

/** The last entry whose key fits. @template T @param {Map<string, T>} map @param {(key: string) => boolean} test */
const last = (map, test) => [...map].reverse().find(([key]) => test(key))?.[1];

/** @typedef {{ level: 'name' | 'type' | 'global', rank: number, config: ModuleConfig }} Assigned rank: 0 is the most specific */

/**
 * The config of every module: by name, else by type, else the global one. Of the entries of a level the last comes first;
 * what it fits takes along everything inside that has none yet.
 * @param {import('./config.js').QuantizerConfig} config
 * @param {Module[]} modules
 * @returns {Map<string, Assigned>} by name
 * @throws {BlockQuantError} bad-argument
 */
export function assign(config, modules) {
	if (!(config?.module_name_configs instanceof Map))
		throw new BlockQuantError('bad-argument', `config: expected what readConfig() gives, got ${shown(config)}`);
	checkModules(modules);
	/** @type {Map<string, Assigned>} */
	const assigned = new Map();
	const upwards = [...modules].sort((a, b) => depth(b.name) - depth(a.name));
	let rank = 0;
	/** @param {Assigned['level']} level @param {ModuleConfig} entry @param {(module: Module) => boolean} test */
	const give = (level, entry, test) => {
		for (const module of upwards) {
			if (assigned.has(module.name) || !test(module)) continue;
			assigned.set(module.name, { level, rank, config: entry });
			for (const { name } of modules)
				if (isBelow(name, module.name) && !assigned.has(name))
					assigned.set(name, { level, rank, config: inherited(entry) });
		}
		rank++;
	};
	for (const [source, entry] of [...config.module_name_configs].reverse()) {
		const pattern = new Pattern(source);
		give('name', entry, ({ name, aliases = [] }) => [name, ...aliases].some((each) => pattern.covers(each)));
	}
	for (const [type, entry] of [...config.module_type_configs].reverse())
		give('type', entry, (module) => module.type === type);
	give('global', config.global_config, () => true);
	return assigned;
}

/** @param {ModuleConfig} config @param {Op} op @returns {OpConfig} */
function opConfig(config, { name, type }) {
	return (
		last(config.op_name_config, (source) => new Pattern(source).covers(name)) ??
		last(config.op_type_config, (key) => key === type) ??
		config
	);
}

/** Exact key, else "*", else undefined: not said. @param {Specs} specs @param {number | string} key */
const lookUp = (specs, key) => (specs.has(key) ? specs.get(key) : specs.get('*'));

/** @param {Module} module @returns {Op[]} */
function opsOf({ name, type, ops }) {
	const own = CLASS_OPS[className(type)];
	return ops ?? (own ? [{ name: name ? `${name}.${own}` : own, type: own }] : []);
}

/**
 * @typedef {object} Resolved the spec of one tensor
 * @property {string} module
 * @property {string | null} op null: of the module as a whole
 * @property {'input' | 'output' | 'state'} kind
 * @property {number | string} key index, or local name of a parameter
 * @property {Spec} spec
 * @property {import('../scheme.js').Scheme} scheme
 * @property {import('../observers/observer.js').ObserverOptions} observer options for createObserver(scheme, ...)
 */

/** @typedef {{ op: string, kind: Resolved['kind'], key: number | string, spec: Spec | null | undefined, axes?: number }} Said null: left alone; undefined: not said */

/** A spec of the module as a whole overrides the op's. @param {Specs} whole @param {Specs} own @param {number | string} key */
function chosen(whole, own, key) {
	const spec = lookUp(whole, key);
	return spec === undefined ? lookUp(own, key) : spec;
}

/** @type {Specs} */
const NOTHING = new Map();

const OPTIONS = {
	backend: optional(word(Object.keys(BACKENDS))),
	tensor: {
		default: (/** @type {Module} */ { name }, /** @type {string} */ local) => `${name}.${local}`,
		read: kind((value) => typeof value === 'function', 'a function'),
	},
};

/**
 * What a config says of each tensor of a module; the first op takes the module's input, the last one gives its output.
 * @param {Module} module
 * @param {ModuleConfig} config
 * @returns {Generator<Said>}
 */
function* saidOf(module, config) {
	const ops = opsOf(module);
	for (const [i, op] of ops.entries()) {
		const { op_input_spec, op_output_spec, op_state_spec } = opConfig(config, op);
		const axes = op.axes ?? ACTIVATION_AXES[op.type];
		const whole = i === 0 ? config.module_input_spec : NOTHING;
		for (let key = 0; key < (op.inputs ?? 1); key++)
			yield { op: op.name, kind: 'input', key, spec: chosen(whole, op_input_spec, key), axes };
		for (const key of op.states ?? Object.keys(module.parameters ?? {}))
			yield { op: op.name, kind: 'state', key, spec: chosen(config.module_state_spec, op_state_spec, key) };
		const output = i === ops.length - 1 ? config.module_output_spec : NOTHING;
		yield { op: op.name, kind: 'output', key: 0, spec: chosen(output, op_output_spec, 0), axes };
	}
}

/** @param {import('./config.js').QatSchedule | null} schedule */
function scheduleOf(schedule) {
	if (!schedule) return {};
	const { enable_observer: enableObserver, enable_fake_quant: enableFakeQuantize, disable_observer } = schedule;
	return { schedule: { enableObserver, enableFakeQuantize, disableObserver: disable_observer } };
}

/** A spec with its scheme, if it has one and the backend can store it. @param {Module} module @param {Said & { spec: Spec }} said @param {import('./config.js').QatSchedule | null} schedule @param {string | undefined} backend @returns {Resolved} */
function resolved(module, { op, kind, key, spec, axes }, schedule, backend) {
	const target = kind === 'state' ? 'weight' : 'activation';
	const rank = kind === 'state' ? module.parameters?.[key]?.length : axes;
	const where = `${op} ${kind} ${key}`;
	if (backend !== undefined) checkBackend(spec, backend, { target, rank, where });
	const problems = new Problems(where);
	const scheme = schemeOfSpec(spec, { target, rank, module: className(module.type) }, problems);
	problems.check();
	return { module: module.name, op, kind, key, spec, scheme, observer: { target, ...scheduleOf(schedule) } };
}

/**
 * Every tensor that a config quantizes. Nothing is returned if a spec has no scheme, or the backend cannot store it.
 * @param {import('./config.js').QuantizerConfig} config
 * @param {Module[]} modules
 * @param {{ backend?: string, tensor?: (module: Module, local: string) => string }} [options] backend: Torch, CoreAI,
 *   CoreML; tensor: the name that modules which share a parameter give it
 * @returns {Resolved[]}
 * @throws {BlockQuantError} unsupported, bad-scheme, bad-argument
 */
export function resolveConfig(config, modules, options = {}) {
	const { backend, tensor } = optionsOf(OPTIONS, options);
	const assigned = assign(config, modules);
	/** One parameter has one spec wherever it is used: that of the most specific entry. @type {Map<string, { rank: number, module: Module, said: Said }>} */
	const chosenOf = new Map();
	for (const module of modules) {
		const { config: own, rank } = /** @type {Assigned} */ (assigned.get(module.name));
		for (const said of saidOf(module, own)) {
			if (said.spec === undefined) continue;
			const state = said.kind === 'state';
			const name = state ? `state ${tensor(module, String(said.key))}` : `${said.op} ${said.kind} ${said.key}`;
			if (rank < (chosenOf.get(name)?.rank ?? Infinity)) chosenOf.set(name, { rank, module, said });
		}
	}
	return [...chosenOf.values()].flatMap(({ module, said: { spec, ...said } }) => {
		const { qat_schedule: schedule } = /** @type {Assigned} */ (assigned.get(module.name)).config;
		return spec ? [resolved(module, { ...said, spec }, schedule, backend)] : [];
	});
}
