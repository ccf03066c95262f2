// dtypes.js - the dtypes of the safetensors format and their sizes.
// SPDX-License-Identifier: MIT

/** Bits of one value, by safetensors dtype (safetensors 0.8). */
export const DTYPE_BITS = new Map(
	Object.entries({
		BOOL: 8,
		F4: 4,
		F6_E2M3: 6,
		F6_E3M2: 6,
		U8: 8,
		I8: 8,
		F8_E5M2: 8,
		F8_E4M3: 8,
		F8_E8M0: 8,
		F8_E4M3FNUZ: 8,
		F8_E5M2FNUZ: 8,
		I16: 16,
		U16: 16,
		F16: 16,
		BF16: 16,
		I32: 32,
		U32: 32,
		F32: 32,
		C64: 64,
		F64: 64,
		I64: 64,
		U64: 64,
	}),
);

/**
 * Bytes that a dtype's values want to be aligned to.
 * @param {string} dtype
 */
export function alignmentOf(dtype) {
	// A complex number is two floats of half its size.
	return dtype === 'C64' ? 4 : Math.max(1, (DTYPE_BITS.get(dtype) ?? 8) / 8);
}

/**
 * Bytes of a tensor, or the reason why it cannot exist. Products are checked in order, as the
 * safetensors library does: a huge edge before a zero is still an overflow.
 * @param {string} dtype a key of DTYPE_BITS
 * @param {number[]} shape
 * @returns {number | string}
 */
export function tensorBytes(dtype, shape) {
	const bits = DTYPE_BITS.get(dtype) ?? 0;
	let count = 1;
	for (const edge of shape) {
		count *= edge;
		if (!Number.isSafeInteger(count)) return `the product of shape [${shape}] overflows`;
	}
	const total = count * bits;
	if (!Number.isSafeInteger(total)) return `the product of shape [${shape}] overflows`;
	if (total % 8 !== 0) return `${count} values of ${bits} bits are no whole number of bytes`;
	return total / 8;
}
