// python-regex.js - the patterns of `re:` targets, which are Python's, as JavaScript's.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf, quoted } from '../errors.js';

/** Flags that a pattern may begin with, as (?i). `a` and `u` say what letters are, and change nothing for names of modules. */
const FLAGS = /^\(\?([aimsu]+)\)/;

/** What is spelled otherwise. `$` and `\Z` know no line but the last. @type {Record<string, string>} */
const OUTSIDE = {
	'(?P<': '(?<',
	'\\A': '(?<![\\s\\S])',
	'\\Z': '(?![\\s\\S])',
	'\\a': '\\x07',
	'{,': '{0,',
	$: '(?=\\n?(?![\\s\\S]))',
	'.': '[^\\n]',
};

/** An escape, the ways in which groups begin, a class from its bracket to its end, anything else. */
const TOKEN = /\\[\s\S]|\(\?P<|\(\?P=\w+\)|\(\?#[^)]*\)|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\{,(?=\d+\})|[\s\S]/g;

/** @param {string} token @param {string} flags */
function translate(token, flags) {
	if (token.startsWith('(?P=')) return `\\k<${token.slice(4, -1)}>`;
	if (token.startsWith('(?#')) return '';
	// A bracket that closes nothing yet stands for itself.
	if (token.startsWith('[')) return token.replace(/^(\[\^?)\](?!$)/, '$1\\]');
	if ((token === '.' && flags.includes('s')) || (token === '$' && flags.includes('m'))) return token;
	return OUTSIDE[token] ?? token;
}

/**
 * A function that says whether a text begins with what a pattern matches, as Python's `re.match`.
 * @param {string} pattern
 * @returns {(text: string) => boolean}
 * @throws {BlockQuantError} bad-scheme: JavaScript has no such pattern
 */
export function pythonMatcher(pattern) {
	const [head = '', flags = ''] = FLAGS.exec(pattern) ?? [];
	const used = [...new Set(flags)].filter((flag) => 'ims'.includes(flag)).join('');
	const body = pattern.slice(head.length).replace(TOKEN, (token) => translate(token, used));
	try {
		const regex = new RegExp(`(?:${body})`, `${used}y`);
		return (text) => {
			regex.lastIndex = 0;
			return regex.test(text);
		};
	} catch (cause) {
		throw new BlockQuantError('bad-scheme', `pattern ${quoted(pattern)} cannot be read: ${messageOf(cause)}`, {
			cause,
		});
	}
}
