/* SPDX-License-Identifier: MIT
 * test_printed.c - the numbers that compressed-tensors itself printed (section 11 of our study of it; [tests] there are
 * its own).
 */
#include "test_stages.h"

struct static_case {
	const char *what;
	struct bq_scheme scheme;
	uint32_t nscales;
	float scales[8];
	int8_t codes[24]; /* E2M1 codes for floats */
	float values[24];
};

static const struct static_case static_cases[] = {
	{ "int4 tensor", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, TENSOR } } }, 1, { 3.0625f },
		{ 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 7 },
		{ 0, 0, 3.0625f, 3.0625f, 3.0625f, 6.125f, 6.125f, 6.125f, 9.1875f, 9.1875f, 9.1875f, 12.25f, 12.25f, 12.25f,
			15.3125f, 15.3125f, 15.3125f, 18.375f, 18.375f, 18.375f, 21.5f, 21.5f, 21.5f, 21.5f } },
	{ "int4 channel", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } } },
		4, { .66796875f, 1.46875f, 2.265625f, 3.0625f },
		{ 0, 2, 3, 4, 6, 7, 4, 5, 5, 6, 7, 7, 5, 6, 6, 7, 7, 7, 6, 6, 7, 7, 7, 7 },
		{ 0, 1.3359375f, 2, 2.671875f, 4, 4.6875f, 5.875f, 7.34375f, 7.34375f, 8.8125f, 10.25f, 10.25f, 11.3125f, 13.625f,
			13.625f, 15.875f, 15.875f, 15.875f, 18.375f, 18.375f, 21.5f, 21.5f, 21.5f, 21.5f } },
	{ "int4 group 3", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(3) } } },
		8, { .267578125f, .66796875f, 1.0703125f, 1.46875f, 1.8671875f, 2.265625f, 2.671875f, 3.0625f },
		{ 0, 4, 7, 4, 6, 7, 6, 7, 7, 6, 7, 7, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 },
		{ 0, 1.0703125f, 1.875f, 2.671875f, 4, 4.6875f, 6.4375f, 7.5f, 7.5f, 8.8125f, 10.25f, 10.25f, 11.1875f, 13.0625f,
			13.0625f, 15.875f, 15.875f, 15.875f, 18.75f, 18.75f, 18.75f, 21.5f, 21.5f, 21.5f } },
	{ "int4 block 2x3", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, BLOCK(2, 3) } } },
		4, { 1.0703125f, 1.46875f, 2.671875f, 3.0625f },
		{ 0, 1, 2, 2, 3, 3, 6, 7, 7, 6, 7, 7, 4, 5, 5, 5, 5, 6, 7, 7, 7, 7, 7, 7 },
		{ 0, 1.0703125f, 2.140625f, 2.9375f, 4.40625f, 4.40625f, 6.4375f, 7.5f, 7.5f, 8.8125f, 10.25f, 10.25f, 10.6875f,
			13.375f, 13.375f, 15.3125f, 15.3125f, 18.375f, 18.75f, 18.75f, 18.75f, 21.5f, 21.5f, 21.5f } },
	{ "fp4 group 3 under 117", { .value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(3) }, { BQ_F32, TENSOR } } },
		8, { 40, 96, 160, 208, 288, 320, 384, 448 },
		{ 0, 5, 7, 6, 6, 7, 6, 7, 7, 7, 7, 7, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 },
		{ 0, 1.0234375f, 2.046875f, 3.28125f, 3.28125f, 4.9375f, 5.46875f, 8.1875f, 8.1875f, 10.6875f, 10.6875f, 10.6875f,
			9.875f, 14.75f, 14.75f, 16.375f, 16.375f, 16.375f, 19.75f, 19.75f, 19.75f, 23, 23, 23 } },
};

/* 0 to 23 in bfloat16, 4 x 6. */
static void static_weights_quantize_as_in_the_references_tests(void)
{
	float x[24], scales[8];

	for (int i = 0; i < 24; i++)
		x[i] = (float)i;
	for (size_t c = 0; c < sizeof static_cases / sizeof *static_cases; c++) {
		const struct static_case *each = &static_cases[c];
		struct outcome o = run(&each->scheme, BQ_BF16, 4, 6, x, NULL);

		scales_of(&o, scales, each->nscales);
		check_floats(each->what, scales, each->scales, each->nscales);
		check_codes(each->what, plane_of(&o, BQ_ROLE_VALUES), each->codes, 24);
		check_floats(each->what, o.values, each->values, 24);
		check_floats(each->what, o.fake, each->values, 24);
		if (each->scheme.nscales == 2)
			CHECK(bq_load32(plane_of(&o, BQ_ROLE_SCALE1)) == bq_bits(117), "kernels %u: the multiplier is not 117", kernels);
		discard(&o);
	}
}

/* Its tests of activations and attention heads, which are weights of the same shapes. */
static void more_axes_quantize_as_in_the_references_tests(void)
{
	static const struct bq_scheme tensor = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, TENSOR } } };
	static const struct bq_scheme heads = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, .rank = 3, .edge = { 1, 0, 0 } } } };
	static const struct bq_scheme groups = {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(3) }, { BQ_F32, TENSOR } }
	};
	static const uint64_t token_dims[3] = { 1, 2, 6 }, head_dims[4] = { 1, 2, 3, 4 };
	static const float first[12] = { 0, 1.46875f, 1.46875f, 2.9375f, 4.40625f, 4.40625f, 5.875f, 7.34375f, 7.34375f, 8.8125f,
		10.25f, 10.25f };
	static const float second[12] = { 12.25f, 12.25f, 15.3125f, 15.3125f, 15.3125f, 18.375f, 18.375f, 18.375f, 21.5f, 21.5f,
		21.5f, 21.5f };
	static const float grouped[12] = { 0, 0.984375f, 1.96875f, 3.40625f, 3.40625f, 5.125f, 5.25f, 7.875f, 7.875f, 7.34375f, 11,
		11 };
	static const struct options none;
	struct outcome o;
	float x[24];

	for (int i = 0; i < 24; i++)
		x[i] = (float)i;
	o = run_with(&tensor, BQ_BF16, 3, token_dims, x, &none);
	check_floats("int4 tensor of 12", o.values, first, 12);
	discard(&o);
	o = run_with(&groups, BQ_BF16, 3, token_dims, x, &none);
	check_floats("fp4 groups of 12", o.values, grouped, 12);
	discard(&o);
	o = run_with(&heads, BQ_BF16, 4, head_dims, x, &none);
	check_floats("head 0", o.values, first, 12);
	check_floats("head 1", o.values + 12, second, 12);
	discard(&o);
}

static void mxfp4_decodes_as_in_the_references_tests(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_E8M0, GROUP(2) } }, .layout = BQ_LAYOUT_MXFP4_PACK_QUANTIZED
	};
	static const uint64_t dims[2] = { 1, 4 };
	static const uint8_t codes[2] = { 0x21, 0x43 }, scales[2] = { 125, 126 };
	static const float expected[4] = { 0.125f, 0.25f, 0.75f, 1.0f };
	struct outcome o = { 0 };
	struct bq_band band;
	float values[4];

	CHECK(bq_plan(&scheme, NULL, BQ_BF16, kernels, 2, dims, &o.plan) == BQ_OK, "no plan");
	o.planes[0] = test_buffer(2, 0);
	o.planes[1] = test_buffer(2, 0);
	memcpy(o.planes[0], codes, 2);
	memcpy(o.planes[1], scales, 2);
	bq_band(&o.plan, 0, 1, &band);
	decode_band(&o, &band, 0, values);
	check_floats("mxfp4", values, expected, 4);
	discard(&o);
}

/* One value a block: the power of two that it is rounded to, from 1.75 on upward, less the 2 of E2M1's exponent. */
static void powers_of_two_are_rounded_as_in_the_references_tests(void)
{
	static const float pairs[25][2] = { { 5.687891f, 4 }, { -8.291567f, 8 }, { -1.540329f, 1 }, { -0.315635f, .25f },
		{ 0.965272f, 1 }, { -6.944130f, 4 }, { 0.073246f, .0625f }, { -0.451778f, .5f }, { 8.571118f, 8 }, { -9.856593f, 8 },
		{ -0.040571f, .03125f }, { -0.708509f, .5f }, { 2.485657f, 2 }, { -4.003352f, 4 }, { -0.995600f, 1 },
		{ 0.224199f, .25f }, { 5.032586f, 4 }, { -1.309816f, 1 }, { -0.621958f, .5f }, { 7.290238f, 8 }, { -9.848001f, 8 },
		{ -0.290731f, .25f }, { 1.501562f, 1 }, { 0.379829f, .25f }, { -5.312081f, 4 } };
	static const struct bq_scheme scheme = { .value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_E8M0, GROUP(1) } } };
	float x[25];
	struct outcome o;

	for (int i = 0; i < 25; i++)
		x[i] = pairs[i][0];
	o = run(&scheme, BQ_BF16, 5, 5, x, NULL);
	for (int i = 0; i < 25; i++) {
		const uint8_t got = plane_of(&o, BQ_ROLE_SCALE0)[i];

		CHECK(got == (bq_bits(pairs[i][1]) >> 23) - 2, "kernels %u: %g: byte %u", kernels, pairs[i][0], got);
	}
	discard(&o);
}

struct parameters {
	const char *what;
	uint32_t value, zero, scale, input;
	float scales[4];
	int8_t zeros[4];
};

static const struct parameters parameter_cases[] = {
	{ "int8", BQ_I8, 0, BQ_INPUT, BQ_F32, { .01568627543747425f, .007843137718737125f, .0235294122248888f, 0x1p-23f }, { 0 } },
	{ "int8 bf16", BQ_I8, 0, BQ_INPUT, BQ_BF16, { .0157470703125f, .00787353515625f, .0235595703125f, .0078125f }, { 0 } },
	{ "int4", BQ_I4, 0, BQ_INPUT, BQ_F32, { .2666666805744171f, .13333334028720856f, .4000000059604645f, 0x1p-23f }, { 0 } },
	{ "int4 f16", BQ_I4, 0, BQ_INPUT, BQ_F16, { .2666015625f, .13330078125f, .39990234375f, .0009765625f }, { 0 } },
	{ "int4 asym", BQ_I4, BQ_I4, BQ_INPUT, BQ_F32,
		{ .20000000298023224f, .06666667014360428f, .20000000298023224f, 0x1p-23f }, { -3, -8, 7, 0 } },
	{ "int4 asym bf16", BQ_I4, BQ_I4, BQ_INPUT, BQ_BF16, { .2001953125f, .06689453125f, .2001953125f, .0078125f }, { -3, -8, 7, 0 } },
	{ "int8 asym", BQ_I8, BQ_I8, BQ_INPUT, BQ_F32,
		{ .0117647061124444f, .003921568859368563f, .0117647061124444f, 0x1p-23f }, { -43, -128, 127, 0 } },
	{ "fp8", BQ_F8E4M3, 0, BQ_INPUT, BQ_F32,
		{ .004464285913854837f, .0022321429569274187f, .0066964286379516125f, 0x1p-23f }, { 0 } },
	{ "fp4 in e4m3", BQ_F4E2M1, 0, BQ_F8E4M3, BQ_F32, { .34375f, .171875f, .5f, .125f }, { 0 } },
};

static const float pair_lo[4] = { -1, 0.5f, -3, 0 }, pair_hi[4] = { 2, 1, -1, 0 };

static void ranges_become_the_references_parameters(void)
{
	static const float x[4];
	static const struct options options = { .lo = pair_lo, .hi = pair_hi };
	float scales[4];

	for (size_t c = 0; c < sizeof parameter_cases / sizeof *parameter_cases; c++) {
		const struct parameters *each = &parameter_cases[c];
		const struct bq_scheme scheme = {
			.value = each->value, .nscales = 1, .scale = { { each->scale, CHANNEL } }, .zero = each->zero
		};
		struct outcome o = run(&scheme, each->input, 4, 1, x, &options);

		scales_of(&o, scales, 4);
		check_floats(each->what, scales, each->scales, 4);
		if (each->zero)
			check_codes(each->what, plane_of(&o, BQ_ROLE_ZERO), each->zeros, 4);
		discard(&o);
	}
}

static void a_multiplier_scales_the_references_parameters(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, CHANNEL }, { BQ_F32, TENSOR } }
	};
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	static const float x[4], expected[4] = { 288, 144, 448, 0.125f };
	const struct bq_tensor_range range = { .lo = -3, .hi = 2, .seen = 1 };
	const struct options options = { .lo = pair_lo, .hi = pair_hi, .range = &range };
	float scales[4];

	for (int i = 0; i < 3; i++) {
		struct outcome o = run(&scheme, inputs[i], 4, 1, x, &options);

		scales_of(&o, scales, 4);
		check_floats("fp4 under 896", scales, expected, 4);
		CHECK(bq_load32(plane_of(&o, BQ_ROLE_SCALE1)) == bq_bits(896), "kernels %u, input %d: not 896", kernels, i);
		discard(&o);
	}
}

static void mx_scales_are_the_references_bytes(void)
{
	static const float amax[7] = { 0, 1, 1.5f, 1.74f, 1.75f, 6, 448 };
	static const uint8_t expected[3][7] = { { 0, 125, 125, 125, 126, 127, 134 }, { 0, 119, 119, 119, 120, 121, 128 },
		{ 0, 125, 125, 125, 125, 127, 133 } };
	static const uint32_t inputs[] = { BQ_F32, BQ_BF16, BQ_F16 }, values[3] = { BQ_F4E2M1, BQ_F8E4M3, BQ_F6E2M3 };

	for (int v = 0; v < 3; v++)
		for (int i = 0; i < 3; i++) {
			const struct bq_scheme scheme = { .value = values[v], .nscales = 1, .scale = { { BQ_E8M0, CHANNEL } } };
			struct outcome o = run(&scheme, inputs[i], 7, 1, amax, NULL);

			for (int k = 0; k < 7; k++) {
				/* 2^-127 is 0 in float16, and a scale of 0 becomes 1. */
				const unsigned want = k == 0 && inputs[i] == BQ_F16 ? 127 : expected[v][k];
				const unsigned got = plane_of(&o, BQ_ROLE_SCALE0)[k];

				CHECK(got == want, "kernels %u, input %u, %g: got %u, expected %u", kernels, inputs[i], amax[k], got, want);
			}
			discard(&o);
		}
}

/* E2M3 at a scale of 1: the largest value is 7.5. Ties to even, both zeros, below and at 1.9375 * 4, where the power grows. */
static void mxfp6_codes_are_the_references(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F6E2M3, .nscales = 1, .scale = { { BQ_E8M0, GROUP(8) } }, .layout = BQ_LAYOUT_MXFP6_PACK_QUANTIZED
	};
	static const float x[4][8] = { { 7.5f, -7.5f, 0.0625f, 0.1875f, 1.9375f, -0.0f, -0.0625f, 4.25f },
		{ 7.7f, -7.7f, 0.125f, 1, 2, 4, 3.9f, -3.875f }, { 7.75f, 0, 0, 0, 0, 0, 0, 1 }, { -3.75f, 0.5f, 0, 0, 0, 0, 0, 0 } };
	static const uint8_t scales[4] = { 127, 127, 128, 126 };
	static const uint8_t codes[4][8] = { { 31, 63, 0, 2, 16, 32, 32, 24 }, { 31, 63, 1, 8, 16, 24, 24, 56 }, { 24, 0, 0, 0, 0, 0, 0, 4 },
		{ 63, 8, 0, 0, 0, 0, 0, 0 } };
	struct outcome o = run(&scheme, BQ_F32, 4, 8, &x[0][0], NULL);

	for (int row = 0; row < 4; row++) {
		uint8_t got[8];

		bq_kernels(BQ_SCALAR)->unpack_sixes(plane_of(&o, BQ_ROLE_VALUES) + 6 * row, 8, got);
		CHECK(plane_of(&o, BQ_ROLE_SCALE0)[row] == scales[row], "kernels %u, row %d: scale %u", kernels, row,
			plane_of(&o, BQ_ROLE_SCALE0)[row]);
		for (int i = 0; i < 8; i++)
			CHECK(got[i] == codes[row][i], "kernels %u, %g: got %u, expected %u", kernels, x[row][i], got[i], codes[row][i]);
		bq_kernels(BQ_SCALAR)->to_f32[BQ_F6E2M3](codes[row], 8, o.fake);
		for (int i = 0; i < 8; i++)
			CHECK(o.values[8 * row + i] == o.fake[i] * ldexpf(1, scales[row] - 127), "kernels %u, %g: got %g", kernels, x[row][i],
				o.values[8 * row + i]);
	}
	discard(&o);
}

static void the_multiplier_is_the_references(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(2) }, { BQ_F32, TENSOR } }
	};
	static const struct {
		uint32_t input;
		float x[2], multiplier;
	} cases[] = {
		{ BQ_F32, { 2.7f, 0 }, 995.5555419921875f },
		{ BQ_BF16, { 2.7f, 0 }, 992 },
		{ BQ_F16, { 0, -2.7f }, 995.5f },
		{ BQ_F32, { 23, -23 }, 116.86956787109375f },
		{ BQ_BF16, { 23, 1 }, 117 },
		{ BQ_F16, { 23, 1 }, 116.875f },
		{ BQ_F32, { 0, 0 }, 1 },
		{ BQ_BF16, { 0, -0.0f }, 1 },
		{ BQ_F16, { 0, 0 }, 1 },
		{ BQ_F32, { NAN, 1 }, 1 },
		{ BQ_F32, { -0.5f, 0.25f }, 5376 },
		{ BQ_F32, { 1e-37f, 0 }, 1 },
		{ BQ_F16, { 0.03f, 0 }, 1 },
		{ BQ_F16, { 0.0411f, 0 }, 65408 },
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct outcome o = run(&scheme, cases[c].input, 1, 2, cases[c].x, NULL);
		const float got = bq_float(bq_load32(plane_of(&o, BQ_ROLE_SCALE1)));

		CHECK(got == cases[c].multiplier, "kernels %u, case %zu: got %.9g", kernels, c, got);
		discard(&o);
	}
}

static void int4_divides_by_half_of_its_range(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } } };
	static const float x[9] = { 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 7.5f, 7.6f, -8.6f };
	static const int8_t codes[9] = { 0, 2, 2, 0, -2, -2, 7, 7, -8 };
	const float lo = 0, hi = 7.5f, one = 1;
	const struct options options = { .lo = &lo, .hi = &hi };
	struct outcome o = run(&scheme, BQ_F32, 1, 9, x, &options);
	float scale;

	scales_of(&o, &scale, 1);
	check_floats("7.5 / 7.5", &scale, &one, 1);
	check_codes("half to even", plane_of(&o, BQ_ROLE_VALUES), codes, 9);
	discard(&o);
}

static void narrow_integers_divide_by_half_of_theirs(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .narrow = 1, .nscales = 1, .scale = { { BQ_F32, CHANNEL } } };
	static const float x[5] = { 7, -7, 6.5f, -6.5f, -3.5f };
	static const int8_t codes[5] = { 7, -7, 6, -6, -4 };
	const float one = 1;
	struct outcome o = run(&scheme, BQ_F32, 1, 5, x, NULL);
	float scale;

	scales_of(&o, &scale, 1);
	check_floats("7 / 7", &scale, &one, 1);
	check_codes("-7 to 7", plane_of(&o, BQ_ROLE_VALUES), codes, 5);
	discard(&o);
}

static void zero_points_are_added_before_rounding(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } }, .zero = BQ_I4 };
	static const float x[5] = { -1, -0.5f, 0, 0.3f, 2 };
	static const int8_t codes[5] = { -8, -6, -3, -2, 7 }, zero = -3;
	static const float values[5] = { -5 * .2f, -3 * .2f, 0, .2f, 10 * .2f };
	struct outcome o = run(&scheme, BQ_F32, 1, 5, x, NULL);

	check_codes("zero", plane_of(&o, BQ_ROLE_ZERO), &zero, 1);
	check_codes("codes", plane_of(&o, BQ_ROLE_VALUES), codes, 5);
	check_floats("values", o.values, values, 5);
	discard(&o);
}

static void zero_points_round_half_to_even(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } }, .zero = BQ_I4 };
	static const float x[8] = { -1.5f, 13.5f, -2.5f, 12.5f, -3.5f, 11.5f, -4.5f, 10.5f }; /* scales of 1 */
	static const int8_t zeros[4] = { -6, -6, -4, -4 };
	struct outcome o = run(&scheme, BQ_F32, 4, 2, x, NULL);

	check_codes("zeros", plane_of(&o, BQ_ROLE_ZERO), zeros, 4);
	discard(&o);
}

static void group_scales_under_a_multiplier_give_the_references_codes(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(4) }, { BQ_F32, TENSOR } }
	};
	static const float x[4] = { 1, 2, 3, 4 };
	static const int8_t codes[4] = { 3, 5, 6, 7 };
	static const float expected = 448;
	struct outcome o = run(&scheme, BQ_F32, 1, 4, x, NULL);
	float scale;

	scales_of(&o, &scale, 1);
	check_floats("448", &scale, &expected, 1);
	CHECK(bq_load32(plane_of(&o, BQ_ROLE_SCALE1)) == bq_bits(672), "kernels %u: the multiplier is not 672", kernels);
	check_codes("1.5 3 4 6", plane_of(&o, BQ_ROLE_VALUES), codes, 4);
	discard(&o);
}

/* A scale of 1; the last but one rounds to zero and keeps its sign, -0 itself does not. */
static void e4m3_codes_are_the_references(void)
{
	static const struct bq_scheme scheme = { .value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_F32, CHANNEL } } };
	static const float x[14] = { 1.0625f, 1.1875f, 2.3f, 447.9f, 500, -1000, 0.001953125f, 0.0009765625f, 0.00097656256f,
		0.0029296875f, 0.013671875f, NAN, -0.0009765625f, -0.0f };
	const float lo = 0, hi = 448;
	const struct options options = { .lo = &lo, .hi = &hi };
	struct outcome o = run(&scheme, BQ_F32, 1, 14, x, &options);

	check_hex("e4m3", plane_of(&o, BQ_ROLE_VALUES), "383a417e7efe01000102077f8000");
	discard(&o);
}

int main(void)
{
	EACH_ROW_OF_KERNELS {
		static_weights_quantize_as_in_the_references_tests();
		more_axes_quantize_as_in_the_references_tests();
		mxfp4_decodes_as_in_the_references_tests();
		powers_of_two_are_rounded_as_in_the_references_tests();
		ranges_become_the_references_parameters();
		a_multiplier_scales_the_references_parameters();
		mx_scales_are_the_references_bytes();
		mxfp6_codes_are_the_references();
		the_multiplier_is_the_references();
		int4_divides_by_half_of_its_range();
		narrow_integers_divide_by_half_of_theirs();
		zero_points_are_added_before_rounding();
		zero_points_round_half_to_even();
		group_scales_under_a_multiplier_give_the_references_codes();
		e4m3_codes_are_the_references();
	}
	return test_done("test_printed");
}
