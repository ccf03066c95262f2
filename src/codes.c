/* SPDX-License-Identifier: MIT
 * codes.c - a plan and its parameters, as the kernels want them.
 */
#include "codes.h"

#include <math.h>

#include "ideal.h"

void bq_divisors(const struct bq_rules *rules, uint32_t count, const float *from, float *scale)
{
	const int may_be_zero = rules->quotient == BQ_DIVIDE && rules->zero_scale == BQ_ZERO_FACTOR;

	for (uint32_t c = 0; c < count; c++) {
		if (rules->quotient == BQ_RECIPROCAL)
			scale[c] = from[c] != 0 ? 1 / from[c] : 0;
		else
			scale[c] = from[c] == 0 && may_be_zero ? INFINITY : from[c];
	}
}

void bq_describe_quantizer(const struct bq_plan *plan, uint32_t work, const struct bq_workspace *w, uint32_t cell,
	struct bq_quantizer *quantizer)
{
	const struct bq_rules *rules = bq_rules(plan->scheme.rules);
	const struct bq_quantizer q = {
		.value = plan->scheme.value,
		.scale = w->scale[0] + cell,
		.zero = plan->scheme.zero || plan->scheme.nmins ? w->zero + cell : NULL,
		.min = plan->scheme.nmins ? w->min[0] + cell : NULL,
		.quotient = rules->quotient,
		.round = rules->round,
		.zero_after = rules->zero_after || plan->scheme.nmins,
		.work = work,
		/* A zero point of +0 drops it by itself, one of -0 does not. */
		.drop_negative_zero = rules->drop_negative_zero[plan->scheme.value] && !plan->scheme.zero,
		.nan_code = rules->nan_code[plan->scheme.value],
		.codebook_end = plan->codebook_end,
		.codebook_code = plan->codebook_code,
		.ncodebook = plan->ncodebook,
	};

	*quantizer = q;
	bq_code_range(plan, &quantizer->code_min, &quantizer->code_max);
}

void bq_describe_dequantizer(const struct bq_plan *plan, uint32_t work, uint32_t result, const struct bq_workspace *w,
	uint32_t cell, struct bq_dequantizer *dequantizer)
{
	const struct bq_dequantizer d = {
		.value = plan->scheme.value,
		.scale = w->scale[0] + cell,
		.zero = plan->scheme.zero || plan->scheme.nmins ? w->zero + cell : NULL,
		.min = plan->scheme.nmins ? w->min[0] + cell : NULL,
		.work = work,
		.result = result,
		.codebook = plan->ncodebook ? plan->codebook : NULL,
		.ncodebook = plan->ncodebook,
	};

	*dequantizer = d;
}
