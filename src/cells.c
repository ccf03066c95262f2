/* SPDX-License-Identifier: MIT
 * cells.c - a band of a planar format in the parts that its fused kernel takes.
 */
#include "cells.h"

#include "dtype.h"
#include "lines.h"

/* The part of a unit that begins in a column. */
static void set_part(const struct bq_store *store, uint64_t begin, struct bq_part *part)
{
	const struct bq_plan *plan = store->plan;
	const uint64_t left = part->length - begin, row = part->unit.first_row, cell = part->unit.cell[0] + begin / plan->group;
	const uint32_t packing = bq_packing(&plan->scheme, store->layout);

	part->begin = begin;
	part->cells.nrows = part->unit.nrows;
	part->cells.cols = left < part->width ? (size_t)left : part->width;
	part->value = row * plan->cols + begin;
	part->codes = (uint8_t *)store->planes[0] + row * plan->line_nbytes + bq_line_nbytes(packing, plan->value_bits, begin);
	part->scales = (uint8_t *)store->planes[1] + cell * bq_dtype(part->cells.scale)->nbytes;
}

void bq_first_part(const struct bq_store *store, struct bq_part *part)
{
	const struct bq_plan *plan = store->plan;
	const struct bq_level *inner = &plan->scheme.scale[0];
	const struct bq_part first = {
		.cells = { .group = plan->group, .stride = plan->cols, .line_nbytes = plan->line_nbytes, .scale = inner->dtype, .outer = 1 },
		.length = plan->cols, .width = plan->group,
	};

	*part = first;
	if (plan->scheme.nscales > 1)
		bq_widen(bq_kernels(plan->kernels), plan->scheme.scale[1].dtype, store->planes[2], 1, &part->cells.outer);
	bq_first_unit(plan, store->band, &part->unit);
	if (inner->rank == 1) {
		/* Rows are whole cells and whole bytes: all of them are one. */
		part->length = store->band->nvalues;
		part->width = plan->group < BQ_TILE ? BQ_TILE / plan->group * plan->group : plan->group;
	}
	set_part(store, 0, part);
}

int bq_next_part(const struct bq_store *store, struct bq_part *part)
{
	const uint64_t next = part->begin + part->cells.cols;

	if (next < part->length) {
		set_part(store, next, part);
		return 1;
	}
	if (part->length == store->band->nvalues || !bq_next_unit(store->plan, store->band, &part->unit))
		return 0;
	set_part(store, 0, part);
	return 1;
}
