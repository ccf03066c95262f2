/* SPDX-License-Identifier: MIT
 * ggml_block32_min.h - the part with a min of scalar/ggml_block32.h, for q4_1 and q5_1: four blocks at a time, sixteen in
 * search C.
 */
#ifndef BQ_SIMD128_GGML_BLOCK32_MIN_H
#define BQ_SIMD128_GGML_BLOCK32_MIN_H

#include "ggml_block32.h"

/* If a block has a NaN or an infinity, so has its range. */
static inline struct bq_ranges bq_ranges_in(const float *x, const struct bq_extremes block[4])
{
	const struct bq_extremes extremes = bq_extremes_of_four(block);
	const v128_t one_sided = wasm_v128_or(extremes.positive, wasm_v128_not(extremes.negative)); /* by the sign bit */

	if (wasm_i32x4_bitmask(one_sided) && bq_all_finite_simd128(4 * 32, x))
		return bq_finite_ranges_of_four(x);
	return (struct bq_ranges){ extremes.negative, extremes.positive };
}

/* Where the least value is a zero it is the first one, sign and all. */
static inline v128_t bq_first_zeros(const float *x, v128_t least)
{
	const v128_t zero = wasm_f32x4_eq(least, wasm_f32x4_splat(0.0f));
	float first[4];

	if (!wasm_v128_any_true(zero))
		return least;
	wasm_v128_store(first, least);
	for (int block = 0; block < 4; block++)
		if (first[block] == 0.0f) {
			const float *value = x + 32 * block;

			while (*value != 0.0f)
				value++;
			first[block] = *value;
		}
	return wasm_v128_load(first);
}

static inline int bq_prepare_four_with_min(int bits, const float *x, size_t first, struct bq_batch *batch)
{
	const struct bq_ranges ranges = bq_ranges_in(x, batch->extremes + first);
	const v128_t least = bq_first_zeros(x, ranges.least);
	/* + 0: of two zeros of any sign the difference is +0. */
	const v128_t range = wasm_f32x4_add(wasm_f32x4_sub(ranges.high, least), wasm_f32x4_splat(0.0f));
	const v128_t scale = wasm_f32x4_div(range, wasm_f32x4_splat((float)((1 << bits) - 1)));
	const v128_t quotient = wasm_f32x4_div(wasm_f32x4_splat(1.0f), scale);

	/* Codes are 0 if the scale is 0 and if its inverse overflows. */
	wasm_v128_store(batch->inverse + first, wasm_v128_andnot(quotient, bq_f32x4_nonfinite(quotient)));
	wasm_v128_store(batch->addend + first, least); /* subtracted, here */
	wasm_v128_store(batch->fields + first,
		wasm_v128_or(bq_u32x4_f16_from_number(scale), wasm_i32x4_shl(bq_u32x4_f16_from_number(least), 16)));
	return wasm_v128_any_true(bq_f32x4_nonfinite(range));
}

static inline void bq_store_block_with_min(
	int bits, const float *x, v128_t factor, v128_t low, uint32_t fields, uint8_t *out)
{
	const v128_t half = bq_f32x4_splat(0.5f);

	bq_store32(out, fields);
	bq_store_code_vectors(
		bits, bq_truncated_codes(x, low, factor, half), bq_truncated_codes(x + 16, low, factor, half), out + 4);
}

/* Eight blocks from what search C found. */
static inline void bq_store_eight_with_min(
	int bits, const float *x, const struct bq_scales_and_mins *found, uint8_t *out)
{
	const uint8_t top = (uint8_t)((1 << bits) - 1);
	float inverse[8], low[8];
	uint32_t scale_codes[8], low_codes[8];

	for (int g = 0; g < 2; g++) {
		wasm_v128_store(inverse + 4 * g, found->inverse[g]);
		wasm_v128_store(low + 4 * g, found->low[g]);
		wasm_v128_store(scale_codes + 4 * g, bq_ggml_scale_codes(found->scale[g]));
		wasm_v128_store(low_codes + 4 * g, bq_ggml_scale_codes(wasm_f32x4_neg(found->min[g])));
	}
	BQ_ROLLED
	for (int block = 0; block < 8; block++, x += 32, out += 4 + BQ_CODES_NBYTES(bits)) {
		const v128_t factor = wasm_v128_load32_splat(inverse + block), start = wasm_v128_load32_splat(low + block);

		bq_store32(out, scale_codes[block] | low_codes[block] << 16);
		bq_store_code_vectors(
			bits, bq_codes_with_low(top, x, factor, start), bq_codes_with_low(top, x + 16, factor, start), out + 4);
	}
}

/* first, second: where eight blocks begin. */
static inline void bq_encode_sixteen_with_min(
	int bits, bq_encode_blocks *scalar, const float *x, const float *importance, const struct bq_context *context,
	size_t first, size_t second, uint8_t *out)
{
	const size_t begin[2] = { first, second }, nbytes = 4 + BQ_CODES_NBYTES(bits);
	struct bq_pair_lanes lanes[2][32];
	struct bq_pairs pairs[2];
	struct bq_scales_and_mins found[2];

	for (int s = 0; s < 2; s++) {
		pairs[s].lanes = lanes[s];
		pairs[s].end = lanes[s] + 32;
		bq_fill_pair_lanes(32, x + 32 * begin[s], importance + 32 * begin[s], lanes[s]);
		bq_weigh_pair_lanes(32, context->row_sigma, lanes[s]);
	}
	bq_search_scale_and_min_simd128(pairs, (float)((1 << bits) - 1), &bq_search_steps_weighted, found);
	for (int s = 0; s < 2; s++) {
		if (found[s].unsure)
			scalar(x + 32 * begin[s], importance + 32 * begin[s], context, 8, out + nbytes * begin[s]);
		else
			bq_store_eight_with_min(bits, x + 32 * begin[s], &found[s], out + nbytes * begin[s]);
	}
}

static inline void bq_encode_with_min_simd128(int bits, bq_encode_blocks *scalar, const float *x,
	const float *importance, const struct bq_context *context, size_t nblocks, uint8_t *out)
{
	if (nblocks < (importance ? 8 : 4)) {
		scalar(x, importance, context, nblocks, out);
		return;
	}
	/* The last batch overlaps: same bytes again. */
	for (size_t block = 0; block < nblocks && importance; block += 16) {
		const size_t first = block < nblocks - 8 ? block : nblocks - 8;
		const size_t second = block + 8 < nblocks - 8 ? block + 8 : nblocks - 8;

		bq_encode_sixteen_with_min(bits, scalar, x, importance, context, first, second, out);
	}
	if (!importance)
		bq_encode_in_batches(bits, 4 + BQ_CODES_NBYTES(bits), bq_prepare_four_with_min, bq_store_block_with_min, scalar, x,
			context, nblocks, out);
}

static inline v128_t bq_fields_of_four(const uint8_t *in, size_t nbytes)
{
	v128_t fields = wasm_v128_load32_zero(in);

	fields = wasm_v128_load32_lane(in + nbytes, fields, 1);
	fields = wasm_v128_load32_lane(in + 2 * nbytes, fields, 2);
	return wasm_v128_load32_lane(in + 3 * nbytes, fields, 3);
}

static inline void bq_decode_four_with_min(int bits, bq_decode_blocks *scalar, const uint8_t *in, float *out)
{
	const int nbytes = 4 + BQ_CODES_NBYTES(bits);
	const v128_t fields = bq_fields_of_four(in, (size_t)nbytes);
	const v128_t scale_codes = wasm_v128_and(fields, bq_u32x4_splat(0xFFFF)), low_codes = wasm_u32x4_shr(fields, 16);
	const v128_t scale = bq_f32x4_from_finite_f16(scale_codes), low = bq_f32x4_from_finite_f16(low_codes);
	/* Negative scales, and what is not finite. */
	v128_t doubt = wasm_v128_or(wasm_i32x4_gt(scale_codes, bq_u32x4_splat(0x7BFF)),
		wasm_i32x4_gt(wasm_v128_and(low_codes, bq_u32x4_splat(0x7FFF)), bq_u32x4_splat(0x7BFF)));
	float scales[4], addends[4];

	wasm_v128_store(scales, scale);
	wasm_v128_store(addends, bq_lower_addend(low, scale, &doubt));
	if (wasm_v128_any_true(doubt)) {
		scalar(in, 4, out);
		return;
	}
	BQ_ROLLED
	for (int block = 0; block < 4; block++, in += nbytes, out += 32) {
		const v128_t factor = wasm_v128_load32_splat(scales + block);
		const v128_t addend = wasm_v128_load32_splat(addends + block);
		v128_t codes[2], value[4];

		bq_load_code_vectors(bits, in + 4, &codes[0], &codes[1]);
		for (int half = 0; half < 2; half++) {
			bq_raised_f32x16(codes[half], value);
			for (int k = 0; k < 4; k++)
				wasm_v128_store(out + 16 * half + 4 * k, wasm_f32x4_add(wasm_f32x4_mul(value[k], factor), addend));
		}
	}
}

static inline void bq_decode_with_min_simd128(
	int bits, bq_decode_blocks *scalar, const uint8_t *in, size_t nblocks, float *out)
{
	const size_t nbytes = 4 + BQ_CODES_NBYTES(bits);

	if (nblocks < 4) {
		scalar(in, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4;

		bq_decode_four_with_min(bits, scalar, in + first * nbytes, out + first * 32);
	}
}

#endif
