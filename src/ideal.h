/* SPDX-License-Identifier: MIT
 * ideal.h - from ranges to the parameters that no dtype has rounded yet.
 */
#ifndef BQ_IDEAL_H
#define BQ_IDEAL_H

#include "geometry.h"
#include "rules.h"
#include "workspace.h"

/* The tensor-wide levels, decoded and joined, and what the codes below them are made with: the same, but where they were
 * replaced since they were not finite. Both are 1 without such levels. */
struct bq_top {
	float decoded, divisor;
};

/* What every unit of a tensor shares while it is encoded. */
struct bq_encoder {
	const struct bq_plan *plan;
	const struct bq_rules *rules;
	const struct bq_kernels *kernels;
	uint32_t correct;             /* 1: without the reference's faults */
	uint32_t work, quotient_work; /* dtypes that the parameters' arithmetic and the quotient are rounded to */
	struct bq_top top_scale, top_min;
};

/* The lowest and the highest code of the plan's values; of a table, the largest magnitude of its entries, either sign. */
void bq_code_range(const struct bq_plan *plan, float *min, float *max);

/* Ideal parameters of ncells blocks, from block `first` on, from their ranges workspace->lo, hi (BQ_SIGNED: lo holds the extreme values):
 * workspace->scale[0], min[0], and zero, made of the ideal scale. */
void bq_ideal(const struct bq_encoder *encoder, uint32_t first, uint32_t ncells, const struct bq_workspace *workspace);

/* From those, the ideal parents of the levels 1..nlevels - 1 of a unit: workspace->scale[i], min[i]. */
void bq_ideal_parents(const struct bq_encoder *encoder, const struct bq_unit *unit, uint32_t nlevels, const struct bq_workspace *workspace);

/* Merges into range what a unit's level below the tensor-wide ones asks of them. */
void bq_merge_ideal(const struct bq_encoder *encoder, const struct bq_unit *unit, const struct bq_workspace *workspace,
	struct bq_tensor_range *range);

/* What the parents of a dtype's codes are made for: the largest magnitude of its codes; any number where that is float32's. */
float bq_top_code(uint32_t dtype);

/* The ideal parameter of a block of an outer level, from the largest magnitude of its children and their dtype. */
float bq_ideal_parent(const struct bq_encoder *encoder, uint32_t child_dtype, float largest_child);

/* The zero point of a block, of codes min..max, that begins at lo, with a scale. */
float bq_zero_point(const struct bq_encoder *encoder, float min, float max, float lo, float scale);

/* The largest magnitude of a range. */
float bq_largest(float lo, float hi);

#endif
