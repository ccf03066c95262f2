/* SPDX-License-Identifier: MIT
 * calibrate.h - the range of each innermost block, measured or given.
 */
#ifndef BQ_CALIBRATE_H
#define BQ_CALIBRATE_H

#include "cells.h"
#include "ideal.h"

/* The weights of a band and what was given with them. */
struct bq_source {
	const struct bq_band *band;
	const uint8_t *weights;
	const float *importance; /* null, or nimportance rows */
	uint32_t nimportance;
	const float *lo, *hi;    /* ranges to use, or null */
};

/* Float32 weights of a row of the band: in place where they are float32 already, else in scratch. */
const float *bq_read_row(const struct bq_plan *plan, const struct bq_source *source, uint64_t row, float *scratch);

/* The same of a part: its stride is set to that of what is returned. scratch: BQ_TILE values, or those of a row. */
const float *bq_read_part(const struct bq_plan *plan, const struct bq_source *source, struct bq_part *part, float *scratch);

/* The importance of a row of the band's values; source->importance is not null. */
const float *bq_importance_row(const struct bq_plan *plan, const struct bq_source *source, uint64_t row);

/* Whether a block's range is that of the numbers beside a NaN. */
int bq_skips_nan(const struct bq_encoder *encoder);

/* Ranges of a unit's blocks into workspace->lo, hi; with signed extents, lo: the value of the largest magnitude. */
void bq_calibrate(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit,
	const struct bq_workspace *workspace);

/* Merges what the values of a band say of the range of the tensor's values. */
void bq_gather(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_workspace *workspace,
	struct bq_tensor_range *range);

/* The range of a tensor that is one block into workspace->lo[0], hi[0]. */
void bq_calibrate_tensor(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_tensor_range *range,
	const struct bq_workspace *workspace);

#endif
