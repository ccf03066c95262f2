/* SPDX-License-Identifier: MIT
 * encode.c - READ FIRST: a band of weights becomes the bytes of every plane, in order:
 *
 *     load -> range of each block -> parameters -> codes -> packed
 *
 * A scheme with a fused kernel goes the short way; the bytes are the same.
 */
#include <string.h>

#include "dtype.h"
#include "geometry.h"
#include "number.h"
#include "parameters.h"

/* Everything that the units of one call share. */
struct job {
	struct bq_encoder encoder;
	const struct bq_layout *layout;
	const struct bq_band *band;
	const uint8_t *weights;
	const float *lo, *hi; /* ranges to use, or null */
	void *const *planes;
	struct bq_workspace workspace;
	struct bq_report *report;
	uint32_t work; /* dtype of the quotient */
	int values, scales, zeros; /* index of a plane, or -1 */
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

void bq_range(const struct bq_plan *plan, const struct bq_band *band, const void *weights, struct bq_tensor_range *range,
	struct bq_report *report)
{
	const struct bq_kernels *kernels = bq_kernels(plan->kernels);
	const uint32_t nbytes = bq_dtype(plan->input)->nbytes;
	float tile[1024];

	count_nonfinite(plan, band, weights, report);
	for (uint64_t at = 0; at < band->nvalues; at += 1024) {
		size_t count = band->nvalues - at < 1024 ? (size_t)(band->nvalues - at) : 1024;

		kernels->to_f32[plan->input]((const uint8_t *)weights + at * nbytes, count, tile);
		kernels->range(tile, count, count, &range->lo, &range->hi);
	}
	range->seen = 1;
}

/* A float32 row of the band; in place where the weights are float32 already. */
static const float *load_row(const struct job *job, uint64_t row)
{
	const struct bq_plan *plan = job->encoder.plan;
	const uint8_t *from = job->weights + row * plan->cols * bq_dtype(plan->input)->nbytes;

	if (plan->input == BQ_F32)
		return (const float *)(const void *)from;
	job->encoder.kernels->to_f32[plan->input](from, plan->cols, job->workspace.x);
	return job->workspace.x;
}

static void measure(const struct job *job, uint64_t first_row, uint32_t nrows, uint32_t ncells)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_workspace *w = &job->workspace;

	memset(w->lo, 0, ncells * sizeof(float));
	memset(w->hi, 0, ncells * sizeof(float));
	for (uint32_t row = 0; row < nrows; row++) {
		const float *x = load_row(job, first_row + row);
		uint32_t cell = bq_row_cell(plan, &plan->scheme.scale[0], row);

		if (job->encoder.rules->extent == BQ_SIGNED)
			job->encoder.kernels->extreme(x, plan->cols, plan->group, w->lo + cell);
		else
			job->encoder.kernels->range(x, plan->cols, plan->group, w->lo + cell, w->hi + cell);
	}
}

static void given_ranges(const struct job *job, uint64_t first_cell, uint32_t ncells)
{
	const struct bq_workspace *w = &job->workspace;

	for (uint32_t c = 0; c < ncells; c++) {
		float lo = bq_round_to(job->encoder.work, job->lo[first_cell + c]);
		float hi = bq_round_to(job->encoder.work, job->hi[first_cell + c]);

		w->lo[c] = lo < 0 ? lo : 0;
		w->hi[c] = hi > 0 ? hi : 0;
		if (job->encoder.rules->extent == BQ_SIGNED && w->hi[c] >= -w->lo[c])
			w->lo[c] = w->hi[c];
		/* As measured in a block with a NaN. */
		if (lo != lo || hi != hi)
			w->lo[c] = w->hi[c] = bq_float(BQ_F32_NAN);
	}
}

static void encode_row(const struct job *job, const float *x, uint32_t cell)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_rules *rules = job->encoder.rules;
	const struct bq_workspace *w = &job->workspace;
	const struct bq_dtype_info *value = bq_dtype(plan->scheme.value);
	const struct bq_quantizer quantizer = {
		.value = plan->scheme.value,
		.scale = w->scale + cell,
		.zero = plan->scheme.zero ? w->zero + cell : NULL,
		.code_min = value->min + (float)plan->scheme.narrow,
		.code_max = value->max,
		.quotient = rules->quotient,
		.round = rules->round,
		.work = job->work,
		.drop_negative_zero = rules->drop_negative_zero[plan->scheme.value],
	};

	job->encoder.kernels->encode(&quantizer, x, plan->cols, plan->group, w->codes);
}

static void pack_row(const struct job *job, uint64_t row)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_dtype_info *value = bq_dtype(plan->scheme.value);
	const struct bq_workspace *w = &job->workspace;
	uint8_t *out = (uint8_t *)job->planes[job->values] + row * plan->row_nbytes;

	if (job->layout->block_values) {
		const struct bq_row_parts parts = { .codes = w->codes, .scale = { w->scale_codes[0] } };

		job->layout->pack(&parts, plan->cols / job->layout->block_values, out);
	} else if (job->layout->packing == BQ_WORDS) {
		job->encoder.kernels->pack_words(w->codes, plan->cols, value->bits, (unsigned)-value->min, out);
	} else if (job->layout->packing == BQ_NIBBLES) {
		job->encoder.kernels->pack_nibbles(w->codes, plan->cols, out);
	} else if (job->layout->packing == BQ_SIXES) {
		job->encoder.kernels->pack_sixes(w->codes, plan->cols, out);
	} else {
		memcpy(out, w->codes, plan->cols);
	}
}

static void encode_unit(const struct job *job, uint64_t unit, uint64_t first_row, uint32_t nrows, uint32_t ncells, uint64_t first_cell)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_workspace *w = &job->workspace;
	const uint32_t scale_nbytes = bq_dtype(plan->scheme.scale[0].dtype)->nbytes;
	uint8_t *scales = w->scale_codes[0];

	if (plan->scheme.scale[0].rank) {
		if (job->lo)
			given_ranges(job, first_cell, ncells);
		else
			measure(job, first_row, nrows, ncells);
		if (job->scales >= 0)
			scales = (uint8_t *)job->planes[job->scales] + first_cell * scale_nbytes;
		job->report->overflow_blocks += bq_make_parameters(&job->encoder, ncells, w, scales,
			w->zeros + unit * plan->cells_per_unit);
	}
	for (uint32_t row = 0; row < nrows; row++) {
		encode_row(job, load_row(job, first_row + row), bq_row_cell(plan, &plan->scheme.scale[0], row));
		pack_row(job, first_row + row);
	}
}

/* A tensor-wide innermost scale is made anew in each call, from the range of the whole tensor; returns its overflows. */
static uint64_t tensor_parameters(const struct job *job, const struct bq_tensor_range *range)
{
	uint64_t overflows;

	job->workspace.lo[0] = range->lo;
	job->workspace.hi[0] = range->hi;
	if (job->lo)
		given_ranges(job, 0, 1);
	overflows = bq_make_parameters(&job->encoder, 1, &job->workspace, job->planes[job->scales], job->workspace.zeros);
	if (job->zeros >= 0)
		memcpy(job->planes[job->zeros], job->workspace.zeros, 1);
	return overflows;
}

/* The zero points of nunits consecutive units: bytes as they are, or one bit stream of words for each column of cells. */
static void store_zeros(const struct job *job, uint64_t step, uint32_t nunits)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	const uint32_t cells = plan->cells_per_unit;
	const uint8_t *zeros = job->workspace.zeros;
	uint8_t *out = (uint8_t *)job->planes[job->zeros] +
		(bq_step_offset(plan, step, plan->plane[job->zeros].item_nbytes, plan->plane[job->zeros].step_nbytes) -
			job->band->plane_offset[job->zeros]);
	uint8_t column[32], words[32];
	size_t nwords = (nunits * zero->bits + 31) / 32;

	if (!job->layout->zeros_by_row) {
		memcpy(out, zeros, (size_t)nunits * cells);
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

static void encode_steps(const struct job *job)
{
	const struct bq_plan *plan = job->encoder.plan;
	uint64_t row = 0, cell = 0;

	for (uint64_t step = job->band->first_step; step < job->band->first_step + job->band->nsteps; step++) {
		uint64_t rows_left = plan->rows_per_item - step % plan->steps_per_item * plan->step_rows;
		uint32_t nrows = rows_left < plan->step_rows ? (uint32_t)rows_left : plan->step_rows, unit = 0;

		for (uint32_t done = 0; done < nrows; unit++) {
			uint32_t here = nrows - done < plan->unit_rows ? nrows - done : plan->unit_rows;
			uint32_t ncells = here == plan->unit_rows ? plan->cells_per_unit : bq_cells_of_rows(plan, &plan->scheme.scale[0], here);

			encode_unit(job, unit, row + done, here, ncells, cell);
			done += here;
			cell += ncells;
		}
		row += nrows;
		if (job->zeros >= 0 && plan->scheme.scale[0].rank)
			store_zeros(job, step, unit);
	}
	job->report->generic_values += job->band->nvalues;
}

/* Counts blocks of finite weights whose f16 fields are infinite or NaN. */
static uint64_t count_overflows(const struct job *job, const uint8_t *blocks)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_layout *layout = job->layout;
	const size_t weights_nbytes = (size_t)layout->block_values * bq_dtype(plan->input)->nbytes;
	const uint64_t nblocks = job->band->nvalues / layout->block_values;
	uint64_t overflows = 0;
	size_t first;

	for (uint64_t b = 0; b < nblocks; b++, blocks += layout->block_nbytes) {
		int overflow = 0;

		for (uint32_t i = 0; i < layout->halves; i++)
			overflow |= (bq_load16(blocks + layout->halves_at + 2 * i) & 0x7C00) == 0x7C00;
		if (overflow)
			overflows += !job->encoder.kernels->count_nonfinite(job->weights + b * weights_nbytes, plan->input, layout->block_values, &first);
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

static void encode_fused(const struct job *job, const struct bq_fused *fused, const float *importance, uint32_t nimportance)
{
	const struct bq_plan *plan = job->encoder.plan;
	const struct bq_layout *layout = job->layout;
	const uint64_t nrows = job->band->nvalues / plan->cols, first_row = job->band->value_offset / plan->cols;
	uint8_t *out = job->planes[0];

	if (importance && fused->weighting) {
		for (uint64_t row = 0; row < nrows; row++) {
			const float *x = load_row(job, row);
			const float *weights = importance + (first_row + row) / plan->rows_per_item % nimportance * plan->cols;
			float sigma = fused->weighting == BQ_WEIGHTED_BY_ROW ? mean_square(x, plan->cols) : 0;

			fused->encode(x, weights, sigma, plan->cols / layout->block_values, out + row * plan->row_nbytes);
		}
	} else if (plan->input == BQ_F32) {
		fused->encode((const float *)(const void *)job->weights, NULL, 0, (size_t)(job->band->nvalues / layout->block_values), out);
	} else {
		for (uint64_t at = 0; at < job->band->nvalues; at += BQ_TILE) {
			size_t count = job->band->nvalues - at < BQ_TILE ? (size_t)(job->band->nvalues - at) : BQ_TILE;

			job->encoder.kernels->to_f32[plan->input](job->weights + at * bq_dtype(plan->input)->nbytes, count, job->workspace.x);
			fused->encode(job->workspace.x, NULL, 0, count / layout->block_values, out + at / layout->block_values * layout->block_nbytes);
		}
	}
	job->report->fused_values += job->band->nvalues;
	job->report->overflow_blocks += count_overflows(job, out);
}

enum bq_status bq_encode(const struct bq_plan *plan, const struct bq_band *band, const void *weights, const float *importance,
	uint32_t nimportance, const struct bq_tensor_range *range, const float *lo, const float *hi, uint32_t correct,
	void *const *planes, void *workspace, struct bq_report *report)
{
	const struct bq_fused *fused = &bq_kernels(plan->kernels)->fused[plan->scheme.fused];
	const int multiplier = bq_find_plane(plan, BQ_ROLE_SCALE1), shape = bq_find_plane(plan, BQ_ROLE_SHAPE);
	struct job job = {
		.encoder = {
			.plan = plan, .rules = bq_rules(plan->scheme.rules), .kernels = bq_kernels(plan->kernels),
			.work = bq_rules(plan->scheme.rules)->work_input && !correct ? plan->input : BQ_F32, .multiplier = 1,
		},
		.layout = bq_layout(plan->scheme.layout), .band = band, .weights = weights, .lo = lo, .hi = hi, .planes = planes,
		.report = report, .work = correct ? BQ_F32 : plan->encode_work,
		.values = 0, .scales = bq_find_plane(plan, BQ_ROLE_SCALE0), .zeros = bq_find_plane(plan, BQ_ROLE_ZERO),
	};

	bq_workspace(plan, workspace, &job.workspace);
	if (plan->passes == 1)
		count_nonfinite(plan, band, weights, report); /* else bq_range has */
	if (fused->encode && !lo) {
		encode_fused(&job, fused, importance, nimportance);
		return BQ_OK;
	}
	if (plan->scheme.calibration == BQ_SEARCH || (job.layout->block_values && !job.layout->pack))
		return BQ_NEEDS_KERNEL;
	if (plan->passes == 2) {
		uint64_t overflows = 0;

		job.encoder.multiplier = bq_multiplier(&job.encoder, range, &overflows);
		if (multiplier >= 0)
			job.encoder.kernels->from_f32[plan->plane[multiplier].dtype](&job.encoder.multiplier, 1, planes[multiplier]);
		if (!plan->scheme.scale[0].rank)
			overflows += tensor_parameters(&job, range);
		report->overflow_blocks += band->first_step ? 0 : overflows; /* the same in every band */
	}
	encode_steps(&job);
	for (uint32_t i = 0; shape >= 0 && i < plan->plane[shape].dims[0]; i++)
		bq_store64((uint8_t *)planes[shape] + 8 * i, plan->dims[plan->rank - plan->plane[shape].dims[0] + i]);
	return BQ_OK;
}
