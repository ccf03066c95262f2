/* SPDX-License-Identifier: MIT
 * calibrate.c - which range of values a block's codes are spread over.
 */
#include "calibrate.h"

#include <math.h>
#include <string.h>

#include "codes.h"
#include "dtype.h"
#include "number.h"
#include "sum.h"

/* Float32 weights of the band: in place where they are float32 already, else in scratch. */
static const float *read_values(const struct bq_plan *plan, const struct bq_source *source, uint64_t first, size_t count, float *scratch)
{
	const uint8_t *from = source->weights + first * bq_dtype(plan->input)->nbytes;

	if (plan->input == BQ_F32)
		return (const float *)(const void *)from;
	bq_kernels(plan->kernels)->to_f32[plan->input](from, count, scratch);
	return scratch;
}

const float *bq_read_row(const struct bq_plan *plan, const struct bq_source *source, uint64_t row, float *scratch)
{
	return read_values(plan, source, row * plan->cols, plan->cols, scratch);
}

const float *bq_read_part(const struct bq_plan *plan, const struct bq_source *source, struct bq_part *part, float *scratch)
{
	struct bq_cells *cells = &part->cells;

	if (plan->input == BQ_F32)
		return read_values(plan, source, part->value, cells->cols, scratch);
	cells->stride = cells->cols;
	for (size_t row = 0; row < cells->nrows; row++)
		read_values(plan, source, part->value + row * plan->cols, cells->cols, scratch + row * cells->cols);
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

/* Ranges that a calibration other than min and max chose: a block with what is not finite keeps that as its range. */
static void choose_range(const struct bq_encoder *encoder, float lo, float hi, float *to_lo, float *to_hi)
{
	if (*to_lo != *to_lo || *to_hi != *to_hi)
		return;
	if (isfinite(*to_lo) && isfinite(*to_hi))
		set_range(encoder, lo, hi, to_lo, to_hi);
	else
		set_range(encoder, -INFINITY, INFINITY, to_lo, to_hi);
}

int bq_skips_nan(const struct bq_encoder *encoder)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;

	return scheme->calibration == BQ_MINMAX && encoder->rules->skip_nan[scheme->scale[0].dtype];
}

static void measure(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit, int is_signed,
	const struct bq_workspace *w)
{
	const struct bq_plan *plan = encoder->plan;
	const int skip_nan = bq_skips_nan(encoder);

	memset(w->lo, 0, unit->ncells[0] * sizeof(float));
	memset(w->hi, 0, unit->ncells[0] * sizeof(float));
	for (uint32_t row = 0; row < unit->nrows; row++) {
		const float *x = bq_read_row(plan, source, unit->first_row + row, w->x);
		uint32_t cell = bq_row_cell(plan, &plan->scheme.scale[0], row);

		if (is_signed)
			encoder->kernels->extreme(x, plan->cols, plan->group, w->lo + cell);
		else
			encoder->kernels->range(x, plan->cols, plan->group, skip_nan, w->lo + cell, w->hi + cell);
	}
}

static void sum_blocks(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit,
	const struct bq_workspace *w)
{
	const struct bq_plan *plan = encoder->plan;

	memset(w->sums, 0, unit->ncells[0] * BQ_SUM_LIMBS * sizeof(uint32_t));
	for (uint32_t row = 0; row < unit->nrows; row++) {
		const float *x = bq_read_row(plan, source, unit->first_row + row, w->x);
		uint32_t *sum = w->sums + (size_t)bq_row_cell(plan, &plan->scheme.scale[0], row) * BQ_SUM_LIMBS;

		for (uint32_t begin = 0; begin < plan->cols; begin += plan->group, sum += BQ_SUM_LIMBS)
			bq_add_magnitudes(x + begin, plan->cols - begin < plan->group ? plan->cols - begin : plan->group, sum);
	}
}

/* The part of a row of the unit that is in a block: where it begins, and how many values. */
static uint32_t part_of_row(const struct bq_plan *plan, uint32_t row, uint32_t cell, uint32_t *begin)
{
	const uint32_t first = bq_row_cell(plan, &plan->scheme.scale[0], row);
	const uint64_t at = (uint64_t)(cell - first) * plan->group;

	if (cell < first || at >= plan->cols)
		return 0;
	*begin = (uint32_t)at;
	return plan->cols - *begin < plan->group ? plan->cols - *begin : plan->group;
}

static uint64_t count_block(const struct bq_plan *plan, const struct bq_unit *unit, uint32_t cell)
{
	uint64_t count = 0;
	uint32_t begin;

	for (uint32_t row = 0; row < unit->nrows; row++)
		count += part_of_row(plan, row, cell, &begin);
	return count;
}

/* The values of a block into workspace->values, and their importance, or 1, into weights; returns how many. */
static size_t gather_block(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit, uint32_t cell,
	const struct bq_workspace *w)
{
	const struct bq_plan *plan = encoder->plan;
	size_t count = 0;
	uint32_t begin;

	for (uint32_t row = 0; row < unit->nrows; row++) {
		const uint32_t here = part_of_row(plan, row, cell, &begin);
		const uint64_t at = (unit->first_row + row) * plan->cols + begin;

		if (!here)
			continue;
		encoder->kernels->to_f32[plan->input](source->weights + at * bq_dtype(plan->input)->nbytes, here, w->values + count);
		for (uint32_t i = 0; i < here; i++)
			w->weights[count + i] = source->importance ? bq_importance_row(plan, source, unit->first_row + row)[begin + i] : 1;
		count += here;
	}
	return count;
}

/* Bits in the order of the numbers. */
static uint32_t ordered(float x)
{
	const uint32_t bits = bq_bits(x);

	return bits >> 31 ? ~bits : bits | 0x80000000;
}

/* The value of a rank, counted from 0, without sorting: its bits, eight at a time. */
static float value_of_rank(const float *x, size_t count, size_t rank)
{
	uint32_t found = 0;

	for (int shift = 24; shift >= 0; shift -= 8) {
		size_t counts[256] = { 0 };
		uint32_t byte = 0;

		for (size_t i = 0; i < count; i++)
			if (shift == 24 || ordered(x[i]) >> (shift + 8) == found)
				counts[ordered(x[i]) >> shift & 255]++;
		for (; rank >= counts[byte]; byte++)
			rank -= counts[byte];
		found = found << 8 | byte;
	}
	return bq_float(found >> 31 ? found & 0x7FFFFFFF : ~found);
}

static void choose_percentile(const struct bq_encoder *encoder, size_t count, uint32_t cell, const struct bq_workspace *w)
{
	const size_t rank = (size_t)ceil((double)count * encoder->plan->scheme.calibration_argument / 100);

	choose_range(encoder, value_of_rank(w->values, count, count - rank), value_of_rank(w->values, count, rank - 1), &w->lo[cell], &w->hi[cell]);
}

/* The weighted sum of squared errors of a block, with its own ideal parameters. */
static double squared_error(const struct bq_encoder *encoder, size_t count, uint32_t cell, const struct bq_workspace *w)
{
	const struct bq_plan *plan = encoder->plan;
	struct bq_quantizer quantizer;
	struct bq_dequantizer dequantizer;
	double sum = 0;
	float divisor;

	bq_ideal(encoder, cell, 1, w);
	bq_divisors(encoder->rules, 1, w->scale[0] + cell, &divisor);
	bq_describe_quantizer(plan, encoder->quotient_work, w, cell, &quantizer);
	quantizer.scale = &divisor;
	encoder->kernels->encode(&quantizer, w->values, count, count, w->codes);
	bq_describe_dequantizer(plan, encoder->quotient_work, BQ_F32, w, cell, &dequantizer);
	encoder->kernels->decode(&dequantizer, w->codes, count, count, w->trial);
	for (size_t i = 0; i < count; i++) {
		const double error = (double)w->values[i] - (double)w->trial[i];

		sum += (double)w->weights[i] * (error * error);
	}
	return sum;
}

static void choose_least_error(const struct bq_encoder *encoder, size_t count, uint32_t cell, const struct bq_workspace *w)
{
	const float lo = w->lo[cell], hi = w->hi[cell];
	const double least_ratio = encoder->plan->scheme.calibration_argument;
	double least = INFINITY;
	int best = 100;

	for (int percent = 100; isfinite(lo) && isfinite(hi) && percent / 100.0 >= least_ratio; percent--) {
		double error;

		set_range(encoder, (float)((double)lo * percent / 100), (float)((double)hi * percent / 100), &w->lo[cell], &w->hi[cell]);
		error = squared_error(encoder, count, cell, w);
		if (error < least) {
			least = error;
			best = percent;
		}
	}
	w->lo[cell] = lo;
	w->hi[cell] = hi;
	choose_range(encoder, (float)((double)lo * best / 100), (float)((double)hi * best / 100), &w->lo[cell], &w->hi[cell]);
}

static void calibrate_blocks(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit,
	const struct bq_workspace *w)
{
	const uint32_t calibration = encoder->plan->scheme.calibration;

	measure(encoder, source, unit, calibration == BQ_MINMAX && encoder->rules->extent == BQ_SIGNED, w);
	if (calibration == BQ_MINMAX)
		return;
	if (calibration == BQ_ABSMEAN)
		sum_blocks(encoder, source, unit, w);
	for (uint32_t c = 0; c < unit->ncells[0]; c++) {
		const size_t count = bq_gathers_cells(&encoder->plan->scheme) ? gather_block(encoder, source, unit, c, w) : 0;

		if (calibration == BQ_PERCENTILE) {
			choose_percentile(encoder, count, c, w);
		} else if (calibration == BQ_MSE) {
			choose_least_error(encoder, count, c, w);
		} else {
			const float mean = bq_mean(w->sums + (size_t)c * BQ_SUM_LIMBS, count_block(encoder->plan, unit, c));

			choose_range(encoder, -mean, mean, &w->lo[c], &w->hi[c]);
		}
	}
}

void bq_calibrate(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_unit *unit, const struct bq_workspace *w)
{
	const uint64_t first = unit->cell[0];

	if (!source->lo) {
		calibrate_blocks(encoder, source, unit, w);
		return;
	}
	for (uint32_t c = 0; c < unit->ncells[0]; c++)
		set_range(encoder, source->lo[first + c], source->hi[first + c], &w->lo[c], &w->hi[c]);
}

void bq_gather(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_workspace *w, struct bq_tensor_range *range)
{
	const struct bq_plan *plan = encoder->plan;

	if (source->lo) {
		set_range(encoder, source->lo[0], source->hi[0], &range->lo, &range->hi);
		return;
	}
	for (uint64_t at = 0; at < source->band->nvalues; at += BQ_TILE) {
		const size_t count = source->band->nvalues - at < BQ_TILE ? (size_t)(source->band->nvalues - at) : BQ_TILE;
		const float *x = read_values(plan, source, at, count, w->x);

		encoder->kernels->range(x, count, count, bq_skips_nan(encoder), &range->lo, &range->hi);
		if (plan->scheme.calibration == BQ_ABSMEAN)
			bq_add_magnitudes(x, count, range->sum);
	}
}

void bq_calibrate_tensor(const struct bq_encoder *encoder, const struct bq_source *source, const struct bq_tensor_range *range,
	const struct bq_workspace *w)
{
	w->lo[0] = range->lo;
	w->hi[0] = range->hi;
	if (!source->lo && encoder->plan->scheme.calibration == BQ_ABSMEAN) {
		const float mean = bq_mean(range->sum, encoder->plan->nvalues);

		choose_range(encoder, -mean, mean, &w->lo[0], &w->hi[0]);
	}
}
