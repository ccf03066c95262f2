/* SPDX-License-Identifier: MIT
 * parameters.h - from ranges to the parameters that a decoder will see, and back from the stored ones.
 */
#ifndef BQ_PARAMETERS_H
#define BQ_PARAMETERS_H

#include "layouts.h"
#include "rules.h"
#include "workspace.h"

/* What every unit of a tensor shares while it is encoded. */
struct bq_encoder {
	const struct bq_plan *plan;
	const struct bq_rules *rules;
	const struct bq_kernels *kernels;
	uint32_t work;    /* dtype that the parameters' arithmetic is rounded to */
	float multiplier; /* the tensor-wide level of BQ_OUTER_MULTIPLIER; 1 without one */
};

/* The tensor-wide multiplier, from the range of the whole tensor; adds 1 to overflows where its dtype cannot hold it. */
float bq_multiplier(const struct bq_encoder *encoder, const struct bq_tensor_range *range, uint64_t *overflows);

/* Parameters of ncells blocks from their ranges workspace->lo, hi (BQ_SIGNED: lo holds the extreme values):
 *   scales       their codes, tight in the innermost level's dtype
 *   zeros        one byte each, if the scheme has a zero point
 *   workspace->scale, zero   what the encode kernels take
 * Returns how many blocks have a scale that its dtype cannot hold. */
uint32_t bq_make_parameters(const struct bq_encoder *encoder, uint32_t ncells, const struct bq_workspace *workspace, uint8_t *scales,
	uint8_t *zeros);

/* Widens count parameters of any level dtype. */
void bq_widen(const struct bq_kernels *kernels, uint32_t dtype, const uint8_t *codes, size_t count, float *out);

/* One unit's decoded scales (or mins) from the codes of each level, inner to outer; workspace->level is scratch. */
void bq_join_levels(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_kernels *kernels,
	const struct bq_level *level, uint32_t nlevels, uint8_t *const *codes, uint32_t ncells, const struct bq_workspace *workspace, float *out);

#endif
