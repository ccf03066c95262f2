/* SPDX-License-Identifier: MIT
 * ggml_search.h - scalar/ggml_search.h with four blocks, one a lane: each lane adds and multiplies in the scalar order.
 *
 * Codes stay floats: f32x4.nearest rounds as bq_round_by_magic does below 2^22, and the -0 that it may give instead of +0
 * changes no byte. Each search says in a mask which lanes it may not be trusted with; the caller redoes those in scalar.
 */
#ifndef BQ_SIMD128_GGML_SEARCH_H
#define BQ_SIMD128_GGML_SEARCH_H

#include "../scalar/ggml_search.h"
#include "nibbles.h"
#include "values.h"

/* bq_ggml_scale_code of four. */
static inline v128_t bq_ggml_scale_codes(v128_t scale)
{
	return wasm_v128_bitselect(bq_u32x4_splat(0x7E00), bq_u32x4_f16_from_f32(scale), bq_f32x4_is_nan(scale));
}

/* The f16 codes at the beginning of four consecutive blocks of nbytes. */
static inline v128_t bq_scale_codes_of_four(const uint8_t *in, size_t nbytes)
{
	v128_t codes = wasm_i32x4_splat(0);

	codes = wasm_v128_load16_lane(in, codes, 0);
	codes = wasm_v128_load16_lane(in + nbytes, codes, 2);
	codes = wasm_v128_load16_lane(in + 2 * nbytes, codes, 4);
	return wasm_v128_load16_lane(in + 3 * nbytes, codes, 6);
}

static inline int bq_any_nonfinite_code(v128_t f16)
{
	const v128_t exponent = bq_u32x4_splat(0x7C00);

	return wasm_v128_any_true(wasm_i32x4_eq(wasm_v128_and(f16, exponent), exponent));
}

/* 16 codes below 32 to floats: code + 32, whose upper mantissa bits they become. */
#define BQ_RAISE 32.0f

static inline void bq_raised_f32x16(v128_t codes, v128_t out[4])
{
	bq_f32x16_from_upper(wasm_i16x8_shl(codes, 2), bq_u8x16_splat(0x42), out);
}

/* What to add to (code + 32) * scale instead of addend to code * scale, as if the 32 were subtracted from the code. The
 * products are exact, so the sums are equal if this one is and no scale is negative (zeros would get other signs).
 * *doubt: gets all ones where this sum is not. */
static inline v128_t bq_lower_addend(v128_t addend, v128_t scale, v128_t *doubt)
{
	const v128_t raise = wasm_f32x4_mul(scale, wasm_f32x4_splat(BQ_RAISE));
	const v128_t lowered = wasm_f32x4_sub(addend, raise);
	const v128_t inexact = wasm_v128_or(wasm_f32x4_ne(wasm_f32x4_add(lowered, raise), addend),
		wasm_f32x4_ne(wasm_f32x4_sub(addend, lowered), raise));

	*doubt = wasm_v128_or(*doubt, inexact);
	return lowered;
}

/* Four times four numbers to 16 codes from 0 to top, rounded as bq_round_by_magic rounds, beyond 2^22 too, with offset added: the
 * saturating narrows keep the sign, so they clamp at 0. */
static inline v128_t bq_rounded_codes(int offset, uint8_t top, const v128_t x[4])
{
	const v128_t magic = bq_f32x4_splat(0x1.8p23f);
	const v128_t mask = bq_u32x4_splat(0x7FFFFF);
	const v128_t base = bq_u32x4_splat(0x400000 - (uint32_t)offset);
	v128_t code[4];

	for (int k = 0; k < 4; k++)
		code[k] = wasm_i32x4_sub(wasm_v128_and(wasm_f32x4_add(x[k], magic), mask), base);
	return wasm_u8x16_min(bq_u8x16_from_i32(code), bq_u8x16_splat(top));
}

/* 16 codes as search C makes them: round(inverse * (x - low)), 0 to top. */
static inline v128_t bq_codes_with_low(uint8_t top, const float *x, v128_t inverse, v128_t low)
{
	v128_t quotient[4];

	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_mul(inverse, wasm_f32x4_sub(wasm_v128_load(x + 4 * k), low));
	return bq_rounded_codes(0, top, quotient);
}

/* Of each lane the largest positive value, and the negative one of the largest magnitude; NaN is above infinity. Where there
 * is no such value, it is one of the other sign. As integers, of which these are the signed and the unsigned maximum: six
 * times faster than f32x4.max. */
struct bq_extremes {
	v128_t positive, negative;
};

/* Of a block's values i, i + 4, i + 8 and so on in lane i. */
static inline struct bq_extremes bq_extremes_of_block(size_t count, const float *x)
{
	struct bq_extremes extremes = { wasm_v128_load(x), wasm_v128_load(x) };

	for (size_t i = 4; i < count; i += 4) {
		const v128_t next = wasm_v128_load(x + i);

		extremes.positive = wasm_i32x4_max(extremes.positive, next);
		extremes.negative = wasm_u32x4_max(extremes.negative, next);
	}
	return extremes;
}

/* Those of four blocks, a lane each. */
static inline struct bq_extremes bq_extremes_of_four(const struct bq_extremes block[4])
{
	v128_t positive[4], negative[4];

	for (int k = 0; k < 4; k++) {
		positive[k] = block[k].positive;
		negative[k] = block[k].negative;
	}
	bq_transpose(positive);
	bq_transpose(negative);
	return (struct bq_extremes){
		wasm_i32x4_max(wasm_i32x4_max(positive[0], positive[1]), wasm_i32x4_max(positive[2], positive[3])),
		wasm_u32x4_max(wasm_u32x4_max(negative[0], negative[1]), wasm_u32x4_max(negative[2], negative[3])),
	};
}

/* bq_first_largest of four consecutive blocks with these extremes. */
v128_t bq_first_largest_in(size_t count, const float *x, const struct bq_extremes extremes[4]);

static inline v128_t bq_first_largest_of_four(size_t count, const float *x)
{
	struct bq_extremes extremes[4];

	for (int k = 0; k < 4; k++)
		extremes[k] = bq_extremes_of_block(count, x + count * (size_t)k);
	return bq_first_largest_in(count, x, extremes);
}

/* The least and the highest values of four consecutive blocks of 32. */
struct bq_ranges {
	v128_t least, high;
};

/* Of any finite values. */
struct bq_ranges bq_finite_ranges_of_four(const float *x);

/* count: a multiple of 4. */
int bq_all_finite_simd128(size_t count, const float *x);

/* Four consecutive super-blocks; past the end, the last one again: it gets the same bytes. */
struct bq_super_blocks {
	const float *x[4], *importance[4]; /* null without importance */
	uint8_t *out[4];
};

static inline struct bq_super_blocks bq_four_super_blocks(
	const float *x, const float *importance, size_t block, size_t nblocks, size_t nbytes, uint8_t *out)
{
	struct bq_super_blocks four;

	for (size_t k = 0; k < 4; k++) {
		const size_t at = block + k < nblocks ? block + k : nblocks - 1;

		four.x[k] = x + at * BQ_SUPER_BLOCK;
		four.importance[k] = importance ? importance + at * BQ_SUPER_BLOCK : NULL;
		four.out[k] = out + at * nbytes;
	}
	return four;
}

/* bq_sum_of_squares of each. */
v128_t bq_sums_of_squares(const float *const x[4]);

/* Four consecutive blocks in lanes: value i of each with its weight and their product. */
struct bq_signed_lanes {
	v128_t x, weight, product;
};

/* weight: importance * sqrt(*sigma + x * x), without sigma importance, and without both x * x. count: a multiple of 4. */
void bq_fill_signed_lanes(
	size_t count, const float *x, const float *importance, const float *sigma, struct bq_signed_lanes *lanes);

/* bq_first_largest of each lane. */
v128_t bq_first_largest_of_lanes(size_t count, const struct bq_signed_lanes *lanes);

/* Search A. largest: of bq_first_largest. *inverse: what the codes are made with, round(inverse * x). Returns the scales;
 * *unsure: lanes to be redone. */
v128_t bq_search_signed_scale_simd128(size_t count, const struct bq_signed_lanes *lanes, v128_t largest, float levels,
	v128_t *inverse, v128_t *unsure);

/* Search B for 16 blocks of 16, without their codes. Returns 0 if they are to be done in scalar. */
int bq_search_by_turns_simd128(const float x[256], float scale[16]);

/* Eight consecutive blocks in the lanes of two vectors: value i, its weight and, in between, a candidate's code. */
struct bq_pair_lanes {
	v128_t x[2], weight[2], code[2];
};

struct bq_pairs {
	struct bq_pair_lanes *lanes, *end;
};

/* weight: importance, if there is any. count: a multiple of 4. */
void bq_fill_pair_lanes(size_t count, const float *x, const float *importance, struct bq_pair_lanes *lanes);

/* importance becomes importance * sqrt(sigma + x * x). */
void bq_weigh_pair_lanes(size_t count, float sigma, struct bq_pair_lanes *lanes);

/* What search C gives for eight blocks. Its codes are round(inverse * (x - low)), 0 to top. */
struct bq_scales_and_mins {
	v128_t scale[2], min[2], sum_weight[2];
	v128_t inverse[2], low[2];
	int unsure;
};

/* Search C for two times eight blocks (two at a time, since the divisions of one hide behind the other). An unsure eight
 * is to be redone in scalar as a whole: values or weights are not finite, or magnitudes are extreme. */
void bq_search_scale_and_min_simd128(const struct bq_pairs pairs[2], float top, const struct bq_search_steps *steps,
	struct bq_scales_and_mins found[2]);

/* Lanes of search D: scales and mins of four blocks (those of vector g) of one eight, then of another. */
static inline void bq_fill_positive_lanes(const struct bq_scales_and_mins *first,
	const struct bq_scales_and_mins *second, int g, v128_t x[4], v128_t weight[4])
{
	x[0] = first->scale[g];
	x[1] = first->min[g];
	x[2] = second->scale[g];
	x[3] = second->min[g];
	bq_transpose(x);
	weight[0] = weight[1] = first->sum_weight[g];
	weight[2] = weight[3] = second->sum_weight[g];
	bq_transpose(weight);
}

/* Search D for four times count values. codes: as floats. */
v128_t bq_search_positive_scale_simd128(
	size_t count, const v128_t *x, const v128_t *weight, float top, v128_t *codes, v128_t *unsure);

#endif
