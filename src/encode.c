/* SPDX-License-Identifier: MIT
 * encode.c - READ FIRST: a band of weights becomes the bytes of every plane, in order:
 *
 *     load -> range of each block -> parameters -> codes -> packed
 *
 * A scheme with a fused kernel goes the short way; the bytes are the same.
 */
#include <string.h>

#include "calibrate.h"
#include "codes.h"
#include "dtype.h"
#include "number.h"
#include "parameters.h"

/* Everything that the units of one call share. */
struct job {
	struct bq_encoder encoder;
	struct bq_source source;
	const struct bq_layout *layout;
	const void *const *given; /* codes of parameters by role, or null */
	void *const *planes;
	struct bq_workspace workspace;
	struct bq_report *report;
	struct bq_context context; /* of a fused kernel */
	int zeros; /* index of a plane, or -1 */
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
		.top_scale = { 1, 1 }, .top_min = { 1, 1 },
	};

	return encoder;
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
	if (!plan->tensor_level) {
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

static void encode_row(const struct job *job, const float *x, uint32_t cell)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_workspace *w = &job->workspace;
	struct bq_quantizer quantizer;

	bq_describe_quantizer(plan, job->encoder.quotient_work, w, cell, &quantizer);
	job->encoder.kernels->encode(&quantizer, x, plan->cols, plan->group, w->codes);
}

static void pack_row(const struct job *job, uint64_t row)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_dtype_info *value = bq_dtype(plan->scheme.value);
	const struct bq_workspace *w = &job->workspace;
	uint8_t *out = (uint8_t *)job->planes[0] + row * plan->row_nbytes;

	if (job->layout->block_values) {
		const struct bq_row_parts parts = {
			.codes = w->codes,
			.scale = { w->scale_codes[0], w->scale_codes[1], w->scale_codes[2] },
			.min = { w->min_codes[0], w->min_codes[1], w->min_codes[2] },
		};

		job->layout->pack(&parts, plan->cols / job->layout->block_values, out);
	} else if (job->layout->packing == BQ_WORDS) {
		job->encoder.kernels->pack_words(w->codes, plan->cols, plan->value_bits, bq_is_integer(plan->scheme.value) ? (unsigned)-value->min : 0, out);
	} else if (job->layout->packing == BQ_NIBBLES) {
		job->encoder.kernels->pack_nibbles(w->codes, plan->cols, out);
	} else if (job->layout->packing == BQ_SIXES) {
		job->encoder.kernels->pack_sixes(w->codes, plan->cols, out);
	} else {
		memcpy(out, w->codes, plan->cols);
	}
}

/* Copies what is given of a unit, from some level on, to where its codes are stored. */
static void copy_given(const struct job *job, const struct bq_unit *unit, uint32_t first_level, const struct bq_codes *codes)
{
	const struct bq_scheme *scheme = &job->encoder.plan->scheme;

	for (uint32_t i = first_level; i < scheme->nscales; i++) {
		const size_t scale_nbytes = bq_dtype(scheme->scale[i].dtype)->nbytes, min_nbytes = bq_dtype(scheme->min[i].dtype)->nbytes;

		memcpy(codes->scale[i], (const uint8_t *)job->given[BQ_ROLE_SCALE0 + i] + unit->cell[i] * scale_nbytes, unit->ncells[i] * scale_nbytes);
		if (scheme->nmins)
			memcpy(codes->min[i], (const uint8_t *)job->given[BQ_ROLE_MIN0 + i] + unit->cell[i] * min_nbytes, unit->ncells[i] * min_nbytes);
	}
	if (scheme->zero && !first_level)
		memcpy(codes->zero, (const uint8_t *)job->given[BQ_ROLE_ZERO] + unit->cell[0], unit->ncells[0]);
}

/* Whether every level is given, not the tensor-wide ones alone. */
static int blocks_given(const struct job *job)
{
	return job->given && job->given[BQ_ROLE_SCALE0];
}

/* The parameters of a unit, from what is given or from the ranges in the workspace. */
static void make_parameters(const struct job *job, const struct bq_unit *unit)
{
	struct bq_codes codes;

	bq_find_codes(job->encoder.plan, (const void *const *)job->planes, unit, &job->workspace, &codes);
	if (blocks_given(job)) {
		copy_given(job, unit, 0, &codes);
		bq_take_parameters(&job->encoder, unit, &job->workspace, &codes);
		return;
	}
	bq_calibrate(&job->encoder, &job->source, unit, &job->workspace);
	job->report->overflow_blocks += bq_make_parameters(&job->encoder, unit, &job->workspace, &codes);
}

/* The tensor-wide levels are made anew in each call, from what a first pass gathered; their overflows count once. */
static void make_top(struct job *job, const struct bq_tensor_range *range)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_unit unit = { .index = 0 };
	struct bq_codes codes;
	uint32_t overflows;

	bq_find_codes(plan, (const void *const *)job->planes, &unit, &job->workspace, &codes);
	if (!plan->tensor_level)
		bq_calibrate_tensor(&job->encoder, &job->source, range, &job->workspace);
	overflows = bq_make_top(&job->encoder, range, &job->workspace, &codes);
	job->report->overflow_blocks += job->source.band->first_step ? 0 : overflows;
}

/* The tensor-wide levels are given, and the others made against them. */
static void take_top(struct job *job)
{
	const struct bq_unit unit = { .index = 0, .ncells = { 1, 1, 1 } };
	struct bq_codes codes;

	bq_find_codes(job->encoder.plan, (const void *const *)job->planes, &unit, &job->workspace, &codes);
	copy_given(job, &unit, job->encoder.plan->tensor_level, &codes);
	bq_take_top(&job->encoder, &job->workspace, &codes);
}

/* The zero points of a step, whose last unit is this: bytes as they are, or one bit stream of words for each column of cells. */
static void store_zeros(const struct job *job, const struct bq_unit *last)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	const uint32_t cells = plan->cells_per_unit;
	const uint8_t *zeros = job->workspace.zeros;
	uint8_t *out = (uint8_t *)job->planes[job->zeros] +
		(bq_step_offset(plan, last->step, plan->plane[job->zeros].item_nbytes, plan->plane[job->zeros].step_nbytes) -
			job->source.band->plane_offset[job->zeros]);
	const uint32_t nunits = last->index + 1;
	uint8_t column[32], words[32];
	size_t nwords = (nunits * zero->bits + 31) / 32;

	if (!plan->scheme.scale[0].rank || !job->layout->zeros_by_row) {
		memcpy(out, zeros, last->ncells[0]); /* a step is one unit */
		return;
	}
	for (uint32_t c = 0; c < cells; c++) {
		for (uint32_t unit = 0; unit < nunits; unit++)
			column[unit] = zeros[unit * cells + c];
		job->encoder.kernels->pack_words(column, nunits, zero->bits, (unsigned)-zero->min, words);
		for (size_t word = 0; word < nwords; word++)
			memcpy(out + 4 * (word * cells + c), words + 4 * word, 4);
	}
}

static void encode_units(const struct job *job)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_band *band = job->source.band;
	const struct bq_level *inner = &plan->scheme.scale[0];
	const struct bq_workspace *w = &job->workspace;
	struct bq_unit unit;

	bq_first_unit(plan, band, &unit);
	do {
		if (plan->tensor_level || blocks_given(job))
			make_parameters(job, &unit);
		for (uint32_t row = 0; row < unit.nrows; row++) {
			encode_row(job, bq_load_row(plan, &job->source, unit.first_row + row, w->x), bq_row_cell(plan, inner, row));
			pack_row(job, unit.first_row + row);
		}
		if (job->zeros >= 0 && unit.ends_step)
			store_zeros(job, &unit);
	} while (bq_next_unit(plan, band, &unit));
	job->report->generic_values += band->nvalues;
}

static int is_nonfinite_half(uint16_t half)
{
	return (half & 0x7C00) == 0x7C00;
}

/* Counts blocks of finite weights whose f16 fields are infinite or NaN. */
static uint64_t count_overflows(const struct job *job, const uint8_t *blocks)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_layout *layout = job->layout;
	const size_t weights_nbytes = (size_t)layout->block_values * bq_dtype(plan->input)->nbytes;
	const uint64_t nblocks = job->source.band->nvalues / layout->block_values;
	uint64_t overflows = 0;
	size_t first;

	for (uint64_t b = 0; b < nblocks; b++, blocks += layout->block_nbytes) {
		int overflow = 0;

		for (uint32_t i = 0; i < layout->halves; i++)
			overflow |= is_nonfinite_half(bq_load16(blocks + layout->halves_at + 2 * i));
		if (layout->scattered_half)
			overflow |= is_nonfinite_half(layout->scattered_half(blocks));
		if (overflow)
			overflows += !job->encoder.kernels->count_nonfinite(job->source.weights + b * weights_nbytes, plan->input, layout->block_values, &first);
	}
	return overflows;
}

static float mean_square(const float *x, uint32_t count)
{
	float sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum / (float)count;
}

static void encode_fused(const struct job *job, const struct bq_fused *fused)
{
	struct bq_context context = job->context;
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_layout *layout = job->layout;
	const uint64_t nrows = job->source.band->nvalues / plan->cols;
	uint8_t *out = job->planes[0];

	if (job->source.importance && fused->weighting) {
		for (uint64_t row = 0; row < nrows; row++) {
			const float *x = bq_load_row(plan, &job->source, row, job->workspace.x);
			const float *weights = bq_importance_row(plan, &job->source, row);

			if (fused->weighting == BQ_WEIGHTED_BY_ROW)
				context.row_sigma = mean_square(x, plan->cols);
			fused->encode(x, weights, &context, plan->cols / layout->block_values, out + row * plan->row_nbytes);
		}
	} else if (plan->input == BQ_F32) {
		fused->encode((const float *)(const void *)job->source.weights, NULL, &context, (size_t)(job->source.band->nvalues / layout->block_values), out);
	} else {
		for (uint64_t at = 0; at < job->source.band->nvalues; at += BQ_TILE) {
			size_t count = job->source.band->nvalues - at < BQ_TILE ? (size_t)(job->source.band->nvalues - at) : BQ_TILE;

			job->encoder.kernels->to_f32[plan->input](job->source.weights + at * bq_dtype(plan->input)->nbytes, count, job->workspace.x);
			fused->encode(job->workspace.x, NULL, &context, count / layout->block_values, out + at / layout->block_values * layout->block_nbytes);
		}
	}
	job->report->fused_values += job->source.band->nvalues;
	job->report->overflow_blocks += count_overflows(job, out);
}

enum bq_status bq_encode(const struct bq_plan *plan, const struct bq_band *band, const void *weights, const float *importance,
	uint32_t nimportance, const struct bq_tensor_range *range, const float *lo, const float *hi, const void *const *given,
	uint32_t correct, const void *tables, void *const *planes, void *workspace, struct bq_report *report)
{
	const struct bq_fused *fused = &bq_kernels(plan->kernels)->fused[plan->scheme.fused];
	const int shape = bq_find_plane(plan, BQ_ROLE_SHAPE);
	struct job job = {
		.encoder = encoder_of(plan, correct), .source = { band, weights, importance, nimportance, lo, hi },
		.layout = bq_layout(plan->scheme.layout), .given = given, .planes = planes, .report = report,
		.context = { .tables = tables, .correct = correct },
		.zeros = bq_find_plane(plan, BQ_ROLE_ZERO),
	};

	bq_workspace(plan, workspace, &job.workspace);
	if (plan->needs_importance && !importance)
		return BQ_NEEDS_IMPORTANCE;
	if (!range)
		count_nonfinite(plan, band, weights, report); /* else bq_range has */
	if (fused->encode && !lo && !given) {
		encode_fused(&job, fused);
		return BQ_OK;
	}
	if ((plan->scheme.calibration == BQ_SEARCH && !blocks_given(&job)) || (job.layout->block_values && !job.layout->pack))
		return BQ_NEEDS_KERNEL;
	if (range)
		make_top(&job, range);
	else if (given && !blocks_given(&job))
		take_top(&job);
	encode_units(&job);
	for (uint32_t i = 0; shape >= 0 && i < plan->plane[shape].dims[0]; i++)
		bq_store64((uint8_t *)planes[shape] + 8 * i, plan->dims[plan->rank - plan->plane[shape].dims[0] + i]);
	return BQ_OK;
}
