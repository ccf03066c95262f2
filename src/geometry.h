/* SPDX-License-Identifier: MIT
 * geometry.h - units, steps and parameter grids of a plan.
 *
 * A unit is the least that a block of every level fits into: unit_rows rows (one, unless blocks span rows). The rows of a
 * unit are consecutive in memory, and so are its cells in every level's grid, because blocks are aligned to the last axes
 * and the unit is cut along first_axis, the first axis that a block spans (or the rows' axis).
 */
#ifndef BQ_GEOMETRY_H
#define BQ_GEOMETRY_H

#include "blockquant.h"

/* Index of the plane with that role, or -1. */
int bq_find_plane(const struct bq_plan *plan, uint32_t role);

/* Edge of a level's block on an axis of the plan; the whole axis where the level says 0. */
uint64_t bq_edge(const struct bq_plan *plan, const struct bq_level *level, uint32_t axis);

/* Cells of a level in one unit of full height. 1 for a tensor-wide level. */
uint64_t bq_unit_cells(const struct bq_plan *plan, const struct bq_level *level);

/* Cells of a level in the first nrows rows of a unit: whole layers along first_axis. */
uint32_t bq_cells_of_rows(const struct bq_plan *plan, const struct bq_level *level, uint32_t nrows);

/* Units that nrows rows of a step begin. */
static inline uint32_t bq_units_of_rows(const struct bq_plan *plan, uint32_t nrows)
{
	return (nrows + plan->unit_rows - 1) / plan->unit_rows;
}

/* First cell, within its unit, of row `row` of that unit. */
uint32_t bq_row_cell(const struct bq_plan *plan, const struct bq_level *level, uint32_t row);

/* Position of the start of step `step`, counted through all items, in something of which an item has per_item and a
 * whole step per_step. */
static inline uint64_t bq_step_offset(const struct bq_plan *plan, uint64_t step, uint64_t per_item, uint64_t per_step)
{
	uint64_t within = step % plan->steps_per_item * per_step;

	return step / plan->steps_per_item * per_item + (within < per_item ? within : per_item);
}

static inline uint64_t bq_ceil_div(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

#endif
