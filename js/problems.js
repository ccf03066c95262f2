// problems.js - all that is wrong with some JSON, told in one error.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from './errors.js';

/** @typedef {{ field: string, message: string }} Problem */
/** Says what is wrong with the value at hand, which then counts as unknown. @typedef {(message: string) => undefined} Fail */

export class Problems {
	#path;

	/** @param {string} [path] of the fields that follow @param {Problem[]} [list] to which theirs are added */
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
		this.list.push({ field: field === '' ? this.#path : inside(this.#path, field), message });
	}

	/** @param {string} field @returns {Fail} */
	at(field) {
		return (message) => {
			this.add(field, message);
			return undefined;
		};
	}

	/** @throws {BlockQuantError} bad-scheme with every problem, if there are any */
	check() {
		const said = this.list.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
		if (said.length > 0) throw new BlockQuantError('bad-scheme', said.join('; '));
	}
}

/** The field of a field. @param {string} where @param {string} key */
export const inside = (where, key) => (where === '' ? key : `${where}.${key}`);
