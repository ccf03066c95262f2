/* SPDX-License-Identifier: MIT
 * ggml_k16.h - super-blocks of 256 values, 16 sub-blocks of 16 with a scale each: what q2_K, q3_K and q6_K share.
 *
 * Pairs of bits lie in a plane of 64 bytes: those of value i in byte 32 * (i / 128) + i % 32, above those of the values 32,
 * 64 and 96 before it in its half.
 */
#ifndef BQ_GGML_K16_H
#define BQ_GGML_K16_H

#include "ggml_search.h"

/* The lowest two bits of each code, eight at a time. */
static inline void bq_pack_pairs(const uint8_t codes[256], uint8_t out[64])
{
	for (int half = 0; half < 2; half++, codes += 128, out += 32)
		for (int l = 0; l < 32; l += 8) {
			uint64_t bytes = 0, eight;

			for (int k = 0; k < 4; k++) {
				memcpy(&eight, codes + l + 32 * k, 8);
				bytes |= (eight & 0x0303030303030303u) << 2 * k;
			}
			memcpy(out + l, &bytes, 8);
		}
}

static inline void bq_unpack_pairs(const uint8_t in[64], uint8_t codes[256])
{
	for (int half = 0; half < 2; half++, in += 32)
		for (int k = 0; k < 4; k++)
			for (int l = 0; l < 32; l++)
				codes[128 * half + 32 * k + l] = in[l] >> 2 * k & 3;
}

/* q6_K's codes: of 128 values 64 bytes of low halves, value k the low half of byte k % 64, or the high one from k = 64 on; then
 * a plane of pairs, the upper two bits. */
static inline void bq_pack_codes_of_q6_k(const uint8_t codes[256], uint8_t out[192])
{
	uint8_t upper[256];

	for (int i = 0; i < 256; i++)
		upper[i] = codes[i] >> 4;
	bq_pack_pairs(upper, out + 128);
	for (int half = 0; half < 2; half++, codes += 128, out += 64)
		for (int k = 0; k < 64; k++)
			out[k] = (uint8_t)((codes[k] & 15) | (codes[64 + k] & 15) << 4);
}

static inline void bq_unpack_codes_of_q6_k(const uint8_t in[192], uint8_t codes[256])
{
	bq_unpack_pairs(in + 128, codes);
	for (int half = 0; half < 2; half++, in += 64, codes += 128)
		for (int k = 0; k < 64; k++) {
			codes[k] = (uint8_t)((in[k] & 15) | codes[k] << 4);
			codes[64 + k] = (uint8_t)(in[k] >> 4 | codes[64 + k] << 4);
		}
}

/* q3_K's 16 scales of 6 bits in 12 bytes: low halves of scale j and j + 8 in byte j, upper two bits of scales j, j + 4, j + 8
 * and j + 12 in byte 8 + j. */
static inline void bq_pack_scales_of_q3_k(const uint8_t scales[16], uint8_t out[12])
{
	for (int j = 0; j < 8; j++)
		out[j] = (uint8_t)((scales[j] & 15) | (scales[j + 8] & 15) << 4);
	for (int j = 0; j < 4; j++)
		out[8 + j] = (uint8_t)(scales[j] >> 4 | scales[j + 4] >> 4 << 2 | scales[j + 8] >> 4 << 4 |
			scales[j + 12] >> 4 << 6);
}

static inline void bq_unpack_scales_of_q3_k(const uint8_t in[12], uint8_t scales[16])
{
	for (int j = 0; j < 16; j++)
		scales[j] = (uint8_t)((in[j % 8] >> (j < 8 ? 0 : 4) & 15) | (in[8 + j % 4] >> 2 * (j / 4) & 3) << 4);
}

/* q3_K without importance: the scale of the largest magnitude gets the code -32. scales: with 32 added; all 0 if there is
 * no scale. */
static inline float bq_scale_of_q3_k(const float scale[16], uint8_t scales[16])
{
	const float largest = bq_largest_number(16, scale);
	const float inverse = -32.0f / largest;

	memset(scales, 0, 16);
	if (largest == 0.0f)
		return 0.0f;
	for (int j = 0; j < 16; j++) {
		const int8_t code = (int8_t)bq_round_by_magic(inverse * scale[j]);

		scales[j] = (uint8_t)(bq_clamp(code, -32, 31) + 32);
	}
	return 1.0f / inverse;
}

#endif
