/* SPDX-License-Identifier: MIT
 * test_paths.c - ggml's formats in stages: the generic path and the fused kernels, importance, nested scales.
 */
#include "test_stages.h"

static const char *const staged[3] = { "ggml:q8_0", "ggml:q5_0", "ggml:q4_0" };

static void zero_blocks_are_ggmls_on_both_paths(void)
{
	static const char *const blocks[3] = { "00000000000000000000000000000000000000000000000000000000000000000000",
		"0080ffffffff00000000000000000000000000000000", "008088888888888888888888888888888888" };
	float x[96];

	for (int n = 0; n < 3; n++)
		for (int fused = 0; fused < 2; fused++)
			for (int sign = 0; sign < 2; sign++) {
				const struct bq_scheme scheme = fused ? named(staged[n]) : unfused(staged[n]);
				struct outcome o;

				for (int i = 0; i < 96; i++)
					x[i] = sign ? -0.0f : 0.0f;
				o = run(&scheme, BQ_F32, 1, 96, x, NULL);
				for (int b = 0; b < 3; b++)
					check_hex(staged[n], plane_of(&o, BQ_ROLE_BLOCKS) + b * strlen(blocks[n]) / 2, blocks[n]);
				CHECK(o.encoded.overflow_blocks == 0, "kernels %u, %s", kernels, staged[n]);
				discard(&o);
			}
}

static void fill_blocks(uint32_t seed, float *x, size_t count)
{
	uint32_t state = seed;

	for (size_t i = 0; i < count; i += 32) {
		const int kind = (int)(test_next(&state) >> 16) % 6;

		for (size_t k = i; k < i + 32; k++) {
			const float normal = test_normal(&state);

			x[k] = kind == 0 ? (float)(int)(test_next(&state) >> 28) - 8
				: kind == 1  ? ((float)(int)(test_next(&state) >> 27) - 16) / 2
				: kind == 2  ? normal * 1e-39f
				: kind == 3  ? normal * 1e6f
				: kind == 4  ? (k % 7 ? 0 : -normal)
							 : normal;
		}
	}
}

static void the_stages_write_the_bytes_of_the_fused_kernel(void)
{
	static float x[MOST];
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };

	for (int n = 0; n < 3; n++)
		for (int i = 0; i < 3; i++)
			for (uint32_t seed = 1; seed <= 5; seed++) {
				const struct bq_scheme fused = named(staged[n]), generic = unfused(staged[n]);
				const struct options options = { .band_nbytes = seed * 1000 };
				struct outcome expected, got;

				fill_blocks(seed, x, MOST);
				expected = run(&fused, inputs[i], 8, MOST / 8, x, NULL);
				got = run(&generic, inputs[i], 8, MOST / 8, x, &options);
				check_same(staged[n], &got, &expected);
				CHECK(got.encoded.generic_values == MOST && got.encoded.fused_values == 0 && got.decoded.generic_values == 2 * MOST &&
						got.decoded.fused_values == 0,
					"kernels %u, %s: the generic path did not run", kernels, staged[n]);
				CHECK(expected.encoded.fused_values == MOST && expected.encoded.generic_values == 0 &&
						expected.decoded.fused_values == 2 * MOST && expected.decoded.generic_values == 0,
					"kernels %u, %s: the fused kernel did not run", kernels, staged[n]);
				CHECK(got.encoded.overflow_blocks == expected.encoded.overflow_blocks, "kernels %u, %s", kernels, staged[n]);
				discard(&expected);
				discard(&got);
			}
}

/* Rows for which the last of a search's candidates (k = 20, and 36 with weights: ggml's loops run to nstep itself) is the
 * best: the scale and min of the 32 values, found by a model of section 5.5 of our study of ggml's formats in Python. */
static void the_last_candidate_of_q4_k_counts(void)
{
	static const float rows[2][32] = {
		{ 22, 2, 11, 8, 1, 15, 9, 1, 11, 1, 14, 5, 13, 4, 9, 7, 8, 10, 5, 14, 8, 5, 8, 10, 5, 3, 4, 7, 15, 6, 15, 12 },
		{ 24, 7, 4, 3, 15, 15, 15, 4, 7, 8, 15, 1, 8, 5, 4, 0, 8, 0, 11, 4, 2, 6, 2, 4, 6, 5, 11, 14, 0, 4, 14, 15 },
	};
	static const float found[2][2] = { { 0x1.73631ep+0f, 0x1.4e4caap-1f }, { 0x1.9732b2p+0f, 0x1.e1882ap-2f } };
	const struct bq_scheme scheme = named("ggml:q4_k");
	float x[256] = { 0 }, importance[256];

	for (int i = 0; i < 256; i++)
		importance[i] = 1;
	for (int weighted = 0; weighted < 2; weighted++) {
		const struct options options = { .importance = weighted ? importance : NULL, .nimportance = 1 };
		const uint8_t *block;
		struct outcome o;

		memcpy(x, rows[weighted], sizeof rows[weighted]);
		o = run(&scheme, BQ_F32, 1, 256, x, &options);
		block = plane_of(&o, BQ_ROLE_BLOCKS);
		for (int k = 0; k < 2; k++)
			CHECK(bq_load16(block + 2 * k) == bq_f16_from_f32(found[weighted][k] / 63) && block[4 + 4 * k] == 63,
				"kernels %u, weighted %d, %s: %04x, %u", kernels, weighted, k ? "min" : "scale", bq_load16(block + 2 * k),
				block[4 + 4 * k]);
		discard(&o);
	}
}

/* Only the fused kernels find these formats' scales, but the stages read them. */
static void the_stages_decode_what_only_a_kernel_encodes(void)
{
	static float x[MOST], lo[MOST];
	static const char *const names[] = { "ggml:q4_k", "ggml:q4_1", "ggml:q5_1", "ggml:q6_k", "ggml:q2_k",
		"ggml:q3_k", "ggml:q5_k", "ggml:iq3_s", "ggml:iq1_m" };
	const struct options given = { .lo = lo, .hi = lo };

	for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
		const struct bq_scheme fused = named(names[n]), generic = unfused(names[n]);
		struct outcome expected, got;
		struct bq_band band;

		fill_blocks(3, x, MOST);
		expected = run(&fused, BQ_F32, 4, MOST / 4, x, NULL);
		got = run(&generic, BQ_F32, 4, MOST / 4, x, NULL);
		CHECK(got.status == BQ_NEEDS_KERNEL, "kernels %u, %s: status %d", kernels, names[n], got.status);
		memcpy(got.planes[0], expected.planes[0], (size_t)expected.plan.nbytes);
		for (uint64_t step = 0; step < 4; step += band.nsteps) {
			bq_band(&got.plan, step, 2 * MOST, &band);
			decode_band(&got, &band, 0, got.values);
		}
		CHECK(!memcmp(got.values, expected.values, sizeof x), "kernels %u, %s: other values", kernels, names[n]);
		discard(&got);
		discard(&expected);
		got = run(&fused, BQ_F32, 4, MOST / 4, x, &given);
		CHECK(got.status == BQ_NEEDS_KERNEL, "kernels %u, %s, ranges given: status %d", kernels, names[n], got.status);
		discard(&got);
	}
}

static void formats_that_need_importance_refuse_without(void)
{
	static const struct {
		const char *name;
		int needs, tables;
	} cases[] = {
		{ "ggml:iq2_xxs", 1, 1 }, { "ggml:iq2_xs", 1, 1 }, { "ggml:iq1_s", 1, 1 }, { "ggml:iq2_s", 0, 1 }, { "ggml:iq1_m", 0, 1 },
		{ "ggml:iq4_xs", 0, 0 }, { "ggml:q8_0", 0, 0 },
	};
	static float x[2 * 256], ones[256];
	const struct options with = { .importance = ones, .nimportance = 1 };

	fill_normal(4, x, 2 * 256);
	for (int i = 0; i < 256; i++)
		ones[i] = 1.0f;
	for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
		const struct bq_scheme scheme = named(cases[n].name);
		struct outcome plain = run(&scheme, BQ_F32, 2, 256, x, NULL), weighted = run(&scheme, BQ_F32, 2, 256, x, &with);

		CHECK(plain.status == (cases[n].needs ? BQ_NEEDS_IMPORTANCE : BQ_OK) && weighted.status == BQ_OK,
			"kernels %u, %s: status %d, %d with", kernels, cases[n].name, plain.status, weighted.status);
		CHECK((int)plain.plan.needs_importance == cases[n].needs && (plain.plan.tables_nbytes > 0) == cases[n].tables,
			"kernels %u, %s: the plan", kernels, cases[n].name);
		discard(&plain);
		discard(&weighted);
	}
}

/* U6 scales under f16 ones, and mins, in planes of their own: decoded as q4_k's. */
static void nested_scales_and_mins_decode_by_their_definition(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_U4, .nscales = 2, .scale = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(96) } }, .nmins = 2,
		.min = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(96) } }, .calibration = BQ_SEARCH, .rules = BQ_RULES_GGML
	};
	static const uint64_t dims[2] = { 3, 192 };
	struct outcome o = { 0 };
	struct bq_band band;
	uint32_t state = 4;

	CHECK(bq_plan(&scheme, NULL, BQ_F32, kernels, 2, dims, &o.plan) == BQ_OK, "no plan");
	for (uint32_t p = 0; p < o.plan.nplanes; p++) {
		const struct bq_plane *plane = &o.plan.plane[p];

		o.planes[p] = test_buffer((size_t)plane->nbytes, 0);
		for (size_t i = 0; i < plane->nbytes; i++) /* finite f16 numbers, whatever the bytes are */
			o.planes[p][i] = (uint8_t)(test_next(&state) >> 24 & (p == 0 ? 15 : plane->dtype == BQ_F16 ? 0xBB : 63));
	}
	o.values = test_buffer(576 * sizeof(float), 0);
	for (uint64_t step = 0; step < 3; step += band.nsteps) {
		bq_band(&o.plan, step, 2 * 192 * 4, &band);
		decode_band(&o, &band, 0, o.values);
	}
	for (size_t i = 0; i < 576; i++) {
		const float scale = bq_f32_from_f16(bq_load16(plane_of(&o, BQ_ROLE_SCALE1) + i / 96 * 2));
		const float min = bq_f32_from_f16(bq_load16(plane_of(&o, BQ_ROLE_MIN1) + i / 96 * 2));
		const float inner = plane_of(&o, BQ_ROLE_SCALE0)[i / 32], inner_min = plane_of(&o, BQ_ROLE_MIN0)[i / 32];
		const float expected = (float)o.planes[0][i] * (scale * inner) - min * inner_min;

		CHECK(bq_bits(o.values[i]) == bq_bits(expected), "kernels %u, value %zu: got %.9g, expected %.9g", kernels, i, o.values[i],
			expected);
	}
	CHECK(o.decoded.generic_values == 576, "kernels %u", kernels);
	discard(&o);
}

/* Item i of a tensor uses row i % nimportance, also where a band begins within an item. */
static void every_item_has_its_row_of_importance(void)
{
	static float x[MOST], importance[3 * 256];
	static const char *const names[] = { "ggml:q4_0", "ggml:q5_0", "ggml:q4_k", "ggml:q4_1", "ggml:q5_1", "ggml:q6_k", "ggml:q2_k",
		"ggml:q3_k", "ggml:q5_k", "ggml:iq3_xxs", "ggml:iq1_m" };
	static const uint64_t dims[3] = { 5, 3, 256 };
	static const uint32_t inputs[2] = { BQ_F32, BQ_BF16 };
	uint32_t state = 8;

	fill_normal(6, x, 5 * 3 * 256);
	for (int i = 0; i < 3 * 256; i++)
		importance[i] = fabsf(test_normal(&state)) + (i % 256 == i / 256 ? 50.0f : 0);
	for (size_t n = 0; n < sizeof names / sizeof *names; n++)
		for (int i = 0; i < 2; i++) {
			const struct bq_scheme scheme = named(names[n]);
			const struct options all = { .importance = importance, .nimportance = 3, .band_nbytes = 2100, .backwards = 1 };
			struct outcome got = run_with(&scheme, inputs[i], 3, dims, x, &all);
			int differs = 0;

			for (int item = 0; item < 5; item++) {
				const struct options one = { .importance = importance + item % 3 * 256, .nimportance = 1 };
				struct outcome expected = run(&scheme, inputs[i], 3, 256, x + item * 768, &one);
				struct outcome plain = run(&scheme, inputs[i], 3, 256, x + item * 768, NULL);
				const size_t nbytes = (size_t)expected.plan.nbytes;

				CHECK(!memcmp(got.planes[0] + item * nbytes, expected.planes[0], nbytes), "kernels %u, %s, item %d", kernels,
					names[n], item);
				differs += memcmp(expected.planes[0], plain.planes[0], nbytes) != 0;
				discard(&expected);
				discard(&plain);
			}
			CHECK(differs == 5, "kernels %u, %s: importance changes %d items", kernels, names[n], differs);
			discard(&got);
		}
}

int main(void)
{
	EACH_ROW_OF_KERNELS {
		zero_blocks_are_ggmls_on_both_paths();
		the_stages_write_the_bytes_of_the_fused_kernel();
		the_last_candidate_of_q4_k_counts();
		the_stages_decode_what_only_a_kernel_encodes();
		nested_scales_and_mins_decode_by_their_definition();
		formats_that_need_importance_refuse_without();
		every_item_has_its_row_of_importance();
	}
	return test_done("test_paths");
}
