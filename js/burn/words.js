// words.js - small integers in 32-bit words, the first in the lowest bits.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { arrayOf, checkIndex } from './check.js';

/**
 * Four values a word, the last one filled up with zeros.
 * @param {Int8Array} values
 * @returns {Uint32Array}
 * @throws {BlockQuantError} bad-argument
 */
export function packI8sToU32s(values) {
	const plain = arrayOf('values', values, 'Int8Array');
	const words = new Uint32Array(Math.ceil(plain.length / 4));
	new Int8Array(words.buffer).set(plain);
	return words;
}

const readBits = kind((bits) => [2, 4, 8].includes(bits), '2, 4 or 8');

/**
 * The first values of some words.
 * @param {Uint32Array} words
 * @param {number} count
 * @param {number} [bits] of each; 2, 4 or 8
 * @returns {Int8Array}
 * @throws {BlockQuantError} bad-argument: more values than the words hold
 */
export function unpackU32sToI8s(words, count, bits = 8) {
	const plain = arrayOf('words', words, 'Uint32Array');
	given('bits', bits, readBits);
	const perWord = 32 / bits;
	const shift = 32 - bits;
	checkIndex('count', count, plain.length * perWord);
	return Int8Array.from(
		{ length: count },
		(_, i) => (plain[Math.floor(i / perWord)] << (shift - (i % perWord) * bits)) >> shift,
	);
}
