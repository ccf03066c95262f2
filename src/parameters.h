/* SPDX-License-Identifier: MIT
 * parameters.h - from ranges to the parameters that a decoder will see, and back from the stored ones.
 */
#ifndef BQ_PARAMETERS_H
#define BQ_PARAMETERS_H

#include "ideal.h"
#include "layouts.h"

/* Where the codes of one unit's parameters are, tight in their levels' dtypes, inner to outer. */
struct bq_codes {
	uint8_t *scale[BQ_MAX_LEVELS], *min[BQ_MAX_LEVELS];
	uint8_t *zero; /* one byte each */
};

/* Where a unit's are: in the planes, or in the workspace if the layout interleaves them. planes may be read only. */
void bq_find_codes(const struct bq_plan *plan, const void *const *planes, const struct bq_unit *unit, const struct bq_workspace *workspace,
	struct bq_codes *codes);

/* Stores the tensor-wide levels, from what bq_merge_ideal gathered, and sets encoder->top_scale, top_min. Returns how many
 * of them their dtype cannot hold. */
uint32_t bq_make_top(struct bq_encoder *encoder, const struct bq_tensor_range *range, const struct bq_workspace *workspace,
	const struct bq_codes *codes);

/* Sets encoder->top_scale, top_min from codes of the tensor-wide levels that are there. */
void bq_take_top(struct bq_encoder *encoder, const struct bq_workspace *workspace, const struct bq_codes *codes);

/* Stores the levels of a unit from the ranges of its blocks; workspace->scale[0], zero, min[0]: what the encode kernels take.
 * Returns how many blocks have a parameter that its dtype cannot hold. */
uint32_t bq_make_parameters(const struct bq_encoder *encoder, const struct bq_unit *unit, const struct bq_workspace *workspace,
	const struct bq_codes *codes);

/* The same from codes that are there. */
void bq_take_parameters(const struct bq_encoder *encoder, const struct bq_unit *unit, const struct bq_workspace *workspace,
	const struct bq_codes *codes);

/* Widens count parameters of any level dtype. */
void bq_widen(const struct bq_kernels *kernels, uint32_t dtype, const uint8_t *codes, size_t count, float *out);

/* One unit's decoded parameters from their codes: workspace->scale[0], zero, min[0]. */
void bq_decode_parameters(const struct bq_plan *plan, const struct bq_unit *unit, const struct bq_workspace *workspace,
	const struct bq_codes *codes);

#endif
