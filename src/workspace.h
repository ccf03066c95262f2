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
	uint8_t *codes;   /* one row */
	uint8_t *zeros;   /* one step */
	float *lo, *hi;   /* one unit's cells, as are: */
	float *scale;     /* what the kernels divide or multiply by */
	float *zero, *min;
	float *level;     /* an outer level, widened */
	uint8_t *scale_codes[BQ_MAX_LEVELS], *min_codes[BQ_MAX_LEVELS];
};

/* Carves base up; returns the bytes needed. base may be null, to ask only. */
uint64_t bq_workspace(const struct bq_plan *plan, uint8_t *base, struct bq_workspace *workspace);

#endif
