/* SPDX-License-Identifier: MIT
 * ggml_e2m1.h - scalar/ggml_e2m1.h, 16 codes at a time.
 */
#ifndef BQ_SIMD128_GGML_E2M1_H
#define BQ_SIMD128_GGML_E2M1_H

#include "../scalar/ggml_e2m1.h"
#include "ggml_search.h"

/* Codes 0 to 7 of the magnitudes get the signs of 16 values; 0 gets none. */
static inline v128_t bq_sign_codes(v128_t codes, const v128_t x[4])
{
	v128_t sign[4];

	for (int k = 0; k < 4; k++)
		sign[k] = wasm_i32x4_shr(x[k], 31);

	const v128_t signs = wasm_i8x16_narrow_i16x8(
		wasm_i16x8_narrow_i32x4(sign[0], sign[1]), wasm_i16x8_narrow_i32x4(sign[2], sign[3]));
	const v128_t some = wasm_i8x16_ne(codes, wasm_i8x16_splat(0));

	return wasm_v128_or(codes, wasm_v128_and(wasm_v128_and(signs, some), bq_u8x16_splat(8)));
}

/* 16 doubled values as floats. */
static inline void bq_f32x16_from_e2m1(v128_t codes, v128_t out[4])
{
	/* Bytes 2 and 3 of 0, 1, 2, 3, 4, 6, 8, 12 and, but for the 0, of the negatives. */
	static const uint8_t table[2][16] = {
		{ 0, 0x80, 0, 0x40, 0x80, 0xC0, 0, 0x40, 0, 0x80, 0, 0x40, 0x80, 0xC0, 0, 0x40 },
		{ 0, 0x3F, 0x40, 0x40, 0x40, 0x40, 0x41, 0x41, 0, 0xBF, 0xC0, 0xC0, 0xC0, 0xC0, 0xC1, 0xC1 },
	};

	bq_f32x16_from_upper(wasm_i8x16_swizzle(bq_u8x16_table(table[0]), codes),
		wasm_i8x16_swizzle(bq_u8x16_table(table[1]), codes), out);
}

#endif
