// modules.js - the modules of a model, as resolveConfig() takes them, checked.
// SPDX-License-Identifier: MIT

import { count, given, kind, optional } from '../arguments.js';
import { shown } from '../errors.js';
import { isObject, list, readFields, text } from '../problems.js';

/**
 * @typedef {object} Op inside a module
 * @property {string} name such as `layers.0.linear`
 * @property {string} type such as `linear`
 * @property {number} [inputs] activations that come in; default 1
 * @property {number} [axes] of its activations; default those of a convolution or pooling with a batch, else 2
 * @property {string[]} [states] local names of the parameters that it consumes; default all of the module
 */

/**
 * @typedef {object} Module of a model, in the model's order
 * @property {string} name dotted; that of the model itself is ''
 * @property {string} type full path of its class
 * @property {string[]} [aliases] other names, if it is shared
 * @property {Record<string, number[]>} [parameters] shapes by local name
 * @property {Op[]} [ops] default: one of its class where that is an op of its own
 */

/** @param {any} value */
const areShapes = (value) =>
	isObject(value) &&
	Object.values(value).every(
		(shape) => Array.isArray(shape) && shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0),
	);

const name = kind((value) => typeof value === 'string', 'a dotted name');
const OP = {
	name: { read: name },
	type: { read: kind((value) => typeof value === 'string', 'a word such as linear') },
	inputs: optional(count),
	axes: optional(count),
	states: optional(list(text)),
};
const MODULE = {
	name: { read: name },
	type: { read: kind((value) => typeof value === 'string', 'the full path of a class') },
	aliases: optional(list(text)),
	parameters: optional(kind(areShapes, 'shapes by local name')),
	ops: optional(list((json, at) => readFields(OP, json, at, null))),
};

/** What else a module has is the caller's. @type {import('../problems.js').Reader<any>} */
const readModule = (json, at) => readFields(MODULE, json, at, null);

/** @type {import('../problems.js').Reader<Module[]>} */
function readModules(json, at) {
	const modules = list(readModule)(json, at);
	const seen = new Set();
	modules?.forEach((module, i) => {
		if (seen.has(module?.name))
			at.add(
				`[${i}].name`,
				`the name ${shown(module.name)} twice; expected one module of each name, others as aliases`,
			);
		seen.add(module?.name);
	});
	return modules;
}

/**
 * @param {unknown} modules
 * @throws {import('../errors.js').BlockQuantError} bad-argument: all that is wrong, each with its field
 */
export const checkModules = (modules) => given('modules', modules, readModules);
