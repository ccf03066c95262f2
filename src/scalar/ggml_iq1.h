/* SPDX-License-Identifier: MIT
 * ggml_iq1.h - what iq1_s and iq1_m share: levels -1, 0, 1, all shifted up or down by an eighth, under a positive scale.
 *
 * In the order of the values, the first get the lowest level, the next the middle one, the last the highest; all ways to cut
 * that row in three are tried, with both shifts. Groups of 8 that are no point of the grid then take a neighbouring one.
 */
#ifndef BQ_GGML_IQ1_H
#define BQ_GGML_IQ1_H

#include <math.h>

#include "ggml_iq.h"

#define BQ_IQ1_MAX_VALUES 32 /* of a sub-block */
#define BQ_IQ1_MAX_SUB_BLOCKS 16

/* What level 0, 1, 2 is worth, shifted up and down. */
static const float bq_iq1_levels[2][3] = { { -0.875f, 0.125f, 1.125f }, { -1.125f, -0.125f, 0.875f } };

/* The best way so far to cut a sub-block, its scale, and its groups' shifts, the first group's in the highest bit: 1 for down.
 * first is -1 if all weights are 0. */
struct bq_iq1_cut {
	int first, second, shifts;
	float scale, fit;
};

/* What the search of a type goes by. */
struct bq_iq1_rule {
	int sub_values;
	float tiny; /* a sub-block whose magnitudes are all below this is zeros */
	/* The cut with the best fit, in the order of the values. */
	struct bq_iq1_cut (*cut)(const float *x, const float *weight, const uint8_t *order);
	/* The codes of the sub-blocks' scales, of which one is largest, and the outer scale. */
	void (*store)(const float *x, const float *importance, float sigma, const float *scale, float largest,
		const struct bq_iq_tables *tables, struct bq_iq_block *block);
};

static inline void bq_iq1_try(struct bq_iq1_cut *best, int first, int second, int shifts, float product, float square)
{
	if (square > 0.0f && product * product > best->fit * square) {
		best->scale = product / square;
		best->fit = best->scale * product;
		best->first = first;
		best->second = second;
		best->shifts = shifts;
	}
}

/* importance: null for iq1_m alone. */
static inline void bq_iq1_weigh(int count, const float *x, const float *importance, float sigma, float *weight)
{
	for (int i = 0; i < count; i++)
		weight[i] = x[i] * x[i];
	if (importance)
		bq_weigh((size_t)count, x, importance, sigma, weight);
}

static inline float bq_iq1_largest(int count, const float *x)
{
	float largest = fabsf(x[0]);

	for (int i = 1; i < count; i++)
		if (fabsf(x[i]) > largest)
			largest = fabsf(x[i]);
	return largest;
}

/* The order of the values; of equals the first comes first. */
void bq_iq1_sort(int count, const float *x, uint8_t *order);

/* The levels of a cut. A negative scale turns the levels round, its own sign, and its shifts. */
void bq_iq1_cut_levels(int count, const uint8_t *order, struct bq_iq1_cut *cut, uint8_t *level);

/* Takes groups of 8 to the grid; if that changed one, fits the scale again. down[g]: the shift of group g. Returns 0 if a
 * group has no neighbour at a finite distance. */
int bq_iq1_to_grid(int count, const struct bq_iq_tables *tables, const float *x, const float *weight, const uint8_t *down,
	const uint8_t *level, float *scale, uint16_t *point);

/* bq_iq_search by a rule. Inlined with each, 3 % faster for iq1_m. */
static inline int bq_iq1_search(const struct bq_iq1_rule *rule, const float *x, const float *importance, const void *buffer,
	struct bq_iq_block *block)
{
	const int count = rule->sub_values, groups = count / 8;
	const struct bq_iq_tables tables = bq_iq_tables_in(&bq_iq1_grid, buffer);
	const float sigma = 2.0f * bq_sum_of_squares(BQ_IQ_VALUES, x) / BQ_IQ_VALUES;
	float scale[BQ_IQ1_MAX_SUB_BLOCKS] = { 0 }, largest = 0.0f;

	if (!isfinite(sigma))
		return 0;
	for (int j = 0; j < BQ_IQ_VALUES / count; j++) {
		const float *values = x + count * j;
		float weight[BQ_IQ1_MAX_VALUES];
		uint8_t order[BQ_IQ1_MAX_VALUES], level[BQ_IQ1_MAX_VALUES], *down = block->signs + groups * j;

		if (bq_iq1_largest(count, values) < rule->tiny)
			continue;
		bq_iq1_weigh(count, values, importance ? importance + count * j : NULL, sigma, weight);
		bq_iq1_sort(count, values, order);

		struct bq_iq1_cut cut = rule->cut(values, weight, order);

		if (cut.first < 0)
			continue;
		bq_iq1_cut_levels(count, order, &cut, level);
		for (int g = 0; g < groups; g++)
			down[g] = cut.shifts >> (groups - 1 - g) & 1;
		if (!bq_iq1_to_grid(count, &tables, values, weight, down, level, &cut.scale, block->point + groups * j))
			return 0;
		scale[j] = cut.scale;
		largest = largest > cut.scale ? largest : cut.scale;
	}
	if (largest == 0.0f)
		memset(block->signs, 0, sizeof(block->signs));
	else
		rule->store(x, importance, sigma, scale, largest, &tables, block);
	return 1;
}

#endif
