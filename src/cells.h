/* SPDX-License-Identifier: MIT
 * cells.h - a band of a planar format in the parts that its fused kernel takes.
 */
#ifndef BQ_CELLS_H
#define BQ_CELLS_H

#include "store.h"

/* A row of cells, where all rows of the band are one; or one cell of several rows. */
struct bq_part {
	struct bq_cells cells; /* as values stand in the band; work is the caller's to set */
	struct bq_unit unit;
	uint64_t length, begin; /* columns of a row, and the first of this part */
	uint32_t width;         /* the most columns of a part */
	uint64_t value; /* the first value, in the band */
	uint8_t *codes, *scales;
};

/* The first part of a band, and each that follows; 0 when there are no more. Above the innermost scale is one of the tensor,
 * which is stored already, or none. */
void bq_first_part(const struct bq_store *store, struct bq_part *part);
int bq_next_part(const struct bq_store *store, struct bq_part *part);

#endif
