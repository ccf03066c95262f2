// select.js - which tensors of a model are quantized, and why the others are not.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf } from '../errors.js';
import { Pattern } from '../patterns.js';

/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('./types.js').SelectRules} SelectRules */

/**
 * @typedef {object} Selection
 * @property {boolean} quantize
 * @property {boolean} explicit asked for by name: what the scheme cannot do is then an error
 * @property {string} reason
 */

/**
 * Patterns are searched anywhere in a tensor's name; those that are text are read as Python's. Without any, the container's own rules select. `include` adds what
 * it matches, `exclude` takes away, and wins.
 * @typedef {object} SelectOptions
 * @property {(RegExp | string)[] | RegExp | string} [include]
 * @property {(RegExp | string)[] | RegExp | string} [exclude]
 */

/**
 * Decides for every tensor.
 * @param {ModelTensor[]} tensors
 * @param {SelectRules} rules
 * @param {SelectOptions} [options]
 * @returns {Selection[]}
 */
export function select(tensors, rules, options = {}) {
	const include = patterns(options.include, 'include');
	const exclude = patterns(options.exclude, 'exclude');
	const keptBecause = rules.keeper(tensors);
	return tensors.map((tensor) => {
		const out = exclude.find((pattern) => pattern.test(tensor.name));
		if (out !== undefined) return keep(`excluded by ${out}`);
		const refusal = rules.refusal(tensor);
		const by = include.find((pattern) => pattern.test(tensor.name));
		if (by !== undefined) {
			if (refusal === null) return { quantize: true, explicit: true, reason: `included by ${by}` };
			throw new BlockQuantError('unsupported', `included by ${by}, but ${refusal}`, {
				tensor: tensor.name,
			});
		}
		if (refusal !== null) return keep(refusal);
		const why = keptBecause(tensor);
		return why === null ? { quantize: true, explicit: false, reason: rules.reason } : keep(why);
	});
}

/**
 * @param {string} reason
 * @returns {Selection}
 */
function keep(reason) {
	return { quantize: false, explicit: false, reason };
}

/**
 * @param {(RegExp | string)[] | RegExp | string | undefined} given
 * @param {string} option
 * @returns {(RegExp | Pattern)[]}
 */
function patterns(given, option) {
	return [given ?? []].flat().map((pattern) => {
		// Without "g" and "y", whose `test` remembers where the last match ended.
		if (typeof pattern !== 'string') return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
		try {
			return new Pattern(pattern);
		} catch (cause) {
			throw new BlockQuantError('bad-argument', `${option}: ${messageOf(cause)}`, { cause });
		}
	});
}
