/* SPDX-License-Identifier: MIT
 * ggml_search.c - what ggml's searches for scales begin and end with, value by value in its order.
 */
#include "ggml_search.h"

float bq_first_largest(size_t count, const float *x)
{
	const uint32_t largest = bq_bits(bq_largest_magnitude(count, x));

	for (size_t i = 0; largest && i < count; i++)
		if ((bq_bits(x[i]) & 0x7FFFFFFF) == largest)
			return x[i];
	return 0.0f;
}

void bq_store_nonfinite_block(size_t nbytes, size_t halves_at, size_t nhalves, uint8_t *out)
{
	memset(out, 0, nbytes);
	for (size_t i = 0; i < nhalves; i++)
		bq_store16(out + halves_at + 2 * i, 0x7E00);
}

float bq_weigh(size_t count, const float *x, const float *importance, float sigma, float *weight)
{
	float sum = 0.0f;

	for (size_t i = 0; i < count; i++) {
		weight[i] = importance[i] * sqrtf(sigma + x[i] * x[i]);
		sum += weight[i];
	}
	return sum;
}

float bq_scale_of_largest(size_t count, int top, uint8_t limit, const float *x, uint8_t *codes)
{
	float largest = 0.0f;

	for (size_t i = 0; i < count; i++)
		if (x[i] > largest)
			largest = x[i];

	const float inverse = largest > 0.0f ? (float)top / largest : 0.0f;

	for (size_t i = 0; i < count; i++) {
		const uint8_t code = (uint8_t)bq_round_by_magic(inverse * x[i]);

		codes[i] = code < limit ? code : limit;
	}
	return largest / (float)top;
}

/* The first four bytes hold scales 0 to 3, the next four mins 0 to 3, the last four the low halves of scales and mins 4 to
 * 7; the upper two bits of those are above the scales and mins of the first eight bytes. */
void bq_pack_scales_and_mins(const uint8_t *scales, const uint8_t *mins, uint8_t *out)
{
	for (int j = 0; j < 4; j++) {
		out[j] = (uint8_t)(scales[j] | scales[j + 4] >> 4 << 6);
		out[j + 4] = (uint8_t)(mins[j] | mins[j + 4] >> 4 << 6);
		out[j + 8] = (uint8_t)((scales[j + 4] & 15) | (mins[j + 4] & 15) << 4);
	}
}

/* Four bytes at a time. */
void bq_unpack_scales_and_mins(const uint8_t *in, uint8_t *scales, uint8_t *mins)
{
	const uint32_t scale = bq_load32(in), min = bq_load32(in + 4), halves = bq_load32(in + 8);

	bq_store32(scales, scale & 0x3F3F3F3Fu);
	bq_store32(mins, min & 0x3F3F3F3Fu);
	bq_store32(scales + 4, (halves & 0x0F0F0F0Fu) | (scale >> 6 & 0x03030303u) << 4);
	bq_store32(mins + 4, (halves >> 4 & 0x0F0F0F0Fu) | (min >> 6 & 0x03030303u) << 4);
}
