/* SPDX-License-Identifier: MIT
 * native.c - the core as a filter, for tests/js/builds.test.js: jobs on standard input, what became of them on standard
 * output, so that the native builds can be compared with core.wasm on whatever the test thinks of.
 *
 * A job:    struct bq_scheme | u32 input, kernels, rank, correct, band_nbytes, nimportance | u64 nranges | u64 dims[5] | codebook |
 *           weights | importance | nranges low ends of the innermost blocks (0: they are measured) | high ends
 * A result: u32 status, u32 fused | planes | decoded values | fake-quantized values
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blockquant.h"
#include "dtype.h"

struct job {
	struct bq_scheme scheme;
	uint32_t input, kernels, rank, correct, band_nbytes, nimportance;
	uint64_t nranges;
	uint64_t dims[BQ_MAX_RANK];
};

static void *read_bytes(uint64_t nbytes)
{
	void *bytes = malloc(nbytes ? (size_t)nbytes : 1);

	assert(bytes && fread(bytes, 1, (size_t)nbytes, stdin) == nbytes);
	return bytes;
}

static void write_bytes(const void *bytes, uint64_t nbytes)
{
	size_t written = fwrite(bytes, 1, (size_t)nbytes, stdout);

	assert(written == nbytes);
}

/* Every band has buffers of its own, of exactly its size, so that the sanitizers see a byte too many. */
static void *exact(uint64_t nbytes)
{
	void *bytes = malloc(nbytes ? (size_t)nbytes : 1);

	assert(bytes);
	memset(bytes, 0xA5, (size_t)nbytes);
	return bytes;
}

static void copy_planes(const struct bq_plan *plan, const struct bq_band *band, uint8_t **stored, void **planes, int back)
{
	for (uint32_t i = 0; i < plan->nplanes; i++) {
		if (back)
			memcpy(stored[i] + band->plane_offset[i], planes[i], band->plane_nbytes[i]);
		else
			memcpy(planes[i], stored[i] + band->plane_offset[i], band->plane_nbytes[i]);
	}
}

static enum bq_status encode_band(const struct job *job, const struct bq_plan *plan, const struct bq_band *band, const uint8_t *weights,
	const float *importance, const float *lo, const float *hi, const struct bq_tensor_range *range, const void *tables,
	uint8_t **stored, void *workspace, struct bq_report *report)
{
	const uint32_t nbytes = bq_dtype(plan->input)->nbytes;
	void *planes[BQ_MAX_PLANES], *own = exact(band->nvalues * nbytes);
	enum bq_status status;

	memcpy(own, weights + band->value_offset * nbytes, (size_t)band->nvalues * nbytes);
	for (uint32_t i = 0; i < plan->nplanes; i++)
		planes[i] = exact(band->plane_nbytes[i]);
	status = bq_encode(plan, band, own, job->nimportance ? importance : NULL, job->nimportance,
		plan->passes == 2 ? range : NULL, lo ? lo + band->cell_offset[0] : NULL, hi ? hi + band->cell_offset[0] : NULL, NULL,
		job->correct, tables, planes, workspace, report);
	copy_planes(plan, band, stored, planes, 1);
	for (uint32_t i = 0; i < plan->nplanes; i++)
		free(planes[i]);
	free(own);
	return status;
}

static void decode_band(const struct bq_plan *plan, const struct bq_band *band, uint8_t **stored, uint32_t fake, float *values,
	void *workspace, struct bq_report *report)
{
	void *planes[BQ_MAX_PLANES];
	float *own = exact(band->nvalues * sizeof(float));

	for (uint32_t i = 0; i < plan->nplanes; i++)
		planes[i] = exact(band->plane_nbytes[i]);
	copy_planes(plan, band, stored, planes, 0);
	bq_decode(plan, band, (const void *const *)planes, fake, own, workspace, report);
	memcpy(values + band->value_offset, own, (size_t)band->nvalues * sizeof(float));
	for (uint32_t i = 0; i < plan->nplanes; i++)
		free(planes[i]);
	free(own);
}

static void run(const struct job *job)
{
	struct bq_plan plan;
	float *codebook = read_bytes(job->scheme.codebook * sizeof(float));
	enum bq_status status = bq_plan(&job->scheme, codebook, job->input, job->kernels, job->rank, job->dims, &plan);
	uint32_t head[2] = { status, 0 };
	struct bq_report report = { 0 };
	struct bq_tensor_range range = { 0 };
	uint8_t *stored[BQ_MAX_PLANES];
	struct bq_band band;
	uint8_t *weights;
	float *importance, *lo = NULL, *hi = NULL, *values;
	void *workspace, *tables;
	uint64_t steps;

	free(codebook);
	if (status) {
		uint64_t nvalues = 1;

		for (uint32_t i = 0; i < job->rank; i++)
			nvalues *= job->dims[i];
		free(read_bytes(nvalues * bq_dtype(job->input)->nbytes));
		free(read_bytes(job->nimportance * job->dims[job->rank - 1] * sizeof(float)));
		free(read_bytes(2 * job->nranges * sizeof(float)));
		write_bytes(head, sizeof(head));
		return;
	}
	weights = read_bytes(plan.nvalues * bq_dtype(plan.input)->nbytes);
	importance = read_bytes((uint64_t)job->nimportance * plan.cols * sizeof(float));
	if (job->nranges) {
		lo = read_bytes(job->nranges * sizeof(float));
		hi = read_bytes(job->nranges * sizeof(float));
	}
	workspace = exact(plan.workspace_nbytes);
	tables = exact(plan.tables_nbytes);
	bq_prepare(&plan, tables);
	values = exact(plan.nvalues * sizeof(float));
	steps = plan.nitems * plan.steps_per_item;
	for (uint32_t i = 0; i < plan.nplanes; i++)
		stored[i] = exact(plan.plane[i].nbytes);

	for (uint64_t step = 0; plan.passes == 2 && step < steps; step += band.nsteps) {
		bq_band(&plan, step, job->band_nbytes, &band);
		bq_range(&plan, &band, weights + band.value_offset * bq_dtype(plan.input)->nbytes, job->nimportance ? importance : NULL,
			job->nimportance, lo ? lo + band.cell_offset[0] : NULL, hi ? hi + band.cell_offset[0] : NULL, job->correct,
			workspace, &range, &report);
	}
	for (uint64_t step = 0; step < steps && !head[0]; step += band.nsteps) {
		bq_band(&plan, step, job->band_nbytes, &band);
		head[0] = encode_band(job, &plan, &band, weights, importance, lo, hi, &range, tables, stored, workspace, &report);
	}
	head[1] = report.fused_values != 0;
	write_bytes(head, sizeof(head));
	for (uint32_t i = 0; !head[0] && i < plan.nplanes; i++)
		write_bytes(stored[i], plan.plane[i].nbytes);
	for (uint32_t fake = 0; !head[0] && fake < 2; fake++) {
		for (uint64_t step = 0; step < steps; step += band.nsteps) {
			bq_band(&plan, step, job->band_nbytes, &band);
			decode_band(&plan, &band, stored, fake, values, workspace, &report);
		}
		write_bytes(values, plan.nvalues * sizeof(float));
	}
	for (uint32_t i = 0; i < plan.nplanes; i++)
		free(stored[i]);
	free(values);
	free(tables);
	free(workspace);
	free(hi);
	free(lo);
	free(importance);
	free(weights);
}

int main(void)
{
	struct job job;

	while (fread(&job, sizeof(job), 1, stdin) == 1)
		run(&job);
	return 0;
}
