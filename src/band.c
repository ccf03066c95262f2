/* SPDX-License-Identifier: MIT
 * band.c - which values and bytes some consecutive steps are.
 */
#include <string.h>

#include "dtype.h"
#include "geometry.h"
#include "lines.h"

void bq_band(const struct bq_plan *plan, uint64_t first_step, uint32_t max_nbytes, struct bq_band *band)
{
	uint64_t step_values = (uint64_t)plan->step_rows * plan->cols;
	uint64_t item_values = plan->rows_per_item * plan->cols;
	uint64_t total = plan->nitems * plan->steps_per_item;
	uint64_t units_per_step = plan->step_rows / plan->unit_rows, last;

	if (step_values > item_values)
		step_values = item_values;
	band->first_step = first_step;
	band->nsteps = max_nbytes / (step_values * bq_dtype(plan->input)->nbytes);
	/* Planes may take more than the input: sizes of a band are 32 bits wide. */
	for (uint32_t i = 0; i < plan->nplanes; i++)
		if (plan->plane[i].step_nbytes && band->nsteps > UINT32_MAX / plan->plane[i].step_nbytes)
			band->nsteps = UINT32_MAX / plan->plane[i].step_nbytes;
	if (!band->nsteps)
		band->nsteps = 1;
	if (band->nsteps > total - first_step)
		band->nsteps = total - first_step;
	last = first_step + band->nsteps;

	band->value_offset = bq_step_offset(plan, first_step, item_values, step_values);
	band->nvalues = bq_step_offset(plan, last, item_values, step_values) - band->value_offset;
	for (uint32_t i = 0; i < BQ_MAX_LEVELS; i++) {
		const struct bq_level *level = &plan->scheme.scale[i];
		uint64_t per_step = bq_unit_cells(plan, level) * units_per_step, item_cells = level->rank ? 1 : 0;

		for (uint32_t axis = plan->first_axis; axis < plan->rank; axis++)
			item_cells *= bq_ceil_div(plan->dims[axis], bq_edge(plan, level, axis));
		band->cell_offset[i] = bq_step_offset(plan, first_step, item_cells, per_step);
		band->ncells[i] = item_cells ? bq_step_offset(plan, last, item_cells, per_step) - band->cell_offset[i] : i < plan->scheme.nscales;
	}

	memset(band->plane_offset, 0, sizeof(band->plane_offset));
	memset(band->plane_nbytes, 0, sizeof(band->plane_nbytes));
	for (uint32_t i = 0; i < plan->nplanes; i++) {
		const struct bq_plane *plane = &plan->plane[i];

		if (!plane->step_nbytes) {
			band->plane_nbytes[i] = (uint32_t)plane->nbytes;
			continue;
		}
		band->plane_offset[i] = bq_step_offset(plan, first_step, plane->item_nbytes, plane->step_nbytes);
		band->plane_nbytes[i] =
			(uint32_t)(bq_step_offset(plan, last, plane->item_nbytes, plane->step_nbytes) - band->plane_offset[i]);
	}
}

/* One a byte, or as narrow as its codes. */
static double stored_bits(uint32_t dtype, int packed)
{
	return packed ? bq_dtype(dtype)->bits : 8 * bq_dtype(dtype)->nbytes;
}

/* Of an index into a table. */
static uint32_t code_bits(uint32_t entries)
{
	uint32_t bits = 1;

	while (bits < 8 && 1u << bits < entries)
		bits++;
	return bits;
}

double bq_bits_per_weight(const struct bq_scheme *scheme, uint32_t input)
{
	const struct bq_layout *layout = bq_layout(scheme->layout);
	const int blocks = layout && layout->block_values;
	double bits;

	if (scheme->nscales > BQ_MAX_LEVELS || scheme->nmins > BQ_MAX_LEVELS)
		return 0;
	if (blocks)
		return 8.0 * layout->block_nbytes / layout->block_values;
	bits = bq_line_bits_each(layout ? bq_packing(scheme, layout) : BQ_BYTES,
		scheme->codebook ? code_bits(scheme->codebook) : bq_dtype(scheme->value)->bits);

	for (uint32_t i = 0; i < scheme->nscales + scheme->nmins; i++) {
		const struct bq_level *level = i < scheme->nscales ? &scheme->scale[i] : &scheme->min[i - scheme->nscales];
		double per = stored_bits(level->dtype == BQ_INPUT ? input : level->dtype, 0);

		if (i == 0)
			per += stored_bits(scheme->zero, layout && bq_packs_zeros(layout, scheme));
		if (!level->rank)
			per = 0;
		for (uint32_t k = 0; k < level->rank && k < BQ_MAX_RANK; k++)
			per = level->edge[k] ? per / level->edge[k] : 0;
		bits += per;
	}
	return bits;
}
