/* SPDX-License-Identifier: MIT
 * ggml_search_positive.c - ggml's search for a scale of values that are not negative, in its order.
 */
#include "ggml_search.h"

static int round_at_most(int top, float x)
{
	const int code = bq_round_by_magic(x);

	return code < top ? code : top;
}

float bq_search_positive_scale(size_t count, int top, const float *x, const float *weight, uint8_t *codes)
{
	float largest = 0.0f;

	for (size_t i = 0; i < count; i++)
		if (x[i] > largest)
			largest = x[i];
	if (largest < BQ_SEARCH_TINY) {
		for (size_t i = 0; i < count; i++)
			codes[i] = 0;
		return 0.0f;
	}

	float inverse = (float)top / largest;
	float scale = 1.0f / inverse;
	float error = 0.0f;

	for (size_t i = 0; i < count; i++) {
		const float difference = x[i] - scale * (float)(uint8_t)bq_round_by_magic(inverse * x[i]);

		error += (weight[i] * difference) * difference;
	}
	for (int k = -4; k <= 4; k++) {
		if (k == 0)
			continue;

		const float candidate = (0.1f * (float)k + (float)top) / largest;
		float candidate_error = 0.0f;

		scale = 1.0f / candidate;
		for (size_t i = 0; i < count; i++) {
			const float difference = x[i] - scale * (float)round_at_most(top, candidate * x[i]);

			candidate_error += (weight[i] * difference) * difference;
		}
		if (candidate_error < error) {
			error = candidate_error;
			inverse = candidate;
		}
	}

	float sum_product = 0.0f, sum_square = 0.0f;

	for (size_t i = 0; i < count; i++) {
		const int rounded = round_at_most(top, inverse * x[i]);
		const float code = (float)rounded;

		codes[i] = (uint8_t)rounded;
		sum_product += (weight[i] * x[i]) * code;
		sum_square += (weight[i] * code) * code;
	}

	/* Then one code at a time: is there a better one, given all the others? */
	for (int pass = 0; pass < 5; pass++) {
		int changes = 0;

		for (size_t i = 0; i < count; i++) {
			const float code = (float)codes[i];
			float product = sum_product - (weight[i] * x[i]) * code;
			float square = sum_square - (weight[i] * code) * code;

			if (!(product > 0.0f && square > 0.0f))
				continue;

			const int better = round_at_most(top, (x[i] * square) / product);

			if (better == codes[i])
				continue;
			product += (weight[i] * x[i]) * (float)better;
			square += (weight[i] * (float)better) * (float)better;
			if ((product * product) * sum_square > (sum_product * sum_product) * square) {
				codes[i] = (uint8_t)better;
				sum_product = product;
				sum_square = square;
				changes++;
			}
		}
		if (changes == 0)
			break;
	}
	return sum_square > 0.0f ? sum_product / sum_square : 0.0f;
}
