// problems.js - all that is wrong with some JSON, told in one error.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from './errors.js';
import { didYouMean } from './nearest.js';

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

	/** Fields that there are not. @param {object} json @param {string[]} known @param {string[]} [beside] legal, but not worth telling */
	checkFields(json, known, beside = []) {
		for (const key of Object.keys(json))
			if (!known.includes(key) && !beside.includes(key))
				this.add(key, `unknown field; expected ${known.join(', ')}${didYouMean(key, known)}`);
	}

	/** A field that is a choice of words. @param {string} field @param {unknown} word @param {string[]} words */
	checkWord(field, word, words) {
		if (!words.includes(/** @type {string} */ (word)))
			this.add(field, `expected ${words.join(', ')}; got ${shown(word)}${didYouMean(word, words)}`);
	}

	/** @throws {BlockQuantError} bad-scheme with every problem, if there are any */
	check() {
		const said = this.list.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
		if (said.length > 0) throw new BlockQuantError('bad-scheme', said.join('; '));
	}
}

/** The field of a field. @param {string} where @param {string} key */
export const inside = (where, key) => (where === '' ? key : `${where}.${key}`);
