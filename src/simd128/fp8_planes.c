/* SPDX-License-Identifier: MIT
 * fp8_planes.c - E4M3 codes under one scale a cell, simd128.
 */
#include "planes.h"

/* As bq_u32x4_f8e4m3_from_f32, but 448 is the most, and what is 0 has no sign. */
static inline v128_t codes_of(const v128_t quotient[4])
{
	v128_t code[4];

	for (int k = 0; k < 4; k++) {
		const v128_t magnitude = wasm_i32x4_min(bq_f32x4_magnitude(quotient[k]), bq_u32x4_splat(0x43E00000));
		const v128_t sign = wasm_v128_and(wasm_f32x4_lt(quotient[k], wasm_f32x4_splat(0)), bq_u32x4_splat(0x80));

		code[k] = wasm_v128_or(bq_u32x4_nearest_code(magnitude, 3, 7), sign);
	}
	return bq_u8x16_from_i32(code);
}

static inline void numbers_of(v128_t codes, v128_t out[4])
{
	bq_f32x16_from_f8e4m3(codes, 0x80, out);
}

uint32_t bq_encode_fp8_planes_simd128(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	return bq_encode_bytes_simd128(codes_of, bq_encode_fp8_planes_scalar, 448, cells, x, codes, scales);
}

void bq_decode_fp8_planes_simd128(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	bq_decode_bytes_simd128(numbers_of, bq_decode_fp8_planes_scalar, cells, codes, scales, out);
}
