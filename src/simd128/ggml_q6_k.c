/* SPDX-License-Identifier: MIT
 * ggml_q6_k.c - q6_K: the search with four sub-blocks in lanes; the last rounding sub-block by sub-block.
 */
#include <math.h>

#include "kernels.h"
#include "ggml_search.h"

#define VALUES 256
#define NBYTES 210
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define LEVELS 32

/* Where the fields of a block begin. */
#define HIGH 128
#define SCALES 192
#define OUTER 208

/* What the search finds for each sub-block. tiny: all ones where its codes are all 0 and so is its scale. */
struct found {
	float scale[SUB_BLOCKS], inverse[SUB_BLOCKS];
	uint32_t tiny[SUB_BLOCKS];
};

/* Returns 0 if the block is to be done in scalar. */
static int search_all(const float *x, const float *importance, struct found *found)
{
	v128_t doubt = wasm_i32x4_splat(0);

	BQ_ROLLED
	for (int j = 0; j < SUB_BLOCKS; j += 4) {
		const float *values = x + j * SUB_VALUES;
		const v128_t largest = bq_first_largest_of_four(SUB_VALUES, values);
		const v128_t tiny =
			wasm_f32x4_lt(bq_f32x4_magnitude(largest), wasm_f32x4_splat(BQ_SEARCH_TINY));
		struct bq_signed_lanes lanes[SUB_VALUES];
		v128_t inverse, unsure;

		bq_fill_signed_lanes(SUB_VALUES, values, importance ? importance + j * SUB_VALUES : NULL, NULL, lanes);

		const v128_t scale =
			bq_search_signed_scale_simd128(SUB_VALUES, lanes, largest, LEVELS, &inverse, &unsure);

		doubt = wasm_v128_or(doubt, wasm_v128_andnot(unsure, tiny));
		wasm_v128_store(found->scale + j, wasm_v128_andnot(scale, tiny));
		wasm_v128_store(found->inverse + j, inverse);
		wasm_v128_store(found->tiny + j, tiny);
	}
	return !wasm_v128_any_true(doubt);
}

/* 16 codes of numbers rounded by bq_round_by_magic. */
static inline v128_t codes_of(const v128_t x[4])
{
	const v128_t magic = bq_f32x4_splat(12582912.0f);
	const v128_t mask = bq_u32x4_splat(0x7FFFFF);
	const v128_t base = bq_u32x4_splat(0x400000 - LEVELS);
	v128_t code[4];

	for (int k = 0; k < 4; k++)
		code[k] = wasm_i32x4_sub(wasm_v128_and(wasm_f32x4_add(x[k], magic), mask), base);
	return wasm_u8x16_min(bq_u8x16_from_i32(code), bq_u8x16_splat(2 * LEVELS - 1));
}

/* The codes of a sub-block for its scale as stored; those of the search where that is 0. */
static inline v128_t encode_codes(const float *x, float stored, float inverse, uint32_t tiny)
{
	v128_t quotient[4];

	if (stored == 0.0f) {
		for (int k = 0; k < 4; k++)
			quotient[k] = wasm_f32x4_mul(wasm_v128_load(x + 4 * k), wasm_f32x4_splat(inverse));
		return wasm_v128_andnot(codes_of(quotient), wasm_i32x4_splat((int32_t)tiny));
	}
	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_div(wasm_v128_load(x + 4 * k), wasm_f32x4_splat(stored));
	return codes_of(quotient);
}

/* codes: of 128 values. */
static void pack_half(const v128_t codes[8], uint8_t *low, uint8_t *high)
{
	for (int side = 0; side < 2; side++) {
		v128_t bits = wasm_i32x4_splat(0);

		for (int group = 0; group < 4; group++) {
			/* The bits from the byte above stay out: codes are below 64. */
			const v128_t upper = wasm_u16x8_shr(wasm_v128_and(codes[2 * group + side], bq_u8x16_splat(0x30)), 4);

			bits = wasm_v128_or(bits, wasm_i16x8_shl(upper, (unsigned)(2 * group)));
		}
		wasm_v128_store(high + 16 * side, bits);
		for (int group = 0; group < 2; group++)
			wasm_v128_store(low + 32 * group + 16 * side,
				bq_join_nibbles(
					bq_low_nibbles(codes[2 * group + side]), bq_low_nibbles(codes[2 * (group + 2) + side])));
	}
}

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	struct found found;
	float largest = 0.0f;

	if (!search_all(x, importance, &found) || (importance && !bq_all_finite_simd128(VALUES, importance))) {
		bq_encode_q6_k_scalar(x, importance, 0.0f, 1, out);
		return;
	}
	for (int j = 0; j < SUB_BLOCKS; j++)
		if (fabsf(found.scale[j]) > fabsf(largest))
			largest = found.scale[j];
	if (fabsf(largest) < BQ_SEARCH_TINY) {
		memset(out, 0, NBYTES);
		return;
	}

	const float inverse = -128.0f / largest;

	bq_store16(out + OUTER, bq_ggml_scale_code(1.0f / inverse));

	const float outer = bq_f32_from_f16(bq_load16(out + OUTER));

	for (int half = 0; half < 2; half++) {
		v128_t codes[8];

		BQ_ROLLED
		for (int k = 0; k < 8; k++) {
			const int j = 8 * half + k;
			const int32_t rounded = bq_round_by_magic(inverse * found.scale[j]);
			const int8_t code = (int8_t)(rounded < 127 ? rounded : 127);

			out[SCALES + j] = (uint8_t)code;
			codes[k] = encode_codes(x + j * SUB_VALUES, outer * (float)code, found.inverse[j], found.tiny[j]);
		}
		pack_half(codes, out + 64 * half, out + HIGH + 32 * half);
	}
}

void bq_encode_q6_k_simd128(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	(void)row_sigma;
	for (size_t block = 0; block < nblocks; block++)
		encode_block(x + block * VALUES, importance ? importance + block * VALUES : NULL, out + block * NBYTES);
}

/* 32 values of a group: codes 0 to 63 in two vectors. */
static inline void decode_group(const v128_t codes[2], const float *scale, float *out)
{
	for (int side = 0; side < 2; side++) {
		const v128_t factor = wasm_v128_load32_splat(scale + side);
		v128_t code[4];

		bq_f32x16_from_bytes(codes[side], -LEVELS, code);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(out + 16 * side + 4 * k, wasm_f32x4_mul(code[k], factor));
	}
}

void bq_decode_q6_k_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const uint16_t outer_code = bq_load16(in + OUTER);
		float scale[SUB_BLOCKS];
		v128_t scale_code[4];

		if ((outer_code & 0x7C00) == 0x7C00) {
			bq_decode_q6_k_scalar(in, 1, out);
			continue;
		}

		const v128_t outer = wasm_f32x4_splat(bq_f32_from_f16(outer_code));

		bq_f32x16_from_bytes(wasm_v128_xor(wasm_v128_load(in + SCALES), bq_u8x16_splat(128)), -128, scale_code);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(scale + 4 * k, wasm_f32x4_mul(outer, scale_code[k]));

		BQ_ROLLED
		for (int half = 0; half < 2; half++) {
			const uint8_t *low = in + 64 * half, *high = in + HIGH + 32 * half;
			const v128_t three = bq_u8x16_splat(0x30);
			v128_t codes[4][2];

			for (int side = 0; side < 2; side++) {
				const v128_t first = wasm_v128_load(low + 16 * side), second = wasm_v128_load(low + 32 + 16 * side);
				const v128_t bits = wasm_v128_load(high + 16 * side);

				codes[0][side] =
					wasm_v128_or(bq_low_nibbles(first), wasm_v128_and(wasm_i16x8_shl(bits, 4), three));
				codes[1][side] =
					wasm_v128_or(bq_low_nibbles(second), wasm_v128_and(wasm_i16x8_shl(bits, 2), three));
				codes[2][side] = wasm_v128_or(bq_high_nibbles(first), wasm_v128_and(bits, three));
				codes[3][side] =
					wasm_v128_or(bq_high_nibbles(second), wasm_v128_and(wasm_u16x8_shr(bits, 2), three));
			}
			for (int group = 0; group < 4; group++)
				decode_group(codes[group], scale + 8 * half + 2 * group, out + 128 * half + 32 * group);
		}
	}
}
