/* SPDX-License-Identifier: MIT
 * codebook.c - the tables of values that are listed, not computed, and what the kernels need of one.
 */
#include "codebook.h"

#include <math.h>
#include <string.h>

/* bitsandbytes' NormalFloat: quantiles of a normal distribution between 0.9677083 and its mirror image, over the largest. */
static const float nf4[16] = {
	-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f, -0.18477343022823334f,
	-0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f, 0.33791524171829224f,
	0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1,
};

static const float iq4_nl[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

/* The highest float32 that is not above the middle of two: what is as near to either belongs to the lower. */
static float end_of(float lower, float upper)
{
	const double middle = ((double)lower + (double)upper) / 2;
	const float nearest = (float)middle;

	return nearest > middle ? nextafterf(nearest, lower) : nearest;
}

enum bq_status bq_prepare_codebook(struct bq_plan *plan, const float *given)
{
	const struct bq_scheme *scheme = &plan->scheme;
	const float *values = scheme->value == BQ_NF4 ? nf4 : scheme->value == BQ_IQ4_NL ? iq4_nl : given;
	const uint32_t count = scheme->value == BQ_CODEBOOK ? scheme->codebook : 16;

	if (!values || count < 2 || count > BQ_MAX_CODEBOOK)
		return BQ_BAD_CODEBOOK;
	memcpy(plan->codebook, values, count * sizeof(float));
	for (uint32_t code = 0; code < count; code++) {
		uint32_t at = code;

		if (!isfinite(values[code]))
			return BQ_BAD_CODEBOOK;
		for (; at > 0 && values[plan->codebook_code[at - 1]] > values[code]; at--)
			plan->codebook_code[at] = plan->codebook_code[at - 1];
		plan->codebook_code[at] = (uint8_t)code;
	}
	for (uint32_t i = 0; i + 1 < count; i++) {
		const float lower = values[plan->codebook_code[i]], upper = values[plan->codebook_code[i + 1]];

		if (lower == upper)
			return BQ_BAD_CODEBOOK;
		plan->codebook_end[i] = end_of(lower, upper);
	}
	plan->codebook_end[count - 1] = INFINITY;
	plan->ncodebook = count;
	for (plan->value_bits = 1; 1u << plan->value_bits < count; plan->value_bits++)
		;
	return BQ_OK;
}
