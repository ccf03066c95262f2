/* SPDX-License-Identifier: MIT
 * test_observe.c - bq_observe and bq_average: blocks of every geometry against a plain loop, in bands of any size, and
 * averages with the roundings of each dtype.
 */
#include <math.h>

#include "dtype.h"
#include "kernels.h"
#include "number.h"
#include "test.h"

#define MAX_CELLS 400

/* Cell of the value at (z, y, x) of a tensor of 3 axes under blocks of edge[3]. */
static uint32_t cell_of(const uint32_t *at, const uint64_t *dims, const uint32_t *edge)
{
	uint32_t cell = 0;

	for (uint32_t axis = 0; axis < 3; axis++)
		cell = cell * (uint32_t)((dims[axis] + edge[axis] - 1) / edge[axis]) + at[axis] / edge[axis];
	return cell;
}

static void observe_in_bands(const struct bq_plan *plan, const uint8_t *weights, uint32_t max_nbytes, float *lo, float *hi)
{
	void *workspace = test_buffer(plan->workspace_nbytes, 0xA5);
	struct bq_band band;

	for (uint64_t step = 0; step < plan->nitems * plan->steps_per_item; step += band.nsteps) {
		bq_band(plan, step, max_nbytes, &band);
		bq_observe(plan, &band, weights + band.value_offset * bq_dtype(plan->input)->nbytes, lo + band.cell_offset[0], hi + band.cell_offset[0], workspace);
	}
	free(workspace);
}

static void ranges_are_those_of_the_blocks(uint32_t kernels, uint32_t input, const uint32_t *edge, uint32_t rank)
{
	const uint64_t dims[3] = { 3, 7, 10 };
	const uint32_t full[3] = { rank == 3 ? edge[0] : rank ? 1 : 3, rank == 1 ? 1 : rank ? edge[1] : 7, rank ? edge[2] : 10 };
	struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { { .dtype = BQ_F32, .rank = rank } }, .rules = BQ_RULES_COMPRESSED_TENSORS };
	float x[210], lo[MAX_CELLS] = { 0 }, hi[MAX_CELLS] = { 0 };
	uint32_t state = 7, ncells = 0;
	struct bq_plan plan;
	uint8_t *weights;

	for (uint32_t i = 0; i < rank; i++)
		scheme.scale[0].edge[i] = edge[3 - rank + i];
	if (bq_plan(&scheme, NULL, input, kernels, 3, dims, &plan)) {
		CHECK(0, "no plan for edges %u %u %u", full[0], full[1], full[2]);
		return;
	}
	weights = test_buffer(210 * bq_dtype(input)->nbytes, 0);
	for (uint32_t i = 0; i < 210; i++)
		x[i] = bq_round_to(input, test_normal(&state));
	x[207] = NAN;
	bq_kernels(kernels)->from_f32[input](x, 210, weights);
	for (uint32_t i = 0; i < 210; i++) {
		const uint32_t at[3] = { i / 70, i / 10 % 7, i % 10 }, cell = cell_of(at, dims, full);

		ncells = cell >= ncells ? cell + 1 : ncells;
		lo[cell] = x[i] < lo[cell] || x[i] != x[i] ? x[i] : lo[cell];
		hi[cell] = x[i] > hi[cell] || x[i] != x[i] ? x[i] : hi[cell];
	}
	for (uint32_t max_nbytes = 1; max_nbytes <= 1000; max_nbytes *= 10) {
		float *found[2] = { test_buffer(ncells * sizeof(float), 0), test_buffer(ncells * sizeof(float), 0) };

		/* Twice: a range that is there already is widened, not replaced. */
		observe_in_bands(&plan, weights, max_nbytes, found[0], found[1]);
		observe_in_bands(&plan, weights, max_nbytes, found[0], found[1]);
		for (uint32_t c = 0; c < ncells; c++) {
			CHECK(found[0][c] == lo[c] || (lo[c] != lo[c] && found[0][c] != found[0][c]), "lo of cell %u: %g, not %g", c, found[0][c], lo[c]);
			CHECK(found[1][c] == hi[c] || (hi[c] != hi[c] && found[1][c] != found[1][c]), "hi of cell %u: %g, not %g", c, found[1][c], hi[c]);
		}
		free(found[0]);
		free(found[1]);
	}
	free(weights);
}

/* coreai.md, section A: c and 1 - c are rounded to float32, each product and the sum to the tensor's dtype. */
static void averages_round_each_step(void)
{
	const float batch[2] = { 6, 1.0f / 3 };
	float running[2] = { 3, 3 };

	bq_average(BQ_F32, 0.01, 2, batch, running);
	CHECK(running[0] == 0.01f * 6 + 0.99f * 3, "%g", running[0]);
	CHECK(running[1] == 0.01f * (1.0f / 3) + 0.99f * 3, "%g", running[1]);
	running[0] = 3;
	bq_average(BQ_BF16, 0.01, 1, batch, running);
	/* 0.06 is 0.0600586 in bfloat16 and 2.97 is 2.96875; their sum, 3.0288086, is 3.03125. */
	CHECK(running[0] == 3.03125f, "%.9g", running[0]);
	running[0] = 5;
	bq_average(BQ_F32, 0.9, 1, &(float){ 1 }, running);
	/* 1 - 0.9 is 0.1 if it is done before it is rounded, 0.100000024 after. */
	CHECK(running[0] == 1.399999976158142f, "%.9g", running[0]);
	running[0] = -0.00247955322265625f;
	bq_average(BQ_F16, 0.01, 1, &(float){ -0.464599609375f }, running);
	CHECK(running[0] == -0.00710296630859375f, "%.9g: one rounding less is -0.00709915", running[0]);
}

int main(void)
{
	static const uint32_t edges[][4] = { /* and how many axes are listed */
		{ 0, 0, 0, 0 }, { 0, 0, 4, 1 }, { 0, 0, 10, 1 }, { 0, 3, 4, 2 }, { 0, 7, 1, 2 }, { 2, 3, 4, 3 }, { 3, 1, 10, 3 }, { 3, 7, 10, 3 },
	};
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };

	for (uint32_t kernels = 0; kernels < BQ_NKERNELS; kernels++)
		for (size_t i = 0; bq_kernels(kernels) && i < sizeof(inputs) / sizeof(inputs[0]); i++)
			for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++)
				/* compressed-tensors' groups divide a row. */
				if (edges[e][3] != 1 || 10 % edges[e][2] == 0)
					ranges_are_those_of_the_blocks(kernels, inputs[i], edges[e], edges[e][3]);
	averages_round_each_step();
	return test_done("test_observe");
}
