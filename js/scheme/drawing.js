// drawing.js - where the bits of each layout go, for people: what `blockquant schemes NAME` draws. src/layouts.c does it.
// SPDX-License-Identifier: MIT

/** @typedef {import('../scheme.js').Scheme} Scheme */

/**
 * A field of a block: what it holds and how many bytes it takes.
 * @typedef {readonly [what: string, nbytes: number]} Field
 */

const SCALE = /** @type {Field} */ (['scale: f16', 2]);
const MIN = /** @type {Field} */ (['min: f16', 2]);
const OUTER = /** @type {Field} */ (['outer scale: f16', 2]);
const OUTER_MIN = /** @type {Field} */ (['outer min: f16', 2]);
const FIFTH_BITS = /** @type {Field} */ (['fifth bits of 32 codes: bit j of value j', 4]);
const HALVES = /** @type {Field} */ ([
	'32 codes: byte j has value j in its low half, value j + 16 in its high half',
	16,
]);
const SIXES = /** @type {Field} */ (['8 scales and 8 mins of 6 bits', 12]);
const NIBBLES = /** @type {Field} */ ([
	'256 codes, 64 in 32 bytes: byte j has value j in its low half, value j + 32 in its high half',
	128,
]);
const PAIRS = /** @type {Field} */ ([
	'low pairs of bits: of 128 values, byte j has those of j, j + 32, j + 64, j + 96',
	64,
]);

/** One block, from its first byte, by layout. @type {Record<string, readonly Field[]>} */
const BLOCKS = {
	'ggml-q8_0': [SCALE, ['32 codes: i8', 32]],
	'ggml-q4_0': [SCALE, HALVES],
	'ggml-q4_1': [SCALE, MIN, HALVES],
	'ggml-q5_0': [SCALE, FIFTH_BITS, HALVES],
	'ggml-q5_1': [SCALE, MIN, FIFTH_BITS, HALVES],
	'ggml-q4_k': [OUTER, OUTER_MIN, SIXES, NIBBLES],
	'ggml-q5_k': [OUTER, OUTER_MIN, SIXES, ['fifth bits: bit i of byte j is of value 32 i + j', 32], NIBBLES],
	'ggml-q6_k': [
		['low halves: of 128 values, byte j has those of j and j + 64', 128],
		['upper pairs of bits: of 128 values, byte j has those of j, j + 32, j + 64, j + 96', 64],
		['16 scales: i8', 16],
		OUTER,
	],
	'ggml-q2_k': [['16 times a scale (low half) and a min of 4 bits', 16], PAIRS, OUTER, OUTER_MIN],
	'ggml-q3_k': [['third bits: bit i of byte j is of value 32 i + j', 32], PAIRS, ['16 scales of 6 bits', 12], OUTER],
	'ggml-q1_0': [SCALE, ['128 codes of 1 bit: 1 is +scale, 0 is -scale', 16]],
	'ggml-q2_0': [SCALE, ['64 codes of 2 bits with 1 added, consecutive', 16]],
	'ggml-tq1_0': [['256 codes -1, 0, 1: five a byte, as fractions of 256', 52], SCALE],
	'ggml-tq2_0': [['256 codes of 2 bits with 1 added: of 128, byte j has j, j + 32, j + 64, j + 96', 64], SCALE],
	'ggml-mxfp4': [['scale: e8m0', 1], HALVES],
	'ggml-nvfp4': [
		['4 scales: ggml_ue4m3', 4],
		['64 codes, 16 in 8 bytes: byte j has value j low, value j + 8 high', 32],
	],
	'ggml-iq4_nl': [SCALE, HALVES],
	'ggml-iq4_xs': [
		OUTER,
		['upper pairs of bits of 8 scales', 2],
		['low halves of 8 scales', 4],
		['8 times 32 codes, as q4_0', 128],
	],
	'ggml-iq2_xxs': [
		OUTER,
		['8 times: 4 points for 8 values each, one a byte; 4 masks of 7 signs; a scale of 4 bits', 64],
	],
	'ggml-iq2_xs': [
		OUTER,
		['32 times a point of 9 bits for 8 values, and above it a mask of 7 signs', 64],
		['16 scales of 4 bits', 8],
	],
	'ggml-iq2_s': [
		OUTER,
		['32 points for 8 values each: the low 8 bits', 32],
		['32 masks of 8 signs', 32],
		["the points' upper pairs of bits", 8],
		['16 scales of 4 bits', 8],
	],
	'ggml-iq3_xxs': [
		OUTER,
		['64 points for 4 values each, one a byte', 64],
		['8 times: 4 masks of 7 signs for 8 values each; a scale of 4 bits', 32],
	],
	'ggml-iq3_s': [
		OUTER,
		['64 points for 4 values each: the low 8 bits', 64],
		["the points' ninth bits", 8],
		['32 masks of 8 signs', 32],
		['8 scales of 4 bits', 4],
	],
	'ggml-iq1_s': [
		OUTER,
		['32 points for 8 values each: the low 8 bits', 32],
		['8 times: the upper 3 bits of 4 points; a scale of 3 bits; a shift down or up', 16],
	],
	'ggml-iq1_m': [
		['32 points for 8 values each: the low 8 bits', 32],
		['32 times the upper 3 bits of a point, and a shift down or up', 16],
		['16 scales of 3 bits, four in 12 bits; above each four a quarter of the outer scale: f16', 8],
	],
};

/** How codes are packed where the layout leaves it open. */
const INTO = {
	bytes: () => 'one code a byte',
	native: (/** @type {number} */ bits) =>
		`codes of ${bits} bits as a device's own type: two floats of 4 bits a byte, of all else one`,
	u32: (/** @type {number} */ bits) =>
		`codes of ${bits} bits in little-endian words of 32, the first in the lowest bits`,
};

/** How codes share bytes, by layout. @type {Record<string, (bits: number, scheme: Pick<Scheme, 'value' | 'packing'>) => string>} */
const PACKINGS = {
	'pack-quantized': (bits, { value }) =>
		`codes${/^i\d/.test(String(value)) ? ` with ${2 ** (bits - 1)} added` : ''}, as one stream of ${bits} bits each in little-endian words of 32, the first in the lowest bits`,
	'nvfp4-pack-quantized': () => 'two codes a byte, the even column in the low half',
	'mxfp4-pack-quantized': () => 'two codes a byte, the even column in the low half',
	'burn-quantized-bytes': (bits, { packing: { into, axis = 0 } = { into: 'bytes' } }) =>
		`${INTO[into](bits)}, line after line${axis ? ` along the axis ${axis} from the last, which changes places with it` : ''}; then block scales, then a tensor-wide one`,
	'mxfp6-pack-quantized': () => 'four codes in three bytes, the first in the lowest bits',
};

/**
 * The fields of one block of a layout, each with the byte that it begins at; null for a layout of planes.
 * @param {string} layout
 * @returns {{ at: number, nbytes: number, what: string }[] | null}
 */
export function blockFields(layout) {
	const fields = BLOCKS[layout];
	if (!fields) return null;
	let at = 0;
	return fields.map(([what, nbytes]) => {
		at += nbytes;
		return { at: at - nbytes, nbytes, what };
	});
}

/** How a plane of codes is packed. @param {Pick<Scheme, 'value' | 'layout' | 'packing'>} scheme @param {number} bits of one code */
export const packingText = (scheme, bits) =>
	PACKINGS[scheme.layout ?? 'planes']?.(bits, scheme) ?? 'one code a byte, row after row';
