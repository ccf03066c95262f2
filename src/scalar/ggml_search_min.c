/* SPDX-License-Identifier: MIT
 * ggml_search_min.c - ggml's search for a scale and a min, in its order.
 */
#include "ggml_search.h"

const struct bq_search_steps bq_search_steps_q2_k = { -0.5f, 0.1f, 15, 1 };
const struct bq_search_steps bq_search_steps_q4_k = { -1.0f, 0.1f, 20, 0 };
const struct bq_search_steps bq_search_steps_q5_k = { -0.5f, 0.1f, 15, 0 };
const struct bq_search_steps bq_search_steps_weighted = { -0.9f, 0.05f, 36, 0 };

/* The loops without a sum are apart from those with one, and codes are floats: compilers make vectors of them, 1.4 times as
 * fast as in one loop. */
static float weighted_error(
	size_t count, const float *x, const float *weight, float scale, float min, const float *code, int absolute)
{
	float term[BQ_SEARCH_MAX_COUNT], sum = 0.0f;

	for (size_t i = 0; i < count; i++) {
		const float difference = (scale * code[i] + min) - x[i];

		term[i] = weight[i] * (absolute ? fabsf(difference) : difference * difference);
	}
	for (size_t i = 0; i < count; i++)
		sum += term[i];
	return sum;
}

static void round_codes(size_t count, int top, const float *x, float inverse, float low, float *code)
{
	for (size_t i = 0; i < count; i++)
		code[i] = (float)bq_clamp(bq_round_by_magic(inverse * (x[i] - low)), 0, top);
}

float bq_search_scale_and_min(size_t count, int top, const float *x, const float *weight,
	const struct bq_search_steps *steps, uint8_t *codes, float *min)
{
	float code[BQ_SEARCH_MAX_COUNT];
	float low = x[0], high = x[0];
	float sum_weight = weight[0], sum_x = weight[0] * x[0];

	for (size_t i = 1; i < count; i++) {
		if (x[i] < low)
			low = x[i];
		if (x[i] > high)
			high = x[i];
		sum_weight += weight[i];
		sum_x += weight[i] * x[i];
	}
	if (low > 0.0f)
		low = 0.0f;
	if (high == low) {
		for (size_t i = 0; i < count; i++)
			codes[i] = 0;
		*min = -low;
		return 0.0f;
	}

	float inverse = (float)top / (high - low);
	float scale = 1.0f / inverse;

	round_codes(count, top, x, inverse, low, code);
	for (size_t i = 0; i < count; i++)
		codes[i] = (uint8_t)(int)code[i];

	float error = weighted_error(count, x, weight, scale, low, code, steps->absolute);

	for (int k = 0; k <= steps->last; k++) {
		float sum_code = 0.0f, sum_square = 0.0f, sum_product = 0.0f;

		/* low is the best so far, no longer the least value: the reference does not restart from that. */
		inverse = ((steps->first + steps->step * (float)k) + (float)top) / (high - low);
		round_codes(count, top, x, inverse, low, code);
		for (size_t i = 0; i < count; i++) {
			const float product = weight[i] * code[i];

			sum_code += product;
			sum_square += product * code[i];
			sum_product += product * x[i];
		}

		/* Least squares: the scale and the min that fit these codes best. */
		const float determinant = sum_weight * sum_square - sum_code * sum_code;

		if (!(determinant > 0.0f))
			continue;

		float candidate_scale = (sum_weight * sum_product - sum_x * sum_code) / determinant;
		float candidate_low = (sum_square * sum_x - sum_code * sum_product) / determinant;

		if (candidate_low > 0.0f) {
			candidate_low = 0.0f;
			candidate_scale = sum_product / sum_square;
		}

		const float candidate_error =
			weighted_error(count, x, weight, candidate_scale, candidate_low, code, steps->absolute);

		if (candidate_error < error) {
			for (size_t i = 0; i < count; i++)
				codes[i] = (uint8_t)(int)code[i];
			error = candidate_error;
			scale = candidate_scale;
			low = candidate_low;
		}
	}
	*min = -low;
	return scale;
}
