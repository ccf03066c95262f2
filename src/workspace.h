/* SPDX-License-Identifier: MIT
 * workspace.h - how encode and decode divide the caller's scratch memory.
 */
#ifndef BQ_WORKSPACE_H
#define BQ_WORKSPACE_H

#include "blockquant.h"

/* Values of one tile of a fused kernel, when the weights must be widened first: 64 kB stay in L2. */
#define BQ_TILE 16384

struct bq_workspace {
	float *x;         /* one row, or one tile */
	float *values, *weights, *trial; /* one cell: its values, their importance, what they become; if calibration asks */
	uint32_t *sums;   /* of the unit's blocks, BQ_SUM_LIMBS each; if calibration asks */
	uint8_t *line;    /* codes of one that is no row */
	uint8_t *codes;   /* one row, or one cell; one unit, where lines are no rows */
	uint8_t *zeros;   /* one step */
	float *lo, *hi;   /* one unit's cells, as are: */
	float *ideal;     /* innermost scales before they were rounded */
	float *zero;
	float *scale[BQ_MAX_LEVELS], *min[BQ_MAX_LEVELS]; /* of each level; [0] is what the kernels take */
	uint8_t *scale_codes[BQ_MAX_LEVELS], *min_codes[BQ_MAX_LEVELS];
};

/* Carves base up; returns the bytes needed. base may be null, to ask only. */
uint64_t bq_workspace(const struct bq_plan *plan, uint8_t *base, struct bq_workspace *workspace);

#endif
