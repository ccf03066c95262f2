/* SPDX-License-Identifier: MIT
 * codes.h - what a plan tells the kernels that make codes of values and values of codes.
 */
#ifndef BQ_CODES_H
#define BQ_CODES_H

#include <math.h>

#include "rules.h"
#include "workspace.h"

/* What the encode kernels take of a decoded scale; where it may be 0, what gives the codes of 0. */
static inline float bq_divisor(const struct bq_rules *rules, float scale)
{
	if (rules->quotient == BQ_RECIPROCAL)
		return scale != 0 ? 1 / scale : 0;
	return scale == 0 && rules->zero_scale == BQ_ZERO_FACTOR && rules->quotient == BQ_DIVIDE ? INFINITY : scale;
}

/* For a row of a unit whose first cell is cell: parameters are workspace->scale[0], zero, min[0]. */
void bq_describe_quantizer(const struct bq_plan *plan, uint32_t work, const struct bq_workspace *workspace, uint32_t cell,
	struct bq_quantizer *quantizer);
void bq_describe_dequantizer(const struct bq_plan *plan, uint32_t work, uint32_t result, const struct bq_workspace *workspace,
	uint32_t cell, struct bq_dequantizer *dequantizer);

#endif
