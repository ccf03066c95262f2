/* SPDX-License-Identifier: MIT
 * ggml_search_turns.c - ggml's search for the scale of 16 values where one code at a time is changed, in its order.
 */
#include "ggml_search.h"

#define VALUES 16
#define LEVELS 4

float bq_search_by_turns(const float x[16], uint8_t codes[16])
{
	const float largest = bq_largest_number(VALUES, x);
	int32_t code[VALUES];
	float sum_product = 0.0f, sum_square = 0.0f;

	if (fabsf(largest) < BQ_SEARCH_TINY) {
		memset(codes, 0, VALUES);
		return 0.0f;
	}

	const float inverse = (float)-LEVELS / largest;

	for (int i = 0; i < VALUES; i++) {
		const float weight = x[i] * x[i];

		code[i] = bq_clamp(bq_round_by_magic(inverse * x[i]), -LEVELS, LEVELS - 1);
		sum_product += (weight * x[i]) * (float)code[i];
		sum_square += (weight * (float)code[i]) * (float)code[i];
	}
	for (int pass = 0; pass < 5; pass++) {
		int changes = 0;

		for (int i = 0; i < VALUES; i++) {
			const float weight = x[i] * x[i];
			float product = sum_product - (weight * x[i]) * (float)code[i];

			if (!(product > 0.0f))
				continue;

			float square = sum_square - (weight * (float)code[i]) * (float)code[i];
			const int32_t better =
				bq_clamp(bq_round_by_magic((x[i] * square) / product), -LEVELS, LEVELS - 1);

			if (better == code[i])
				continue;
			product += (weight * x[i]) * (float)better;
			square += (weight * (float)better) * (float)better;
			if (square > 0.0f && (product * product) * sum_square > (sum_product * sum_product) * square) {
				code[i] = better;
				sum_product = product;
				sum_square = square;
				changes++;
			}
		}
		if (changes == 0)
			break;
	}
	for (int i = 0; i < VALUES; i++)
		codes[i] = (uint8_t)(code[i] + LEVELS);
	return sum_square > 0.0f ? sum_product / sum_square : 0.0f;
}
