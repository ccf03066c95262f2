/* SPDX-License-Identifier: MIT
 * decode.c - the way back: stored planes -> codes and decoded parameters -> float32 values.
 */
#include <string.h>

#include "cells.h"
#include "codes.h"
#include "dtype.h"
#include "parameters.h"
#include "store.h"

/* Everything that the units of one call share. */
struct job {
	const struct bq_plan *plan;
	struct bq_store store;
	float *values;
	uint32_t work, result;
};

static void decode_row(const struct job *job, uint64_t row, uint32_t cell, const uint8_t *codes)
{
	const struct bq_plan *plan = job->plan;
	const struct bq_workspace *w = &job->store.workspace;
	struct bq_dequantizer dequantizer;

	bq_describe_dequantizer(plan, job->work, job->result, w, cell, &dequantizer);
	bq_kernels(plan->kernels)->decode(&dequantizer, codes, plan->cols, plan->group, job->values + row * plan->cols);
}

static void decode_unit(const struct job *job, const struct bq_unit *unit)
{
	const struct bq_plan *plan = job->plan;
	struct bq_codes codes;

	bq_load_unit(&job->store, unit);
	bq_find_codes(plan, (const void *const *)job->store.planes, unit, &job->store.workspace, &codes);
	bq_decode_parameters(plan, unit, &job->store.workspace, &codes);
	for (uint32_t row = 0; row < unit->nrows; row++) {
		bq_load_row(&job->store, unit, row);
		decode_row(job, unit->first_row + row, bq_row_cell(plan, &plan->scheme.scale[0], row), bq_row_codes(&job->store, row));
	}
}

static void decode_units(const struct job *job)
{
	const struct bq_plan *plan = job->plan;
	struct bq_unit unit;

	bq_first_unit(plan, job->store.band, &unit);
	do
		decode_unit(job, &unit);
	while (bq_next_unit(plan, job->store.band, &unit));
}

static void decode_cells(const struct job *job, bq_decode_cells *decode)
{
	struct bq_part part;

	bq_first_part(&job->store, &part);
	do
		decode(&part.cells, part.codes, part.scales, job->values + part.value);
	while (bq_next_part(&job->store, &part));
}

/* The fake quantizer knows the weights' dtype and works in it; the decoder only has the planes. */
static void choose_dtypes(struct job *job, uint32_t fake)
{
	const struct bq_plan *plan = job->plan;

	job->work = fake ? plan->encode_work : plan->decode_work;
	job->result = fake && bq_rules(plan->scheme.rules)->work != BQ_WORK_F32 ? plan->input : plan->result;
}

void bq_decode(const struct bq_plan *plan, const struct bq_band *band, const void *const *planes, uint32_t fake, float *values,
	void *workspace, struct bq_report *report)
{
	const struct bq_fused *fused = &bq_kernels(plan->kernels)->fused[plan->scheme.fused];
	struct job job = {
		/* Nothing is written where it is read from. */
		.plan = plan, .store = bq_store_of(plan, band, (void *const *)planes, workspace), .values = values,
	};

	if (fused->decode) {
		fused->decode(planes[0], (size_t)(band->nvalues / job.store.layout->block_values), values);
		report->fused_values += band->nvalues;
		return;
	}
	if (fused->decode_cells && !fake) {
		decode_cells(&job, fused->decode_cells);
		report->fused_values += band->nvalues;
		return;
	}
	choose_dtypes(&job, fake);
	decode_units(&job);
	report->generic_values += band->nvalues;
}
