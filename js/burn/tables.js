// tables.js - Burn's enumerations: what each name is worth, and what it is called here. In Burn's own order.
// SPDX-License-Identifier: MIT

/**
 * @typedef {object} QuantValue how a code is read
 * @property {number} bits
 * @property {number} nativePacking codes that a device's own type holds: two of E2M1, else one
 * @property {readonly [number, number]} range of the values before they are scaled
 * @property {boolean} isSymmetric an integer without its lowest code
 * @property {boolean} isFloat
 * @property {string} dtype our name
 */

/** @param {number} bits @param {boolean} narrow @returns {QuantValue} */
function integer(bits, narrow) {
	const half = 2 ** (bits - 1);
	return {
		bits,
		nativePacking: 1,
		range: Object.freeze(/** @type {const} */ ([narrow ? 1 - half : -half, half - 1])),
		isSymmetric: narrow,
		isFloat: false,
		dtype: narrow ? `i${bits}-narrow` : `i${bits}`,
	};
}

/** @param {number} bits @param {number} max @param {string} dtype @returns {QuantValue} */
function float(bits, max, dtype) {
	const range = Object.freeze(/** @type {const} */ ([-max, max]));
	return { bits, nativePacking: bits < 8 ? 2 : 1, range, isSymmetric: false, isFloat: true, dtype };
}

/** @template {Record<string, object>} T @param {T} table @returns {Readonly<T>} a table that nobody changes */
function frozen(table) {
	for (const row of Object.values(table)) Object.freeze(row);
	return Object.freeze(table);
}

/** QuantValue by name. @type {Readonly<Record<string, Readonly<QuantValue>>>} */
export const QUANT_VALUES = frozen({
	Q8F: integer(8, false),
	E5M2: float(8, 57344, 'f8e5m2'),
	E4M3: float(8, 448, 'f8e4m3'),
	Q4F: integer(4, false),
	E2M1: float(4, 6, 'f4e2m1'),
	Q2F: integer(2, false),
	Q8S: integer(8, true),
	Q4S: integer(4, true),
	Q2S: integer(2, true),
});

/**
 * ScaleDtype by name.
 * @type {Readonly<Record<string, Readonly<{ nbytes: number, max: number, dtype: string }>>>}
 */
export const SCALE_DTYPES = frozen({
	F32: { nbytes: 4, max: (2 - 2 ** -23) * 2 ** 127, dtype: 'f32' },
	F16: { nbytes: 2, max: 65504, dtype: 'f16' },
	BF16: { nbytes: 2, max: (2 - 2 ** -7) * 2 ** 127, dtype: 'bf16' },
	UE8M0: { nbytes: 1, max: 2 ** 127, dtype: 'e8m0' },
	UE4M3: { nbytes: 1, max: 448, dtype: 'ue4m3' },
});

/** QuantStore, the kinds: one code a byte; a device's own type of several; 32-bit words. */
export const QUANT_STORES = ['Native', 'PackedNative', 'PackedU32'];

/** What codes are packed into by the stores that pack them. @type {Readonly<Record<string, 'native' | 'u32'>>} */
export const PACKINGS = { PackedNative: 'native', PackedU32: 'u32' };

/** Our rows of Burn's arithmetic and of its serialised tensors. */
export const RULES = 'burn';
export const LAYOUT = 'burn-quantized-bytes';

/** QuantMode. */
export const QUANT_MODES = ['Symmetric', 'Lookup'];

/** Calibration, and our word for each. */
export const CALIBRATIONS = { MinMax: 'minmax', AbsMean: 'absmean' };

/** Bytes to which a buffer of parameters is aligned; nothing is ever padded to it. */
export const QPARAM_ALIGN = 4;

/**
 * The name of a row by our dtype.
 * @param {Readonly<Record<string, { dtype: string }>>} table
 * @param {unknown} dtype
 */
export const nameOf = (table, dtype) => Object.keys(table).find((name) => table[name].dtype === dtype);
