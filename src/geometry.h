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

/* Whether a calibration looks at all values of a block side by side. */
static inline int bq_gathers_cells(const struct bq_scheme *scheme)
{
	return scheme->calibration == BQ_PERCENTILE || scheme->calibration == BQ_MSE;
}

/* ... and the block is all of the tensor: one unit. */
static inline int bq_is_one_unit(const struct bq_scheme *scheme)
{
	return bq_gathers_cells(scheme) && !scheme->scale[0].rank;
}

/* The most values of an innermost block. */
uint64_t bq_cell_values(const struct bq_plan *plan);

/* Units that begin in a step. */
uint32_t bq_units_of_step(const struct bq_plan *plan, uint64_t step);

/* First cell, within its unit, of row `row` of that unit. */
uint32_t bq_row_cell(const struct bq_plan *plan, const struct bq_level *level, uint32_t row);

/* Some rows of a band that hold whole blocks of every level that is not the tensor's. */
struct bq_unit {
	uint64_t step, first_row;     /* step: in the tensor; first_row: in the band */
	uint32_t index, nrows;        /* index: in its step */
	uint64_t cell[BQ_MAX_LEVELS]; /* the first of each level, in the band */
	uint32_t ncells[BQ_MAX_LEVELS];
	uint32_t ends_step; /* 1: the last of its step */
};

/* The first unit of a band, and each that follows; 0 when there are no more. */
void bq_first_unit(const struct bq_plan *plan, const struct bq_band *band, struct bq_unit *unit);
int bq_next_unit(const struct bq_plan *plan, const struct bq_band *band, struct bq_unit *unit);

/* Cell of `outer` that holds cell `cell` of the ncells of `inner`, both counted within a unit; *end: up to where it holds those that
 * follow too. */
uint64_t bq_outer_cell(const struct bq_plan *plan, const struct bq_level *inner, const struct bq_level *outer, uint32_t cell, uint32_t ncells,
	uint32_t *end);

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
