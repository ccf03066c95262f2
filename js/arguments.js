// arguments.js - what callers hand to functions, read as JSON is: by its kind, all that is wrong with it in one error.
// SPDX-License-Identifier: MIT

import { shown } from './errors.js';
import { Problems, list, readFields, word } from './problems.js';

/** @typedef {import('./problems.js').Field} Field */
/** @template T @typedef {import('./problems.js').Reader<T>} Reader */

/**
 * An argument.
 * @template T
 * @param {string} name
 * @param {unknown} value
 * @param {Reader<T>} read
 * @returns {T}
 * @throws {import('./errors.js').BlockQuantError} bad-argument
 */
export function given(name, value, read) {
	const problems = new Problems(name);
	const known = read(value, problems);
	problems.check('bad-argument');
	return /** @type {T} */ (known);
}

/**
 * The options of a function that are given or have a default; others are refused.
 * @param {Record<string, Field>} fields
 * @param {unknown} options
 * @returns {Record<string, any>}
 * @throws {import('./errors.js').BlockQuantError} bad-argument
 */
export function optionsOf(fields, options) {
	const problems = new Problems();
	const known = readFields(fields, options, problems);
	problems.check('bad-argument', 'options');
	return Object.fromEntries(Object.entries(known ?? {}).filter(([, value]) => value !== undefined));
}

/** What may be left out. @param {Reader<any>} read @returns {Field} */
export const optional = (read) => ({ default: undefined, read });

/** What is looked at elsewhere. @type {Reader<any>} */
export const any = (value) => value;

/**
 * Whatever passes a test.
 * @param {(value: any) => boolean} isRight
 * @param {string} expected
 * @returns {Reader<any>}
 */
export const kind = (isRight, expected) => (value, at) =>
	isRight(value) ? value : at.fail(`expected ${expected}, got ${shown(value)}`);

/** From another realm, too. */
export const address = kind(
	(value) => typeof value === 'string' || Object.prototype.toString.call(value) === '[object URL]',
	'a string or a URL',
);

/** Of a file. */
export const path = kind((value) => typeof value === 'string' && value !== '', 'a path');

/** What is done about something that is not as it should be. */
export const policy = word(['error', 'allow']);

/** How many there are of something. */
export const count = kind((value) => Number.isSafeInteger(value) && value >= 0, 'a whole number, 0 or more');

/**
 * A list, or what else gives one thing after the other; no text, which would give its letters.
 * @template T
 * @param {Reader<T>} read
 * @returns {Reader<T[]>}
 */
export const iterableOf = (read) => (value, at) =>
	typeof value === 'object' && value !== null && Symbol.iterator in value
		? list(read)([...value], at)
		: at.fail(`expected a list, got ${shown(value)}`);
