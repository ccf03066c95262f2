// random.js - random weights that are the same on every machine: integers, products and sums alone, no logarithms.
// SPDX-License-Identifier: MIT

/**
 * Uniform integers of 32 bits: Vigna and Blackman's xoshiro128**, seeded by SplitMix32 as they advise.
 * @param {number} seed
 */
export function xoshiro128(seed) {
	let state = seed >>> 0;
	const next = () => {
		state = (state + 0x9e3779b9) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
		mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
		return mixed ^ (mixed >>> 15);
	};
	let [a, b, c, d] = [next(), next(), next(), next()];
	return () => {
		const times5 = Math.imul(b, 5);
		const result = Math.imul((times5 << 7) | (times5 >>> 25), 9) >>> 0;
		const shifted = b << 9;
		c ^= a;
		d ^= b;
		b ^= c;
		a ^= d;
		c ^= shifted;
		d = (d << 11) | (d >>> 21);
		return result;
	};
}

/** Uniform in [0, 1). @param {() => number} random */
export const uniform = (random) => random() / 2 ** 32;

/** The deviation of the sum of four uniform integers of 16 bits: sqrt(4 * (2^32 - 1) / 12). */
const SUM_DEVIATION = Math.sqrt((2 ** 32 - 1) / 3);

/** The root mean square of a factor that is uniform in [0.6, 1.4]: sqrt(1 + 0.8^2 / 12). */
const FACTOR_RMS = Math.sqrt(1 + 0.64 / 12);

/**
 * Roughly normal, of deviation 1: the sum of four uniform integers (kurtosis 2.7) times a factor that varies from value to
 * value, which gives tails a little heavier than the normal's (kurtosis 3.2), as trained weights have.
 * @param {() => number} random
 */
export function roughlyNormal(random) {
	const [x, y] = [random(), random()];
	const sum = (x & 0xffff) + (x >>> 16) + (y & 0xffff) + (y >>> 16) - 2 * 0xffff;
	return (sum / SUM_DEVIATION) * ((0.6 + 0.8 * uniform(random)) / FACTOR_RMS);
}
