/* SPDX-License-Identifier: MIT
 * test_report.c - what a report and a range say, whatever the order of bands, and what bq_compare sums.
 */
#include "test_stages.h"

/* ---- reports ---- */

/* NaN and infinities at these places, in bands of any order. */
static void the_report_counts_nonfinite_weights_and_says_the_first(void)
{
	static float x[MOST];
	static const size_t places[5] = { 3001, 517, 518, 4095, 2048 };
	static const float bad[3] = { NAN, INFINITY, -INFINITY };
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	static const char *const names[] = { "ct:fp8_dynamic", "ct:nvfp4a16", "ggml:q4_0", "ggml:q4_k", "ct:mxfp4a16" };

	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		for (int i = 0; i < 3; i++)
			for (int count = 0; count <= 5; count++)
				for (int backwards = 0; backwards < 2; backwards++) {
					const struct bq_scheme scheme = named(names[n]);
					const struct options options = { .band_nbytes = 2500, .backwards = backwards };
					struct outcome o;
					size_t first = MOST;

					fill_normal(2, x, MOST);
					for (int k = 0; k < count; k++) {
						x[places[k]] = bad[k % 3];
						first = places[k] < first ? places[k] : first;
					}
					o = run(&scheme, inputs[i], 8, MOST / 8, x, &options);
					CHECK(o.encoded.nonfinite_values == (uint64_t)count && (!count || o.encoded.first_nonfinite == first),
						"kernels %u, %s, input %d, %d bad: %llu, the first at %llu", kernels, names[n], i, count,
						(unsigned long long)o.encoded.nonfinite_values, (unsigned long long)o.encoded.first_nonfinite);
					discard(&o);
				}
}

/* A block of 1e10 in the midst: what its f16 scale cannot hold is infinite. 65504 * 127 is what q8_0 can say. A scale that
 * NaN or infinite weights spoil is no overflow: they are counted themselves. */
static void the_report_counts_blocks_whose_scale_overflows(void)
{
	static float x[8 * 256];
	static const struct {
		const char *name;
		float largest;
		uint64_t overflows;
	} cases[] = {
		{ "ggml:q8_0", 1e10f, 1 }, { "ggml:q5_0", -1e10f, 1 }, { "ggml:q4_0", 1e10f, 1 }, { "ggml:q4_k", 1e10f, 1 },
		{ "ggml:q4_k", -1e10f, 1 }, { "ggml:q4_1", 1e10f, 1 }, { "ggml:q4_1", -1e6f, 1 }, { "ggml:q4_1", -1e5f, 1 }, { "ggml:q4_1", 65504.0f * 14, 0 },
		{ "ggml:q5_1", -1e10f, 1 }, { "ggml:q6_k", 1e10f, 1 }, { "ggml:q6_k", -1e10f, 1 }, { "ggml:q2_k", 1e10f, 1 }, { "ggml:q2_k", -1e10f, 1 },
		{ "ggml:iq3_s", -1e10f, 1 }, { "ggml:iq3_xxs", 1e30f, 1 }, { "ggml:iq2_s", 1e10f, 1 }, { "ggml:iq1_m", 1e10f, 1 },
		{ "ggml:iq1_m", -1e30f, 1 }, { "ggml:iq1_m", 100, 0 }, { "ggml:q6_k", 1e30f, 1 }, { "ggml:q3_k", -1e38f, 1 },
		{ "ggml:iq4_xs", 1e20f, 1 }, { "ggml:iq4_xs", NAN, 0 }, { "ggml:nvfp4", -2688, 0 }, { "ggml:nvfp4", 2689, 1 }, { "ggml:nvfp4", INFINITY, 0 },
		{ "ggml:nvfp4", -INFINITY, 0 },
		{ "ggml:q3_k", 1e10f, 1 }, { "ggml:q5_k", 1e10f, 1 }, { "ggml:q5_k", -1e10f, 1 }, { "ggml:q8_0", 65504.0f * 127, 0 }, { "ggml:q8_0", 65520.0f * 127, 1 },
		{ "ggml:q4_0", 65504.0f * 8, 0 }, { "ggml:q4_0", 65520.0f * 8, 1 }, { "ct:w4a16", 1e30f, 0 }, { "ct:w4a16", INFINITY, 0 },
		{ "ct:mxfp4a16", 1e38f, 0 }, { "ct:mxfp4a16", INFINITY, 0 }, { "ct:mxfp4a16", NAN, 0 }, { "ct:nvfp4a16", 1e38f, 0 },
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		for (int fused = 0; fused < 2; fused++) {
			const struct bq_scheme scheme = fused ? named(cases[c].name) : unfused(cases[c].name);
			struct outcome o;

			if (scheme.calibration == BQ_SEARCH && !fused)
				continue;
			fill_normal(2, x, 8 * 256);
			x[5 * 256 + 3] = cases[c].largest;
			o = run(&scheme, BQ_F32, 2, 4 * 256, x, NULL);
			CHECK(o.encoded.overflow_blocks == cases[c].overflows, "kernels %u, %s, %g: %llu blocks", kernels, cases[c].name,
				cases[c].largest, (unsigned long long)o.encoded.overflow_blocks);
			discard(&o);
		}
}

/* What sums of a search cannot hold is told apart: the importance of a block of which a weight is 2. */
static void the_report_counts_blocks_whose_importance_is_too_large(void)
{
	static float x[4 * 256], importance[2 * 256];
	static const char *const names[] = { "ggml:q4_0", "ggml:q5_1", "ggml:iq4_nl", "ggml:q2_k", "ggml:q6_k", "ggml:iq1_s", "ggml:iq2_xxs" };
	static const struct options options = { .importance = importance, .nimportance = 1 };

	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		for (int power = 54; power < 59; power++) {
			const struct bq_scheme scheme = named(names[n]);
			uint64_t heavy = power > 55;
			struct outcome o;

			fill_normal(2, x, 4 * 256);
			for (int i = 0; i < 4 * 256; i++)
				x[i] = fminf(fabsf(x[i]), 1) / 4;
			x[256 + 7] = -2;
			for (int i = 0; i < 2 * 256; i++)
				importance[i] = ldexpf(1, power);
			o = run(&scheme, BQ_F32, 2, 2 * 256, x, &options);
			if (power > 57) /* whatever the weights */
				heavy = 4 * 256 / scheme.scale[scheme.nscales - 1].edge[0];
			CHECK(o.encoded.overflow_blocks == 0 && o.encoded.heavy_blocks == heavy, "kernels %u, %s, 2^%d: %llu, %llu blocks",
				kernels, names[n], power, (unsigned long long)o.encoded.overflow_blocks, (unsigned long long)o.encoded.heavy_blocks);
			discard(&o);
		}
}

/* The scale's dtype is narrower than the arithmetic: compressed-tensors clamps, ggml does not. Either is an overflow. */
static void scales_beyond_their_dtype_saturate_in_compressed_tensors_alone(void)
{
	static const float x[2] = { 1e10f, -1 };
	static const float expected[2] = { 65504, INFINITY };

	for (uint32_t rules = BQ_RULES_COMPRESSED_TENSORS; rules <= BQ_RULES_GGML; rules++) {
		const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_F16, CHANNEL } }, .rules = rules };
		struct outcome o = run(&scheme, BQ_F32, 1, 2, x, NULL);
		float scale;

		scales_of(&o, &scale, 1);
		CHECK(scale == expected[rules] && o.encoded.overflow_blocks == 1, "kernels %u, rules %u: %.9g, %llu",
			kernels, rules, scale, (unsigned long long)o.encoded.overflow_blocks);
		discard(&o);
	}
}

static void a_report_and_a_range_are_added_to(void)
{
	static float x[512];
	const struct bq_scheme scheme = named("ct:nvfp4a16");
	const uint64_t dims[2] = { 1, 512 };
	struct bq_report report = { .fused_values = 1, .generic_values = 2, .overflow_blocks = 3, .nonfinite_values = 4,
		.first_nonfinite = 7 };
	struct bq_tensor_range range = { .lo = -100, .hi = 0.5f, .seen = 1 };
	void *workspace;
	struct bq_plan plan;
	struct bq_band band;

	fill_normal(1, x, 512);
	x[9] = NAN;
	x[11] = 20;
	CHECK(bq_plan(&scheme, NULL, BQ_F32, kernels, 2, dims, &plan) == BQ_OK, "no plan");
	bq_band(&plan, 0, 1, &band);
	workspace = guarded(plan.workspace_nbytes);
	bq_range(&plan, &band, x, NULL, 0, NULL, NULL, 0, workspace, &range, &report);
	CHECK(report.fused_values == 1 && report.generic_values == 2 && report.overflow_blocks == 3 && report.nonfinite_values == 5 &&
			report.first_nonfinite == 7,
		"kernels %u: the first is at %llu", kernels, (unsigned long long)report.first_nonfinite);
	CHECK(range.lo != range.lo && range.hi != range.hi && range.seen == 1, "kernels %u: %g, %g", kernels, range.lo, range.hi);
	x[9] = 0;
	range.lo = -100;
	range.hi = 0.5f;
	bq_range(&plan, &band, x, NULL, 0, NULL, NULL, 0, workspace, &range, &report);
	release(workspace, plan.workspace_nbytes, "workspace of bq_range");
	CHECK(range.lo == -100 && range.hi == 20 && report.nonfinite_values == 5, "kernels %u: %g, %g", kernels, range.lo, range.hi);
}

/* ---- ranges ---- */

static void the_range_is_independent_of_the_order_of_bands(void)
{
	static float x[MOST];
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	static const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, TENSOR } } };
	const uint64_t dims[2] = { 16, MOST / 16 };
	uint32_t state = 12;

	for (int round = 0; round < 60; round++) {
		const uint32_t input = inputs[round % 3];
		const uint32_t first = test_next(&state) >> 28, stride = 1 + 2 * (test_next(&state) >> 29); /* odd: reaches all rows */
		struct bq_tensor_range range = { 0 };
		struct bq_report report = { 0 };
		struct bq_plan plan;
		float lo = 0, hi = 0;
		uint8_t *weights;

		for (size_t i = 0; i < MOST; i++) {
			x[i] = bq_round_to(input, test_normal(&state) + (round % 4 == 1 ? 9.0f : round % 4 == 2 ? -9.0f : 0));
			lo = x[i] < lo ? x[i] : lo;
			hi = x[i] > hi ? x[i] : hi;
		}
		if (round % 10 == 9)
			x[test_next(&state) % MOST] = NAN;
		weights = convert(input, x, MOST);
		CHECK(bq_plan(&scheme, NULL, input, kernels, 2, dims, &plan) == BQ_OK && plan.passes == 2, "no plan of two passes");
		for (uint32_t k = 0; k < 16; k++) {
			struct bq_band band;
			void *workspace;

			bq_band(&plan, (first + k * stride) % 16, 1, &band);
			workspace = guarded(plan.workspace_nbytes);
			bq_range(&plan, &band, weights + band.value_offset * bq_dtype(input)->nbytes, NULL, 0, NULL, NULL, 0, workspace, &range, &report);
			release(workspace, plan.workspace_nbytes, "workspace of bq_range");
		}
		if (round % 10 == 9)
			CHECK(bq_bits(range.lo) == BQ_F32_NAN && bq_bits(range.hi) == BQ_F32_NAN, "kernels %u: a NaN is lost", kernels);
		else
			CHECK(bq_bits(range.lo) == bq_bits(lo) && bq_bits(range.hi) == bq_bits(hi), "kernels %u, round %d: %g to %g, not %g to %g",
				kernels, round, range.lo, range.hi, lo, hi);
		free(weights);
	}
}

/* ---- comparison ---- */

static void comparison_sums_errors_in_float64(void)
{
	float a[100], b[100];
	double expected[5] = { 0 }, sums[5] = { 0 }, parts[5] = { 0 };

	fill_normal(1, a, 100);
	fill_normal(2, b, 100);
	for (int i = 0; i < 100; i++) {
		const double error = (double)a[i] - b[i];

		expected[0] += error * error;
		expected[1] += (double)a[i] * a[i];
		expected[2] += (double)b[i] * b[i];
		expected[3] += (double)a[i] * b[i];
		expected[4] = fabs(error) > expected[4] ? fabs(error) : expected[4];
	}
	bq_compare(100, a, b, sums);
	bq_compare(37, a, b, parts);
	bq_compare(0, a, b, parts);
	bq_compare(63, a + 37, b + 37, parts);
	for (int k = 0; k < 5; k++)
		CHECK(sums[k] == expected[k] && parts[k] == expected[k], "sum %d: %g, %g, expected %g", k, sums[k], parts[k], expected[k]);

	/* 3 and -4: 49; a NaN stays the largest error. */
	const float two[2][2] = { { 3, 1 }, { -4, NAN } };

	memset(sums, 0, sizeof sums);
	bq_compare(1, two[0], two[1], sums);
	CHECK(sums[0] == 49 && sums[1] == 9 && sums[2] == 16 && sums[3] == -12 && sums[4] == 7, "%g %g %g %g %g", sums[0], sums[1],
		sums[2], sums[3], sums[4]);
	bq_compare(1, two[0] + 1, two[1] + 1, sums);
	bq_compare(1, two[0], two[1], sums);
	CHECK(sums[4] != sums[4], "the largest error is %g", sums[4]);
}

int main(void)
{
	EACH_ROW_OF_KERNELS {
		the_report_counts_nonfinite_weights_and_says_the_first();
		the_report_counts_blocks_whose_scale_overflows();
		the_report_counts_blocks_whose_importance_is_too_large();
		scales_beyond_their_dtype_saturate_in_compressed_tensors_alone();
		a_report_and_a_range_are_added_to();
		the_range_is_independent_of_the_order_of_bands();
	}
	comparison_sums_errors_in_float64();
	return test_done("test_report");
}
