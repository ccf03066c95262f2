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

/* What level 0, 1, 2 is worth, shifted up and down. */
static const float bq_iq1_levels[2][3] = { { -0.875f, 0.125f, 1.125f }, { -1.125f, -0.125f, 0.875f } };

/* The best way so far to cut a sub-block, its scale, and its shifts: a number that each type reads its own way. */
struct bq_iq1_cut {
	int first, second, shifts;
	float scale, fit;
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
void bq_iq1_cut_levels(int count, const uint8_t *order, int all_shifts, struct bq_iq1_cut *cut, uint8_t *level);

/* Takes groups of 8 to the grid; if that changed one, fits the scale again. down[g]: the shift of group g. Returns 0 if a
 * group has no neighbour at a finite distance. */
int bq_iq1_to_grid(int count, const struct bq_iq_tables *tables, const float *x, const float *weight, const int *down,
	const uint8_t *level, float *scale, uint16_t *point);

#endif
