/* SPDX-License-Identifier: MIT
 * workspace.c - one list of the scratch arrays, for asking their size and for carving them.
 */
#include "workspace.h"

#include "dtype.h"
#include "geometry.h"
#include "lines.h"

struct arena {
	uint8_t *base;
	uint64_t used;
};

static void *take(struct arena *arena, uint64_t nbytes)
{
	void *taken = arena->base ? arena->base + arena->used : NULL;

	arena->used += (nbytes + 15) & ~15ull;
	return taken;
}

uint64_t bq_workspace(const struct bq_plan *plan, uint8_t *base, struct bq_workspace *workspace)
{
	const struct bq_scheme *scheme = &plan->scheme;
	struct arena arena = { base, 0 };
	struct bq_workspace ignored;
	struct bq_workspace *w = workspace ? workspace : &ignored;
	uint64_t cells = plan->cells_per_unit, row = plan->cols;
	uint64_t rows = bq_exchanged(plan) ? row * plan->unit_rows : row; /* whose codes stand together */
	uint64_t cell_values = bq_gathers_cells(scheme) ? bq_cell_values(plan) : 0;

	w->x = take(&arena, 4 * (row > BQ_TILE ? row : BQ_TILE));
	w->codes = take(&arena, rows > cell_values ? rows : cell_values);
	w->line = take(&arena, bq_exchanged(plan) ? plan->dims[plan->packed_axis] : 0);
	w->values = take(&arena, 4 * cell_values);
	w->weights = take(&arena, 4 * cell_values);
	w->trial = take(&arena, 4 * cell_values);
	w->zeros = take(&arena, cells * (plan->step_rows / plan->unit_rows));
	w->lo = take(&arena, 4 * cells);
	w->hi = take(&arena, 4 * cells);
	w->sums = take(&arena, scheme->calibration == BQ_ABSMEAN ? 4 * BQ_SUM_LIMBS * cells : 0);
	w->ideal = take(&arena, 4 * cells);
	w->zero = take(&arena, 4 * cells);
	for (uint32_t i = 0; i < scheme->nscales; i++) {
		uint64_t level_cells = bq_unit_cells(plan, &scheme->scale[i]);

		w->scale[i] = take(&arena, 4 * level_cells);
		w->min[i] = take(&arena, i < scheme->nmins ? 4 * level_cells : 0);
		w->scale_codes[i] = take(&arena, level_cells * bq_dtype(scheme->scale[i].dtype)->nbytes);
		w->min_codes[i] = take(&arena, i < scheme->nmins ? level_cells * bq_dtype(scheme->min[i].dtype)->nbytes : 0);
	}
	return arena.used;
}
