/* SPDX-License-Identifier: MIT
 * observe.c - ranges over many batches: the blocks of one batch measured, and averages of ranges.
 */
#include "calibrate.h"
#include "dtype.h"
#include "geometry.h"
#include "number.h"

void bq_observe(const struct bq_plan *plan, const struct bq_band *band, const void *weights, float *lo, float *hi, void *workspace)
{
	const struct bq_source source = { .band = band, .weights = weights };
	struct bq_workspace w;
	struct bq_unit unit;

	bq_workspace(plan, workspace, &w);
	bq_first_unit(plan, band, &unit);
	do {
		for (uint32_t row = 0; row < unit.nrows; row++) {
			const float *x = bq_read_row(plan, &source, unit.first_row + row, w.x);
			uint64_t cell = unit.cell[0] + bq_row_cell(plan, &plan->scheme.scale[0], row);

			bq_kernels(plan->kernels)->range(x, plan->cols, plan->group, 0, lo + cell, hi + cell);
		}
	} while (bq_next_unit(plan, band, &unit));
}

/* Each operation is rounded to the dtype in which the ranges are numbers. */
void bq_average(uint32_t dtype, double constant, size_t count, const float *batch, float *running)
{
	const float weight = (float)constant, rest = (float)(1 - constant);

	for (size_t i = 0; i < count; i++)
		running[i] = bq_round_to(dtype, bq_round_to(dtype, weight * batch[i]) + bq_round_to(dtype, rest * running[i]));
}
