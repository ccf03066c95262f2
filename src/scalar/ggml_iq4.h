/* SPDX-License-Identifier: MIT
 * ggml_iq4.h - iq4_nl and iq4_xs: codes of 4 bits for 16 levels that are closer near zero.
 */
#ifndef BQ_GGML_IQ4_H
#define BQ_GGML_IQ4_H

#include "ggml_search.h"

extern const int8_t bq_iq4_levels[16];

/* The code of the nearest level. */
uint8_t bq_nearest_level(float x);

/* A scale of either sign for 32 levels: 0 if all values are tiny. x: finite. importance: null for weights x * x, else they
 * are importance * sqrt(sigma + x * x). */
float bq_search_levels(const float x[32], const float *importance, float sigma);

/* 32 codes for a scale, in 16 bytes. */
static inline void bq_store_levels(const float x[32], float scale, uint8_t out[16])
{
	const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

	for (int i = 0; i < 16; i++)
		out[i] = (uint8_t)(bq_nearest_level(inverse * x[i]) | bq_nearest_level(inverse * x[i + 16]) << 4);
}

static inline void bq_decode_levels(const uint8_t in[16], float scale, float out[32])
{
	for (int i = 0; i < 16; i++) {
		out[i] = scale * (float)bq_iq4_levels[in[i] & 15];
		out[i + 16] = scale * (float)bq_iq4_levels[in[i] >> 4];
	}
}

/* iq4_xs has 8 scales of 6 bits: the upper two bits of each in two bytes, then the lower four in four. */
static inline void bq_pack_scales_of_iq4_xs(const uint8_t scales[8], uint8_t out[6])
{
	out[0] = (uint8_t)(scales[0] >> 4 | scales[1] >> 4 << 2 | scales[2] >> 4 << 4 | scales[3] >> 4 << 6);
	out[1] = (uint8_t)(scales[4] >> 4 | scales[5] >> 4 << 2 | scales[6] >> 4 << 4 | scales[7] >> 4 << 6);
	for (int j = 0; j < 4; j++)
		out[2 + j] = (uint8_t)((scales[2 * j] & 15) | (scales[2 * j + 1] & 15) << 4);
}

static inline void bq_unpack_scales_of_iq4_xs(const uint8_t in[6], uint8_t scales[8])
{
	for (int j = 0; j < 8; j++)
		scales[j] = (uint8_t)((in[2 + j / 2] >> 4 * (j % 2) & 15) | (in[j / 4] >> 2 * (j % 4) & 3) << 4);
}

#endif
