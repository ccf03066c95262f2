/* SPDX-License-Identifier: MIT
 * encode.c - READ FIRST: a band of weights becomes the bytes of every plane, in order:
 *
 *     load -> range of each block -> parameters -> codes -> packed
 *
 * A scheme with a fused kernel goes the short way; the bytes are the same.
 */
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "cells.h"
#include "codes.h"
#include "dtype.h"
#include "number.h"
#include "overflow.h"
#include "parameters.h"
#include "store.h"
#include "values.h"

/* Everything that the units of one call share. */
struct job {
	struct bq_encoder encoder;
	struct bq_source source;
	struct bq_store store;
	const void *const *given; /* codes of parameters by role, or null */
	struct bq_report *report;
	struct bq_context context; /* of a fused kernel */
	float heaviest;            /* the largest importance of any row */
	int has_infinite_range; /* of some block that was measured */
};

static void count_nonfinite(const struct bq_plan *plan, const struct bq_band *band, const void *weights, struct bq_report *report)
{
	size_t first;
	size_t count = bq_kernels(plan->kernels)->count_nonfinite(weights, plan->input, (size_t)band->nvalues, &first);

	if (!count)
		return;
	if (!report->nonfinite_values || band->value_offset + first < report->first_nonfinite)
		report->first_nonfinite = band->value_offset + first;
	report->nonfinite_values += count;
}

static struct bq_encoder encoder_of(const struct bq_plan *plan, uint32_t correct)
{
	const struct bq_encoder encoder = {
		.plan = plan, .rules = bq_rules(plan->scheme.rules), .kernels = bq_kernels(plan->kernels),
		.work = correct ? BQ_F32 : plan->parameter_work, .quotient_work = correct ? BQ_F32 : plan->encode_work,
		.correct = correct, .top_scale = { 1, 1 }, .top_min = { 1, 1 },
	};

	return encoder;
}

/* Whether tensor-wide levels are made of the range of all values, not of that of blocks. */
static int sees_values_alone(const struct bq_encoder *encoder, const struct bq_source *source)
{
	const struct bq_plan *plan = encoder->plan;

	return !plan->tensor_level || (encoder->rules->outer == BQ_OUTER_MULTIPLIER && plan->scheme.calibration == BQ_MINMAX && !source->lo);
}

void bq_range(const struct bq_plan *plan, const struct bq_band *band, const void *weights, const float *importance, uint32_t nimportance,
	const float *lo, const float *hi, uint32_t correct, void *workspace, struct bq_tensor_range *range, struct bq_report *report)
{
	const struct bq_encoder encoder = encoder_of(plan, correct);
	const struct bq_source source = { band, weights, importance, nimportance, lo, hi };
	struct bq_workspace w;
	struct bq_unit unit;

	bq_workspace(plan, workspace, &w);
	count_nonfinite(plan, band, weights, report);
	range->seen = 1;
	if (sees_values_alone(&encoder, &source)) {
		bq_gather(&encoder, &source, &w, range);
		return;
	}
	bq_first_unit(plan, band, &unit);
	do {
		bq_calibrate(&encoder, &source, &unit, &w);
		bq_ideal(&encoder, 0, unit.ncells[0], &w);
		bq_ideal_parents(&encoder, &unit, plan->tensor_level, &w);
		bq_merge_ideal(&encoder, &unit, &w, range);
	} while (bq_next_unit(plan, band, &unit));
}

static void encode_row(const struct job *job, const float *x, uint32_t cell, uint8_t *codes)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_workspace *w = &job->store.workspace;
	struct bq_quantizer quantizer;

	bq_describe_quantizer(plan, job->encoder.quotient_work, w, cell, &quantizer);
	job->encoder.kernels->encode(&quantizer, x, plan->cols, plan->group, codes);
}

/* Whether every level is given, not the tensor-wide ones alone. */
static int blocks_given(const struct job *job)
{
	return job->given && job->given[BQ_ROLE_SCALE0];
}

/* Whether ranges that are measured say where to look for weights that are not finite: such a weight is in no finite range. */
static int ranges_show_nonfinite(const struct job *job)
{
	return !job->given && !job->source.lo && !bq_skips_nan(&job->encoder);
}

static int has_infinite_range(const struct bq_workspace *w, uint32_t ncells)
{
	uint32_t any = 0;

	/* With one more the exponent of what is not finite goes over into the sign. */
	for (uint32_t c = 0; c < ncells; c++)
		any |= ((bq_bits(w->lo[c]) & 0x7F800000) + 0x00800000) | ((bq_bits(w->hi[c]) & 0x7F800000) + 0x00800000);
	return any >> 31;
}

/* The parameters of a unit, from what is given or from the ranges in the workspace. */
static void make_parameters(struct job *job, const struct bq_unit *unit)
{
	struct bq_codes codes;

	bq_find_codes(job->encoder.plan, (const void *const *)job->store.planes, unit, &job->store.workspace, &codes);
	if (blocks_given(job)) {
		bq_copy_codes(job->encoder.plan, unit, 0, (void *const *)job->given, &codes, 0); /* only read */
		bq_take_parameters(&job->encoder, unit, &job->store.workspace, &codes);
		return;
	}
	bq_calibrate(&job->encoder, &job->source, unit, &job->store.workspace);
	job->has_infinite_range |= has_infinite_range(&job->store.workspace, unit->ncells[0]);
	job->report->overflow_blocks += bq_make_parameters(&job->encoder, unit, &job->store.workspace, &codes);
}

/* The tensor-wide levels are made anew in each call, from what a first pass gathered; their overflows count once. */
static void make_top(struct job *job, const struct bq_tensor_range *range)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_unit unit = { .index = 0 };
	struct bq_codes codes;
	uint32_t overflows;

	bq_find_codes(plan, (const void *const *)job->store.planes, &unit, &job->store.workspace, &codes);
	if (!plan->tensor_level)
		bq_calibrate_tensor(&job->encoder, &job->source, range, &job->store.workspace);
	overflows = bq_make_top(&job->encoder, range, &job->store.workspace, &codes);
	job->report->overflow_blocks += job->source.band->first_step ? 0 : overflows;
}

/* The tensor-wide levels are given, and the others made against them. */
static void take_top(struct job *job)
{
	const struct bq_unit unit = { .index = 0, .ncells = { 1, 1, 1 } };
	struct bq_codes codes;

	bq_find_codes(job->encoder.plan, (const void *const *)job->store.planes, &unit, &job->store.workspace, &codes);
	bq_copy_codes(job->encoder.plan, &unit, job->encoder.plan->tensor_level, (void *const *)job->given, &codes, 0); /* only read */
	bq_take_top(&job->encoder, &job->store.workspace, &codes);
}

static void encode_units(struct job *job)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_band *band = job->source.band;
	const struct bq_level *inner = &plan->scheme.scale[0];
	const struct bq_workspace *w = &job->store.workspace;
	struct bq_unit unit;

	bq_first_unit(plan, band, &unit);
	do {
		if (plan->tensor_level || blocks_given(job))
			make_parameters(job, &unit);
		for (uint32_t row = 0; row < unit.nrows; row++) {
			const float *x = bq_read_row(plan, &job->source, unit.first_row + row, w->x);

			encode_row(job, x, bq_row_cell(plan, inner, row), bq_row_codes(&job->store, row));
			bq_store_row(&job->store, &unit, row);
		}
		bq_store_unit(&job->store, &unit);
	} while (bq_next_unit(plan, band, &unit));
	job->report->generic_values += band->nvalues;
}

static void encode_cells(const struct job *job, bq_encode_cells *encode)
{
	const struct bq_plan *plan = job->encoder.plan;
	struct bq_part part;

	bq_first_part(&job->store, &part);
	part.cells.work = job->encoder.work;
	do {
		const float *x = bq_read_part(plan, &job->source, &part, job->store.workspace.x);

		job->report->overflow_blocks += encode(&part.cells, x, part.codes, part.scales);
	} while (bq_next_part(&job->store, &part));
	job->report->fused_values += job->source.band->nvalues;
}

/* Blocks of one row, or with no importance of any. */
static void encode_blocks(const struct job *job, const struct bq_fused *fused, const struct bq_context *context, const float *x,
	const float *importance, size_t count, uint8_t *out)
{
	fused->encode(x, importance, context, count / job->store.layout->block_values, out);
	bq_count_lost(&job->encoder, job->store.layout, x, importance, importance ? job->heaviest : 0, count, out, job->report);
}

static void encode_fused(struct job *job, const struct bq_fused *fused)
{
	struct bq_context context = job->context;
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_layout *layout = job->store.layout;
	const uint64_t nrows = job->source.band->nvalues / plan->cols;
	uint8_t *out = job->store.planes[0];

	if (job->source.importance && fused->weighting) {
		job->heaviest = bq_largest_magnitude((size_t)job->source.nimportance * plan->cols, job->source.importance);
		for (uint64_t row = 0; row < nrows; row++) {
			const float *x = bq_read_row(plan, &job->source, row, job->store.workspace.x);
			const float *weights = bq_importance_row(plan, &job->source, row);

			if (fused->weighting == BQ_WEIGHTED_BY_ROW)
				context.row_sigma = bq_sum_of_squares(plan->cols, x) / (float)plan->cols;
			encode_blocks(job, fused, &context, x, weights, plan->cols, out + row * plan->line_nbytes);
		}
	} else if (plan->input == BQ_F32) {
		encode_blocks(job, fused, &context, (const float *)(const void *)job->source.weights, NULL, (size_t)job->source.band->nvalues, out);
	} else {
		for (uint64_t at = 0; at < job->source.band->nvalues; at += BQ_TILE) {
			size_t count = job->source.band->nvalues - at < BQ_TILE ? (size_t)(job->source.band->nvalues - at) : BQ_TILE;

			job->encoder.kernels->to_f32[plan->input](job->source.weights + at * bq_dtype(plan->input)->nbytes, count, job->store.workspace.x);
			encode_blocks(job, fused, &context, job->store.workspace.x, NULL, count, out + at / layout->block_values * layout->block_nbytes);
		}
	}
	job->report->fused_values += job->source.band->nvalues;
	/* A weight that is not finite leaves no f16 field of its block finite: mostly there is nothing to look for. */
	if ((!layout->halves && !layout->scattered_half) || bq_any_overflow(layout, out, job->source.band->nvalues / layout->block_values))
		count_nonfinite(plan, job->source.band, job->source.weights, job->report);
}

enum bq_status bq_encode(const struct bq_plan *plan, const struct bq_band *band, const void *weights, const float *importance,
	uint32_t nimportance, const struct bq_tensor_range *range, const float *lo, const float *hi, const void *const *given,
	uint32_t correct, const void *tables, void *const *planes, void *workspace, struct bq_report *report)
{
	const struct bq_fused *fused = &bq_kernels(plan->kernels)->fused[plan->scheme.fused];
	struct job job = {
		.encoder = encoder_of(plan, correct), .source = { band, weights, importance, nimportance, lo, hi },
		.store = bq_store_of(plan, band, planes, workspace), .given = given, .report = report,
		.context = { .tables = tables, .correct = correct },
	};
	const int by_cells = fused->encode_cells && !lo && !given;
	const int shown_by_ranges = !range && !by_cells && ranges_show_nonfinite(&job);

	if (plan->needs_importance && !importance)
		return BQ_NEEDS_IMPORTANCE;
	if (fused->encode && !lo && !given) {
		encode_fused(&job, fused);
		return BQ_OK;
	}
	/* With a range bq_range has counted. */
	if (!range && !shown_by_ranges)
		count_nonfinite(plan, band, weights, report);
	if ((plan->scheme.calibration == BQ_SEARCH && !blocks_given(&job)) || (job.store.layout->block_values && !job.store.layout->pack_codes))
		return BQ_NEEDS_KERNEL;
	if (range)
		make_top(&job, range);
	else if (given && !blocks_given(&job))
		take_top(&job);
	if (by_cells)
		encode_cells(&job, fused->encode_cells);
	else
		encode_units(&job);
	if (shown_by_ranges && job.has_infinite_range)
		count_nonfinite(plan, band, weights, report);
	bq_store_shape(&job.store);
	return BQ_OK;
}
