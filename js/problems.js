// problems.js - JSON read field by field: each by what reads its kind, unknown ones refused, all that is wrong told in one error.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from './errors.js';
import { didYouMean } from './nearest.js';

/** @typedef {{ field: string, message: string }} Problem */

/**
 * Reads the value of one field; undefined: it has said there what is wrong.
 * @template T
 * @typedef {(value: any, at: Problems) => T | undefined} Reader
 */

/** How a field is read; one without a default must be there. @typedef {{ read: Reader<any>, default?: unknown }} Field */

/** The field of a field; an item is `[i]`. @param {string} where @param {string} key */
export const inside = (where, key) => where + (where === '' || key === '' || key.startsWith('[') ? '' : '.') + key;

/** What is wrong with the value of some field and with those inside it. */
export class Problems {
	#path;

	/** @param {string} [path] of the field @param {Problem[]} [list] to which its problems are added */
	constructor(path = '', list = []) {
		this.#path = path;
		this.list = list;
	}

	/** Those of what lies in a field; this list has them too. @param {string} field */
	within(field) {
		return new Problems(inside(this.#path, field), this.list);
	}

	/** @param {string} field empty: the value as a whole @param {string} message what was found and what was expected */
	add(field, message) {
		this.list.push({ field: inside(this.#path, field), message });
	}

	/** Of the value as a whole, which then counts as unknown. @param {string} message @returns {undefined} */
	fail(message) {
		this.add('', message);
		return undefined;
	}

	/**
	 * @param {import('./errors.js').ErrorCode} [code]
	 * @param {string} [whole] what the outermost value is called
	 * @throws {BlockQuantError} with every problem, if there are any
	 */
	check(code = 'bad-scheme', whole = 'scheme') {
		const said = this.list.map(({ field, message }) => `${field || whole}: ${message}`);
		if (said.length > 0) throw new BlockQuantError(code, said.join('; '));
	}
}

/** An object with fields: no list, typed array or Map. @param {unknown} value @returns {value is Record<string, any>} */
export const isObject = (value) => typeof value === 'object' && value !== null && !(Symbol.iterator in value);

/**
 * The fields of an object, each by its reader; what is missing has its default, if there is one, what is unknown is a problem.
 * @param {Record<string, Field>} fields
 * @param {unknown} json
 * @param {Problems} at
 * @param {readonly string[] | null} [more] fields that are let by and not read; null: any
 * @returns {Record<string, any> | undefined} undefined: no object; undefined fields have failed
 */
export function readFields(fields, json, at, more = []) {
	const known = Object.keys(fields);
	if (!isObject(json)) return at.fail(`expected { ${known.join(', ')} }; got ${shown(json)}`);
	for (const key of Object.keys(json))
		if (!known.includes(key) && more?.includes(key) === false)
			at.add(key, `unknown field${didYouMean(key, known) || `; expected ${known.join(', ')}`}`);
	const read = Object.entries(fields).map(([key, field]) => {
		const place = at.within(key);
		const value = json[key];
		if (value !== undefined || !('default' in field)) return [key, field.read(value, place)];
		return [key, typeof field.default !== 'object' ? field.default : structuredClone(field.default)];
	});
	return Object.fromEntries(read);
}

/** @type {Reader<string>} */
export const text = (value, at) =>
	typeof value === 'string' ? value : at.fail(`expected a string, got ${shown(value)}`);

/** @type {Reader<boolean>} */
export const flag = (value, at) =>
	typeof value === 'boolean' ? value : at.fail(`expected true or false, got ${shown(value)}`);

/** A weight of the new beside the old. @type {Reader<number>} */
export const fraction = (value, at) =>
	typeof value === 'number' && value > 0 && value <= 1
		? value
		: at.fail(`expected a number above 0, at most 1; got ${shown(value)}`);

/**
 * One of some words.
 * @param {readonly string[]} words
 * @param {(word: string) => string[]} [spellings] under which one may be meant
 * @returns {Reader<string>}
 */
export const word = (words, spellings) => (value, at) =>
	words.includes(value)
		? value
		: at.fail(`expected one of ${words.join(', ')}; got ${shown(value)}${didYouMean(value, words, spellings)}`);

/**
 * @template T
 * @param {Reader<T>} read
 * @returns {Reader<T | null>}
 */
export const nullable = (read) => (value, at) => (value === null ? null : read(value, at));

/**
 * @template T
 * @param {Reader<T>} read
 * @returns {Reader<T[]>}
 */
export const list = (read) => (value, at) => {
	if (!Array.isArray(value)) return at.fail(`expected a list, got ${shown(value)}`);
	const items = Array.from(value, (item, i) => read(item, at.within(`[${i}]`)));
	return items.includes(undefined) ? undefined : /** @type {T[]} */ (items);
};
