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

uint32_t bq_cells_of_rows(const struct bq_plan *plan, const struct bq_level *level, uint32_t nrows)
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
