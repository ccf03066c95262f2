// problems.js - everything that is wrong with some JSON, said at once: each problem names its field and the rule.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

/** @typedef {{ field: string, message: string }} Problem */

/** A list that grows while JSON is read; what is at a field adds to the same list. */
export class Problems {
	/** @type {Problem[]} */
	list = [];
	#path;

	/** @param {string} [path] of the fields that follow */
	constructor(path = '') {
		this.#path = path;
	}

	/** @param {string | number} field @returns {Problems} those of what lies there */
	at(field) {
		const inner = new Problems(this.#join(field));
		inner.list = this.list;
		return inner;
	}

	/** @param {string | number} field @param {string} message */
	add(field, message) {
		this.list.push({ field: this.#join(field), message });
	}

	/** @param {string | number} field */
	#join(field) {
		if (typeof field === 'number') return `${this.#path}[${field}]`;
		return this.#path && field ? `${this.#path}.${field}` : this.#path || field;
	}

	/** @throws {BlockQuantError} bad-scheme, if there is any */
	refuse() {
		if (this.list.length)
			throw new BlockQuantError(
				'bad-scheme',
				this.list.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; '),
			);
	}
}

/** An integer, or text that is one, as YAML and forms have it. @param {unknown} value @returns {number | undefined} */
export function integerOf(value) {
	const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
	return Number.isSafeInteger(number) ? /** @type {number} */ (number) : undefined;
}
