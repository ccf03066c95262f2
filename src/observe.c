/* SPDX-License-Identifier: MIT
 * observe.c - ranges over many batches: the blocks of one batch measured, and averages of ranges.
 */
#include "dtype.h"
#include "geometry.h"
#include "kernels.h"
#include "number.h"
#include "workspace.h"

void bq_observe(const struct bq_plan *plan, const struct bq_band *band, const void *weights, float *lo, float *hi, void *workspace)
{
	const struct bq_kernels *kernels = bq_kernels(plan->kernels);
	const struct bq_level *level = &plan->scheme.scale[0];
	const uint8_t *from = weights;
	struct bq_workspace w;
	uint64_t cell = 0;

	bq_workspace(plan, workspace, &w);
	for (uint64_t step = band->first_step; step < band->first_step + band->nsteps; step++) {
		uint64_t left = plan->rows_per_item - step % plan->steps_per_item * plan->step_rows;
		uint32_t nrows = left < plan->step_rows ? (uint32_t)left : plan->step_rows;

		for (uint32_t done = 0, here; done < nrows; done += here) {
			here = nrows - done < plan->unit_rows ? nrows - done : plan->unit_rows;
			for (uint32_t row = 0; row < here; row++) {
				uint32_t at = bq_row_cell(plan, level, row);

				kernels->to_f32[plan->input](from, plan->cols, w.x);
				kernels->range(w.x, plan->cols, plan->group, lo + cell + at, hi + cell + at);
				from += (size_t)plan->cols * bq_dtype(plan->input)->nbytes;
			}
			cell += level->rank ? bq_cells_of_rows(plan, level, here) : 0;
		}
	}
}

void bq_average(uint32_t dtype, double constant, size_t count, const float *batch, float *running)
{
	const float weight = (float)constant, rest = (float)(1 - constant);

	for (size_t i = 0; i < count; i++)
		running[i] = bq_round_to(dtype, bq_round_to(dtype, weight * batch[i]) + bq_round_to(dtype, rest * running[i]));
}
