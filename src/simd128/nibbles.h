/* SPDX-License-Identifier: MIT
 * nibbles.h - two codes of 4 bits a byte.
 */
#ifndef BQ_SIMD128_NIBBLES_H
#define BQ_SIMD128_NIBBLES_H

#include "number.h"

/* Of codes in two vectors. */
static inline v128_t bq_join_nibbles(v128_t low, v128_t high)
{
	return wasm_v128_or(low, wasm_i16x8_shl(high, 4)); /* high is at most 15: nothing crosses into the next byte */
}

static inline v128_t bq_low_nibbles(v128_t bytes)
{
	return wasm_v128_and(bytes, bq_u8x16_splat(15));
}

static inline v128_t bq_high_nibbles(v128_t bytes)
{
	return wasm_v128_and(wasm_u16x8_shr(bytes, 4), bq_u8x16_splat(15));
}

/* Thirty-two codes, at most 15 each, to sixteen bytes: the one at the even place in the low half. */
static inline v128_t bq_nibbles(v128_t first, v128_t second)
{
	const v128_t byte = bq_u16x8_splat(0x00FF);

	first = wasm_v128_and(wasm_v128_or(first, wasm_u16x8_shr(first, 4)), byte);
	second = wasm_v128_and(wasm_v128_or(second, wasm_u16x8_shr(second, 4)), byte);
	return wasm_u8x16_narrow_i16x8(first, second);
}

#endif
