// words.js - small integers in 32-bit words, the first in the lowest bits.
// SPDX-License-Identifier: MIT

/**
 * Four values a word, the last one filled up with zeros.
 * @param {Int8Array} values
 * @returns {Uint32Array}
 */
export function packI8sToU32s(values) {
	const words = new Uint32Array(Math.ceil(values.length / 4));
	new Int8Array(words.buffer).set(values);
	return words;
}

/**
 * The first values of some words.
 * @param {Uint32Array} words
 * @param {number} count
 * @param {number} [bits] of each; 2, 4 or 8
 * @returns {Int8Array}
 */
export function unpackU32sToI8s(words, count, bits = 8) {
	const perWord = 32 / bits;
	const shift = 32 - bits;
	return Int8Array.from(
		{ length: count },
		(_, i) => (words[Math.floor(i / perWord)] << (shift - (i % perWord) * bits)) >> shift,
	);
}
