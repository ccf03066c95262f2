// stated.js - all that a scheme says, in one order: what two schemes are compared by.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { schemeOfStruct } from '../scheme.js';
import { schemeError, structOfScheme } from './read.js';
import { validateScheme } from './validate.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @param {NonNullable<Scheme['observer']>} observer */
function observerOf({ calculator, constant, range }) {
	return Object.freeze({
		calculator,
		...(constant !== undefined && { constant }),
		...(range && { range }),
	});
}

/**
 * A scheme without its name: every field in order, defaults filled in, frozen.
 * @param {Scheme} scheme
 * @returns {Readonly<Scheme>}
 * @throws {BlockQuantError} bad-scheme, naming every word that is wrong
 */
export function stated({ name: _, ...scheme }) {
	const { activations, ...said } = schemeOfStruct(structOfScheme(scheme));
	const symmetric = scheme.activations?.symmetric === false && { symmetric: /** @type {false} */ (false) };
	return Object.freeze({
		...said,
		...(activations && { activations: Object.freeze({ ...activations, ...symmetric }) }),
		...(scheme.observer && { observer: observerOf(scheme.observer) }),
	});
}

/** As stated(), if no rule is broken. @param {Scheme} scheme @returns {Readonly<Scheme>} @throws {BlockQuantError} bad-scheme */
export function legal({ name: _, ...scheme }) {
	const problems = validateScheme(scheme);
	if (problems.length) throw schemeError(problems);
	return stated(scheme);
}

/**
 * Refuses a scheme that another system's JSON does not bring back.
 * @param {string} system
 * @param {Scheme} scheme what was to be said
 * @param {() => Scheme} read reads the JSON that was made of it
 * @param {string[]} [beside] fields that go beside that system's JSON
 * @throws {BlockQuantError} unsupported, with the field
 */
export function mustReadBack(system, scheme, read, beside = []) {
	/** @type {any} */
	let back;
	try {
		back = stated(read());
	} catch (error) {
		if (!(error instanceof BlockQuantError)) throw error;
		throw new BlockQuantError('unsupported', `${system} cannot say this scheme: ${error.message}`, {
			cause: error,
		});
	}
	const said = /** @type {any} */ (stated(scheme));
	for (const field of new Set([...Object.keys(said), ...Object.keys(back)])) {
		if (beside.includes(field) || JSON.stringify(said[field]) === JSON.stringify(back[field])) continue;
		const [meant, read] = [said, back].map((each) => (each[field] === undefined ? 'none' : shown(each[field])));
		throw new BlockQuantError(
			'unsupported',
			`${system} cannot say scheme.${field} ${meant}: it would read ${read}`,
		);
	}
}
