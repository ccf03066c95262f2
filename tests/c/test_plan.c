/* SPDX-License-Identifier: MIT
 * test_plan.c - bq_plan, bq_band and the presets: sizes worked out by hand, every rule broken once, bands that cover all.
 */
#include <stddef.h>

#include "dtype.h"
#include "kernels.h"
#include "test.h"

#define TENSOR .rank = 0
#define CHANNEL .rank = 1, .edge = { 0 }
#define GROUP(n) .rank = 1, .edge = { n }
#define BLOCK(r, c) .rank = 2, .edge = { r, c }
#define TWO(n) (1ull << (n))

static struct bq_scheme named(const char *name)
{
	const struct bq_preset *preset = bq_preset_named(name);

	if (!preset)
		abort();
	return preset->scheme;
}

static struct bq_plan planned(const struct bq_scheme *scheme, uint32_t input, uint32_t rank, const uint64_t *dims)
{
	struct bq_plan plan;
	const enum bq_status status = bq_plan(scheme, NULL, input, BQ_SCALAR, rank, dims, &plan);

	CHECK(status == BQ_OK, "status %d", status);
	return plan;
}

/* ---- sizes ---- */

struct expected_plane {
	uint32_t role, dtype, rank;
	uint64_t dims[3], nbytes;
};

static const struct expected {
	const char *preset;
	uint32_t rank;
	uint64_t dims[3], nbytes;
	uint32_t passes, nplanes;
	struct expected_plane plane[4];
} expectations[] = {
	{ "ggml:q8_0", 2, { 3, 512 }, 1632, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 34 }, 1632 } } },
	{ "ggml:q5_0", 2, { 3, 512 }, 1056, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 22 }, 1056 } } },
	{ "ggml:q4_0", 2, { 3, 512 }, 864, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 18 }, 864 } } },
	{ "ggml:q4_k", 2, { 3, 512 }, 864, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 144 }, 864 } } },
	{ "ggml:q6_k", 2, { 3, 512 }, 1260, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 210 }, 1260 } } },
	{ "ggml:q5_1", 2, { 3, 512 }, 1152, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 24 }, 1152 } } },
	{ "ggml:q4_1", 2, { 3, 512 }, 960, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 20 }, 960 } } },
	{ "ggml:q5_k", 2, { 3, 512 }, 1056, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 176 }, 1056 } } },
	{ "ggml:q3_k", 2, { 3, 512 }, 660, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 110 }, 660 } } },
	{ "ggml:q2_k", 2, { 3, 512 }, 504, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 84 }, 504 } } },
	{ "ggml:iq4_xs", 2, { 3, 512 }, 816, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 136 }, 816 } } },
	{ "ggml:iq4_nl", 2, { 3, 512 }, 864, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 18 }, 864 } } },
	{ "ggml:iq3_s", 2, { 3, 512 }, 660, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 110 }, 660 } } },
	{ "ggml:iq3_xxs", 2, { 3, 512 }, 588, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 98 }, 588 } } },
	{ "ggml:iq2_s", 2, { 3, 512 }, 492, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 82 }, 492 } } },
	{ "ggml:iq2_xs", 2, { 3, 512 }, 444, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 74 }, 444 } } },
	{ "ggml:iq2_xxs", 2, { 3, 512 }, 396, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 66 }, 396 } } },
	{ "ggml:iq1_m", 2, { 3, 512 }, 336, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 56 }, 336 } } },
	{ "ggml:iq1_s", 2, { 3, 512 }, 300, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 50 }, 300 } } },
	{ "ggml:nvfp4", 2, { 3, 512 }, 864, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 8 * 36 }, 864 } } },
	{ "ggml:mxfp4", 2, { 3, 512 }, 816, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 16 * 17 }, 816 } } },
	{ "ggml:tq2_0", 2, { 3, 512 }, 396, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 66 }, 396 } } },
	{ "ggml:tq1_0", 2, { 3, 512 }, 324, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 2 * 54 }, 324 } } },
	{ "ggml:q2_0", 2, { 3, 512 }, 432, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 8 * 18 }, 432 } } },
	{ "ggml:q1_0", 2, { 3, 512 }, 216, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 2, { 3, 4 * 18 }, 216 } } },
	{ "ggml:q4_0", 1, { 64 }, 36, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 1, { 36 }, 36 } } },
	{ "ggml:q4_k", 3, { 2, 3, 256 }, 864, 1, 1, { { BQ_ROLE_BLOCKS, BQ_U8, 3, { 2, 3, 144 }, 864 } } },
	{ "ct:w4a16", 2, { 3, 512 }, 808, 1, 3,
		{ { BQ_ROLE_VALUES, BQ_I32, 2, { 3, 64 }, 768 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 4 }, 24 },
			{ BQ_ROLE_SHAPE, BQ_I64, 1, { 2 }, 16 } } },
	{ "ct:w4a16_asym", 2, { 3, 512 }, 824, 1, 4,
		{ { BQ_ROLE_VALUES, BQ_I32, 2, { 3, 64 }, 768 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 4 }, 24 },
			{ BQ_ROLE_ZERO, BQ_I32, 2, { 1, 4 }, 16 }, { BQ_ROLE_SHAPE, BQ_I64, 1, { 2 }, 16 } } },
	/* 9 rows of 4 bits: 36 bits, two words. */
	{ "ct:w4a16_asym", 3, { 5, 9, 128 }, 5 * 9 * 64 + 5 * 9 * 2 + 5 * 2 * 4 + 24, 1, 4,
		{ { BQ_ROLE_VALUES, BQ_I32, 3, { 5, 9, 16 }, 5 * 9 * 64 }, { BQ_ROLE_SCALE0, BQ_BF16, 3, { 5, 9, 1 }, 90 },
			{ BQ_ROLE_ZERO, BQ_I32, 3, { 5, 2, 1 }, 40 }, { BQ_ROLE_SHAPE, BQ_I64, 1, { 3 }, 24 } } },
	{ "ct:w8a16", 2, { 3, 512 }, 1576, 1, 3,
		{ { BQ_ROLE_VALUES, BQ_I32, 2, { 3, 128 }, 1536 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 4 }, 24 },
			{ BQ_ROLE_SHAPE, BQ_I64, 1, { 2 }, 16 } } },
	{ "ct:fp8_dynamic", 2, { 3, 512 }, 1542, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_F8E4M3, 2, { 3, 512 }, 1536 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 1 }, 6 } } },
	{ "ct:nvfp4a16", 2, { 3, 512 }, 868, 2, 3,
		{ { BQ_ROLE_VALUES, BQ_U8, 2, { 3, 256 }, 768 }, { BQ_ROLE_SCALE0, BQ_F8E4M3, 2, { 3, 32 }, 96 },
			{ BQ_ROLE_SCALE1, BQ_F32, 1, { 1 }, 4 } } },
	{ "ct:mxfp4a16", 2, { 3, 512 }, 816, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_U8, 2, { 3, 256 }, 768 }, { BQ_ROLE_SCALE0, BQ_E8M0, 2, { 3, 16 }, 48 } } },
	{ "ct:fp8", 2, { 3, 512 }, 1538, 2, 2,
		{ { BQ_ROLE_VALUES, BQ_F8E4M3, 2, { 3, 512 }, 1536 }, { BQ_ROLE_SCALE0, BQ_BF16, 1, { 1 }, 2 } } },
	{ "ct:fp8_block", 2, { 130, 200 }, 26008, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_F8E4M3, 2, { 130, 200 }, 26000 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 2, 2 }, 8 } } },
	{ "ct:int8", 2, { 3, 511 }, 1539, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_I8, 2, { 3, 511 }, 1533 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 1 }, 6 } } },
	{ "ct:w3a16", 2, { 3, 512 }, 616, 1, 3,
		{ { BQ_ROLE_VALUES, BQ_I32, 2, { 3, 48 }, 576 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 4 }, 24 },
			{ BQ_ROLE_SHAPE, BQ_I64, 1, { 2 }, 16 } } },
	{ "ct:w3a8", 2, { 3, 512 }, 1560, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_I8, 2, { 3, 512 }, 1536 }, { BQ_ROLE_SCALE0, BQ_BF16, 2, { 3, 4 }, 24 } } },
	{ "ct:mxfp6a16", 2, { 3, 512 }, 1200, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_U8, 2, { 3, 384 }, 1152 }, { BQ_ROLE_SCALE0, BQ_E8M0, 2, { 3, 16 }, 48 } } },
	{ "ct:mxfp8", 2, { 3, 512 }, 1584, 1, 2,
		{ { BQ_ROLE_VALUES, BQ_F8E4M3, 2, { 3, 512 }, 1536 }, { BQ_ROLE_SCALE0, BQ_E8M0, 2, { 3, 16 }, 48 } } },
};

static void planes_of_presets_have_the_sizes_worked_out_by_hand(void)
{
	for (size_t e = 0; e < sizeof expectations / sizeof *expectations; e++) {
		const struct expected *expected = &expectations[e];
		const struct bq_scheme scheme = named(expected->preset);
		const struct bq_plan plan = planned(&scheme, BQ_BF16, expected->rank, expected->dims);

		CHECK(plan.nbytes == expected->nbytes, "%s: %llu bytes", expected->preset, (unsigned long long)plan.nbytes);
		CHECK(plan.passes == expected->passes, "%s: %u passes", expected->preset, plan.passes);
		CHECK(plan.nplanes == expected->nplanes, "%s: %u planes", expected->preset, plan.nplanes);
		for (uint32_t p = 0; p < expected->nplanes; p++) {
			const struct expected_plane *want = &expected->plane[p];
			const struct bq_plane *got = &plan.plane[p];

			CHECK(got->role == want->role && got->dtype == want->dtype && got->rank == want->rank,
				"%s, plane %u: role %u, dtype %u, rank %u", expected->preset, p, got->role, got->dtype, got->rank);
			CHECK(got->nbytes == want->nbytes, "%s, plane %u: %llu bytes", expected->preset, p,
				(unsigned long long)got->nbytes);
			for (uint32_t axis = 0; axis < want->rank; axis++)
				CHECK(got->dims[axis] == want->dims[axis], "%s, plane %u, axis %u: %llu", expected->preset, p, axis,
					(unsigned long long)got->dims[axis]);
		}
	}
}

/* A linear layer of 7 inputs and 8 outputs, and 128 x 128 blocks of odd shapes: section 11.1 of our study of
 * compressed-tensors. */
static void scale_grids_have_the_references_shapes(void)
{
	static const struct grid {
		struct bq_level level;
		uint64_t rows, cols;
		uint32_t rank;
		uint64_t dims[2];
	} grids[] = {
		{ { BQ_F32, TENSOR }, 8, 7, 1, { 1 } },
		{ { BQ_F32, CHANNEL }, 8, 7, 2, { 8, 1 } },
		{ { BQ_F32, BLOCK(2, 4) }, 8, 7, 2, { 4, 2 } },
		{ { BQ_F32, BLOCK(0, 1) }, 8, 7, 2, { 1, 7 } },
		{ { BQ_F32, GROUP(2) }, 8, 8, 2, { 8, 4 } },
		{ { BQ_F32, BLOCK(128, 128) }, 300, 256, 2, { 3, 2 } },
		{ { BQ_F32, BLOCK(128, 128) }, 256, 300, 2, { 2, 3 } },
		{ { BQ_F32, BLOCK(128, 128) }, 100, 200, 2, { 1, 2 } },
		{ { BQ_F32, BLOCK(128, 128) }, 10944, 2048, 2, { 86, 16 } },
	};

	for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
		const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { grids[g].level } };
		const uint64_t dims[2] = { grids[g].rows, grids[g].cols };
		const struct bq_plan plan = planned(&scheme, BQ_F32, 2, dims);

		CHECK(plan.plane[1].rank == grids[g].rank, "grid %zu: rank %u", g, plan.plane[1].rank);
		for (uint32_t axis = 0; axis < grids[g].rank; axis++)
			CHECK(plan.plane[1].dims[axis] == grids[g].dims[axis], "grid %zu, axis %u: %llu", g, axis,
				(unsigned long long)plan.plane[1].dims[axis]);
	}
}

/* Dtypes of the quotient, the decoder's product and its result, by those of the weights and of the scale. */
static void the_working_dtype_is_the_references(void)
{
	static const struct work {
		struct bq_level scale[2];
		uint32_t nscales, layout, input, encode, decode, result;
	} works[] = {
		{ { { BQ_INPUT, CHANNEL } }, 1, BQ_LAYOUT_PLANES, BQ_F32, BQ_F32, BQ_F32, BQ_F32 },
		{ { { BQ_INPUT, CHANNEL } }, 1, BQ_LAYOUT_PLANES, BQ_F16, BQ_F16, BQ_F16, BQ_F16 },
		{ { { BQ_INPUT, CHANNEL } }, 1, BQ_LAYOUT_PLANES, BQ_BF16, BQ_BF16, BQ_BF16, BQ_BF16 },
		{ { { BQ_F32, CHANNEL } }, 1, BQ_LAYOUT_PLANES, BQ_BF16, BQ_F32, BQ_F32, BQ_F32 },
		{ { { BQ_BF16, CHANNEL } }, 1, BQ_LAYOUT_PLANES, BQ_F32, BQ_F32, BQ_BF16, BQ_BF16 },
		{ { { BQ_BF16, CHANNEL } }, 1, BQ_LAYOUT_PLANES, BQ_F16, BQ_F32, BQ_BF16, BQ_BF16 },
		{ { { BQ_E8M0, GROUP(32) } }, 1, BQ_LAYOUT_MXFP4_PACK_QUANTIZED, BQ_F16, BQ_F16, BQ_BF16, BQ_BF16 },
		{ { { BQ_E8M0, GROUP(32) } }, 1, BQ_LAYOUT_MXFP4_PACK_QUANTIZED, BQ_F32, BQ_F32, BQ_BF16, BQ_BF16 },
		{ { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } }, 2, BQ_LAYOUT_NVFP4_PACK_QUANTIZED, BQ_BF16, BQ_F32, BQ_F32,
			BQ_BF16 },
	};
	const uint64_t dims[2] = { 2, 64 };

	for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
		const struct work *w = &works[i];
		const struct bq_scheme scheme = {
			.value = BQ_F4E2M1, .nscales = w->nscales, .scale = { w->scale[0], w->scale[1] }, .layout = w->layout
		};
		const struct bq_plan plan = planned(&scheme, w->input, 2, dims);

		CHECK(plan.encode_work == w->encode && plan.decode_work == w->decode && plan.result == w->result,
			"row %zu: encode %u, decode %u, result %u", i, plan.encode_work, plan.decode_work, plan.result);
		CHECK(plan.scheme.scale[0].dtype != BQ_INPUT, "row %zu", i);
	}
}

/* ---- rules ---- */

#define CT .rules = BQ_RULES_COMPRESSED_TENSORS
#define GGML .rules = BQ_RULES_GGML
#define SIGNED .rules = BQ_RULES_GGML_SIGNED
#define ONE(...) .nscales = 1, .scale = { { __VA_ARGS__ } }
#define PAIR(a, ag, b, bg) .nscales = 2, .scale = { { a, GROUP(ag) }, { b, GROUP(bg) } }

struct refusal {
	enum bq_status status;
	const char *why;
	struct bq_scheme scheme;
	uint64_t dims[BQ_MAX_RANK + 1]; /* up to the first 0; none: 4 x 256 */
};

static const struct refusal refusals[] = {
	{ BQ_OK, "what the others change", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_OK, "narrow", { .value = BQ_I2, .narrow = 1, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "no dtype", { .value = BQ_NONE, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "f32 is no code", { .value = BQ_F32, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "e8m0 is no code", { .value = BQ_E8M0, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "a word is no code", { .value = BQ_I32, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "beyond the last dtype", { .value = BQ_NDTYPES, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "a narrow float", { .value = BQ_F8E4M3, .narrow = 1, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "a narrow unsigned", { .value = BQ_U8, .narrow = 1, ONE(BQ_F32, CHANNEL), .zero = BQ_U8, CT }, { 0 } },
	{ BQ_BAD_VALUE, "narrow leaves one code", { .value = BQ_I1, .narrow = 1, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_VALUE, "twice narrow", { .value = BQ_I8, .narrow = 2, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_LEVELS, "no scale", { .value = BQ_I8, CT }, { 0 } },
	{ BQ_BAD_LEVELS, "too many scales", { .value = BQ_I8, .nscales = 4, .scale = { { BQ_F32, CHANNEL } }, CT }, { 0 } },
	{ BQ_BAD_LEVELS, "too many mins", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), .nmins = 4, CT }, { 0 } },
	{ BQ_BAD_LEVELS, "fewer mins than scales",
		{ .value = BQ_U4, PAIR(BQ_U6, 32, BQ_F16, 256), .nmins = 1, .min = { { BQ_F16, GROUP(32) } }, GGML,
			.calibration = BQ_SEARCH }, { 0 } },
	{ BQ_BAD_LEVELS, "mins of other blocks",
		{ .value = BQ_U4, ONE(BQ_F16, GROUP(32)), .nmins = 1, .min = { { BQ_F16, GROUP(64) } }, GGML,
			.calibration = BQ_SEARCH }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "no dtype", { .value = BQ_I8, ONE(BQ_NONE, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "an e2m1 scale", { .value = BQ_I8, ONE(BQ_F4E2M1, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "an e2m3 scale", { .value = BQ_I8, ONE(BQ_F6E2M3, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "an integer scale with nothing outside", { .value = BQ_I8, ONE(BQ_I8, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "an integer scale outside",
		{ .value = BQ_I8, PAIR(BQ_U6, 32, BQ_U8, 256), GGML, .calibration = BQ_SEARCH }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "an integer min with nothing outside",
		{ .value = BQ_U4, ONE(BQ_F16, GROUP(32)), .nmins = 1, .min = { { BQ_U6, GROUP(32) } }, GGML,
			.calibration = BQ_SEARCH }, { 0 } },
	{ BQ_BAD_LEVEL_DTYPE, "words as scales", { .value = BQ_I8, ONE(BQ_I64, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_BLOCK, "three axes of a matrix", { .value = BQ_I8, ONE(BQ_F32, .rank = 3, .edge = { 1, 1, 4 }), CT }, { 0 } },
	{ BQ_BAD_BLOCK, "six axes", { .value = BQ_I8, ONE(BQ_F32, .rank = 6), CT }, { 0 } },
	{ BQ_BAD_BLOCK, "an edge of 2^31", { .value = BQ_I8, ONE(BQ_F32, GROUP(1u << 31)), CT }, { 0 } },
	{ BQ_BAD_BLOCK, "48 is no multiple of 32",
		{ .value = BQ_I8, PAIR(BQ_F16, 32, BQ_F16, 48), GGML, .calibration = BQ_SEARCH }, { 4, 96 } },
	{ BQ_BAD_BLOCK, "16 is smaller than 32",
		{ .value = BQ_I8, PAIR(BQ_F16, 32, BQ_F16, 16), GGML, .calibration = BQ_SEARCH }, { 0 } },
	{ BQ_BAD_BLOCK, "the whole tensor inside groups",
		{ .value = BQ_I8, .nscales = 2, .scale = { { BQ_F16, TENSOR }, { BQ_F16, GROUP(32) } }, GGML,
			.calibration = BQ_SEARCH }, { 0 } },
	{ BQ_BAD_BLOCK, "rows outside, blocks of two rows inside",
		{ .value = BQ_I8, .nscales = 2, .scale = { { BQ_F16, BLOCK(2, 32) }, { BQ_F16, CHANNEL } }, GGML,
			.calibration = BQ_SEARCH }, { 0 } },
	{ BQ_OK, "a row outside, blocks longer than it inside",
		{ .value = BQ_I8, .nscales = 2, .scale = { { BQ_F16, GROUP(512) }, { BQ_F32, CHANNEL } }, .rules = BQ_RULES_PLAIN }, { 0 } },
	{ BQ_OK, "a partial last block is whole",
		{ .value = BQ_I8, .nscales = 2, .scale = { { BQ_F16, BLOCK(1, 48) }, { BQ_F16, BLOCK(1, 96) } }, GGML,
			.calibration = BQ_SEARCH }, { 4, 60 } },
	{ BQ_BAD_ZERO, "an integer beside floats", { .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), .zero = BQ_I8, CT }, { 0 } },
	{ BQ_OK, "FP8 beside FP8", { .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), .zero = BQ_F8E4M3, CT }, { 0 } },
	{ BQ_BAD_ZERO, "FP8 added after rounding",
		{ .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), .zero = BQ_F8E4M3, .rules = BQ_RULES_PLAIN }, { 0 } },
	{ BQ_BAD_ZERO, "beside codes too far apart", { .value = BQ_F8E5M2, ONE(BQ_F32, CHANNEL), .zero = BQ_F8E5M2, CT }, { 0 } },
	{ BQ_BAD_ZERO, "of floats, symmetric",
		{ .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), .zero = BQ_F8E4M3, .symmetric = 1, CT }, { 0 } },
	{ BQ_BAD_ZERO, "with mins",
		{ .value = BQ_U4, ONE(BQ_F32, CHANNEL), .zero = BQ_U4, .nmins = 1, .min = { { BQ_F32, CHANNEL } }, CT }, { 0 } },
	{ BQ_BAD_ZERO, "narrower", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), .zero = BQ_I4, CT }, { 0 } },
	{ BQ_BAD_ZERO, "unsigned beside signed", { .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_U4, CT }, { 0 } },
	{ BQ_BAD_ZERO, "no integer", { .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_F32, CT }, { 0 } },
	{ BQ_BAD_ZERO, "no dtype", { .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_NDTYPES + 7, CT }, { 0 } },
	{ BQ_OK, "wider, one a byte", { .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_I8, CT }, { 0 } },
	{ BQ_OK, "unsigned", { .value = BQ_U4, ONE(BQ_F32, CHANNEL), .zero = BQ_U4, CT }, { 0 } },
	{ BQ_BAD_RULES, "no row", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), .rules = BQ_NRULES }, { 0 } },
	{ BQ_OK, "a zero point of ggml rules", { .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_I4, GGML }, { 0 } },
	{ BQ_BAD_RULES, "a zero point under two scales",
		{ .value = BQ_I4, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } }, .zero = BQ_I4, CT }, { 0 } },
	{ BQ_BAD_RULES, "a zero point beside a power of two", { .value = BQ_I4, ONE(BQ_E8M0, GROUP(32)), .zero = BQ_I4, CT }, { 0 } },
	{ BQ_BAD_RULES, "unsigned codes have no negative", { .value = BQ_U4, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_OK, "powers of two of ggml rules", { .value = BQ_I8, ONE(BQ_E8M0, GROUP(32)), GGML }, { 0 } },
	{ BQ_BAD_RULES, "powers of two for integers", { .value = BQ_I8, ONE(BQ_E8M0, GROUP(32)), CT }, { 0 } },
	{ BQ_BAD_RULES, "i1 divided by its highest code", { .value = BQ_I1, ONE(BQ_F32, CHANNEL), GGML }, { 0 } },
	{ BQ_BAD_RULES, "i1 under a multiplier",
		{ .value = BQ_I1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } }, CT }, { 0 } },
	{ BQ_OK, "i1 divided by half of its span", { .value = BQ_I1, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_RULES, "roundf on floats", { .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), GGML }, { 0 } },
	{ BQ_BAD_RULES, "a signed extent on floats", { .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), SIGNED }, { 0 } },
	{ BQ_BAD_RULES, "a signed extent of the whole tensor", { .value = BQ_I8, ONE(BQ_F32, TENSOR), SIGNED }, { 0 } },
	{ BQ_OK, "nested scales",
		{ .value = BQ_I8, PAIR(BQ_F16, 32, BQ_F16, 256), GGML }, { 0 } },
	{ BQ_BAD_RULES, "a multiplier that is no f32",
		{ .value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F16, TENSOR } }, CT }, { 0 } },
	{ BQ_BAD_RULES, "a multiplier of rows",
		{ .value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, CHANNEL } }, CT }, { 0 } },
	{ BQ_BAD_RULES, "a multiplier of integers",
		{ .value = BQ_I8, .nscales = 2, .scale = { { BQ_U6, GROUP(16) }, { BQ_F32, TENSOR } }, CT }, { 0 } },
	{ BQ_OK, "a factor of the tensor",
		{ .value = BQ_I8, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } }, GGML }, { 0 } },
	{ BQ_BAD_RULES, "three levels, one a multiplier",
		{ .value = BQ_F4E2M1, .nscales = 3,
			.scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, GROUP(32) }, { BQ_F32, TENSOR } }, CT }, { 0 } },
	{ BQ_OK, "mins",
		{ .value = BQ_U4, ONE(BQ_F32, CHANNEL), .nmins = 1, .min = { { BQ_F32, CHANNEL } }, CT }, { 0 } },
	{ BQ_BAD_CALIBRATION, "no such calibration", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .calibration = 5 }, { 0 } },
	{ BQ_BAD_CALIBRATION, "an argument of none", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .calibration_argument = 1 }, { 0 } },
	{ BQ_BAD_CALIBRATION, "less than half",
		{ .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .calibration = BQ_PERCENTILE, .calibration_argument = 50 }, { 0 } },
	{ BQ_BAD_CALIBRATION, "more than the range",
		{ .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .calibration = BQ_MSE, .calibration_argument = 1.5 }, { 0 } },
	{ BQ_BAD_CODEBOOK, "no table", { .value = BQ_CODEBOOK, .codebook = 4, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_CODEBOOK, "a table of other values", { .value = BQ_I8, .codebook = 4, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_OK, "a table that is known", { .value = BQ_NF4, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_ZERO, "symmetric without a zero point", { .value = BQ_I8, .symmetric = 1, ONE(BQ_F32, CHANNEL), CT }, { 0 } },
	{ BQ_BAD_ZERO, "mins of floats",
		{ .value = BQ_F4E2M1, ONE(BQ_F32, CHANNEL), .nmins = 1, .min = { { BQ_F32, CHANNEL } }, CT }, { 0 } },
	{ BQ_BAD_RULES, "mins of signed extents",
		{ .value = BQ_I4, ONE(BQ_F32, CHANNEL), .nmins = 1, .min = { { BQ_F32, CHANNEL } }, SIGNED }, { 0 } },
	{ BQ_BAD_RULES, "a signed extent without a sign", { .value = BQ_I4, ONE(BQ_UE4M3, CHANNEL), SIGNED }, { 0 } },
	{ BQ_BAD_LAYOUT, "no row", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_NLAYOUTS }, { 0 } },
	{ BQ_BAD_LAYOUT, "nibbles of 8 bits",
		{ .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_NVFP4_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "signed nibbles",
		{ .value = BQ_I4, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_NVFP4_PACK_QUANTIZED }, { 0 } },
	{ BQ_OK, "unsigned nibbles",
		{ .value = BQ_U4, ONE(BQ_F32, CHANNEL), .zero = BQ_U4, CT, .layout = BQ_LAYOUT_NVFP4_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "sixes of 4 bits",
		{ .value = BQ_F4E2M1, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "signed sixes",
		{ .value = BQ_I6, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "words of floats",
		{ .value = BQ_F8E4M3, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "a zero point in a block",
		{ .value = BQ_I8, ONE(BQ_F16, GROUP(32)), .zero = BQ_I8, CT, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "two scales in a block of one",
		{ .value = BQ_I8, PAIR(BQ_F16, 32, BQ_F16, 32), GGML, .calibration = BQ_SEARCH, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "one scale in a block of two",
		{ .value = BQ_I4, ONE(BQ_F16, GROUP(256)), GGML, .layout = BQ_LAYOUT_GGML_Q4_K }, { 0 } },
	{ BQ_BAD_LAYOUT, "a channel in blocks", { .value = BQ_I8, ONE(BQ_F16, CHANNEL), GGML, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "two axes in blocks", { .value = BQ_I8, ONE(BQ_F16, BLOCK(1, 32)), GGML, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "64 in blocks of 32", { .value = BQ_I8, ONE(BQ_F16, GROUP(64)), GGML, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "a bf16 in place of an f16", { .value = BQ_I8, ONE(BQ_BF16, GROUP(32)), GGML, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "another value in a preset's blocks",
		{ .value = BQ_I4, ONE(BQ_F16, GROUP(32)), GGML, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 0 } },
	{ BQ_BAD_LAYOUT, "zero points down rows that share a scale of theirs",
		{ .value = BQ_I4, .nscales = 2, .scale = { { BQ_F16, GROUP(32) }, { BQ_F32, BLOCK(2, 32) } }, .zero = BQ_I4, .rules = BQ_RULES_PLAIN,
			.layout = BQ_LAYOUT_PACK_QUANTIZED }, { 0 } },
	{ BQ_OK, "zero points of blocks are not packed",
		{ .value = BQ_I4, ONE(BQ_F32, BLOCK(2, 32)), .zero = BQ_I8, CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "packed zero points wider than the codes",
		{ .value = BQ_I4, ONE(BQ_F32, GROUP(32)), .zero = BQ_I8, CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 0 } },
	{ BQ_BAD_LAYOUT, "packed zero points of a vector",
		{ .value = BQ_I4, ONE(BQ_F32, GROUP(32)), .zero = BQ_I4, CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 64 } },
	{ BQ_OK, "a tensor-wide zero point is not packed",
		{ .value = BQ_I4, ONE(BQ_F32, TENSOR), .zero = BQ_I8, CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 64 } },
	{ BQ_BAD_FUSED, "no such kernel", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .fused = BQ_NFUSED }, { 0 } },
	{ BQ_BAD_FUSED, "another scheme's kernel", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT, .fused = BQ_FUSED_Q4_0 }, { 0 } },
	{ BQ_BAD_SHAPE, "2^53 and a row", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(27) + 1, TWO(26) } },
	{ BQ_BAD_SHAPE, "2^63", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(32), TWO(31) } },
	{ BQ_BAD_SHAPE, "2^64", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(32), TWO(32) } },
	{ BQ_BAD_SHAPE, "2^63 in one axis", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(63), 2 } },
	{ BQ_BAD_SHAPE, "2^64 - 1 in every axis", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX } },
	{ BQ_OK, "2^53", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(27), TWO(26) } },
	{ BQ_OK, "2^53 in five axes", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(20), TWO(13), TWO(10), TWO(5), TWO(5) } },
	{ BQ_RAGGED, "100 in groups of 128", { .value = BQ_I8, ONE(BQ_F32, GROUP(128)), CT }, { 4, 100 } },
	{ BQ_RAGGED, "200 in groups of 128", { .value = BQ_I8, ONE(BQ_F32, GROUP(128)), CT }, { 4, 200 } },
	{ BQ_RAGGED, "48 in blocks of 32", { .value = BQ_I8, ONE(BQ_F16, GROUP(32)), GGML, .layout = BQ_LAYOUT_GGML_Q8_0 }, { 4, 48 } },
	{ BQ_RAGGED, "a partial outer group",
		{ .value = BQ_I8, PAIR(BQ_F16, 32, BQ_F16, 64), GGML, .calibration = BQ_SEARCH }, { 4, 96 } },
	{ BQ_OK, "blocks of more axes may be partial", { .value = BQ_I8, ONE(BQ_F32, BLOCK(3, 128)), CT }, { 4, 200 } },
	{ BQ_ODD, "seven nibbles",
		{ .value = BQ_F4E2M1, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_MXFP4_PACK_QUANTIZED }, { 4, 7 } },
	{ BQ_ODD, "six sixes", { .value = BQ_F6E2M3, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED }, { 4, 6 } },
	{ BQ_OK, "eight sixes", { .value = BQ_F6E2M3, ONE(BQ_F32, CHANNEL), CT, .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED }, { 4, 8 } },
	{ BQ_OK, "seven codes, one a byte", { .value = BQ_F4E2M1, ONE(BQ_F32, CHANNEL), CT }, { 4, 7 } },
	{ BQ_TOO_BIG, "a row of 1 GiB of f32", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(28) } },
	{ BQ_OK, "a value less", { .value = BQ_I8, ONE(BQ_F32, CHANNEL), CT }, { TWO(28) - 1 } },
	{ BQ_TOO_BIG, "its parameters alone take 6 GiB", { .value = BQ_I8, ONE(BQ_F32, GROUP(1)), CT }, { TWO(28) - 1 } },
	{ BQ_TOO_BIG, "2^30 values share a scale", { .value = BQ_I8, ONE(BQ_F32, BLOCK(0, 0)), CT }, { TWO(20), TWO(10) } },
	{ BQ_TOO_BIG, "2^32 rows share a scale", { .value = BQ_I8, ONE(BQ_F32, BLOCK(0, 0)), CT }, { TWO(32), 1 } },
	{ BQ_TOO_BIG, "32 rows of 2^23 + 1 share their zero points' words",
		{ .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_I4, CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 32, TWO(23) + 1 } },
	{ BQ_OK, "31 of them do not fill them",
		{ .value = BQ_I4, ONE(BQ_F32, CHANNEL), .zero = BQ_I4, CT, .layout = BQ_LAYOUT_PACK_QUANTIZED }, { 31, TWO(23) + 1 } },
};

static void every_broken_rule_has_its_status(void)
{
	static const uint64_t usual[2] = { 4, 256 };
	uint32_t seen = 0;

	for (size_t r = 0; r < sizeof refusals / sizeof *refusals; r++) {
		const struct refusal *refusal = &refusals[r];
		struct bq_plan plan;
		uint32_t rank = 0;

		while (refusal->dims[rank])
			rank++;

		const enum bq_status got =
			bq_plan(&refusal->scheme, NULL, BQ_F32, BQ_SCALAR, rank ? rank : 2, rank ? refusal->dims : usual, &plan);

		CHECK(got == refusal->status, "%s: status %d, expected %d", refusal->why, got, refusal->status);
		seen |= 1u << refusal->status;
	}
	/* These need more than a scheme: below. A search without its kernel, or its importance, is refused by bq_encode. */
	seen |= 1u << BQ_EMPTY | 1u << BQ_BAD_DTYPE | 1u << BQ_BAD_KERNELS | 1u << BQ_NEEDS_KERNEL |
		1u << BQ_NEEDS_IMPORTANCE;
	CHECK(seen == (1u << BQ_NSTATUS) - 1, "statuses %x", seen);
}

static void arguments_that_are_no_rows_are_refused(void)
{
	const struct bq_scheme scheme = { .value = BQ_I8, ONE(BQ_INPUT, CHANNEL) };
	const uint64_t dims[BQ_MAX_RANK + 1] = { 2, 2, 2, 2, 2, 2 };
	struct bq_plan plan;

	for (uint32_t rank = 0; rank <= BQ_MAX_RANK + 1; rank++) {
		const enum bq_status status = bq_plan(&scheme, NULL, BQ_F32, BQ_SCALAR, rank, dims, &plan);

		CHECK(status == (rank >= 1 && rank <= BQ_MAX_RANK ? BQ_OK : BQ_BAD_SHAPE), "rank %u: status %d", rank, status);
	}
	CHECK(bq_plan(&scheme, NULL, BQ_F32, BQ_SCALAR, UINT32_MAX, dims, &plan) == BQ_BAD_SHAPE, "the largest rank");
	for (uint32_t input = 0; input <= BQ_NDTYPES; input++) {
		const enum bq_status status = bq_plan(&scheme, NULL, input, BQ_SCALAR, 2, dims, &plan);

		CHECK(status == (input == BQ_F32 || input == BQ_F16 || input == BQ_BF16 ? BQ_OK : BQ_BAD_DTYPE),
			"input %u: status %d", input, status);
	}
	for (uint32_t id = 0; id <= BQ_NKERNELS; id++) {
		const enum bq_status status = bq_plan(&scheme, NULL, BQ_F32, id, 2, dims, &plan);

		CHECK(status == (bq_kernel_rows() >> id & 1 ? BQ_OK : BQ_BAD_KERNELS), "kernels %u: status %d", id, status);
	}
	CHECK(bq_kernel_rows() & 1u << BQ_SCALAR, "rows %x", bq_kernel_rows());
}

static void a_tensor_without_values_is_empty(void)
{
	for (uint32_t rank = 1; rank <= BQ_MAX_RANK; rank++)
		for (uint32_t axis = 0; axis < rank; axis++)
			for (uint32_t i = 0; bq_preset_at(i); i++) {
				uint64_t dims[BQ_MAX_RANK] = { 256, 256, 256, 256, 256 };
				struct bq_plan plan;

				dims[axis] = 0;
				CHECK(bq_plan(&bq_preset_at(i)->scheme, NULL, BQ_F32, BQ_SCALAR, rank, dims, &plan) == BQ_EMPTY,
					"%s, axis %u of %u", bq_preset_at(i)->name, axis, rank);
			}
}

/* Any word of it but those that no preset has a second value for. */
static void a_fused_kernel_does_no_other_scheme(void)
{
	static const uint64_t dims[2] = { 2, 256 };
	struct bq_plan plan;

	for (uint32_t i = 0; bq_preset_at(i); i++) {
		const struct bq_scheme *preset = &bq_preset_at(i)->scheme;

		if (!preset->fused)
			continue;
		CHECK(bq_plan(preset, NULL, BQ_F32, BQ_SCALAR, 2, dims, &plan) == BQ_OK, "%s", bq_preset_at(i)->name);
		for (size_t word = 0; word < sizeof(struct bq_scheme) / 4; word++) {
			struct bq_scheme changed = *preset;
			uint32_t value;

			memcpy(&value, (uint8_t *)&changed + 4 * word, 4);
			value++;
			memcpy((uint8_t *)&changed + 4 * word, &value, 4);
			if (changed.fused == BQ_GENERIC)
				continue;

			const enum bq_status status = bq_plan(&changed, NULL, BQ_F32, BQ_SCALAR, 2, dims, &plan);
			const enum bq_status expected = changed.rules >= BQ_NRULES ? BQ_BAD_RULES
				: changed.layout >= BQ_NLAYOUTS                        ? BQ_BAD_LAYOUT
																	   : BQ_BAD_FUSED;

			CHECK(status == expected, "%s, word %zu: status %d", bq_preset_at(i)->name, word, status);
		}
	}
}

/* ---- bands ---- */

static uint64_t cells_of(const struct bq_plan *plan)
{
	const struct bq_level *level = &plan->scheme.scale[0];
	uint64_t cells = 1;

	for (uint32_t axis = 0; axis < plan->rank && level->rank; axis++) {
		const uint32_t listed = axis + level->rank;
		uint64_t edge = listed < plan->rank ? 1 : level->edge[listed - plan->rank];

		edge = edge ? edge : plan->dims[axis];
		cells *= (plan->dims[axis] + edge - 1) / edge;
	}
	return cells;
}

static void check_planes(const struct bq_plan *plan, const char *what)
{
	uint64_t sum = 0;

	for (uint32_t p = 0; p < plan->nplanes; p++) {
		uint64_t nbytes = bq_dtype(plan->plane[p].dtype)->nbytes;

		for (uint32_t axis = 0; axis < plan->plane[p].rank; axis++)
			nbytes *= plan->plane[p].dims[axis];
		CHECK(plan->plane[p].nbytes == nbytes, "%s, plane %u: %llu bytes, %llu by its shape", what, p,
			(unsigned long long)plan->plane[p].nbytes, (unsigned long long)nbytes);
		sum += nbytes;
	}
	CHECK(plan->nbytes == sum, "%s: %llu bytes", what, (unsigned long long)plan->nbytes);
	CHECK(plan->nplanes <= BQ_MAX_PLANES && plan->workspace_nbytes % 16 == 0, "%s", what);
}

/* Each step once, each byte of a growing plane once, each cell once, each value once; all in order. */
static void check_bands(const struct bq_plan *plan, uint32_t max_nbytes, const char *what)
{
	const uint64_t total = plan->nitems * plan->steps_per_item;
	const uint64_t step_rows = plan->step_rows < plan->rows_per_item ? plan->step_rows : plan->rows_per_item;
	const uint64_t step_nbytes = step_rows * plan->cols * bq_dtype(plan->input)->nbytes;
	const uint64_t whole = max_nbytes / step_nbytes ? max_nbytes / step_nbytes : 1;
	uint64_t step = 0, value = 0, cell = 0, at[BQ_MAX_PLANES] = { 0 };
	struct bq_band band;

	while (step < total) {
		bq_band(plan, step, max_nbytes, &band);
		CHECK(band.first_step == step && band.nsteps == (whole < total - step ? whole : total - step),
			"%s, %u bytes: %llu steps at %llu of %llu", what, max_nbytes, (unsigned long long)band.nsteps,
			(unsigned long long)step, (unsigned long long)total);
		if (!band.nsteps)
			return;
		CHECK(band.value_offset == value && band.nvalues && band.nvalues % plan->cols == 0, "%s, step %llu", what,
			(unsigned long long)step);
		CHECK(band.nvalues * bq_dtype(plan->input)->nbytes <= max_nbytes || band.nsteps == 1, "%s, step %llu", what,
			(unsigned long long)step);
		CHECK(band.plane_nbytes[0] == band.nvalues / plan->cols * plan->line_nbytes, "%s, step %llu", what,
			(unsigned long long)step);
		if (plan->scheme.scale[0].rank)
			CHECK(band.cell_offset[0] == cell && band.ncells[0], "%s, step %llu", what, (unsigned long long)step);
		else
			CHECK(band.cell_offset[0] == 0 && band.ncells[0] == 1, "%s, step %llu", what, (unsigned long long)step);
		for (uint32_t p = 0; p < BQ_MAX_PLANES; p++) {
			const struct bq_plane *plane = &plan->plane[p];
			const int grows = p < plan->nplanes && plane->step_nbytes;

			CHECK(band.plane_offset[p] == (grows ? at[p] : 0), "%s, step %llu, plane %u", what, (unsigned long long)step, p);
			CHECK(grows ? band.plane_nbytes[p] > 0 : band.plane_nbytes[p] == (p < plan->nplanes ? plane->nbytes : 0),
				"%s, step %llu, plane %u", what, (unsigned long long)step, p);
			at[p] += band.plane_nbytes[p];
			CHECK(band.plane_offset[p] + band.plane_nbytes[p] <= plane->nbytes, "%s, step %llu, plane %u", what,
				(unsigned long long)step, p);
		}
		step += band.nsteps;
		value += band.nvalues;
		cell += band.ncells[0];
	}
	CHECK(step == total && value == plan->nvalues, "%s, %u bytes: %llu values", what, max_nbytes, (unsigned long long)value);
	CHECK(!plan->scheme.scale[0].rank || cell == cells_of(plan), "%s, %u bytes: %llu cells", what, max_nbytes,
		(unsigned long long)cell);
	for (uint32_t p = 0; p < plan->nplanes; p++)
		CHECK(!plan->plane[p].step_nbytes || at[p] == plan->plane[p].nbytes, "%s, %u bytes: plane %u ends at %llu", what,
			max_nbytes, p, (unsigned long long)at[p]);
}

static void check_all_bands(const struct bq_scheme *scheme, uint32_t rank, const uint64_t *dims, const char *what)
{
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	static const uint32_t sizes[] = { 0, 1, 2, 1001, 4095, 4096, 4097, 65535, 1u << 20, (1u << 31) + 1, UINT32_MAX };

	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		const struct bq_plan plan = planned(scheme, inputs[i], rank, dims);

		check_planes(&plan, what);
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			check_bands(&plan, sizes[s], what);
	}
}

static void bands_of_presets_cover_everything_once(void)
{
	static const uint64_t shapes[][4] = { { 1, 512 }, { 7, 256 }, { 3, 5, 512 }, { 2, 1, 3, 256 }, { 70, 256 } };

	for (uint32_t i = 0; bq_preset_at(i); i++)
		for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
			uint32_t rank = 0;

			while (rank < 4 && shapes[s][rank])
				rank++;
			check_all_bands(&bq_preset_at(i)->scheme, rank, shapes[s], bq_preset_at(i)->name);
		}
}

static void bands_of_six_bits_cover_everything_once(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F6E2M3, ONE(BQ_E8M0, GROUP(32)), .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED
	};
	static const uint64_t dims[2] = { 5, 96 };
	const struct bq_plan plan = planned(&scheme, BQ_F32, 2, dims);

	CHECK(plan.plane[0].dims[1] == 72 && plan.plane[0].nbytes == 360 && plan.plane[1].nbytes == 15, "%llu bytes",
		(unsigned long long)plan.nbytes);
	check_all_bands(&scheme, 2, dims, "sixes");
}

static void bands_of_blocks_over_rows_cover_everything_once(void)
{
	static const struct bq_level levels[] = {
		{ BQ_F32, TENSOR },
		{ BQ_INPUT, CHANNEL },
		{ BQ_F16, BLOCK(2, 3) },
		{ BQ_F32, BLOCK(0, 5) },
		{ BQ_F32, BLOCK(5, 0) },
		{ BQ_F32, BLOCK(100, 100) },
		{ BQ_F32, .rank = 3, .edge = { 2, 3, 4 } },
		{ BQ_F32, .rank = 3, .edge = { 2, 0, 0 } },
		{ BQ_BF16, .rank = 3, .edge = { 1, 2, 0 } },
		{ BQ_F32, .rank = 3, .edge = { 0, 0, 0 } },
		{ BQ_F32, .rank = 4, .edge = { 2, 1, 3, 4 } },
	};
	static const uint64_t shapes[][5] = { { 5, 7, 9 }, { 3, 1, 11 }, { 1, 6, 1 }, { 2, 5, 7, 9 }, { 3, 4, 5, 2 }, { 2, 3, 3, 2, 5 } };

	for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
		for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
			const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { levels[l] } };
			const struct bq_scheme zero = { .value = BQ_I8, .nscales = 1, .scale = { levels[l] }, .zero = BQ_I8 };
			uint32_t rank = 0;
			char what[32];

			while (rank < 5 && shapes[s][rank])
				rank++;
			if (levels[l].rank > rank)
				continue;
			snprintf(what, sizeof what, "level %zu, shape %zu", l, s);
			check_all_bands(&scheme, rank, shapes[s], what);
			check_all_bands(&zero, rank, shapes[s], what);
		}
}

/* Words of zero points end with an item, also in the midst of a word; 32 rows are a step. */
static void bands_of_zero_points_down_the_rows_cover_everything_once(void)
{
	for (uint32_t bits = 1; bits <= 8; bits++) {
		const struct bq_scheme scheme = {
			.value = BQ_I1 + bits - 1, ONE(BQ_INPUT, GROUP(16)), .zero = BQ_I1 + bits - 1, .layout = BQ_LAYOUT_PACK_QUANTIZED
		};

		for (uint64_t rows = 1; rows <= 70; rows++) {
			const uint64_t dims[3] = { 3, rows, 48 };
			const struct bq_plan plan = planned(&scheme, BQ_F32, 3, dims), flat = planned(&scheme, BQ_F32, 2, dims + 1);
			const uint64_t words = (rows * bits + 31) / 32;
			char what[48];

			snprintf(what, sizeof what, "%u bits, %u rows", bits, (unsigned)rows);
			CHECK(plan.plane[2].role == BQ_ROLE_ZERO && plan.plane[2].dims[0] == 3 && plan.plane[2].dims[1] == words &&
					plan.plane[2].dims[2] == 3 && plan.plane[2].nbytes == 36 * words,
				"%s: %llu words", what, (unsigned long long)plan.plane[2].dims[1]);
			CHECK(flat.plane[2].dims[0] == words && flat.plane[2].nbytes == 12 * words, "%s", what);
			CHECK(plan.steps_per_item == (rows + 31) / 32 && plan.step_rows == (rows < 32 ? rows : 32), "%s: %u rows a step",
				what, plan.step_rows);
			check_all_bands(&scheme, 3, dims, what);
			check_all_bands(&scheme, 2, dims + 1, what);
		}
	}
}

/* Sizes of a band are 32 bits wide. */
static void huge_bands_stop_where_a_plane_would_overflow(void)
{
	static const struct bq_level levels[] = { { BQ_F32, GROUP(1) }, { BQ_F32, GROUP(2) }, { BQ_F32, GROUP(4) }, { BQ_F32, CHANNEL } };
	const uint64_t dims[2] = { TWO(40), 1024 };

	for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
		const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { levels[l] } };
		const struct bq_plan plan = planned(&scheme, BQ_F16, 2, dims);
		struct bq_band band;

		for (uint64_t first = 0; first < 2 * TWO(32); first += 12345678901) {
			bq_band(&plan, first, UINT32_MAX, &band);
			for (uint32_t p = 0; p < plan.nplanes; p++)
				CHECK(band.plane_nbytes[p] == band.nsteps * plan.plane[p].step_nbytes &&
						band.plane_offset[p] == first * plan.plane[p].step_nbytes,
					"level %zu, plane %u: %u bytes for %llu steps", l, p, band.plane_nbytes[p],
					(unsigned long long)band.nsteps);
			CHECK(band.nvalues == band.nsteps * 1024 && band.value_offset == first * 1024, "level %zu", l);
		}
	}
}

/* ---- presets ---- */

static void bits_per_weight_are_those_of_the_formats(void)
{
	static const struct {
		const char *name;
		double bits;
	} expected[] = {
		{ "ggml:q6_k", 6.5625 },
		{ "ggml:q5_1", 6 },
		{ "ggml:q4_1", 5 },
		{ "ggml:q5_k", 5.5 },
		{ "ggml:q3_k", 3.4375 },
		{ "ggml:q2_k", 2.625 },
		{ "ggml:iq4_xs", 4.25 },
		{ "ggml:iq4_nl", 4.5 },
		{ "ggml:iq3_s", 3.4375 }, { "ggml:iq3_xxs", 3.0625 }, { "ggml:iq2_s", 2.5625 }, { "ggml:iq2_xs", 2.3125 },
		{ "ggml:iq2_xxs", 2.0625 }, { "ggml:iq1_m", 1.75 }, { "ggml:iq1_s", 1.5625 },
		{ "ggml:nvfp4", 4.5 },
		{ "ggml:mxfp4", 4.25 },
		{ "ggml:tq2_0", 2.0625 },
		{ "ggml:tq1_0", 1.6875 },
		{ "ggml:q2_0", 2.25 },
		{ "ggml:q1_0", 1.125 },
		{ "ggml:q8_0", 8.5 }, { "ggml:q5_0", 5.5 }, { "ggml:q4_0", 4.5 }, { "ggml:q4_k", 4.5 }, { "ct:w4a16", 4.125 },
		{ "ct:w4a16_asym", 4.15625 }, { "ct:w8a16", 8.125 }, { "ct:fp8_dynamic", 8 }, { "ct:nvfp4a16", 4.5 },
		{ "ct:mxfp4a16", 4.25 }, { "ct:fp8", 8 }, { "ct:fp8_block", 8 + 16.0 / 16384 }, { "ct:w3a16", 3.125 },
		{ "ct:w3a8", 8.125 }, { "ct:mxfp6a16", 6.25 }, { "ct:mxfp8a16", 8.25 },
	};
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		const struct bq_scheme scheme = named(expected[i].name);
		const double bits = bq_bits_per_weight(&scheme, BQ_BF16);

		CHECK(bits == expected[i].bits, "%s: %g bits", expected[i].name, bits);
	}

	const struct bq_scheme w4a16 = named("ct:w4a16");

	CHECK(bq_bits_per_weight(&w4a16, BQ_F32) == 4.25, "f32 scales: %g bits", bq_bits_per_weight(&w4a16, BQ_F32));
}

/* What one says of a large tensor is what its planes take, also where codes or zero points are one a byte. */
static void bits_per_weight_are_the_limit_of_the_planes(void)
{
	static const uint64_t dims[2] = { TWO(26), TWO(14) };
	static const struct bq_scheme schemes[] = {
		{ .value = BQ_I4, ONE(BQ_F32, GROUP(32)), .layout = BQ_LAYOUT_INT_QUANTIZED },
		{ .value = BQ_I4, ONE(BQ_F32, GROUP(32)), .zero = BQ_I4, .layout = BQ_LAYOUT_INT_QUANTIZED },
		{ .value = BQ_I3, ONE(BQ_F32, GROUP(32)), .zero = BQ_I3, .layout = BQ_LAYOUT_PACK_QUANTIZED },
		{ .value = BQ_F4E2M1, ONE(BQ_INPUT, BLOCK(16, 32)) },
		{ .value = BQ_F6E2M3, ONE(BQ_E8M0, GROUP(32)), .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED },
		{ .value = BQ_I5, ONE(BQ_INPUT, TENSOR), .zero = BQ_I5 },
		{ .value = BQ_U4, PAIR(BQ_U6, 32, BQ_F16, 256), .nmins = 2, .min = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(256) } },
			.calibration = BQ_SEARCH, GGML },
	};

	for (size_t i = 0, own = 0;; i++) {
		const struct bq_preset *preset = bq_preset_at((uint32_t)i);
		const struct bq_scheme *scheme = preset ? &preset->scheme : &schemes[own++];

		/* our own, after the presets */
		if (!preset && own > sizeof schemes / sizeof *schemes)
			break;

		const struct bq_plan plan = planned(scheme, BQ_F32, 2, dims);
		const double bits = bq_bits_per_weight(scheme, BQ_F32), stored = 8.0 * (double)plan.nbytes / (double)plan.nvalues;

		/* 32 / 2^14 bits: an f32 scale for each row, in the one preset that has rows. */
		CHECK(stored - bits >= 0 && stored - bits <= 0.002, "scheme %zu: %g bits, %g stored", i, bits, stored);
	}
}

static void presets_are_found_by_their_names(void)
{
	uint32_t count = 0;

	for (; bq_preset_at(count); count++) {
		const struct bq_preset *preset = bq_preset_at(count);

		CHECK(bq_preset_named(preset->name) == preset, "%s", preset->name);
		CHECK(strchr(preset->name, ':') && preset->description[0], "%s", preset->name);
		for (uint32_t i = 0; i < count; i++)
			CHECK(strcmp(preset->name, bq_preset_at(i)->name), "two are %s", preset->name);
	}
	CHECK(!bq_preset_at(UINT32_MAX), "one at the end of all integers");
	CHECK(!bq_preset_named("") && !bq_preset_named("q4_0") && !bq_preset_named("ggml:Q4_0") && !bq_preset_named("ggml:q4_00"),
		"names are found that are none");
}

/* ---- structs: compared as bytes (check_fused), and written by JavaScript ---- */

static size_t end_of_field;

#define BEGIN() (end_of_field = 0)
#define FIELD(type, name) \
	CHECK(offsetof(struct type, name) == end_of_field, "%s.%s is at %zu", #type, #name, offsetof(struct type, name)); \
	end_of_field += sizeof((struct type *)NULL)->name
#define END(type) CHECK(sizeof(struct type) == end_of_field && end_of_field % 4 == 0, "%s: %zu bytes", #type, sizeof(struct type))

static void structs_have_no_padding(void)
{
	BEGIN();
	FIELD(bq_level, dtype);
	FIELD(bq_level, rank);
	FIELD(bq_level, edge);
	END(bq_level);
	BEGIN();
	FIELD(bq_scheme, value);
	FIELD(bq_scheme, narrow);
	FIELD(bq_scheme, codebook);
	FIELD(bq_scheme, nscales);
	FIELD(bq_scheme, scale);
	FIELD(bq_scheme, zero);
	FIELD(bq_scheme, symmetric);
	FIELD(bq_scheme, nmins);
	FIELD(bq_scheme, min);
	FIELD(bq_scheme, calibration);
	FIELD(bq_scheme, calibration_argument);
	FIELD(bq_scheme, rules);
	FIELD(bq_scheme, layout);
	FIELD(bq_scheme, pack_into);
	FIELD(bq_scheme, pack_axis);
	FIELD(bq_scheme, fused);
	FIELD(bq_scheme, act_mode);
	FIELD(bq_scheme, act);
	FIELD(bq_scheme, act_scale);
	END(bq_scheme);
	CHECK(sizeof(struct bq_level) == 28 && sizeof(struct bq_scheme) == 4 * 15 + 8 + 7 * 28, "%zu bytes", sizeof(struct bq_scheme));
	BEGIN();
	FIELD(bq_plane, role);
	FIELD(bq_plane, dtype);
	FIELD(bq_plane, rank);
	FIELD(bq_plane, step_nbytes);
	FIELD(bq_plane, item_nbytes);
	FIELD(bq_plane, nbytes);
	FIELD(bq_plane, dims);
	END(bq_plane);
	BEGIN();
	FIELD(bq_band, first_step);
	FIELD(bq_band, nsteps);
	FIELD(bq_band, value_offset);
	FIELD(bq_band, nvalues);
	FIELD(bq_band, cell_offset);
	FIELD(bq_band, ncells);
	FIELD(bq_band, plane_offset);
	FIELD(bq_band, plane_nbytes);
	END(bq_band);
	BEGIN();
	FIELD(bq_tensor_range, lo);
	FIELD(bq_tensor_range, hi);
	FIELD(bq_tensor_range, scale);
	FIELD(bq_tensor_range, min);
	FIELD(bq_tensor_range, sum);
	FIELD(bq_tensor_range, seen);
	END(bq_tensor_range);
	BEGIN();
	FIELD(bq_report, fused_values);
	FIELD(bq_report, generic_values);
	FIELD(bq_report, overflow_blocks);
	FIELD(bq_report, heavy_blocks);
	FIELD(bq_report, nonfinite_values);
	FIELD(bq_report, first_nonfinite);
	END(bq_report);
	CHECK(sizeof(struct bq_plan) % 8 == 0 && offsetof(struct bq_plan, input) == sizeof(struct bq_scheme), "bq_plan");
}

int main(void)
{
	planes_of_presets_have_the_sizes_worked_out_by_hand();
	scale_grids_have_the_references_shapes();
	the_working_dtype_is_the_references();
	every_broken_rule_has_its_status();
	arguments_that_are_no_rows_are_refused();
	a_tensor_without_values_is_empty();
	a_fused_kernel_does_no_other_scheme();
	bands_of_presets_cover_everything_once();
	bands_of_six_bits_cover_everything_once();
	bands_of_blocks_over_rows_cover_everything_once();
	bands_of_zero_points_down_the_rows_cover_everything_once();
	huge_bands_stop_where_a_plane_would_overflow();
	bits_per_weight_are_those_of_the_formats();
	bits_per_weight_are_the_limit_of_the_planes();
	presets_are_found_by_their_names();
	structs_have_no_padding();
	return test_done("test_plan");
}
