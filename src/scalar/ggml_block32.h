/* SPDX-License-Identifier: MIT
 * ggml_block32.h - blocks of 32 values with codes of 4 or 5 bits: what q4_0, q5_0, q4_1 and q5_1 share.
 *
 * A block: f16 scale, [f16 min,] [u32 with the fifth bit of each code,] 16 bytes: value j in the low half, value j + 16 in
 * the high half of byte j. Signed codes are stored with half their number added.
 */
#ifndef BQ_GGML_BLOCK32_H
#define BQ_GGML_BLOCK32_H

#include "kernels.h"
#include "ggml_search.h"

/* Bytes of a block after its f16 fields. */
#define BQ_CODES_NBYTES(bits) ((bits) == 5 ? 20 : 16)

/* A number that is not negative, truncated. What no int32 holds, which is all of a block whose inverse is infinite, is 0. */
static inline uint8_t bq_truncate_to_code(float x, int top)
{
	return (uint8_t)bq_clamp((int32_t)(fabsf(x) < 2147483648.0f ? x : 0.0f), 0, top);
}

/* Codes 0 .. 2^bits - 1 after the f16 fields. Returns where the block ends. Inlined whatever the options: bits is a constant. */
static inline __attribute__((always_inline)) uint8_t *bq_store_codes(const uint8_t codes[32], int bits, uint8_t *out)
{
	if (bits == 5) {
		uint32_t fifth_bits = 0;

		/* Four at a time: the factor adds up copies that have bit 8 k at bit 28 + k. */
		for (int i = 0; i < 32; i += 4)
			fifth_bits |= ((bq_load32(codes + i) >> 4 & 0x01010101) * 0x10204080 >> 28) << i;
		bq_store32(out, fifth_bits);
		out += 4;
	}
	/* Eight at a time, which is all the same to bytes: nothing crosses from one to the next. */
	for (int i = 0; i < 16; i += 8) {
		const uint64_t nibbles = 0x0F0F0F0F0F0F0F0Fu;
		uint64_t low, high;

		memcpy(&low, codes + i, 8);
		memcpy(&high, codes + 16 + i, 8);
		low = (low & nibbles) | (high & nibbles) << 4;
		memcpy(out + i, &low, 8);
	}
	return out + 16;
}

/* And back. */
static inline const uint8_t *bq_load_codes(const uint8_t *in, int bits, uint8_t codes[32])
{
	const uint8_t *const nibbles = bits == 5 ? in + 4 : in;

	for (int i = 0; i < 16; i++) {
		codes[i] = nibbles[i] & 15;
		codes[i + 16] = nibbles[i] >> 4;
	}
	for (int i = 0; bits == 5 && i < 32; i++)
		codes[i] |= bq_load32(in) >> i << 4 & 16;
	return nibbles + 16;
}

/* The value of the largest magnitude gets the lowest code; with importance, search A. */
static inline float bq_find_signed_codes(
	int bits, const float *x, const float *importance, float row_sigma, uint8_t codes[32])
{
	const int levels = 1 << (bits - 1);
	float weight[32];

	if (importance) {
		bq_weigh(32, x, importance, row_sigma, weight);
		return bq_search_signed_scale(32, levels, x, weight, codes);
	}

	const float scale = bq_first_largest(32, x) / (float)-levels;
	const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

	for (int i = 0; i < 32; i++)
		codes[i] = bq_truncate_to_code(x[i] * inverse + ((float)levels + 0.5f), 2 * levels - 1);
	return scale;
}

static inline void bq_encode_signed(
	int bits, const float *x, const float *importance, const struct bq_context *context, size_t nblocks, uint8_t *out)
{
	uint8_t codes[32];

	for (size_t first = 0; first < nblocks * 32; first += 32) {
		const float *weights = importance ? importance + first : NULL;

		bq_store16(out, bq_ggml_scale_code(bq_find_signed_codes(bits, x + first, weights, context->row_sigma, codes)));
		out = bq_store_codes(codes, bits, out + 2);
	}
}

static inline void bq_decode_signed(int bits, const uint8_t *in, size_t nblocks, float *out)
{
	const int levels = 1 << (bits - 1);
	uint8_t codes[32];

	for (size_t block = 0; block < nblocks; block++, out += 32) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		in = bq_load_codes(in + 2, bits, codes);
		for (int i = 0; i < 32; i++)
			out[i] = (float)(codes[i] - levels) * scale;
		bq_settle_nans(scale, 32, out);
	}
}

/* The least value gets the code 0, the largest the highest; with importance, search C. *low: what is added to the products.
 * The scale of a block that is not finite is a NaN. */
static inline float bq_find_codes_with_min(
	int bits, const float *x, const float *importance, float row_sigma, uint8_t codes[32], float *low)
{
	const int top = (1 << bits) - 1;
	float weight[32], least = x[0], high = x[0];

	if (!bq_all_finite(32, x) || (importance && !bq_all_finite(32, importance))) {
		memset(codes, 0, 32);
		return *low = bq_float(BQ_F32_NAN);
	}
	if (importance) {
		bq_weigh(32, x, importance, row_sigma, weight);

		const float scale = bq_search_scale_and_min(32, top, x, weight, &bq_search_steps_weighted, codes, low);

		*low = -*low;
		return scale;
	}
	for (int i = 1; i < 32; i++) {
		if (x[i] < least)
			least = x[i];
		if (x[i] > high)
			high = x[i];
	}

	const float scale = (high - least) / (float)top;
	const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

	/* Rounding takes no sum to top + 1: inverse is off by 2^-21 at most, which it is where scale is subnormal. */
	if (scale < INFINITY && inverse < INFINITY)
		for (int i = 0; i < 32; i++)
			codes[i] = (uint8_t)((x[i] - least) * inverse + 0.5f);
	else
		memset(codes, 0, 32);
	*low = least;
	return scale;
}

static inline void bq_encode_with_min(
	int bits, const float *x, const float *importance, const struct bq_context *context, size_t nblocks, uint8_t *out)
{
	uint8_t codes[32];
	float low;

	for (size_t first = 0; first < nblocks * 32; first += 32) {
		const float *weights = importance ? importance + first : NULL;

		bq_store16(out, bq_ggml_scale_code(bq_find_codes_with_min(bits, x + first, weights, context->row_sigma, codes, &low)));
		bq_store16(out + 2, bq_ggml_scale_code(low));
		out = bq_store_codes(codes, bits, out + 4);
	}
}

static inline void bq_decode_with_min(int bits, const uint8_t *in, size_t nblocks, float *out)
{
	uint8_t codes[32];

	for (size_t block = 0; block < nblocks; block++, out += 32) {
		const float scale = bq_f32_from_f16(bq_load16(in));
		const float low = bq_f32_from_f16(bq_load16(in + 2));

		in = bq_load_codes(in + 4, bits, codes);
		for (int i = 0; i < 32; i++)
			out[i] = (float)(int)codes[i] * scale + low; /* int: gcc 12 extends signs else, to no end */
		bq_settle_nans(scale + low, 32, out);
	}
}

#endif
