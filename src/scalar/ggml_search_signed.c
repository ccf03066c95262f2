/* SPDX-License-Identifier: MIT
 * ggml_search_signed.c - ggml's search for a scale of either sign, in its order.
 */
#include "ggml_search.h"

static int32_t signed_code(int levels, float inverse, float x)
{
	return bq_clamp(bq_round_by_magic(inverse * x), -levels, levels - 1);
}

/* Their quotient is the best scale for the codes. */
struct sums {
	float product, square;
};

/* product: weight times value, which is the same for every inverse. */
static struct sums try_inverse(size_t count, int levels, const float *x, const float *weight, const float *product, float inverse)
{
	struct sums sums = { 0.0f, 0.0f };

	for (size_t i = 0; i < count; i++) {
		const float code = (float)signed_code(levels, inverse, x[i]);

		sums.product += product[i] * code;
		sums.square += (weight[i] * code) * code;
	}
	return sums;
}

float bq_search_signed_scale_from(
	float largest, size_t count, int levels, const float *x, const float *weight, uint8_t *codes)
{
	if (fabsf(largest) < BQ_SEARCH_TINY) {
		memset(codes, 0, count);
		return 0.0f;
	}

	float squares[BQ_SEARCH_MAX_COUNT], product[BQ_SEARCH_MAX_COUNT];

	for (size_t i = 0; i < count && !weight; i++)
		squares[i] = x[i] * x[i];
	if (!weight)
		weight = squares;
	for (size_t i = 0; i < count; i++)
		product[i] = weight[i] * x[i];

	float inverse = (float)-levels / largest;
	struct sums sums = try_inverse(count, levels, x, weight, product, inverse);
	float scale = sums.square != 0.0f ? sums.product / sums.square : 0.0f;
	float best = scale * sums.product;

	for (int k = -9; k <= 9; k++) {
		const float candidate = -((float)levels + 0.1f * (float)k) / largest;

		if (k == 0)
			continue;
		sums = try_inverse(count, levels, x, weight, product, candidate);
		if (sums.square > 0.0f && sums.product * sums.product > best * sums.square) {
			inverse = candidate;
			scale = sums.product / sums.square;
			best = scale * sums.product;
		}
	}
	for (size_t i = 0; i < count; i++)
		codes[i] = (uint8_t)(signed_code(levels, inverse, x[i]) + levels);
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
