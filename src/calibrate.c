/* SPDX-License-Identifier: MIT
 * calibrate.c - which range of values a block's codes are spread over.
 */
#include "calibrate.h"

#include <math.h>
#include <string.h>

#include "dtype.h"
#include "number.h"

const float *bq_load_row(const struct bq_plan *plan, const struct bq_source *source, uint64_t row, float *scratch)
{
	const uint8_t *from = source->weights + row * plan->cols * bq_dtype(plan->input)->nbytes;

	if (plan->input == BQ_F32)
		return (const float *)(const void *)from;
	bq_kernels(plan->kernels)->to_f32[plan->input](from, plan->cols, scratch);
	return scratch;
}

const float *bq_importance_row(const struct bq_plan *plan, const struct bq_source *source, uint64_t row)
{
	const uint64_t item = (source->band->value_offset / plan->cols + row) / plan->rows_per_item;

	return source->importance + item % source->nimportance * plan->cols;
}

/* A range that was not read off the weights: rounded to the working dtype, 0 inside it, as it would be if measured. */
static void set_range(const struct bq_encoder *encoder, float lo, float hi, float *to_lo, float *to_hi)
{
	lo = bq_round_to(encoder->work, lo);
	hi = bq_round_to(encoder->work, hi);
	*to_lo = lo < 0 ? lo : 0;
	*to_hi = hi > 0 ? hi : 0;
	if (encoder->rules->extent == BQ_SIGNED && *to_hi >= -*to_lo)
		*to_lo = *to_hi;
	/* As measured in a block with a NaN. */
	if (lo != lo || hi != hi)
		*to_lo = *to_hi = bq_float(BQ_F32_NAN);
}

static void measure(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit, const struct bq_workspace *w)
{
	const struct bq_plan *plan = encoder->plan;

	memset(w->lo, 0, unit->ncells[0] * sizeof(float));
	memset(w->hi, 0, unit->ncells[0] * sizeof(float));
	for (uint32_t row = 0; row < unit->nrows; row++) {
		const float *x = bq_load_row(plan, source, unit->first_row + row, w->x);
		uint32_t cell = bq_row_cell(plan, &plan->scheme.scale[0], row);

		if (encoder->rules->extent == BQ_SIGNED)
			encoder->kernels->extreme(x, plan->cols, plan->group, w->lo + cell);
		else
			encoder->kernels->range(x, plan->cols, plan->group, w->lo + cell, w->hi + cell);
	}
}

void bq_calibrate(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit, const struct bq_workspace *w)
{
	const uint64_t first = unit->cell[0];

	if (!source->lo) {
		measure(encoder, source, unit, w);
		return;
	}
	for (uint32_t c = 0; c < unit->ncells[0]; c++)
		set_range(encoder, source->lo[first + c], source->hi[first + c], &w->lo[c], &w->hi[c]);
}

void bq_gather(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_workspace *w, struct bq_tensor_range *range)
{
	const struct bq_plan *plan = encoder->plan;
	const uint32_t nbytes = bq_dtype(plan->input)->nbytes;

	if (source->lo) {
		set_range(encoder, source->lo[0], source->hi[0], &range->lo, &range->hi);
		return;
	}
	for (uint64_t at = 0; at < source->band->nvalues; at += BQ_TILE) {
		size_t count = source->band->nvalues - at < BQ_TILE ? (size_t)(source->band->nvalues - at) : BQ_TILE;

		encoder->kernels->to_f32[plan->input](source->weights + at * nbytes, count, w->x);
		encoder->kernels->range(w->x, count, count, &range->lo, &range->hi);
	}
}

void bq_calibrate_tensor(const struct bq_encoder *encoder, const struct bq_tensor_range *range, const struct bq_workspace *w)
{
	(void)encoder;
	w->lo[0] = range->lo;
	w->hi[0] = range->hi;
}
