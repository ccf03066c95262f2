/* SPDX-License-Identifier: MIT
 * ggml_search_levels.c - ggml's search for a scale of values from a table of levels, in its order.
 */
#include "ggml_iq4.h"

const int8_t bq_iq4_levels[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

uint8_t bq_nearest_level(float x)
{
	unsigned above = 1;

	/* NaN gets the highest. */
	while (above < 16 && !(x < (float)bq_iq4_levels[above]))
		above++;
	if (above == 16)
		return 15;
	/* Below the lowest the second one is not the nearer; halfway the upper one is it. */
	return (uint8_t)(x - (float)bq_iq4_levels[above - 1] < (float)bq_iq4_levels[above] - x ? above - 1 : above);
}

struct sums {
	float product, square;
};

static struct sums try_inverse(const float x[32], const float weight[32], float inverse)
{
	struct sums sums = { 0.0f, 0.0f };

	for (int i = 0; i < 32; i++) {
		const float level = (float)bq_iq4_levels[bq_nearest_level(inverse * x[i])];

		sums.product += (weight[i] * level) * x[i];
		sums.square += (weight[i] * level) * level;
	}
	return sums;
}

float bq_search_levels(const float x[32], const float *importance, float sigma)
{
	const float largest = bq_largest_number(32, x);
	float weight[32];

	if (fabsf(largest) < BQ_SEARCH_TINY)
		return 0.0f;
	for (int i = 0; i < 32; i++)
		weight[i] = x[i] * x[i];
	if (importance)
		bq_weigh(32, x, importance, sigma, weight);

	struct sums sums = try_inverse(x, weight, 1.0f / (-largest / (float)bq_iq4_levels[0]));
	float scale = sums.square > 0.0f ? sums.product / sums.square : 0.0f;
	float best = scale * sums.product;

	for (int k = -7; k <= 7; k++) {
		sums = try_inverse(x, weight, (float)(k + bq_iq4_levels[0]) / largest);
		if (sums.square > 0.0f && sums.product * sums.product > best * sums.square) {
			scale = sums.product / sums.square;
			best = scale * sums.product;
		}
	}
	return scale;
}
