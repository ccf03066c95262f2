/* SPDX-License-Identifier: MIT
 * ggml_k32.h - super-blocks of 256 values, 8 sub-blocks of 32 with a scale and a min of 6 bits each: q4_K and q5_K.
 *
 * A super-block: f16 scale, f16 min, 12 bytes of scales and mins, [32 bytes with the fifth bits: byte l has value l of each
 * sub-block,] 128 bytes: of each pair of sub-blocks 32, the first in the low and the second in the high halves.
 */
#ifndef BQ_GGML_K32_H
#define BQ_GGML_K32_H

#include "ggml_search.h"

#define BQ_K32_NBYTES(bits) (16 + 32 * (bits))
#define BQ_K32_TOP_SCALE 63 /* of the scales' and mins' codes */

/* What the search finds for each sub-block. */
struct bq_k32_found {
	float scale[8], min[8], weight[8];
	uint8_t codes[256];
};

static inline void bq_search_k32(int bits, const float *x, struct bq_k32_found *found)
{
	const struct bq_search_steps *const steps = bits == 5 ? &bq_search_steps_q5_k : &bq_search_steps_q4_k;
	float weight[32];

	for (int j = 0; j < 8; j++, x += 32) {
		const float typical = sqrtf(bq_sum_of_squares(32, x) / 32);

		for (int i = 0; i < 32; i++)
			weight[i] = typical + fabsf(x[i]);
		found->scale[j] = bq_search_scale_and_min(
			32, (1 << bits) - 1, x, weight, steps, found->codes + 32 * j, &found->min[j]);
	}
}

static inline void bq_search_k32_weighted(int bits, const float *x, const float *importance, struct bq_k32_found *found)
{
	const float sigma = (2.0f * bq_sum_of_squares(256, x)) / 256;
	float weight[32];

	for (int j = 0; j < 8; j++, x += 32, importance += 32) {
		found->weight[j] = bq_weigh(32, x, importance, sigma, weight);
		found->scale[j] = bq_search_scale_and_min(
			32, (1 << bits) - 1, x, weight, &bq_search_steps_weighted, found->codes + 32 * j, &found->min[j]);
	}
}

/* The codes for the scales as stored. Where a scale became 0 the codes stay those of the search. */
static inline void bq_round_to_stored_k32(int bits, const float *x, const uint8_t *block, uint8_t *codes)
{
	const float outer_scale = bq_f32_from_f16(bq_load16(block));
	const float outer_min = bq_f32_from_f16(bq_load16(block + 2));
	uint8_t scales[8], mins[8];

	bq_unpack_scales_and_mins(block + 4, scales, mins);
	for (int j = 0; j < 8; j++) {
		const float scale = outer_scale * (float)scales[j];
		const float min = outer_min * (float)mins[j];

		if (scale == 0.0f)
			continue;
		for (int i = 32 * j; i < 32 * (j + 1); i++)
			codes[i] = (uint8_t)bq_clamp(bq_round_by_magic((x[i] + min) / scale), 0, (1 << bits) - 1);
	}
}

static inline void bq_pack_codes_k32(int bits, const uint8_t codes[256], uint8_t *out)
{
	if (bits == 5) {
		bq_pack_bit_plane(codes, 4, out);
		out += 32;
	}
	for (int pair = 0; pair < 4; pair++, codes += 64, out += 32)
		for (int l = 0; l < 32; l++)
			out[l] = (uint8_t)((codes[l] & 15) | (codes[l + 32] & 15) << 4);
}

static inline void bq_unpack_codes_k32(int bits, const uint8_t *in, uint8_t codes[256])
{
	const uint8_t *const nibbles = bits == 5 ? in + 32 : in;

	for (int pair = 0; pair < 4; pair++)
		for (int l = 0; l < 32; l++) {
			codes[64 * pair + l] = nibbles[32 * pair + l] & 15;
			codes[64 * pair + 32 + l] = nibbles[32 * pair + l] >> 4;
		}
	if (bits == 5)
		bq_unpack_bit_plane(in, 4, codes);
}

/* A scale or min below 0, which rounding can leave where few weights are not 0, has a code that wraps to 255. The reference
 * caps it in q5_K; in q4_K it runs into the bits of its neighbours. */
static inline void bq_cap_k32(int bits, uint8_t codes[8])
{
	for (int j = 0; j < 8 && bits == 5; j++)
		codes[j] = codes[j] < BQ_K32_TOP_SCALE ? codes[j] : BQ_K32_TOP_SCALE;
}

static inline void bq_encode_block_k32(int bits, const float *x, const float *importance, uint8_t *out)
{
	struct bq_k32_found found;
	uint8_t scales[8], mins[8];
	float outer_scale, outer_min;

	if (importance) {
		bq_search_k32_weighted(bits, x, importance, &found);
		outer_scale = bq_search_positive_scale(8, BQ_K32_TOP_SCALE, found.scale, found.weight, scales);
		outer_min = bq_search_positive_scale(8, BQ_K32_TOP_SCALE, found.min, found.weight, mins);
		bq_cap_k32(bits, scales);
		bq_cap_k32(bits, mins);
	} else {
		bq_search_k32(bits, x, &found);
		outer_scale = bq_scale_of_largest(8, BQ_K32_TOP_SCALE, BQ_K32_TOP_SCALE, found.scale, scales);
		outer_min = bq_scale_of_largest(8, BQ_K32_TOP_SCALE, BQ_K32_TOP_SCALE, found.min, mins);
	}
	bq_store16(out, bq_ggml_scale_code(outer_scale));
	bq_store16(out + 2, bq_ggml_scale_code(outer_min));
	bq_pack_scales_and_mins(scales, mins, out + 4);
	bq_round_to_stored_k32(bits, x, out, found.codes);
	bq_pack_codes_k32(bits, found.codes, out + 16);
}

static inline void bq_decode_k32(int bits, const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += BQ_K32_NBYTES(bits), out += 256) {
		const float outer_scale = bq_f32_from_f16(bq_load16(in));
		const float outer_min = bq_f32_from_f16(bq_load16(in + 2));
		uint8_t scales[8], mins[8], codes[256];

		bq_unpack_scales_and_mins(in + 4, scales, mins);
		bq_unpack_codes_k32(bits, in + 16, codes);
		for (int j = 0; j < 8; j++) {
			const float scale = outer_scale * (float)scales[j];
			const float min = outer_min * (float)mins[j];

			for (int i = 32 * j; i < 32 * (j + 1); i++)
				out[i] = scale * (float)(int)codes[i] - min; /* int: gcc 12 extends signs else, to no end */
		}
		bq_settle_nans(outer_scale - outer_min, 256, out);
	}
}

#endif
