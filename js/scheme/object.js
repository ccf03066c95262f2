// object.js - schemes as objects: made, printed, parsed, compared, cloned. They are plain frozen JSON.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { BlockQuantError, messageOf, shown } from '../errors.js';
import { resolveScheme } from '../presets.js';
import { isObject } from '../problems.js';
import { legal, stated } from './stated.js';
import { schemeOfJson } from '../vocabularies.js';
import { jsonOfText } from '../json/read.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/**
 * A scheme, checked and complete.
 * @param {string | object} source a preset's name; a scheme object; or the JSON of any vocabulary that BlockQuant knows
 * @returns {Readonly<Scheme>} frozen, with defaults filled in and fields in order; a preset as it is, with its name
 * @throws {BlockQuantError} unknown-scheme; bad-scheme, naming every field that is wrong
 */
export function makeScheme(source) {
	if (typeof source === 'string') return resolveScheme(source);
	const scheme = schemeOfJson(source);
	return scheme.name === undefined ? legal(scheme) : scheme;
}

/**
 * A scheme as text, for people and files; parseScheme() is the way back.
 * @param {string | Scheme} scheme
 */
export function formatScheme(scheme) {
	return JSON.stringify(makeScheme(scheme), null, 2);
}

/**
 * The scheme that a text says.
 * @param {string} text a preset's name, or JSON as makeScheme() takes it
 * @returns {Readonly<Scheme>}
 * @throws {BlockQuantError} unknown-scheme, bad-scheme (no JSON, too)
 */
export function parseScheme(text) {
	if (typeof text !== 'string')
		throw new BlockQuantError('bad-argument', `text: expected a string, got ${shown(text)}`);
	if (!/^\s*[[{]/.test(text)) return makeScheme(text.trim());
	let json;
	try {
		json = jsonOfText(text);
	} catch (cause) {
		throw new BlockQuantError('bad-scheme', `expected JSON or the name of a preset: ${messageOf(cause)}`, {
			cause,
		});
	}
	return makeScheme(json);
}

/**
 * Whether two schemes say the same: then every tensor gets the same bytes from both. Names do not count.
 * @param {string | Scheme} a
 * @param {string | Scheme} b
 */
export function sameScheme(a, b) {
	const [one, other] = [a, b].map((each) => JSON.stringify(stated(makeScheme(each))));
	return one === other;
}

/**
 * A scheme like another but for some fields.
 * @param {string | Scheme} scheme
 * @param {Partial<Scheme>} [changes] a field that is undefined is left out
 * @returns {Readonly<Scheme>} without the name, if anything has changed
 * @throws {BlockQuantError} bad-scheme
 */
export function cloneScheme(scheme, changes = {}) {
	given('changes', changes, kind(isObject, 'fields of a scheme'));
	const { name, ...fields } = makeScheme(scheme);
	const changed = Object.fromEntries(
		Object.entries({ ...fields, ...changes }).filter(([, value]) => value !== undefined),
	);
	const clone = makeScheme(changed);
	return name !== undefined && sameScheme(clone, scheme) ? makeScheme(scheme) : clone;
}
