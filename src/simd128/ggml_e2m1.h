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
	static const uint8_t raised[16] = { 12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0 }; /* by 12 */

	bq_f32x16_from_bytes(wasm_i8x16_swizzle(bq_u8x16_table(raised), codes), -12, out);
}

#endif
