// coerce.js - JSON values as compressed-tensors takes them: pydantic turns what is nearly right into what is meant.
// SPDX-License-Identifier: MIT

import { shown } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { inside } from '../problems.js';

/** @typedef {import('../problems.js').Fail} Fail */
/** @typedef {import('../problems.js').Problems} Problems */

/**
 * @template T
 * @typedef {(value: any, fail: Fail) => T | undefined} Reader undefined: it has failed
 */

const INTEGER_TEXT = /^\s*[+-]?\d+(_\d+)*(\.0*)?\s*$/;

/** An integer: booleans, integral numbers and their texts too. @type {Reader<number>} */
export function integer(value, fail) {
	const number = typeof value === 'boolean' ? Number(value) : numberOf(value, INTEGER_TEXT);
	return Number.isSafeInteger(number) ? number : fail(`expected an integer, got ${shown(value)}`);
}

/** @type {Reader<number>} */
export function float(value, fail) {
	const number = typeof value === 'boolean' ? Number(value) : numberOf(value, /^\s*[+-]?[\d._]+(e[+-]?\d+)?\s*$/i);
	return Number.isFinite(number) ? number : fail(`expected a number, got ${shown(value)}`);
}

/** @param {unknown} value @param {RegExp} text that says a number @returns {number} NaN for anything else */
function numberOf(value, text) {
	if (typeof value === 'number') return value;
	return typeof value === 'string' && text.test(value) ? Number(value.replaceAll('_', '')) : NaN;
}

const BOOLEANS = new Map([
	...['true', 't', 'yes', 'y', 'on', '1'].map((word) => /** @type {const} */ ([word, true])),
	...['false', 'f', 'no', 'n', 'off', '0'].map((word) => /** @type {const} */ ([word, false])),
]);

/** @type {Reader<boolean>} */
export function boolean(value, fail) {
	if (typeof value === 'boolean') return value;
	const known =
		typeof value === 'number' || typeof value === 'string' ? BOOLEANS.get(String(value).toLowerCase()) : undefined;
	return known ?? fail(`expected true or false, got ${shown(value)}`);
}

/** @type {Reader<string>} */
export const text = (value, fail) =>
	typeof value === 'string' ? value : fail(`expected a string, got ${shown(value)}`);

/**
 * One of some words.
 * @param {readonly string[]} words
 * @param {boolean} [anyCase]
 * @returns {Reader<string>}
 */
export const word =
	(words, anyCase = false) =>
	(value, fail) => {
		const found = typeof value === 'string' && anyCase ? value.toLowerCase() : value;
		if (words.includes(found)) return found;
		return fail(`expected one of ${words.join(', ')}; got ${shown(value)}${didYouMean(value, words)}`);
	};

/**
 * @template T
 * @param {Reader<T>} read
 * @returns {Reader<T | null>}
 */
export const nullable = (read) => (value, fail) => (value === null ? null : read(value, fail));

/**
 * @template T
 * @param {Reader<T>} read
 * @returns {Reader<T[]>}
 */
export const list = (read) => (value, fail) => {
	if (!Array.isArray(value)) return fail(`expected a list, got ${shown(value)}`);
	const items = value.map((item, i) => read(item, (message) => fail(`item ${i}: ${message}`)));
	return items.includes(undefined) ? undefined : /** @type {any[]} */ (items);
};

/** A plain JSON object. @param {unknown} value @returns {value is Record<string, any>} */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The fields of an object, each by its reader; what is missing has its default, what is unknown is a problem.
 * @param {Record<string, { read: Reader<any>, default?: unknown }>} fields without a default: required
 * @param {unknown} json
 * @param {string} where
 * @param {Problems} problems
 * @param {'forbid' | 'ignore'} [extra] fields
 * @returns {Record<string, any> | undefined} undefined fields have failed
 */
export function readFields(fields, json, where, problems, extra = 'forbid') {
	const known = Object.keys(fields);
	if (!isObject(json)) return problems.at(where)(`expected an object with ${known.join(', ')}; got ${shown(json)}`);
	for (const key of extra === 'forbid' ? Object.keys(json) : [])
		if (!known.includes(key))
			problems.at(inside(where, key))(`unknown key${didYouMean(key, known) || `; expected ${known.join(', ')}`}`);
	/** @type {Record<string, any>} */
	const complete = {};
	for (const [key, { read, default: fallback }] of Object.entries(fields)) {
		const fail = problems.at(inside(where, key));
		if (Object.hasOwn(json, key) && json[key] !== undefined) complete[key] = read(json[key], fail);
		else complete[key] = fallback === undefined ? fail('missing') : structuredClone(fallback);
	}
	return complete;
}
