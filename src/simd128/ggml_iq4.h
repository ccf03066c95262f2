/* SPDX-License-Identifier: MIT
 * ggml_iq4.h - scalar/ggml_iq4.h: the search with candidates in lanes, 16 codes at a time.
 */
#ifndef BQ_SIMD128_GGML_IQ4_H
#define BQ_SIMD128_GGML_IQ4_H

#include "../scalar/ggml_iq4.h"
#include "ggml_search.h"

/* Which two levels a number is between, by the integer next to it, which is within BQ_REACH of 0. */
#define BQ_REACH 136

struct bq_level_places {
	uint8_t place[2 * BQ_REACH];
};

void bq_fill_level_places(struct bq_level_places *places);

float bq_search_levels_simd128(
	const float x[32], const float *importance, float sigma, const struct bq_level_places *places);

/* bq_store_levels. */
void bq_store_levels_simd128(const float x[32], float scale, uint8_t out[16]);

/* 32 values from 16 bytes of codes. */
static inline void bq_decode_level_vectors(const uint8_t in[16], v128_t scale, float out[32])
{
	/* by 127 */
	static const uint8_t raised[16] = { 0, 23, 44, 62, 78, 92, 105, 117, 128, 140, 152, 165, 180, 196, 216, 240 };
	const v128_t table = bq_u8x16_table(raised), bytes = wasm_v128_load(in);
	v128_t low[4], high[4];

	bq_f32x16_from_bytes(wasm_i8x16_swizzle(table, bq_low_nibbles(bytes)), -127, low);
	bq_f32x16_from_bytes(wasm_i8x16_swizzle(table, bq_high_nibbles(bytes)), -127, high);
	for (int k = 0; k < 4; k++) {
		wasm_v128_store(out + 4 * k, wasm_f32x4_mul(scale, low[k]));
		wasm_v128_store(out + 16 + 4 * k, wasm_f32x4_mul(scale, high[k]));
	}
}

#endif
