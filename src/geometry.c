/* SPDX-License-Identifier: MIT
 * geometry.c - edges and cells of parameter grids.
 */
#include "geometry.h"

int bq_find_plane(const struct bq_plan *plan, uint32_t role)
{
	for (uint32_t i = 0; i < plan->nplanes; i++)
		if (plan->plane[i].role == role)
			return (int)i;
	return -1;
}

uint64_t bq_edge(const struct bq_plan *plan, const struct bq_level *level, uint32_t axis)
{
	uint32_t listed = axis + level->rank;

	if (!level->rank)
		return plan->dims[axis];
	if (listed < plan->rank)
		return 1;
	return level->edge[listed - plan->rank] ? level->edge[listed - plan->rank] : plan->dims[axis];
}

/* Cells of a level in part of a unit: `height` of its extent along first_axis. */
static uint64_t cells_of_height(const struct bq_plan *plan, const struct bq_level *level, uint64_t height)
{
	uint64_t cells = 1;

	for (uint32_t axis = plan->first_axis; axis < plan->rank && level->rank; axis++) {
		uint64_t extent = axis == plan->first_axis ? height : plan->dims[axis];

		cells *= bq_ceil_div(extent, bq_edge(plan, level, axis));
	}
	return cells;
}

uint64_t bq_unit_cells(const struct bq_plan *plan, const struct bq_level *level)
{
	return cells_of_height(plan, level, plan->unit_height);
}

uint64_t bq_cell_values(const struct bq_plan *plan)
{
	uint64_t values = 1;

	for (uint32_t axis = 0; axis < plan->rank; axis++) {
		uint64_t edge = bq_edge(plan, &plan->scheme.scale[0], axis);

		values *= edge < plan->dims[axis] ? edge : plan->dims[axis];
	}
	return values;
}

/* Cells of a level in the first nrows rows of a unit: whole layers along first_axis. */
static uint32_t cells_of_rows(const struct bq_plan *plan, const struct bq_level *level, uint32_t nrows)
{
	return (uint32_t)cells_of_height(plan, level, nrows / (plan->unit_rows / plan->unit_height));
}

uint32_t bq_row_cell(const struct bq_plan *plan, const struct bq_level *level, uint32_t row)
{
	uint64_t cell = 0, stride = bq_ceil_div(plan->cols, bq_edge(plan, level, plan->rank - 1));

	if (!level->rank || plan->unit_rows == 1)
		return 0;
	for (uint32_t axis = plan->rank - 2;; axis--) {
		uint64_t edge = bq_edge(plan, level, axis);

		if (axis == plan->first_axis)
			return (uint32_t)(cell + row / edge * stride);
		cell += row % plan->dims[axis] / edge * stride;
		row = (uint32_t)(row / plan->dims[axis]);
		stride *= bq_ceil_div(plan->dims[axis], edge);
	}
}

uint64_t bq_outer_cell(const struct bq_plan *plan, const struct bq_level *inner, const struct bq_level *outer, uint32_t cell, uint32_t ncells,
	uint32_t *end)
{
	uint64_t found = 0, stride = 1, left = cell;

	*end = ncells;
	for (uint32_t axis = plan->rank - 1; outer->rank; axis--) {
		const uint64_t extent = axis == plan->first_axis ? plan->unit_height : plan->dims[axis];
		const uint64_t inner_edge = bq_edge(plan, inner, axis), outer_edge = bq_edge(plan, outer, axis);
		const uint64_t count = bq_ceil_div(extent, inner_edge), at = left % count, around = at * inner_edge / outer_edge;

		if (axis == plan->rank - 1) {
			const uint64_t next = bq_ceil_div((around + 1) * outer_edge, inner_edge);

			*end = cell + (uint32_t)((next < count ? next : count) - at);
		}
		found += around * stride;
		if (axis == plan->first_axis)
			break;
		left /= count;
		stride *= bq_ceil_div(extent, outer_edge);
	}
	return found;
}

static uint32_t rows_of_step(const struct bq_plan *plan, uint64_t step)
{
	const uint64_t left = plan->rows_per_item - step % plan->steps_per_item * plan->step_rows;

	return left < plan->step_rows ? (uint32_t)left : plan->step_rows;
}

uint32_t bq_units_of_step(const struct bq_plan *plan, uint64_t step)
{
	return (rows_of_step(plan, step) + plan->unit_rows - 1) / plan->unit_rows;
}

/* The rest of a unit whose step, first_row, index and cell are known. done: rows of its step before it. */
static void measure_unit(const struct bq_plan *plan, uint32_t done, struct bq_unit *unit)
{
	const uint32_t step_rows = rows_of_step(plan, unit->step);

	unit->nrows = step_rows - done < plan->unit_rows ? step_rows - done : plan->unit_rows;
	unit->ends_step = done + unit->nrows == step_rows;
	for (uint32_t i = 0; i < plan->scheme.nscales; i++)
		unit->ncells[i] = cells_of_rows(plan, &plan->scheme.scale[i], unit->nrows);
}

void bq_first_unit(const struct bq_plan *plan, const struct bq_band *band, struct bq_unit *unit)
{
	const struct bq_unit first = { .step = band->first_step };

	*unit = first;
	measure_unit(plan, 0, unit);
}

int bq_next_unit(const struct bq_plan *plan, const struct bq_band *band, struct bq_unit *unit)
{
	unit->first_row += unit->nrows;
	for (uint32_t i = 0; i < plan->scheme.nscales; i++)
		unit->cell[i] += plan->scheme.scale[i].rank ? unit->ncells[i] : 0;
	unit->index = unit->ends_step ? 0 : unit->index + 1;
	unit->step += unit->ends_step;
	if (unit->step == band->first_step + band->nsteps)
		return 0;
	measure_unit(plan, unit->index * plan->unit_rows, unit);
	return 1;
}
