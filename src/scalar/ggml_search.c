/* SPDX-License-Identifier: MIT
 * ggml_search.c - ggml's searches for scales, value by value in its order: every sum runs from the first value to the last
 * and every product is bracketed as written, so that the bytes are ggml's (ggml-quants.c).
 */
#include "ggml_search.h"

const struct bq_search_steps bq_search_steps_q4_k = { -1.0f, 0.1f, 20, 0 };
const struct bq_search_steps bq_search_steps_weighted = { -0.9f, 0.05f, 36, 0 };

float bq_first_largest(size_t count, const float *x)
{
	uint32_t largest = 0;
	float value = 0.0f;

	/* Bits without the sign are in the order of the magnitudes, infinity and NaN on top. */
	for (size_t i = 0; i < count; i++) {
		const uint32_t magnitude = bq_bits(x[i]) & 0x7FFFFFFF;

		if (magnitude > largest) {
			largest = magnitude;
			value = x[i];
		}
	}
	return value;
}

int bq_all_finite(size_t count, const float *x)
{
	for (size_t i = 0; i < count; i++)
		if ((bq_bits(x[i]) & BQ_F32_INFINITY) == BQ_F32_INFINITY)
			return 0;
	return 1;
}

static float weighted_error(
	size_t count, const float *x, const float *weight, float scale, float min, const uint8_t *codes, int absolute)
{
	float sum = 0.0f;

	for (size_t i = 0; i < count; i++) {
		const float difference = (scale * (float)codes[i] + min) - x[i];

		sum += weight[i] * (absolute ? (difference < 0.0f ? -difference : difference) : difference * difference);
	}
	return sum;
}

float bq_search_scale_and_min(size_t count, int top, const float *x, const float *weight,
	const struct bq_search_steps *steps, uint8_t *codes, float *min)
{
	uint8_t candidate[BQ_SEARCH_MAX_COUNT];
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

	for (size_t i = 0; i < count; i++)
		codes[i] = (uint8_t)bq_clamp(bq_round_by_magic(inverse * (x[i] - low)), 0, top);

	float error = weighted_error(count, x, weight, scale, low, codes, steps->absolute);

	for (int k = 0; k <= steps->last; k++) {
		float sum_code = 0.0f, sum_square = 0.0f, sum_product = 0.0f;

		/* low is the best so far, no longer the least value: the reference does not restart from that. */
		inverse = ((steps->first + steps->step * (float)k) + (float)top) / (high - low);
		for (size_t i = 0; i < count; i++) {
			const int rounded = bq_clamp(bq_round_by_magic(inverse * (x[i] - low)), 0, top);
			const float code = (float)rounded;

			candidate[i] = (uint8_t)rounded;
			sum_code += weight[i] * code;
			sum_square += (weight[i] * code) * code;
			sum_product += (weight[i] * code) * x[i];
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
			weighted_error(count, x, weight, candidate_scale, candidate_low, candidate, steps->absolute);

		if (candidate_error < error) {
			memcpy(codes, candidate, count);
			error = candidate_error;
			scale = candidate_scale;
			low = candidate_low;
		}
	}
	*min = -low;
	return scale;
}

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

float bq_scale_of_largest(size_t count, int top, const float *x, uint8_t *codes)
{
	float largest = 0.0f;

	for (size_t i = 0; i < count; i++)
		if (x[i] > largest)
			largest = x[i];

	const float inverse = largest > 0.0f ? (float)top / largest : 0.0f;

	for (size_t i = 0; i < count; i++) {
		const uint8_t code = (uint8_t)bq_round_by_magic(inverse * x[i]);

		codes[i] = code < top ? code : (uint8_t)top;
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

void bq_unpack_scales_and_mins(const uint8_t *in, uint8_t *scales, uint8_t *mins)
{
	for (int j = 0; j < 4; j++) {
		scales[j] = in[j] & 63;
		mins[j] = in[j + 4] & 63;
		scales[j + 4] = (uint8_t)((in[j + 8] & 15) | in[j] >> 6 << 4);
		mins[j + 4] = (uint8_t)(in[j + 8] >> 4 | in[j + 4] >> 6 << 4);
	}
}
