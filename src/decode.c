/* SPDX-License-Identifier: MIT
 * decode.c - the way back: stored planes -> codes and decoded parameters -> float32 values.
 */
#include <string.h>

#include "dtype.h"
#include "geometry.h"
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

/* Codes of a level's cells in the unit that begins at row `row` of the band. */
static uint8_t *level_codes(const struct job *job, uint32_t role, const struct bq_level *level, uint64_t first_cell)
{
	const int plane = bq_find_plane(job->plan, role);
	const uint8_t *codes = job->planes[plane];

	return (uint8_t *)(uintptr_t)(codes + (level->rank ? first_cell * bq_dtype(level->dtype)->nbytes : 0));
}

/* Decoded parameters of a unit into workspace->scale and ->min. cell[i]: first cell of level i. */
static void join_unit(const struct job *job, const uint64_t *cell, uint32_t ncells)
{
	const struct bq_scheme *scheme = &job->plan->scheme;
	const struct bq_workspace *w = &job->workspace;
	uint8_t *scales[BQ_MAX_LEVELS] = { 0 }, *mins[BQ_MAX_LEVELS] = { 0 };

	for (uint32_t i = 0; i < scheme->nscales; i++) {
		int packed = job->layout->block_values != 0;

		scales[i] = packed ? w->scale_codes[i] : level_codes(job, BQ_ROLE_SCALE0 + i, &scheme->scale[i], cell[i]);
		if (scheme->nmins)
			mins[i] = packed ? w->min_codes[i] : level_codes(job, BQ_ROLE_MIN0 + i, &scheme->min[i], cell[i]);
	}
	bq_join_levels(job->plan, job->rules, job->kernels, scheme->scale, scheme->nscales, scales, ncells, w, w->scale);
	if (scheme->nmins)
		bq_join_levels(job->plan, job->rules, job->kernels, scheme->min, scheme->nmins, mins, ncells, w, w->min);
}

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
		job->kernels->unpack_words(in, plan->cols, value->bits, (unsigned)-value->min, w->codes);
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
	const struct bq_scheme *scheme = &plan->scheme;
	const struct bq_workspace *w = &job->workspace;
	float *out = job->values + row * plan->cols;
	const struct bq_dequantizer dequantizer = {
		.value = scheme->value,
		.scale = w->scale + cell,
		.zero = scheme->zero ? w->zero + cell : NULL,
		.min = scheme->nmins ? w->min + cell : NULL,
		.work = job->work,
		.result = job->result,
	};

	job->kernels->decode(&dequantizer, w->codes, plan->cols, plan->group, out);
}

/* The zero points of a step into workspace->zeros, one byte each. */
static void load_zeros(const struct job *job, uint64_t step, uint32_t nunits)
{
	const struct bq_plan *plan = job->plan;
	const struct bq_plane *plane = &plan->plane[job->zeros];
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	const uint32_t cells = plan->cells_per_unit;
	const uint8_t *in = (const uint8_t *)job->planes[job->zeros];
	uint8_t column[32], words[32];
	size_t nwords = (nunits * zero->bits + 31) / 32;

	if (!plan->scheme.scale[0].rank) {
		job->workspace.zeros[0] = in[0];
		return;
	}
	in += bq_step_offset(plan, step, plane->item_nbytes, plane->step_nbytes) - job->band->plane_offset[job->zeros];
	if (!job->layout->zeros_by_row) {
		memcpy(job->workspace.zeros, in, (size_t)nunits * cells);
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

static void decode_unit(const struct job *job, uint32_t unit, uint64_t first_row, uint32_t nrows, const uint64_t *cell, uint32_t ncells)
{
	const struct bq_plan *plan = job->plan;

	/* Blocks hold their parameters, and a unit of them is one row. */
	if (job->layout->block_values)
		unpack_row(job, first_row);
	join_unit(job, cell, ncells);
	if (job->zeros >= 0) {
		size_t first = plan->scheme.scale[0].rank ? (size_t)unit * plan->cells_per_unit : 0;

		bq_widen(job->kernels, plan->scheme.zero, job->workspace.zeros + first, ncells, job->workspace.zero);
	}
	for (uint32_t row = 0; row < nrows; row++) {
		if (!job->layout->block_values)
			unpack_row(job, first_row + row);
		decode_row(job, first_row + row, bq_row_cell(plan, &plan->scheme.scale[0], row));
	}
}

static void decode_steps(const struct job *job)
{
	const struct bq_plan *plan = job->plan;
	uint64_t row = 0, cell[BQ_MAX_LEVELS] = { 0 };

	for (uint64_t step = job->band->first_step; step < job->band->first_step + job->band->nsteps; step++) {
		uint64_t rows_left = plan->rows_per_item - step % plan->steps_per_item * plan->step_rows;
		uint32_t nrows = rows_left < plan->step_rows ? (uint32_t)rows_left : plan->step_rows, unit = 0;

		if (job->zeros >= 0)
			load_zeros(job, step, bq_units_of_rows(plan, nrows));
		for (uint32_t done = 0; done < nrows; unit++) {
			uint32_t here = nrows - done < plan->unit_rows ? nrows - done : plan->unit_rows;

			decode_unit(job, unit, row + done, here, cell, bq_cells_of_rows(plan, &plan->scheme.scale[0], here));
			for (uint32_t i = 0; i < plan->scheme.nscales; i++)
				cell[i] += bq_cells_of_rows(plan, &plan->scheme.scale[i], here);
			done += here;
		}
		row += nrows;
	}
}

/* The fake quantizer knows the weights' dtype and works in it; the decoder only has the planes. */
static void choose_dtypes(struct job *job, uint32_t fake)
{
	const struct bq_plan *plan = job->plan;

	job->work = fake ? plan->encode_work : plan->decode_work;
	job->result = fake && job->rules->work_input ? plan->input : plan->result;
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
	decode_steps(&job);
	report->generic_values += band->nvalues;
}
