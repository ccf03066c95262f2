/* SPDX-License-Identifier: MIT
 * ggml_search_signed.c - ggml's search for a scale of either sign, in its order.
 */
#include <math.h>

#include "ggml_search.h"

/* Rounds with one inverse scale; returns the sums whose quotient is the best scale for the codes. */
static void try_signed_scale(size_t count, int levels, const float *x, const float *weight, float inverse,
	uint8_t *codes, float *sum_product, float *sum_square)
{
	*sum_product = 0.0f;
	*sum_square = 0.0f;
	for (size_t i = 0; i < count; i++) {
		const int code = bq_clamp(bq_round_by_magic(inverse * x[i]), -levels, levels - 1);
		const float w = weight ? weight[i] : x[i] * x[i];

		codes[i] = (uint8_t)(code + levels);
		*sum_product += (w * x[i]) * (float)code;
		*sum_square += (w * (float)code) * (float)code;
	}
}

float bq_search_signed_scale_from(
	float largest, size_t count, int levels, const float *x, const float *weight, uint8_t *codes)
{
	uint8_t candidate[BQ_SEARCH_MAX_COUNT];
	float sum_product, sum_square;

	if (fabsf(largest) < BQ_SEARCH_TINY) {
		memset(codes, 0, count);
		return 0.0f;
	}

	try_signed_scale(count, levels, x, weight, (float)-levels / largest, codes, &sum_product, &sum_square);

	float scale = sum_square != 0.0f ? sum_product / sum_square : 0.0f;
	float best = scale * sum_product;

	for (int k = -9; k <= 9; k++) {
		if (k == 0)
			continue;
		try_signed_scale(count, levels, x, weight, -((float)levels + 0.1f * (float)k) / largest, candidate,
			&sum_product, &sum_square);
		if (sum_square > 0.0f && sum_product * sum_product > best * sum_square) {
			memcpy(codes, candidate, count);
			scale = sum_product / sum_square;
			best = scale * sum_product;
		}
	}
	return scale;
}

float bq_search_signed_scale(size_t count, int levels, const float *x, const float *weight, uint8_t *codes)
{
	const float largest = bq_first_largest(count, x);

	if ((bq_bits(largest) & BQ_F32_INFINITY) == BQ_F32_INFINITY) {
		memset(codes, 0, count);
		return bq_float(BQ_F32_NAN);
	}
	return bq_search_signed_scale_from(largest, count, levels, x, weight, codes);
}
