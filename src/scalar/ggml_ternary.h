/* SPDX-License-Identifier: MIT
 * ggml_ternary.h - codes -1, 0 and 1, stored with 1 added, under the largest magnitude: q2_0, tq1_0 and tq2_0.
 */
#ifndef BQ_GGML_TERNARY_H
#define BQ_GGML_TERNARY_H

#include "ggml_search.h"

/* Returns the scale. A block that is not finite gets a NaN, and the codes 0. beyond: the code where the inverse of the scale is
 * infinite, so that no integer holds a quotient. */
static inline float bq_ternary_codes(size_t count, const float *x, uint8_t beyond, uint8_t *codes)
{
	const float scale = bq_largest_magnitude(count, x);

	if (!(scale < INFINITY)) {
		memset(codes, 0, count);
		return bq_float(BQ_F32_NAN);
	}

	const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

	if (!(inverse < INFINITY))
		memset(codes, beyond, count);
	else
		for (size_t i = 0; i < count; i++)
			codes[i] = (uint8_t)((int)roundf(x[i] * inverse) + 1); /* half away from zero */
	return scale;
}

/* Five trits in a byte as a fraction of 3^5 in units of 1/256, rounded up: multiplied by 3, the next trit comes out at the top.
 * stride: from one trit's code to the next one's. ntrits: 4 or 5. */
static inline __attribute__((always_inline)) uint8_t bq_pack_trits_of_byte(const uint8_t *code, int stride, int ntrits)
{
	unsigned number = 0;

	for (int n = 0; n < 5; n++)
		number = 3 * number + (n < ntrits ? code[n * stride] : 0u);
	return (uint8_t)((256 * number + 242) / 243);
}

static inline __attribute__((always_inline)) void bq_unpack_trits_of_byte(uint8_t byte, int stride, int ntrits, uint8_t *code)
{
	for (int n = 0; n < ntrits; n++) {
		code[n * stride] = (uint8_t)(3 * byte >> 8);
		byte = (uint8_t)(3 * byte);
	}
}

/* 32 bytes with the values 32 apart, 16 with those 16 apart, 4 with four values 4 apart: 160 + 80 + 16 values. */
static inline void bq_pack_trits(const uint8_t codes[256], uint8_t out[52])
{
	for (int b = 0; b < 32; b++)
		out[b] = bq_pack_trits_of_byte(codes + b, 32, 5);
	for (int b = 0; b < 16; b++)
		out[32 + b] = bq_pack_trits_of_byte(codes + 160 + b, 16, 5);
	for (int b = 0; b < 4; b++)
		out[48 + b] = bq_pack_trits_of_byte(codes + 240 + b, 4, 4);
}

static inline void bq_unpack_trits(const uint8_t in[52], uint8_t codes[256])
{
	for (int b = 0; b < 32; b++)
		bq_unpack_trits_of_byte(in[b], 32, 5, codes + b);
	for (int b = 0; b < 16; b++)
		bq_unpack_trits_of_byte(in[32 + b], 16, 5, codes + 160 + b);
	for (int b = 0; b < 4; b++)
		bq_unpack_trits_of_byte(in[48 + b], 4, 4, codes + 240 + b);
}

#endif
