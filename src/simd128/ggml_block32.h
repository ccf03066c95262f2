/* SPDX-License-Identifier: MIT
 * ggml_block32.h - scalar/ggml_block32.h, four blocks at a time, sixteen in search C: scales are found in lanes, codes block
 * by block.
 * bits and scalar, what does blocks again that are not to be trusted, are constants wherever these are used.
 */
#ifndef BQ_SIMD128_GGML_BLOCK32_H
#define BQ_SIMD128_GGML_BLOCK32_H

#include "../kernels.h"
#include "../scalar/ggml_block32.h"
#include "ggml_search.h"

/* low, high: codes 0 .. 15 and 16 .. 31, none above the highest. */
static inline void bq_store_code_vectors(int bits, v128_t low, v128_t high, uint8_t *out)
{
	if (bits == 5) {
		/* Bit 4 of each byte becomes its sign bit: what comes in from the byte below stays below that. */
		bq_store32(out,
			(uint32_t)wasm_i8x16_bitmask(wasm_i16x8_shl(low, 3)) |
				(uint32_t)wasm_i8x16_bitmask(wasm_i16x8_shl(high, 3)) << 16);
		out += 4;
		low = bq_low_nibbles(low);
		high = bq_low_nibbles(high);
	}
	wasm_v128_store(out, bq_join_nibbles(low, high));
}

/* 16 in each byte that has the bit of its place, else 0. */
static inline v128_t bq_sixteens(v128_t bytes)
{
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	const v128_t bit = bq_u8x16_table(bits);

	return wasm_v128_and(wasm_i8x16_eq(wasm_v128_and(bytes, bit), bit), bq_u8x16_splat(16));
}

static inline void bq_load_code_vectors(int bits, const uint8_t *in, v128_t *low, v128_t *high)
{
	const v128_t bytes = wasm_v128_load(bits == 5 ? in + 4 : in);

	*low = bq_low_nibbles(bytes);
	*high = bq_high_nibbles(bytes);
	if (bits == 5) {
		const v128_t fifths = wasm_v128_load32_splat(in);

		*low = wasm_v128_or(
			*low, bq_sixteens(wasm_i8x16_shuffle(fifths, fifths, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)));
		*high = wasm_v128_or(
			*high, bq_sixteens(wasm_i8x16_shuffle(fifths, fifths, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3)));
	}
}

/* 16 codes by truncation of (x - low) * factor + shift; none is above the highest. */
static inline v128_t bq_truncated_codes(const float *x, v128_t low, v128_t factor, v128_t shift)
{
	v128_t code[4];

	for (int k = 0; k < 4; k++) {
		const v128_t above = wasm_f32x4_sub(wasm_v128_load(x + 4 * k), low);
		const v128_t value = wasm_f32x4_add(wasm_f32x4_mul(above, factor), shift);

		code[k] = bq_i32x4_rounded(wasm_f32x4_trunc(value), 0);
	}
	return bq_u8x16_from_i32(code);
}

/* And without low, which would cost a subtraction. */
static inline v128_t bq_truncated_signed_codes(int top, const float *x, v128_t factor, v128_t shift)
{
	v128_t code[4];

	for (int k = 0; k < 4; k++) {
		const v128_t value = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + 4 * k), factor), shift);

		code[k] = bq_i32x4_rounded(wasm_f32x4_trunc(value), 0);
	}
	return wasm_u8x16_min(bq_u8x16_from_i32(code), bq_u8x16_splat((uint8_t)top));
}

/* 16 codes by rounding of x * factor. */
static inline v128_t bq_rounded_signed_codes(int levels, const float *x, v128_t factor)
{
	v128_t code[4];

	for (int k = 0; k < 4; k++)
		code[k] = bq_i32x4_rounded(wasm_f32x4_mul(wasm_v128_load(x + 4 * k), factor), levels);
	return wasm_u8x16_min(bq_u8x16_from_i32(code), bq_u8x16_splat((uint8_t)(2 * levels - 1)));
}

/* Consecutive blocks: their extremes, and what their codes are made with. */
#define BQ_BATCH 16
struct bq_batch {
	struct bq_extremes extremes[BQ_BATCH];
	float inverse[BQ_BATCH], addend[BQ_BATCH];
	uint32_t fields[BQ_BATCH]; /* one f16, or two */
};

/* From the extremes of four blocks at x, those from first on, the rest. Returns whether one is not finite. */
typedef int bq_prepare_four(int bits, const float *x, size_t first, struct bq_batch *batch);
/* A block's fields and codes. */
typedef void bq_store_block(int bits, const float *x, v128_t factor, v128_t addend, uint32_t fields, uint8_t *out);

/* While the codes of one batch are made, the extremes of the next are looked for: a loop of both keeps adders and comparers
 * busy, which are different ones, and the divisions of a batch are done together. (One after the other: a quarter slower.) */
static inline void bq_encode_in_batches(int bits, size_t nbytes, bq_prepare_four *prepare, bq_store_block *store,
	bq_encode_blocks *scalar, const float *x, const struct bq_context *context, size_t nblocks, uint8_t *out)
{
	const size_t size = nblocks < BQ_BATCH ? 4 : BQ_BATCH, last = nblocks - size;
	struct bq_batch batch;

	BQ_ROLLED
	for (size_t b = 0; b < size; b++)
		batch.extremes[b] = bq_extremes_of_block(32, x + 32 * b);
	for (size_t block = 0; block < nblocks; block += size) {
		const size_t first = block < last ? block : last; /* the last batch overlaps: same bytes again */
		const float *values = x + 32 * first, *following = x + 32 * (first + size < last ? first + size : last);
		uint8_t *bytes = out + nbytes * first;
		int redo = 0;

		BQ_ROLLED
		for (size_t b = 0; b < size; b += 4)
			redo |= prepare(bits, values + 32 * b, b, &batch);
		BQ_ROLLED
		for (size_t b = 0; b < size; b++, values += 32, following += 32, bytes += nbytes) {
			store(bits, values, wasm_v128_load32_splat(batch.inverse + b), wasm_v128_load32_splat(batch.addend + b),
				batch.fields[b], bytes);
			batch.extremes[b] = bq_extremes_of_block(32, following);
		}
		if (redo)
			scalar(x + 32 * first, NULL, context, size, out + nbytes * first);
	}
}

typedef void bq_decode_four(int bits, bq_decode_blocks *scalar, const uint8_t *in, float *out);

static inline void bq_decode_in_fours(int bits, size_t nbytes, bq_decode_four *decode, bq_decode_blocks *scalar,
	const uint8_t *in, size_t nblocks, float *out)
{
	if (nblocks < 4) {
		scalar(in, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same floats again */

		decode(bits, scalar, in + first * nbytes, out + first * 32);
	}
}

static inline int bq_prepare_four_signed(int bits, const float *x, size_t first, struct bq_batch *batch)
{
	const float levels = (float)(1 << (bits - 1));
	const v128_t largest = bq_first_largest_in(32, x, batch->extremes + first);
	const v128_t scale = wasm_f32x4_mul(largest, wasm_f32x4_splat(-1.0f / levels));
	const v128_t quotient = wasm_f32x4_div(wasm_f32x4_splat(1.0f), scale);
	const v128_t infinite = bq_f32x4_nonfinite(quotient);
	const v128_t zero = wasm_f32x4_eq(scale, wasm_f32x4_splat(0.0f));

	/* A scale of 0 has the inverse 0. An inverse that overflowed gives the codes 0: then nothing is added either. */
	wasm_v128_store(batch->inverse + first, wasm_v128_andnot(quotient, infinite));
	wasm_v128_store(
		batch->addend + first, wasm_v128_andnot(wasm_f32x4_splat(levels + 0.5f), wasm_v128_andnot(infinite, zero)));
	wasm_v128_store(batch->fields + first, bq_u32x4_f16_from_number(scale));
	return wasm_v128_any_true(bq_f32x4_nonfinite(largest));
}

static inline void bq_store_block_signed(
	int bits, const float *x, v128_t factor, v128_t addend, uint32_t fields, uint8_t *out)
{
	const int top = (1 << bits) - 1;

	bq_store16(out, (uint16_t)fields);
	bq_store_code_vectors(bits, bq_truncated_signed_codes(top, x, factor, addend),
		bq_truncated_signed_codes(top, x + 16, factor, addend), out + 2);
}

static inline void bq_encode_four_signed_weighted(
	int bits, bq_encode_blocks *scalar, const float *x, const float *importance, const struct bq_context *context, uint8_t *out)
{
	const int levels = 1 << (bits - 1), nbytes = 2 + BQ_CODES_NBYTES(bits);
	struct bq_signed_lanes lanes[32];
	v128_t inverse, unsure;
	float inverses[4];
	uint32_t scale_codes[4];

	bq_fill_signed_lanes(32, x, importance, &context->row_sigma, lanes);

	const v128_t scale = bq_search_signed_scale_simd128(
		32, lanes, bq_first_largest_of_four(32, x), (float)levels, &inverse, &unsure);

	wasm_v128_store(inverses, inverse);
	wasm_v128_store(scale_codes, bq_ggml_scale_codes(scale));
	BQ_ROLLED
	for (int block = 0; block < 4; block++) {
		const float *values = x + 32 * block;
		const v128_t factor = wasm_v128_load32_splat(inverses + block);

		bq_store16(out + nbytes * block, (uint16_t)scale_codes[block]);
		bq_store_code_vectors(bits, bq_rounded_signed_codes(levels, values, factor),
			bq_rounded_signed_codes(levels, values + 16, factor), out + nbytes * block + 2);
	}
	for (int block = 0; wasm_v128_any_true(unsure) && block < 4; block++)
		if (wasm_i32x4_bitmask(unsure) >> block & 1)
			scalar(x + 32 * block, importance + 32 * block, context, 1, out + nbytes * block);
}

static inline void bq_encode_signed_simd128(int bits, bq_encode_blocks *scalar, const float *x, const float *importance,
	const struct bq_context *context, size_t nblocks, uint8_t *out)
{
	const size_t nbytes = 2 + BQ_CODES_NBYTES(bits);

	if (nblocks < 4) {
		scalar(x, importance, context, nblocks, out);
		return;
	}
	/* The last four overlap: same bytes again. */
	for (size_t block = 0; block < nblocks && importance; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4;

		bq_encode_four_signed_weighted(
			bits, scalar, x + first * 32, importance + first * 32, context, out + first * nbytes);
	}
	if (!importance)
		bq_encode_in_batches(
			bits, nbytes, bq_prepare_four_signed, bq_store_block_signed, scalar, x, context, nblocks, out);
}

static inline void bq_decode_four_signed(int bits, bq_decode_blocks *scalar, const uint8_t *in, float *out)
{
	const int levels = 1 << (bits - 1), nbytes = 2 + BQ_CODES_NBYTES(bits);
	const v128_t scale_codes = bq_scale_codes_of_four(in, (size_t)nbytes);
	float scales[4];

	if (bq_any_nonfinite_code(scale_codes)) {
		scalar(in, 4, out);
		return;
	}
	wasm_v128_store(scales, bq_f32x4_from_f16(scale_codes));

	BQ_ROLLED
	for (int block = 0; block < 4; block++, in += nbytes, out += 32) {
		const v128_t scale = wasm_v128_load32_splat(scales + block);
		v128_t low_codes, high_codes, low[4], high[4];

		bq_load_code_vectors(bits, in + 2, &low_codes, &high_codes);
		bq_f32x16_from_bytes(low_codes, -levels, low);
		bq_f32x16_from_bytes(high_codes, -levels, high);
		for (int k = 0; k < 4; k++) {
			wasm_v128_store(out + 4 * k, wasm_f32x4_mul(low[k], scale));
			wasm_v128_store(out + 16 + 4 * k, wasm_f32x4_mul(high[k], scale));
		}
	}
}

static inline void bq_decode_signed_simd128(
	int bits, bq_decode_blocks *scalar, const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_in_fours(bits, 2 + BQ_CODES_NBYTES(bits), bq_decode_four_signed, scalar, in, nblocks, out);
}

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
	bq_decode_in_fours(bits, 4 + BQ_CODES_NBYTES(bits), bq_decode_four_with_min, scalar, in, nblocks, out);
}

#endif
