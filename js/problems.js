// problems.js - all that is wrong with some JSON, told in one error.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from './errors.js';

/** Says what is wrong with the value at hand, which then counts as unknown. @typedef {(message: string) => undefined} Fail */

export class Problems {
	/** @type {string[]} */
	#list = [];

	/** @param {string} field @returns {Fail} */
	at(field) {
		return (message) => {
			this.#list.push(field === '' ? message : `${field}: ${message}`);
			return undefined;
		};
	}

	/** @throws {BlockQuantError} bad-scheme with every problem, if there are any */
	check() {
		if (this.#list.length > 0) throw new BlockQuantError('bad-scheme', this.#list.join('; '));
	}
}

/** The field of a field. @param {string} where @param {string} key */
export const inside = (where, key) => (where === '' ? key : `${where}.${key}`);
