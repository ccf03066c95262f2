/* SPDX-License-Identifier: MIT
 * int8_planes.c - int8 codes under one scale a cell, simd128.
 */
#include "planes.h"

/* No quotient is above 255 (the scale of a subnormal cell may be half of what it should be), so that it
 * can be rounded; the narrows clamp. */
static inline v128_t codes_of(const v128_t quotient[4])
{
	v128_t code[4];

	for (int k = 0; k < 4; k++)
		code[k] = bq_i32x4_rounded(quotient[k], 0);
	return wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(code[0], code[1]), wasm_i16x8_narrow_i32x4(code[2], code[3]));
}

static inline void numbers_of(v128_t codes, v128_t out[4])
{
	bq_f32x16_from_bytes(wasm_v128_xor(codes, bq_u8x16_splat(0x80)), -128, out);
}

uint32_t bq_encode_int8_planes_simd128(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	return bq_encode_bytes_simd128(codes_of, bq_encode_int8_planes_scalar, 127.5f, cells, x, codes, scales);
}

void bq_decode_int8_planes_simd128(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	bq_decode_bytes_simd128(numbers_of, bq_decode_int8_planes_scalar, cells, codes, scales, out);
}
