// nearest.js - which known word a misspelt one was meant to be.
// SPDX-License-Identifier: MIT

/** Number of edits between two words. @param {string} a @param {string} b */
function distance(a, b) {
	let row = Array.from({ length: b.length + 1 }, (_, i) => i);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++)
			next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
		row = next;
	}
	return row[b.length];
}

/** Longer words are no misspelling of ours, and would take long to compare. */
const LONGEST = 64;

/**
 * The end of an error message: which of the known words is meant, if one is near.
 * @param {unknown} wanted
 * @param {Iterable<string>} known
 * @param {(word: string) => string[]} [spellings] under which a known word may be meant
 * @returns {string} `; did you mean ...?`, or nothing
 */
export function didYouMean(wanted, known, spellings = (word) => [word]) {
	if (typeof wanted !== 'string' || wanted.length > LONGEST) return '';
	const word = wanted.toLowerCase();
	let best = { name: '', edits: Infinity };
	for (const name of known) {
		const edits = Math.min(
			...spellings(name).map((one) =>
				word.length > 2 && one !== word && one.startsWith(word) ? 1 : distance(word, one),
			),
		);
		if (edits < best.edits) best = { name, edits };
	}
	return best.edits <= Math.max(2, word.length / 3) ? `; did you mean ${best.name}?` : '';
}
