/* SPDX-License-Identifier: MIT
 * ggml_q4_0.c - q4_0, four blocks at a time: their scales are found in lanes, their codes block by block.
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 32
#define NBYTES 18
#define LEVELS 8

static void redo_in_scalar(v128_t lanes, const float *x, const float *importance, float row_sigma, uint8_t *out)
{
	if (!wasm_v128_any_true(lanes))
		return;
	for (int block = 0; block < 4; block++)
		if (wasm_i32x4_bitmask(lanes) >> block & 1)
			bq_encode_q4_0_scalar(x + VALUES * block, importance ? importance + VALUES * block : NULL, row_sigma, 1,
				out + NBYTES * block);
}

static void store_block(uint32_t scale_code, v128_t low, v128_t high, uint8_t *out)
{
	const v128_t highest = bq_u8x16_splat(2 * LEVELS - 1);

	bq_store16(out, (uint16_t)scale_code);
	wasm_v128_store(out + 2, bq_join_nibbles(wasm_u8x16_min(low, highest), wasm_u8x16_min(high, highest)));
}

/* 16 codes by truncation of x * factor + shift. */
static inline v128_t truncated(const float *x, v128_t factor, v128_t shift, v128_t magic)
{
	v128_t code[4];

	for (int k = 0; k < 4; k++) {
		const v128_t value = wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + 4 * k), factor), shift);

		code[k] = wasm_i32x4_sub(wasm_f32x4_add(wasm_f32x4_trunc(value), magic), magic);
	}
	return bq_u8x16_from_i32(code);
}

static void encode_four(const float *x, uint8_t *out)
{
	const v128_t magic = bq_f32x4_splat(12582912.0f); /* 1.5 * 2^23: leaves an integer in the low bits */
	const v128_t largest = bq_first_largest_of_four(x);
	const v128_t scale = wasm_f32x4_mul(largest, wasm_f32x4_splat(-1.0f / LEVELS));
	const v128_t quotient = wasm_f32x4_div(wasm_f32x4_splat(1.0f), scale);
	const v128_t infinite = bq_f32x4_nonfinite(quotient);
	const v128_t zero = wasm_f32x4_eq(scale, wasm_f32x4_splat(0.0f));
	/* A scale of 0 has the inverse 0. An inverse that overflowed gives the codes 0: then nothing is added either. */
	const v128_t inverse = wasm_v128_andnot(quotient, infinite);
	const v128_t shift = wasm_v128_andnot(wasm_f32x4_splat(LEVELS + 0.5f), wasm_v128_andnot(infinite, zero));
	float inverses[4], shifts[4];
	uint32_t scale_codes[4];

	wasm_v128_store(inverses, inverse);
	wasm_v128_store(shifts, shift);
	wasm_v128_store(scale_codes, bq_ggml_scale_codes(scale));

	BQ_ROLLED
	for (int block = 0; block < 4; block++) {
		const float *values = x + VALUES * block;
		const v128_t factor = wasm_v128_load32_splat(inverses + block);
		const v128_t addend = wasm_v128_load32_splat(shifts + block);

		store_block(scale_codes[block], truncated(values, factor, addend, magic),
			truncated(values + VALUES / 2, factor, addend, magic), out + NBYTES * block);
	}
	redo_in_scalar(bq_f32x4_nonfinite(largest), x, NULL, 0.0f, out);
}

/* 16 codes by rounding of x * factor. base: what the magic number and LEVELS leave in the bits. */
static inline v128_t rounded(const float *x, v128_t factor, v128_t magic, v128_t base)
{
	v128_t code[4];

	for (int k = 0; k < 4; k++)
		code[k] = wasm_i32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + 4 * k), factor), magic), base);
	return bq_u8x16_from_i32(code);
}

static void encode_four_weighted(const float *x, const float *importance, float row_sigma, uint8_t *out)
{
	const v128_t magic = bq_f32x4_splat(12582912.0f); /* 1.5 * 2^23, 0x4B400000 */
	const v128_t base = bq_u32x4_splat(0x4B400000 - LEVELS);
	struct bq_signed_lanes lanes[VALUES];
	v128_t inverse, unsure;
	float inverses[4];
	uint32_t scale_codes[4];

	bq_fill_signed_lanes(x, importance, row_sigma, lanes);

	const v128_t scale = bq_search_signed_scale_simd128(lanes, bq_first_largest_of_four(x), LEVELS, &inverse, &unsure);

	wasm_v128_store(inverses, inverse);
	wasm_v128_store(scale_codes, bq_ggml_scale_codes(scale));
	BQ_ROLLED
	for (int block = 0; block < 4; block++) {
		const float *values = x + VALUES * block;
		const v128_t factor = wasm_v128_load32_splat(inverses + block);

		store_block(scale_codes[block], rounded(values, factor, magic, base),
			rounded(values + VALUES / 2, factor, magic, base), out + NBYTES * block);
	}
	redo_in_scalar(unsure, x, importance, row_sigma, out);
}

void bq_encode_q4_0_simd128(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_q4_0_scalar(x, importance, row_sigma, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		if (importance)
			encode_four_weighted(x + first * VALUES, importance + first * VALUES, row_sigma, out + first * NBYTES);
		else
			encode_four(x + first * VALUES, out + first * NBYTES);
	}
}

static void decode_four(const uint8_t *in, float *out)
{
	const v128_t scale_codes = bq_scale_codes_of_four(in, NBYTES);
	float scales[4];

	if (bq_any_nonfinite_code(scale_codes)) {
		bq_decode_q4_0_scalar(in, 4, out);
		return;
	}
	wasm_v128_store(scales, bq_f32x4_from_f16(scale_codes));

	BQ_ROLLED
	for (int block = 0; block < 4; block++, in += NBYTES, out += VALUES) {
		const v128_t scale = wasm_v128_load32_splat(scales + block);
		const v128_t bytes = wasm_v128_load(in + 2);
		v128_t low[4], high[4];

		bq_f32x16_from_bytes(bq_low_nibbles(bytes), -LEVELS, low);
		bq_f32x16_from_bytes(bq_high_nibbles(bytes), -LEVELS, high);
		for (int k = 0; k < 4; k++) {
			wasm_v128_store(out + 4 * k, wasm_f32x4_mul(low[k], scale));
			wasm_v128_store(out + VALUES / 2 + 4 * k, wasm_f32x4_mul(high[k], scale));
		}
	}
}

void bq_decode_q4_0_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	if (nblocks < 4) {
		bq_decode_q4_0_scalar(in, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same floats again */

		decode_four(in + first * NBYTES, out + first * VALUES);
	}
}
