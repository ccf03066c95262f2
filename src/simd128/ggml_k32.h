/* SPDX-License-Identifier: MIT
 * ggml_k32.h - scalar/ggml_k32.h, two super-blocks at a time: the searches with sub-blocks in lanes, the last rounding
 * sub-block by sub-block. bits and scalar, what does a block again that is not to be trusted, are constants wherever these
 * are used.
 */
#ifndef BQ_SIMD128_GGML_K32_H
#define BQ_SIMD128_GGML_K32_H

#include "../kernels.h"
#include "../scalar/ggml_k32.h"
#include "ggml_search.h"

static inline void bq_weigh_k32(struct bq_pair_lanes lanes[32])
{
	v128_t sum[2] = { wasm_f32x4_splat(0.0f), wasm_f32x4_splat(0.0f) };

	BQ_ROLLED
	for (int i = 0; i < 32; i++)
		for (int g = 0; g < 2; g++)
			sum[g] = wasm_f32x4_add(sum[g], wasm_f32x4_mul(lanes[i].x[g], lanes[i].x[g]));
	for (int g = 0; g < 2; g++)
		sum[g] = wasm_f32x4_sqrt(wasm_f32x4_mul(sum[g], wasm_f32x4_splat(1.0f / 32)));
	BQ_ROLLED
	for (int i = 0; i < 32; i++)
		for (int g = 0; g < 2; g++)
			lanes[i].weight[g] = wasm_f32x4_add(sum[g], wasm_f32x4_abs(lanes[i].x[g]));
}

/* 32 codes of a sub-block for the scale and min as stored; those of the search where the scale became 0. */
static inline void bq_codes_k32(
	int bits, const float *x, float scale, float min, float inverse, float low, v128_t codes[2])
{
	const uint8_t top = (uint8_t)((1 << bits) - 1);
	const v128_t divisor = wasm_f32x4_splat(scale);
	const v128_t addend = wasm_f32x4_splat(min);

	for (int half = 0; half < 2; half++, x += 16) {
		v128_t quotient[4];

		if (scale == 0.0f) {
			codes[half] = bq_codes_with_low(top, x, wasm_f32x4_splat(inverse), wasm_f32x4_splat(low));
			continue;
		}
		for (int k = 0; k < 4; k++)
			quotient[k] = wasm_f32x4_div(wasm_f32x4_add(wasm_v128_load(x + 4 * k), addend), divisor);
		codes[half] = bq_rounded_codes(0, top, quotient);
	}
}

/* out: the scales are in it. */
static inline void bq_encode_codes_k32(int bits, const float *x, const struct bq_scales_and_mins *found, uint8_t *out)
{
	const float outer_scale = bq_f32_from_f16(bq_load16(out));
	const float outer_min = bq_f32_from_f16(bq_load16(out + 2));
	uint8_t *const nibbles = bits == 5 ? out + 48 : out + 16;
	v128_t fifth_bits[2] = { wasm_i32x4_splat(0), wasm_i32x4_splat(0) };
	uint8_t scales[8], mins[8];
	float inverse[8], low[8];

	bq_unpack_scales_and_mins(out + 4, scales, mins);
	for (int g = 0; g < 2; g++) {
		wasm_v128_store(inverse + 4 * g, found->inverse[g]);
		wasm_v128_store(low + 4 * g, found->low[g]);
	}

	BQ_ROLLED
	for (int j = 0; j < 8; j += 2) {
		v128_t codes[2][2];

		for (int k = 0; k < 2; k++)
			bq_codes_k32(bits, x + 32 * (j + k), outer_scale * (float)scales[j + k], outer_min * (float)mins[j + k],
				inverse[j + k], low[j + k], codes[k]);
		for (int half = 0; half < 2; half++) {
			if (bits == 5) {
				/* Two fifth bits, at 4 and 5; shifted down by 4 they are those of sub-blocks 0 and 1. */
				const v128_t sixteen = bq_u8x16_splat(16);
				const v128_t two = wasm_v128_or(wasm_v128_and(codes[0][half], sixteen),
					wasm_i16x8_shl(wasm_v128_and(codes[1][half], sixteen), 1));

				fifth_bits[half] = wasm_v128_or(fifth_bits[half], wasm_i16x8_shl(wasm_u16x8_shr(two, 4), (unsigned)j));
				codes[0][half] = bq_low_nibbles(codes[0][half]);
				codes[1][half] = bq_low_nibbles(codes[1][half]);
			}
			wasm_v128_store(nibbles + 16 * j + 16 * half, bq_join_nibbles(codes[0][half], codes[1][half]));
		}
	}
	for (int half = 0; bits == 5 && half < 2; half++)
		wasm_v128_store(out + 16 + 16 * half, fifth_bits[half]);
}

static inline void bq_scale_k32(const struct bq_scales_and_mins *found, uint8_t *out)
{
	float scale[8], min[8];
	uint8_t scales[8], mins[8];

	for (int g = 0; g < 2; g++) {
		wasm_v128_store(scale + 4 * g, found->scale[g]);
		wasm_v128_store(min + 4 * g, found->min[g]);
	}
	bq_store16(out, bq_ggml_scale_code(bq_scale_of_largest(8, BQ_K32_TOP_SCALE, BQ_K32_TOP_SCALE, scale, scales)));
	bq_store16(out + 2, bq_ggml_scale_code(bq_scale_of_largest(8, BQ_K32_TOP_SCALE, BQ_K32_TOP_SCALE, min, mins)));
	bq_pack_scales_and_mins(scales, mins, out + 4);
}

/* Lanes of the second search: scales and mins of the first super-block, then of the second. */
static inline void bq_scale_k32_weighted(struct bq_scales_and_mins found[2], uint8_t *const out[2])
{
	v128_t x[8], weight[8], codes[8], unsure;
	uint32_t outer[4];

	for (int g = 0; g < 2; g++)
		bq_fill_positive_lanes(&found[0], &found[1], g, x + 4 * g, weight + 4 * g);

	const v128_t scale = bq_search_positive_scale_simd128(8, x, weight, BQ_K32_TOP_SCALE, codes, &unsure);
	const unsigned unsure_lanes = (unsigned)wasm_i32x4_bitmask(unsure);

	wasm_v128_store(outer, bq_ggml_scale_codes(scale));
	bq_transpose(codes);
	bq_transpose(codes + 4);
	for (int s = 0; s < 2; s++) {
		uint8_t bytes[2][16];

		for (int k = 0; k < 2; k++) {
			v128_t code[4];

			code[0] = code[2] = bq_i32x4_rounded(codes[2 * s + k], 0);
			code[1] = code[3] = bq_i32x4_rounded(codes[4 + 2 * s + k], 0);
			wasm_v128_store(bytes[k], bq_u8x16_from_i32(code));
			bq_store16(out[s] + 2 * k, (uint16_t)outer[2 * s + k]);
		}
		bq_pack_scales_and_mins(bytes[0], bytes[1], out[s] + 4);
		found[s].unsure |= (unsure_lanes >> 2 * s & 3) != 0;
	}
}

/* importance: null, or per super-block; sigma: its 2 * sum(x * x) / 256. */
static inline void bq_encode_two_k32(int bits, bq_encode_blocks *scalar, const float *const x[2],
	const float *const importance[2], const float sigma[2], uint8_t *const out[2])
{
	const struct bq_search_steps *const plain = bits == 5 ? &bq_search_steps_q5_k : &bq_search_steps_q4_k;
	struct bq_pair_lanes lanes[2][32];
	struct bq_pairs pairs[2];
	struct bq_scales_and_mins found[2];

	for (int s = 0; s < 2; s++) {
		pairs[s].lanes = lanes[s];
		pairs[s].end = lanes[s] + 32;
		bq_fill_pair_lanes(32, x[s], importance[s], lanes[s]);
		if (importance[s])
			bq_weigh_pair_lanes(32, sigma[s], lanes[s]);
		else
			bq_weigh_k32(lanes[s]);
	}
	bq_search_scale_and_min_simd128(
		pairs, (float)((1 << bits) - 1), importance[0] ? &bq_search_steps_weighted : plain, found);
	if (importance[0]) {
		bq_scale_k32_weighted(found, out);
	} else {
		bq_scale_k32(&found[0], out[0]);
		bq_scale_k32(&found[1], out[1]);
	}
	for (int s = 0; s < 2; s++) {
		if (found[s].unsure)
			scalar(x[s], importance[s], NULL, 1, out[s]);
		else
			bq_encode_codes_k32(bits, x[s], &found[s], out[s]);
	}
}

static inline void bq_encode_k32_simd128(
	int bits, bq_encode_blocks *scalar, const float *x, const float *importance, size_t nblocks, uint8_t *out)
{
	for (size_t block = 0; block < nblocks; block += 4) {
		const struct bq_super_blocks four = bq_four_super_blocks(x, importance, block, nblocks, BQ_K32_NBYTES(bits), out);
		float sigma[4] = { 0.0f, 0.0f, 0.0f, 0.0f };

		if (importance)
			wasm_v128_store(sigma,
				wasm_f32x4_mul(wasm_f32x4_mul(wasm_f32x4_splat(2.0f), bq_sums_of_squares(four.x)),
					wasm_f32x4_splat(1.0f / 256)));
		BQ_ROLLED
		for (size_t k = 0; k < 4 && block + k < nblocks; k += 2)
			bq_encode_two_k32(bits, scalar, four.x + k, four.importance + k, sigma + k, four.out + k);
	}
}

/* The codes of sub-blocks j and j + 1, half of each. */
static inline void bq_load_codes_k32(
	int bits, const uint8_t *nibbles, v128_t fifth_bits, unsigned j, v128_t *first, v128_t *second)
{
	const v128_t bytes = wasm_v128_load(nibbles + 16 * j);

	*first = bq_low_nibbles(bytes);
	*second = bq_high_nibbles(bytes);
	if (bits == 5) {
		const v128_t sixteen = bq_u8x16_splat(16);
		const v128_t two = wasm_u16x8_shr(fifth_bits, j); /* at 0 and 1 of each byte */

		*first = wasm_v128_or(*first, wasm_v128_and(wasm_i16x8_shl(two, 4), sixteen));
		*second = wasm_v128_or(*second, wasm_v128_and(wasm_i16x8_shl(two, 3), sixteen));
	}
}

/* Four scales, four mins, then the other four of each. The first ones' upper bits are the upper bits of the others. */
static inline v128_t bq_scales_and_mins_k32(const uint8_t *in)
{
	const v128_t bytes = wasm_v128_load64_zero(in), nibbles = wasm_v128_load32_zero(in + 8);
	const v128_t low = wasm_v128_and(bytes, bq_u8x16_splat(0x3F));
	const v128_t upper = wasm_v128_and(wasm_u16x8_shr(bytes, 2), bq_u8x16_splat(0x30));
	const v128_t lower = wasm_i32x4_shuffle(bq_low_nibbles(nibbles), bq_high_nibbles(nibbles), 0, 4, 1, 5);

	return wasm_i64x2_shuffle(low, wasm_v128_or(upper, lower), 0, 2);
}

static inline void bq_decode_k32_simd128(
	int bits, bq_decode_blocks *scalar, const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += BQ_K32_NBYTES(bits), out += 256) {
		const uint8_t *const nibbles = bits == 5 ? in + 48 : in + 16;
		const uint32_t outer_codes = bq_load32(in);
		const v128_t outer = bq_f32x4_from_finite_f16(wasm_u32x4_load16x4(in)); /* scale, min, and what follows them */
		const v128_t outer_scale = wasm_i32x4_shuffle(outer, outer, 0, 0, 0, 0);
		const v128_t outer_min = wasm_f32x4_neg(wasm_i32x4_shuffle(outer, outer, 1, 1, 1, 1));
		v128_t fifth_bits[2] = { wasm_i32x4_splat(0), wasm_i32x4_splat(0) };
		v128_t code[4], doubt = wasm_i32x4_splat(0);
		float scale[8], addend[8];

		bq_f32x16_from_bytes(bq_scales_and_mins_k32(in + 4), 0, code);
		for (int g = 0; g < 2; g++) {
			const v128_t scales = wasm_f32x4_mul(outer_scale, code[2 * g]);

			wasm_v128_store(scale + 4 * g, scales);
			wasm_v128_store(
				addend + 4 * g, bq_lower_addend(wasm_f32x4_mul(outer_min, code[2 * g + 1]), scales, &doubt));
			if (bits == 5)
				fifth_bits[g] = wasm_v128_load(in + 16 + 16 * g);
		}
		if ((outer_codes & 0xFFFF) > 0x7BFF || (outer_codes & 0x7C000000) == 0x7C000000 || wasm_v128_any_true(doubt)) {
			scalar(in, 1, out);
			continue;
		}

		BQ_ROLLED
		for (int j = 0; j < 8; j += 2) {
			for (int half = 0; half < 2; half++) {
				v128_t codes_of[2], value[4];

				bq_load_codes_k32(
					bits, nibbles + 16 * half, fifth_bits[half], (unsigned)j, &codes_of[0], &codes_of[1]);
				for (int k = 0; k < 2; k++) {
					const v128_t factor = wasm_v128_load32_splat(scale + j + k);
					const v128_t low = wasm_v128_load32_splat(addend + j + k);
					float *const values = out + 32 * (j + k) + 16 * half;

					bq_raised_f32x16(codes_of[k], value);
					for (int i = 0; i < 4; i++)
						wasm_v128_store(values + 4 * i, wasm_f32x4_add(wasm_f32x4_mul(value[i], factor), low));
				}
			}
		}
	}
}

#endif
