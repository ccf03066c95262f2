// patterns.js - regular expressions out of files and command lines, as Python's `re` reads them, matched without backtracking:
// a text is read once, with all that the pattern may be at, so that no pattern takes exponential time.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf, quoted } from './errors.js';

/** Whether a pattern may go on at a place of a text. @typedef {(text: string, at: number) => boolean} Test */
/** Where a pattern may be: what leads on from there, and the characters that it takes. The end leads nowhere. @typedef {{ to: State, test?: Test, width?: number }[]} State */
/** A part of a pattern, put before what follows it. @typedef {(next: State) => State} Part */

/** Flags that a pattern may begin with, as (?i). `a` and `u` say what letters are, and change nothing for names of modules. */
const FLAGS = /^\(\?([aimsu]+)\)/;

/** An escape, a comment, how groups begin, a class from its bracket to its end, a count, anything else. */
const TOKEN =
	/\\(?:x[\da-f]{2}|u[\da-f]{4}|0[0-7]*|[\s\S])|\(\?#[^)]*\)|\((?:\?(?:[:=!]|<[=!]|P?<\w+>))?|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|(?:[*+?]|\{(?:\d+,?\d*|,\d+)\})\??|[\s\S]/gi;

/** @type {Record<string, string>} */
const COUNTS = { '*': '0,', '+': '1,', '?': '0,1' };

/** What stands between two characters. */
const BETWEEN = /^(?:[$^]|\\[AZbB])$/;

/** What JavaScript spells otherwise: `$` and `\Z` know no line but the last. @type {Record<string, string>} */
const SPELLED = {
	$: '(?=\\n?(?![\\s\\S]))',
	'\\A': '(?<![\\s\\S])',
	'\\Z': '(?![\\s\\S])',
	'\\a': '\\x07',
	'.': '[^\\n]',
};

/** The flags with which JavaScript's is the same. @type {Record<string, string>} */
const ALIKE = { $: 'm', '.': 's' };

/** Of characters, and of states: only repetitions of repetitions have more. */
const MAX_SIZE = 10_000;

/** Escapes of letters that mean something to Python, and what a class is made of. */
const ESCAPE = /^\\(?:[AbBdDsSwWZafnrtv]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[^a-zA-Z])/;
const ATOM = /\\x[\da-f]{2}|\\u[\da-f]{4}|\\?[\s\S]/gi;

/** What Python refuses of a character or a class, but JavaScript takes. @param {string} token */
function checkSingle(token) {
	const inside = /^\[\^?([\s\S]*)\]$/.exec(token)?.[1];
	if (inside === '') throw new Error(`${token} is left open`);
	const atoms = (inside ?? token).match(ATOM) ?? [];
	const wrong = atoms.find((atom) => atom[0] === '\\' && (!ESCAPE.test(atom) || (inside && /^\\[ABZ]/.test(atom))));
	if (wrong) throw new Error(`${wrong} means nothing`);
	for (let i = 1; i + 1 < atoms.length; i++)
		if (atoms[i] === '-' && [atoms[i - 1], atoms[i + 1]].some((end) => /^\\[dsw]$/i.test(end)))
			throw new Error(`${atoms.slice(i - 1, i + 2).join('')} is no range`);
}

/**
 * Whether a pattern leads to its end.
 * @param {State} start
 * @param {string} text
 * @param {number} from where it begins
 * @param {number} last where it begins at the latest
 * @param {number} [end] where it has to end, if it has to
 */
function leads(start, text, from, last, end) {
	/** @type {Set<State>} */
	let now = new Set();
	for (let at = from; at <= (end ?? text.length); at++) {
		/** @type {Set<State>} */
		const next = new Set();
		if (at <= last) now.add(start);
		// What is added meanwhile is walked, too.
		for (const state of now) {
			if (!state.length && at === (end ?? at)) return true;
			for (const { to, test, width } of state) if (!test || test(text, at)) (width ? next : now).add(to);
		}
		now = next;
	}
	return false;
}

/** @param {string[]} tokens @param {string} flags @returns {State} */
function read(tokens, flags) {
	let states = 0;
	/** @param {State} state */
	const made = (...state) => {
		if (++states > MAX_SIZE) throw new Error('it repeats too much');
		return state;
	};

	/** One character, or a place between two. @param {string} token @returns {Part} */
	const single = (token) => {
		checkSingle(token);
		const width = BETWEEN.test(token) ? 0 : 1;
		// A bracket that closes nothing yet stands for itself.
		const own = token.replace(/^(\[\^?)\](?!$)/, '$1\\]');
		const regex = new RegExp(flags.includes(ALIKE[token]) ? own : (SPELLED[token] ?? own), `${flags}y`);
		/** @type {Test} */
		const test = (text, at) => {
			regex.lastIndex = at;
			return regex.test(text);
		};
		return (to) => made({ to, test, width });
	};

	/** @param {Part} part @param {number} least @param {number} most @returns {Part} */
	const repeated = (part, least, most) => (next) => {
		let first = made({ to: next });
		if (most === Infinity) first.push({ to: part(first) });
		else for (let i = least; i < most; i++) first = made({ to: next }, { to: part(first) });
		for (let i = 0; i < least; i++) first = part(first);
		return first;
	};

	/** What looks around: behind what ends here, ahead from here on. @param {State} inside @param {string} side @param {boolean} wanted @returns {Part} */
	const around = (inside, side, wanted) => (to) =>
		made({
			to,
			test: (text, at) => leads(inside, text, side ? 0 : at, at, side ? at : undefined) === wanted,
		});

	/** Choices, up to the bracket that ends them. @param {boolean} [looking] around, where nothing else may @returns {Part} */
	const group = (looking) => {
		/** @type {Part[][]} */
		const choices = [[]];
		let repeatable = false;
		for (let token = tokens.shift(); token !== ')'; token = tokens.shift()) {
			if (token?.startsWith('(?#')) continue;
			// References to what a group took cannot be decided without backtracking.
			if (!token || /^\\[1-9]/.test(token))
				throw new Error(token ? `${token} looks back` : 'a bracket is left open');
			const parts = choices[choices.length - 1];
			const count = COUNTS[token[0]] ?? /^\{(.+)\}/.exec(token)?.[1];
			const [, side, sign] = /^\(\?(<?)([=!])/.exec(token) ?? [];
			if (count) {
				const [low, high = low] = count.split(',');
				const most = Number(high || Infinity);
				if (!repeatable || Number(low) > most) throw new Error(`nothing to repeat by ${token}`);
				parts.push(repeated(/** @type {Part} */ (parts.pop()), Number(low), most));
			} else if (token === '|') choices.push([]);
			else if (sign) {
				if (looking) throw new Error(`${token} inside of what looks around`);
				parts.push(around(group(true)([]), side, sign === '='));
			} else parts.push(token[0] === '(' ? group(looking) : single(token));
			repeatable = !count && token !== '|' && !BETWEEN.test(token);
		}
		return (next) => made(...choices.map((parts) => ({ to: parts.reduceRight((to, part) => part(to), next) })));
	};

	const start = group()([]);
	if (tokens.length) throw new Error('a bracket closes nothing');
	return start;
}

/** A regular expression that may be a stranger's. */
export class Pattern {
	#start;

	/**
	 * @param {string} source as Python's `re` has it, but for references to what a group took
	 * @throws {BlockQuantError} bad-scheme: it cannot be read
	 */
	constructor(source) {
		this.source = source;
		const [head = '', flags = ''] = FLAGS.exec(source) ?? [];
		try {
			if (source.length > MAX_SIZE) throw new Error(`it has more than ${MAX_SIZE} characters`);
			// The end of all is read as that of a group.
			const tokens = [...(source.slice(head.length).match(TOKEN) ?? []), ')'];
			this.#start = read(tokens, [...new Set(flags.replace(/[au]/g, ''))].join(''));
		} catch (cause) {
			throw new BlockQuantError('bad-scheme', `pattern ${quoted(source)} cannot be read: ${messageOf(cause)}`, {
				cause,
			});
		}
	}

	/** Whether a text begins with a match. @param {string} text */
	begins(text) {
		return leads(this.#start, text, 0, 0);
	}

	/** Whether a text is a match. @param {string} text */
	covers(text) {
		return leads(this.#start, text, 0, 0, text.length);
	}

	/** Whether there is a match in a text. @param {string} text */
	test(text) {
		return leads(this.#start, text, 0, text.length);
	}

	toString() {
		return `/${this.source}/`;
	}
}
