/* SPDX-License-Identifier: MIT
 * ggml_k16.h - scalar/ggml_k16.h: planes of pairs of bits, 16 sub-blocks of 16 as one vector of codes each.
 */
#ifndef BQ_SIMD128_GGML_K16_H
#define BQ_SIMD128_GGML_K16_H

#include "../scalar/ggml_k16.h"
#include "ggml_search.h"

/* 16 numbers rounded by bq_round_by_magic and cut to -levels .. levels - 1, with levels added. */
static inline v128_t bq_signed_codes(int levels, const v128_t x[4])
{
	return bq_rounded_codes(levels, (uint8_t)(2 * levels - 1), x);
}

static inline v128_t bq_signed_codes_of_quotients(int levels, const float *x, float scale)
{
	v128_t quotient[4];

	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_div(wasm_v128_load(x + 4 * k), wasm_f32x4_splat(scale));
	return bq_signed_codes(levels, quotient);
}

/* The codes that search A has. tiny: all ones where it has only zeros. */
static inline v128_t bq_signed_codes_of_search(int levels, const float *x, float inverse, uint32_t tiny)
{
	v128_t quotient[4];

	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_mul(wasm_v128_load(x + 4 * k), wasm_f32x4_splat(inverse));
	return wasm_v128_andnot(bq_signed_codes(levels, quotient), wasm_i32x4_splat((int32_t)tiny));
}

/* What search A finds for 16 sub-blocks. tiny: all ones where all codes are 0 and so is the scale. */
struct bq_k16_found {
	float scale[16], inverse[16], sum_weight[16];
	uint32_t tiny[16];
};

/* Search A of 16 sub-blocks, weighted as in bq_fill_signed_lanes. Returns 0 if the block is to be done in scalar. */
static inline int bq_search_k16(
	int levels, const float *x, const float *importance, const float *sigma, struct bq_k16_found *found)
{
	v128_t doubt = wasm_i32x4_splat(0);

	BQ_ROLLED
	for (int j = 0; j < 16; j += 4) {
		const float *values = x + 16 * j;
		const v128_t largest = bq_first_largest_of_four(16, values);
		const v128_t tiny = wasm_f32x4_lt(bq_f32x4_magnitude(largest), wasm_f32x4_splat(BQ_SEARCH_TINY));
		struct bq_signed_lanes lanes[16];
		v128_t inverse, unsure, sum = wasm_f32x4_splat(0.0f);

		bq_fill_signed_lanes(16, values, importance ? importance + 16 * j : NULL, sigma, lanes);
		for (int i = 0; sigma && i < 16; i++)
			sum = wasm_f32x4_add(sum, lanes[i].weight);

		const v128_t scale = bq_search_signed_scale_simd128(16, lanes, largest, (float)levels, &inverse, &unsure);

		doubt = wasm_v128_or(doubt, wasm_v128_andnot(unsure, tiny));
		wasm_v128_store(found->scale + j, wasm_v128_andnot(scale, tiny));
		wasm_v128_store(found->inverse + j, inverse);
		wasm_v128_store(found->sum_weight + j, sum);
		wasm_v128_store(found->tiny + j, tiny);
	}
	return !wasm_v128_any_true(doubt);
}

/* The lowest two bits of 128 codes to 32 bytes. */
static inline void bq_pack_pairs_of_half(const v128_t codes[8], uint8_t *out)
{
	const v128_t three = bq_u8x16_splat(3);

	for (int side = 0; side < 2; side++) {
		v128_t bits = wasm_v128_and(codes[side], three);

		for (int group = 1; group < 4; group++)
			bits = wasm_v128_or(
				bits, wasm_i16x8_shl(wasm_v128_and(codes[2 * group + side], three), (unsigned)(2 * group)));
		wasm_v128_store(out + 16 * side, bits);
	}
}

/* And back, for the 16 codes of a group and side: bytes are those of the side. */
static inline v128_t bq_pairs_of_group(v128_t bytes, int group)
{
	return wasm_v128_and(wasm_u16x8_shr(bytes, (unsigned)(2 * group)), bq_u8x16_splat(3));
}

#endif
