// dtypes.js - the dtypes of Core AI's QuantizationSpec and what each is here (coreai.md, sections 2 and A).
// SPDX-License-Identifier: MIT

import { NARROW } from '../scheme.js';

/**
 * @typedef {object} DtypeRow
 * @property {string} value the same in our language
 * @property {number} bits
 * @property {number} min lowest code
 * @property {number} max
 * @property {string} target what holds one code until it is packed
 * @property {boolean} integer
 */

/** @param {number} bits @returns {[string, DtypeRow][]} */
const integers = (bits) => [
	[`int${bits}`, row(`i${bits}`, bits, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 'int8')],
	[`uint${bits}`, row(`u${bits}`, bits, 0, 2 ** bits - 1, 'uint8')],
];

/** @param {string} value @param {number} bits @param {number} min @param {number} max @param {string} target @returns {DtypeRow} */
const row = (value, bits, min, max, target) => ({ value, bits, min, max, target, integer: /^[iu]\d/.test(value) });

/** By the name that the package prints. @type {Map<string, DtypeRow>} */
export const DTYPES = new Map([
	...[2, 4, 6, 8].flatMap(integers),
	['float8_e4m3fn', row('f8e4m3', 8, -448, 448, 'float8_e4m3fn')],
	['float8_e5m2', row('f8e5m2', 8, -57344, 57344, 'float8_e5m2')],
	['float4_e2m1fn_x2', row('f4e2m1', 4, -6, 6, 'float8_e4m3fn')],
]);

/** @type {Record<string, string>} */
const ALIASES = {
	float4_e2m1fn: 'float4_e2m1fn_x2',
	float8_e4m3: 'float8_e4m3fn',
	float8_e8m0: 'float8_e8m0fnu',
};

/** The dtype of a scale that is a power of two. */
export const E8M0 = 'float8_e8m0fnu';

/** Dtypes of the values that may have such scales. */
export const WITH_E8M0 = ['int8', 'float8_e4m3fn', 'float8_e5m2', 'float4_e2m1fn_x2'];

/** Dtypes of a nested spec's own scales, an extension. @type {Record<string, string>} */
export const PARENTS = { float32: 'f32', float16: 'f16', bfloat16: 'bf16' };

/** @param {unknown} name */
export const canonical = (name) => (typeof name === 'string' && Object.hasOwn(ALIASES, name) ? ALIASES[name] : name);

/** The dtype that is this value in our language, and whether its lowest code is left out. @param {unknown} value */
export function dtypeOfValue(value) {
	const narrow = typeof value === 'string' && value.endsWith(NARROW);
	const whole = narrow ? value.slice(0, -NARROW.length) : value;
	return { dtype: [...DTYPES].find(([, row]) => row.value === whole)?.[0], narrow };
}
