/* SPDX-License-Identifier: MIT
 * test_planes.c - the fused kernels of planar formats give the bytes, the floats and the counts of the stages, scalar and
 * simd128, on generated tensors of every kind, dtype and shape.
 */
#include "kernels.h"
#include "test_draw.h"

#define MOST (10 * (16384 + 64))

static const char *const names[] = { "ct:int8", "ct:fp8_block", "ct:nvfp4a16", "ct:mxfp4a16" };
static const uint32_t dtypes[] = { BQ_F32, BQ_F16, BQ_BF16 };

struct result {
	struct bq_plan plan;
	struct bq_report report;
	uint8_t *planes[BQ_MAX_PLANES];
	float *values;
};

static void free_result(struct result *result)
{
	for (uint32_t p = 0; p < result->plan.nplanes; p++)
		free(result->planes[p]);
	free(result->values);
}

/* A tensor through one path, in bands of at most band_nbytes of weights. */
static void run(const struct bq_scheme *scheme, uint32_t kernels, uint32_t input, const uint64_t dims[3], const uint8_t *weights,
	uint32_t correct, uint32_t band_nbytes, struct result *result)
{
	struct bq_tensor_range range = { 0 };
	struct bq_report *report = &result->report, ignored = { 0 };
	struct bq_plan *plan = &result->plan;
	const uint32_t nbytes = input == BQ_F32 ? 4 : 2;
	void *workspace;

	memset(result, 0, sizeof(*result));
	if (bq_plan(scheme, NULL, input, kernels, 3, dims, plan))
		abort();
	workspace = test_buffer(plan->workspace_nbytes, 0);
	for (uint32_t p = 0; p < plan->nplanes; p++)
		result->planes[p] = test_buffer((size_t)plan->plane[p].nbytes, 0xA5);
	result->values = test_buffer(4 * (size_t)plan->nvalues, 0);
	/* Ranges, codes, values. */
	for (int pass = plan->passes == 2 ? 0 : 1; pass < 3; pass++)
		for (uint64_t step = 0; step < plan->nitems * plan->steps_per_item;) {
			void *planes[BQ_MAX_PLANES];
			struct bq_band band;

			bq_band(plan, step, band_nbytes, &band);
			for (uint32_t p = 0; p < plan->nplanes; p++)
				planes[p] = result->planes[p] + band.plane_offset[p];

			const uint8_t *here = weights + band.value_offset * nbytes;

			if (pass == 0)
				bq_range(plan, &band, here, NULL, 0, NULL, NULL, correct, workspace, &range, report);
			else if (pass == 1)
				bq_encode(plan, &band, here, NULL, 0, plan->passes == 2 ? &range : NULL, NULL, NULL, NULL, correct, NULL, planes,
					workspace, report);
			else
				bq_decode(plan, &band, (const void *const *)planes, 0, result->values + band.value_offset, workspace, &ignored);
			step += band.nsteps;
		}
	CHECK((scheme->fused ? ignored.fused_values : ignored.generic_values) == plan->nvalues, "which path decodes");
	free(workspace);
}

static void compare(const struct result *got, const struct result *expected, const char *what)
{
	for (uint32_t p = 0; p < expected->plan.nplanes; p++)
		for (uint64_t i = 0; i < expected->plan.plane[p].nbytes; i++)
			if (got->planes[p][i] != expected->planes[p][i]) {
				CHECK(0, "%s, plane %u, byte %u: got %02x, expected %02x", what, (unsigned)p, (unsigned)i, got->planes[p][i],
					expected->planes[p][i]);
				return;
			}
	for (uint64_t i = 0; i < expected->plan.nvalues; i++)
		if (bq_bits(got->values[i]) != bq_bits(expected->values[i])) {
			CHECK(0, "%s, value %u: got %08x, expected %08x", what, (unsigned)i, (unsigned)bq_bits(got->values[i]),
				(unsigned)bq_bits(expected->values[i]));
			return;
		}
	CHECK(got->report.overflow_blocks == expected->report.overflow_blocks, "%s: %u blocks overflow, expected %u", what,
		(unsigned)got->report.overflow_blocks, (unsigned)expected->report.overflow_blocks);
}

static void fill(int distribution, uint32_t input, uint32_t *state, size_t count, float *wide, uint8_t *weights)
{
	/* float16 ends at 65504: huge values come near. */
	const float scale = input == BQ_F16 && distribution == HUGE_VALUES ? 1e-34f : input == BQ_F16 && distribution == TINY ? 1e30f : 1;
	float block_value = 0;

	for (size_t i = 0; i < count; i++) {
		if (i % 32 == 0)
			block_value = test_normal(state);
		wide[i] = test_draw(distribution, state, i, block_value) * scale;
		if (input == BQ_F32)
			bq_store32(weights + 4 * i, bq_bits(wide[i]));
		else if (distribution == BITS)
			bq_store16(weights + 2 * i, (uint16_t)bq_bits(wide[i]));
		else
			bq_store16(weights + 2 * i, input == BQ_F16 ? bq_f16_from_f32(wide[i]) : bq_bf16_from_f32(wide[i]));
	}
}

/* Rows that are no multiples of a vector, or of a step of the kernels; blocks cut at the edges. */
static void shape_of(const struct bq_scheme *scheme, uint32_t round, uint32_t *state, uint64_t dims[3])
{
	const struct bq_level *inner = &scheme->scale[0];

	dims[0] = 1 + round % 2;
	if (inner->rank == 2) {
		dims[1] = round % 3 ? 1 + (test_next(state) >> 16) % 20 : 128 + (test_next(state) >> 16) % 2;
		dims[2] = 1 + (test_next(state) >> 16) % (round % 3 ? 300 : 150);
	} else {
		/* Some of more values than a kernel is given at once, in many rows or in a long one. */
		dims[1] = round % 25 == 24 ? 60 : 1 + (test_next(state) >> 16) % 5;
		dims[2] = inner->edge[0] ? inner->edge[0] * (1 + round % 13) : 1 + (test_next(state) >> 16) % (round % 25 == 24 ? 300 : 90);
		if (round == 25)
			dims[2] = 16384 + 64;
	}
}

static void fused_kernels_give_the_bytes_of_the_stages(void)
{
	static float wide[MOST];

	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		for (size_t t = 0; t < 3; t++)
			for (int distribution = 0; distribution < NDISTRIBUTIONS; distribution++) {
				uint32_t state = (uint32_t)(n * 1024 + t * 64) + (uint32_t)distribution + 1;

				for (uint32_t round = 0; round < 26; round++) {
					const struct bq_scheme *preset = &bq_preset_named(names[n])->scheme;
					struct bq_scheme stages = *preset;
					struct result expected, got;
					const uint32_t correct = round % 4 == 3;
					char what[160];
					uint64_t dims[3];
					uint8_t *weights;
					size_t count;

					shape_of(preset, round, &state, dims);
					count = (size_t)(dims[0] * dims[1] * dims[2]);
					weights = test_buffer((dtypes[t] == BQ_F32 ? 4 : 2) * count, 0);
					fill(distribution, dtypes[t], &state, count, wide, weights);
					stages.fused = BQ_GENERIC;
					run(&stages, BQ_SCALAR, dtypes[t], dims, weights, correct, UINT32_MAX, &expected);
					CHECK(expected.report.generic_values == count && !expected.report.fused_values, "the stages");
					for (uint32_t kernels = 0; kernels < BQ_NKERNELS; kernels++)
						for (int banded = 0; banded < 2 && bq_kernels(kernels); banded++) {
							snprintf(what, sizeof what, "%s, kernels %u, dtype %u, distribution %d, round %u%s, %u x %u x %u", names[n],
								(unsigned)kernels, (unsigned)dtypes[t], distribution, (unsigned)round, banded ? " in bands" : "",
								(unsigned)dims[0], (unsigned)dims[1], (unsigned)dims[2]);
							run(preset, kernels, dtypes[t], dims, weights, correct, banded ? 1 : UINT32_MAX, &got);
							CHECK(got.report.fused_values == count && !got.report.generic_values, "%s: which path", what);
							compare(&got, &expected, what);
							free_result(&got);
						}
					free_result(&expected);
					free(weights);
				}
			}
}

int main(void)
{
	fused_kernels_give_the_bytes_of_the_stages();
	return test_done("test_planes");
}
