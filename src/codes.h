/* SPDX-License-Identifier: MIT
 * codes.h - what a plan tells the kernels that make codes of values and values of codes.
 */
#ifndef BQ_CODES_H
#define BQ_CODES_H

#include "rules.h"
#include "workspace.h"

/* What the encode kernels take of count scales; where one may be 0, what gives the codes of 0. from may be scale. */
void bq_divisors(const struct bq_rules *rules, uint32_t count, const float *from, float *scale);

/* For a row of a unit whose first cell is cell: parameters are workspace->scale[0], zero, min[0]. */
void bq_describe_quantizer(const struct bq_plan *plan, uint32_t work, const struct bq_workspace *workspace, uint32_t cell,
	struct bq_quantizer *quantizer);
void bq_describe_dequantizer(const struct bq_plan *plan, uint32_t work, uint32_t result, const struct bq_workspace *workspace,
	uint32_t cell, struct bq_dequantizer *dequantizer);

#endif
