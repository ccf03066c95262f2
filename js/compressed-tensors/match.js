// match.js - which modules the targets of a config mean (compressed-tensors 0.20.1, utils/match).
//
// A target is the full name of a module, `re:` and a Python pattern that its name begins with, or the name of its class or of
// one that the class is made from.
// SPDX-License-Identifier: MIT

import { given, iterableOf, optionsOf } from '../arguments.js';
import { shown } from '../errors.js';
import { Pattern } from '../patterns.js';
import { isObject, list, readFields, text } from '../problems.js';
import { quantizationConfig } from './quantization-config.js';

/** @template T @typedef {import('../problems.js').Reader<T>} Reader */

/** @typedef {import('./quantization-config.js').QuantizationConfig} QuantizationConfig */
/** @typedef {import('./quantization-scheme.js').QuantizationScheme} QuantizationScheme */

/** The class of a module, then those that it is made from. @typedef {string | readonly string[]} Classes */
/** @typedef {{ name: string, classes: Classes }} NamedModule */
/** Ends of the names of fused modules, with those of the modules that they are made of. @typedef {Record<string, string[]>} Fused */

const PATTERN = 're:';

const readTargets = iterableOf(text);
/** @type {Reader<Classes>} */
const readClasses = (value, at) => (typeof value === 'string' ? value : iterableOf(text)(value, at));
/** @type {Reader<Fused>} */
const readFused = (value, at) => {
	if (!isObject(value)) return at.fail(`expected an object of lists of names, got ${shown(value)}`);
	for (const [end, parts] of Object.entries(value)) list(text)(parts, at.within(end));
	return value;
};
const MODULE = { name: { read: text }, classes: { read: readClasses } };
/** What else a module has is the caller's. @type {Reader<any>} */
const readModule = (value, at) => readFields(MODULE, value, at, null) && value;

/**
 * Whether a target means a name: by equality, or by its pattern. The name of a fused module is meant if one of its parts is.
 * @param {string} name
 * @param {string} target
 * @param {Fused} [fused] such as `{ qkv_proj: ['q_proj', 'k_proj', 'v_proj'] }`
 * @returns {boolean}
 * @throws {BlockQuantError} bad-scheme: a pattern that cannot be read
 */
export function matchName(name, target, fused = {}) {
	given('name', name, text);
	given('target', target, text);
	given('fused', fused, readFused);
	return meansName(target, name, fused);
}

/** @param {string} target @param {string} name @param {Fused} [fused] @returns {boolean} */
function meansName(target, name, fused = {}) {
	const suffix = Object.keys(fused).find((end) => name.endsWith(end));
	if (suffix !== undefined) {
		const stem = name.slice(0, name.length - suffix.length);
		return fused[suffix].some((part) => meansName(target, stem + part));
	}
	return nameMatcher(target)(name);
}

/** Every module is a Module; vLLM's base of linear layers counts as Linear. @param {Classes} classes @param {string} target */
function matchClass(classes, target) {
	const all = [classes].flat();
	return target === 'Module' || all.includes(target) || (target === 'Linear' && all.includes('LinearBase'));
}

/**
 * Whether a module is meant by one of the targets and by none of those to ignore, each by name, pattern or class.
 * @param {string} name
 * @param {Classes} classes
 * @param {Iterable<string>} targets
 * @param {Iterable<string>} [ignore]
 * @param {Fused} [fused]
 */
export function isMatch(name, classes, targets, ignore = [], fused = {}) {
	given('name', name, text);
	given('classes', classes, readClasses);
	given('fused', fused, readFused);
	const [wanted, ignored] = [given('targets', targets, readTargets), given('ignore', ignore, readTargets)];
	return meansModule({ name, classes }, wanted, ignored, fused);
}

/** @param {NamedModule} module @param {string[]} targets @param {string[]} [ignore] @param {Fused} [fused] */
function meansModule({ name, classes }, targets, ignore = [], fused = {}) {
	/** @param {string} target */
	const matches = (target) => meansName(target, name, fused) || matchClass(classes, target);
	return targets.some(matches) && !ignore.some(matches);
}

/** @param {string} a @param {string} b */
const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** What a target says of a name, made ready for many. @param {string} target @returns {(name: string) => boolean} */
function nameMatcher(target) {
	if (!target.startsWith(PATTERN)) return (name) => target === name;
	const pattern = new Pattern(target.slice(PATTERN.length));
	return (name) => pattern.begins(name);
}

/**
 * matchTargets() of the same targets for many modules.
 * @param {Iterable<string>} targets
 * @returns {(name: string, classes: Classes) => string[]}
 */
function targetsMatcher(targets) {
	const sorted = [...targets]
		.sort((a, b) => Number(a.includes(PATTERN)) - Number(b.includes(PATTERN)) || byText(a, b))
		.map((target) => ({ target, means: nameMatcher(target) }));
	return (name, classes) => {
		const named = sorted.filter(({ means }) => means(name));
		const classed = sorted.filter((each) => matchClass(classes, each.target) && !named.includes(each));
		return [...named, ...classed].map(({ target }) => target);
	};
}

/**
 * The targets that mean a module, the closest first: its name, patterns, classes; each kind in alphabetical order.
 * @param {string} name
 * @param {Classes} classes
 * @param {Iterable<string>} targets
 * @returns {string[]}
 */
export function matchTargets(name, classes, targets) {
	given('name', name, text);
	given('classes', classes, readClasses);
	return targetsMatcher(given('targets', targets, readTargets))(name, classes);
}

/**
 * The modules that are meant, in their order.
 * @template {NamedModule} M
 * @param {Iterable<M>} modules
 * @param {string[]} targets
 * @param {string[]} [ignore]
 * @param {Fused} [fused]
 * @returns {M[]}
 */
export function matchNamedModules(modules, targets, ignore = [], fused = {}) {
	given('fused', fused, readFused);
	const [wanted, ignored] = [given('targets', targets, readTargets), given('ignore', ignore, readTargets)];
	const named = /** @type {M[]} */ (given('modules', modules, iterableOf(readModule)));
	return named.filter((module) => meansModule(module, wanted, ignored, fused));
}

/**
 * Whether some target means a module, but neither the one that holds it nor one that it holds.
 * @param {readonly NamedModule[]} modules all of the model; its root has the name ''
 * @param {string[]} targets
 * @param {string} name of the module
 */
export function isNarrowMatch(modules, targets, name) {
	given('modules', modules, list(readModule));
	given('targets', targets, list(text));
	given('name', name, text);
	const dot = name.lastIndexOf('.');
	// As the reference has it: a module at the top is its own parent.
	const parent = dot < 0 ? name : name.slice(0, dot);
	const own = modules.find((module) => module.name === name);
	const others = modules.filter((module) => module.name === parent || module.name.startsWith(`${name}.`));
	return (
		own !== undefined &&
		targets.some(
			(target) =>
				meansModule({ name, classes: own.classes }, [target]) &&
				!others.some((module) => meansModule(module, [target])),
		)
	);
}

/**
 * The schemes of a config for modules, each that of the closest target. Where two groups have the same target, the later one's.
 * @param {Pick<QuantizationConfig, 'config_groups' | 'ignore'>} config complete
 * @returns {(name: string, classes?: Classes) => QuantizationScheme | null} null: the module is ignored, or meant by no target
 */
export function schemeFinder(config) {
	const { config_groups: groups, ignore } = quantizationConfig(config);
	const byTarget = new Map(
		Object.values(groups).flatMap((scheme) =>
			scheme.targets.map((target) => /** @type {const} */ ([target, scheme])),
		),
	);
	const [targeted, ignored] = [byTarget.keys(), ignore ?? []].map(targetsMatcher);
	return (name, classes = 'Linear') => {
		given('name', name, text);
		given('classes', classes, readClasses);
		if (ignored(name, classes).length > 0) return null;
		const [closest] = targeted(name, classes);
		return closest === undefined ? null : (byTarget.get(closest) ?? null);
	};
}

/**
 * The scheme of a config for one module.
 * @param {Pick<QuantizationConfig, 'config_groups' | 'ignore'>} config complete
 * @param {string} name
 * @param {Classes} [classes]
 * @returns {QuantizationScheme | null}
 */
export const schemeOfModule = (config, name, classes) => schemeFinder(config)(name, classes);

const TENSOR_OPTIONS = {
	targets: { default: [], read: readTargets },
	ignore: { default: [], read: readTargets },
	parameters: { default: ['weight'], read: readTargets },
};

/**
 * The tensors of a file that are meant, by names alone: classes are unknown, so that `Linear` among the targets, or no
 * target, means every module but those that end in `norm`.
 * @param {Iterable<string>} names of tensors
 * @param {{ targets?: string[], ignore?: string[], parameters?: string[] }} [options] parameters: what the tensors are called in
 *   their modules, as targets; default `weight`
 * @returns {{ module: string, name: string }[]}
 */
export function matchQuantizableTensors(names, options = {}) {
	const { targets, ignore, parameters } = optionsOf(TENSOR_OPTIONS, options);
	/** @param {string} name @param {string[]} list */
	const any = (name, list) => list.some((target) => meansName(target, name));
	const all = targets.length === 0 || targets.includes('Linear');
	return given('names', names, readTargets)
		.map((name) => ({ module: name.slice(0, Math.max(0, name.lastIndexOf('.'))), name }))
		.filter(({ module, name }) => {
			const parameter = name.slice(name.lastIndexOf('.') + 1);
			if (module.endsWith('norm') || !any(parameter, parameters)) return false;
			return (all || any(module, targets)) && !any(module, ignore);
		});
}
