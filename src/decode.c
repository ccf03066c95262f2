/* SPDX-License-Identifier: MIT
 * decode.c - the way back: stored planes -> codes and decoded parameters -> float32 values.
 */
#include <string.h>

#include "codes.h"
#include "dtype.h"
#include "parameters.h"

/* Everything that the units of one call share. */
struct job {
	const struct bq_plan *plan;
	const struct bq_rules *rules;
	const struct bq_kernels *kernels;
	const struct bq_layout *layout;
	const struct bq_band *band;
	const void *const *planes;
	float *values;
	struct bq_workspace workspace;
	uint32_t work, result;
	int zeros;
};

static void unpack_row(const struct job *job, uint64_t row)
{
	const struct bq_plan *plan = job->plan;
	const struct bq_dtype_info *value = bq_dtype(plan->scheme.value);
	const struct bq_workspace *w = &job->workspace;
	const uint8_t *in = (const uint8_t *)job->planes[0] + row * plan->row_nbytes;

	if (job->layout->block_values) {
		const struct bq_row_parts parts = {
			.codes = w->codes,
			.scale = { w->scale_codes[0], w->scale_codes[1], w->scale_codes[2] },
			.min = { w->min_codes[0], w->min_codes[1], w->min_codes[2] },
		};

		job->layout->unpack(in, plan->cols / job->layout->block_values, &parts);
	} else if (job->layout->packing == BQ_WORDS) {
		job->kernels->unpack_words(in, plan->cols, plan->value_bits, bq_is_integer(plan->scheme.value) ? (unsigned)-value->min : 0, w->codes);
	} else if (job->layout->packing == BQ_NIBBLES) {
		job->kernels->unpack_nibbles(in, plan->cols, w->codes);
	} else if (job->layout->packing == BQ_SIXES) {
		job->kernels->unpack_sixes(in, plan->cols, w->codes);
	} else {
		memcpy(w->codes, in, plan->cols);
	}
}

static void decode_row(const struct job *job, uint64_t row, uint32_t cell)
{
	const struct bq_plan *plan = job->plan;
	const struct bq_workspace *w = &job->workspace;
	struct bq_dequantizer dequantizer;

	bq_describe_dequantizer(plan, job->work, job->result, w, cell, &dequantizer);
	job->kernels->decode(&dequantizer, w->codes, plan->cols, plan->group, job->values + row * plan->cols);
}

/* The zero points of a step into workspace->zeros, one byte each. */
static void load_zeros(const struct job *job, const struct bq_unit *first)
{
	const struct bq_plan *plan = job->plan;
	const struct bq_plane *plane = &plan->plane[job->zeros];
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	const uint32_t cells = plan->cells_per_unit;
	const uint8_t *in = (const uint8_t *)job->planes[job->zeros];
	const uint32_t nunits = bq_units_of_step(plan, first->step);
	uint8_t column[32], words[32];
	size_t nwords = (nunits * zero->bits + 31) / 32;

	if (!plan->scheme.scale[0].rank) {
		job->workspace.zeros[0] = in[0];
		return;
	}
	in += bq_step_offset(plan, first->step, plane->item_nbytes, plane->step_nbytes) - job->band->plane_offset[job->zeros];
	if (!job->layout->zeros_by_row) {
		memcpy(job->workspace.zeros, in, first->ncells[0]); /* a step is one unit */
		return;
	}
	for (uint32_t c = 0; c < cells; c++) {
		for (size_t word = 0; word < nwords; word++)
			memcpy(words + 4 * word, in + 4 * (word * cells + c), 4);
		job->kernels->unpack_words(words, nunits, zero->bits, (unsigned)-zero->min, column);
		for (uint32_t unit = 0; unit < nunits; unit++)
			job->workspace.zeros[unit * cells + c] = column[unit];
	}
}

static void decode_unit(const struct job *job, const struct bq_unit *unit)
{
	const struct bq_plan *plan = job->plan;
	struct bq_codes codes;

	/* Blocks hold their parameters, and a unit of them is one row. */
	if (job->layout->block_values)
		unpack_row(job, unit->first_row);
	bq_find_codes(plan, job->planes, unit, &job->workspace, &codes);
	bq_decode_parameters(plan, unit, &job->workspace, &codes);
	for (uint32_t row = 0; row < unit->nrows; row++) {
		if (!job->layout->block_values)
			unpack_row(job, unit->first_row + row);
		decode_row(job, unit->first_row + row, bq_row_cell(plan, &plan->scheme.scale[0], row));
	}
}

static void decode_units(const struct job *job)
{
	const struct bq_plan *plan = job->plan;
	struct bq_unit unit;

	bq_first_unit(plan, job->band, &unit);
	do {
		if (job->zeros >= 0 && !unit.index)
			load_zeros(job, &unit);
		decode_unit(job, &unit);
	} while (bq_next_unit(plan, job->band, &unit));
}

/* The fake quantizer knows the weights' dtype and works in it; the decoder only has the planes. */
static void choose_dtypes(struct job *job, uint32_t fake)
{
	const struct bq_plan *plan = job->plan;

	job->work = fake ? plan->encode_work : plan->decode_work;
	job->result = fake && job->rules->work != BQ_WORK_F32 ? plan->input : plan->result;
}

void bq_decode(const struct bq_plan *plan, const struct bq_band *band, const void *const *planes, uint32_t fake, float *values,
	void *workspace, struct bq_report *report)
{
	const struct bq_fused *fused = &bq_kernels(plan->kernels)->fused[plan->scheme.fused];
	struct job job = {
		.plan = plan, .rules = bq_rules(plan->scheme.rules), .kernels = bq_kernels(plan->kernels),
		.layout = bq_layout(plan->scheme.layout), .band = band, .planes = planes, .values = values,
		.zeros = bq_find_plane(plan, BQ_ROLE_ZERO),
	};

	if (fused->decode) {
		fused->decode(planes[0], (size_t)(band->nvalues / job.layout->block_values), values);
		report->fused_values += band->nvalues;
		return;
	}
	bq_workspace(plan, workspace, &job.workspace);
	choose_dtypes(&job, fake);
	decode_units(&job);
	report->generic_values += band->nvalues;
}
