/* SPDX-License-Identifier: MIT
 * overflow.c - which blocks of a fused kernel are lost though their weights are finite.
 */
#include "overflow.h"

#include <math.h>

#include "calibrate.h"
#include "dtype.h"
#include "ideal.h"
#include "values.h"

/* With one more an exponent of infinity goes over into the sign. */
int bq_any_overflow(const struct bq_layout *layout, const uint8_t *blocks, uint64_t nblocks)
{
	const uint8_t *const end = blocks + nblocks * layout->block_nbytes;
	uint32_t any = 0;

	for (const uint8_t *half = blocks + layout->halves_at; layout->halves == 1 && half < end; half += layout->block_nbytes)
		any |= (bq_load16(half) & 0x7C00u) + 0x0400;
	for (const uint8_t *two = blocks + layout->halves_at; layout->halves == 2 && two < end; two += layout->block_nbytes)
		any |= (bq_load32(two) & 0x7C007C00u) + 0x04000400;
	if (layout->scattered_half)
		for (const uint8_t *block = blocks; block < end; block += layout->block_nbytes)
			any |= (layout->scattered_half(block) & 0x7C00u) + 0x0400;
	return (any & 0x80008000u) != 0;
}

static float magnitude(float a, float b)
{
	return fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b);
}

/* The largest magnitude that blocks of a scheme stand for: every code at its end. */
static float reach_of(const struct bq_plan *plan)
{
	float lowest, highest, reach;

	bq_code_range(plan, &lowest, &highest);
	reach = magnitude(lowest, highest);
	for (uint32_t i = 0; i < plan->scheme.nscales; i++)
		reach *= magnitude(bq_dtype(plan->scheme.scale[i].dtype)->min, bq_dtype(plan->scheme.scale[i].dtype)->max);
	return reach;
}

/* Importance times the square of a block's largest weight, or 1: up to here no search that gives nothing where its sums
 * overflow squares one of 2^64 or more. Of iq1_s, 32 weights: 32 * sqrt(3) * 1.125 * this; of iq1_m, 16: * 3.125. */
#define HEAVIEST 0x1p57f
#define BLOCKS 64 /* looked at in one go */

/* Whether some block could be, by the largest of all: mostly none, in a fraction of the time that a look at each takes. */
static int may_be_lost(const float *x, float heaviest, size_t count, float reach)
{
	const float most = isinf(reach) && heaviest == 0 ? 0 : bq_largest_magnitude(count, x);

	if (!(most <= reach))
		return 1;
	return !(heaviest * magnitude(most, 1) * magnitude(most, 1) <= HEAVIEST);
}

void bq_count_lost(const struct bq_encoder *encoder, const struct bq_layout *layout, const float *x, const float *importance,
	float heaviest, size_t count, const uint8_t *blocks, struct bq_report *report)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	const size_t group = scheme->scale[scheme->nscales - 1].edge[0];
	const int has_halves = layout->halves || layout->scattered_half;
	const float reach = has_halves && scheme->nscales == 1 ? INFINITY : reach_of(encoder->plan);

	if (!may_be_lost(x, heaviest, count, reach) && !bq_any_overflow(layout, blocks, count / layout->block_values))
		return;
	for (size_t first = 0; first < count; first += BLOCKS * group) {
		const size_t here = count - first < BLOCKS * group ? count - first : BLOCKS * group;
		float lo[BLOCKS] = { 0 }, hi[BLOCKS] = { 0 }, weight[BLOCKS] = { 0 };

		encoder->kernels->range(x + first, here, group, bq_skips_nan(encoder), lo, hi);
		if (importance)
			encoder->kernels->extreme(importance + first, here, group, weight);
		for (size_t b = 0; b < here / group; b++) {
			const float most = magnitude(magnitude(lo[b], hi[b]), 1);

			if (!isfinite(lo[b]) || !isfinite(hi[b]))
				continue;
			if (most <= reach && weight[b] * most * most > HEAVIEST)
				report->heavy_blocks++;
			else if (most > reach || (has_halves && bq_any_overflow(layout, blocks + (first / group + b) * layout->block_nbytes, 1)))
				report->overflow_blocks++;
		}
	}
}
