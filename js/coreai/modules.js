// modules.js - the modules of a model, as resolveConfig() takes them, checked.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';

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

/** @param {unknown} value */
const isText = (value) => typeof value === 'string';

/** @param {any} value */
const areTexts = (value) => Array.isArray(value) && value.every(isText);

/** @param {unknown} value */
const isCount = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

/** @param {any} value */
const areShapes = (value) =>
	value !== null &&
	typeof value === 'object' &&
	Object.values(value).every((shape) => Array.isArray(shape) && shape.every(isCount));

/** @typedef {Record<string, [isRight: (value: any) => boolean, expected: string, needed?: boolean]>} Fields */

/** @type {Fields} */
const MODULE = {
	name: [isText, 'a dotted name', true],
	type: [isText, 'the full path of a class', true],
	aliases: [areTexts, 'a list of names'],
	parameters: [areShapes, 'shapes by local name'],
	ops: [Array.isArray, 'a list of ops'],
};

/** @type {Fields} */
const OP = {
	name: [isText, 'a dotted name', true],
	type: [isText, 'a word such as linear', true],
	inputs: [isCount, 'a number of activations'],
	axes: [isCount, 'a number of axes'],
	states: [areTexts, 'a list of local names'],
};

/** @param {string} where @param {any} value @param {Fields} fields */
function check(where, value, fields) {
	if (value === null || typeof value !== 'object')
		throw new BlockQuantError(
			'bad-argument',
			`${where}: expected { ${Object.keys(fields).join(', ')} }, got ${shown(value)}`,
		);
	for (const [field, [isRight, expected, needed]] of Object.entries(fields))
		if ((needed || value[field] !== undefined) && !isRight(value[field]))
			throw new BlockQuantError(
				'bad-argument',
				`${where}.${field}: expected ${expected}, got ${shown(value[field])}`,
			);
}

/**
 * @param {unknown} modules
 * @throws {BlockQuantError} bad-argument: the first that is wrong, with its field
 */
export function checkModules(modules) {
	if (!Array.isArray(modules))
		throw new BlockQuantError('bad-argument', `modules: expected a list of them, got ${shown(modules)}`);
	for (const [m, module] of modules.entries()) {
		check(`modules[${m}]`, module, MODULE);
		for (const [o, op] of (module.ops ?? []).entries()) check(`modules[${m}].ops[${o}]`, op, OP);
	}
}
