/* SPDX-License-Identifier: MIT
 * test_printed_waves.c - the bytes that compressed-tensors printed for a wave, from end to end, and what `correct` and fake values
 * do differently.
 */
#include "test_stages.h"

/* ---- `correct` ---- */

/* What rounds a quotient of bfloat16 twice, with `correct` once: 3.03125 / 1.2109375 is 2.5032, in bfloat16 2.5. */
static void correct_divides_in_float32(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } } };
	static const float x[3] = { 3.03125f, 9.0625f, -3.03125f }; /* 9.0625 / 7.5 is 1.2109375 in bfloat16 */
	static const int8_t codes[2][3] = { { 2, 7, -2 }, { 3, 7, -3 } };
	static const float expected = 1.2109375f;

	for (uint32_t correct = 0; correct < 2; correct++) {
		const struct options options = { .correct = correct };
		struct outcome o = run(&scheme, BQ_BF16, 1, 3, x, &options);
		float scale;

		scales_of(&o, &scale, 1);
		check_floats("scale", &scale, &expected, 1);
		check_codes(correct ? "correct" : "as the reference", plane_of(&o, BQ_ROLE_VALUES), codes[correct], 3);
		discard(&o);
	}
}

/* 2688 / amax in float16 overflows; float32 has it. */
static void correct_finds_the_multiplier_in_float32(void)
{
	static const struct bq_scheme scheme = {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(2) }, { BQ_F32, TENSOR } }
	};
	static const float x[2] = { 0.03125f, -0.015625f };
	static const float expected[2] = { 1, 86016 };

	for (uint32_t correct = 0; correct < 2; correct++) {
		const struct options options = { .correct = correct };
		struct outcome o = run(&scheme, BQ_F16, 1, 2, x, &options);
		const float got = bq_float(bq_load32(plane_of(&o, BQ_ROLE_SCALE1)));

		CHECK(got == expected[correct], "kernels %u, correct %u: got %.9g", kernels, correct, got);
		discard(&o);
	}
}

/* ---- from end to end: W[i] = 2 sin(.7 i + .3) + .5 cos(1.3 i), 2 x 32 ---- */

static const uint16_t wave_bf16[64] = { 0x3f8c, 0x3fe9, 0x3fc7, 0x3f7d, 0x3ea3, 0xbf3c, 0xbff7, 0xc00f, 0xbf84, 0x3f72,
	0x400a, 0x3ff3, 0x3f54, 0xbe0b, 0xbf5a, 0xbfc8, 0xbff8, 0xbf9b, 0x3f13, 0x400b, 0x4013, 0x3f83, 0xbeea, 0xbfa0, 0xbfbd,
	0xbfc0, 0xbf86, 0x3e84, 0x3fef, 0x401e, 0x3fb4, 0xbee5, 0xbfd5, 0xbfdf, 0xbf9d, 0xbf20, 0x3e7a, 0x3fbc, 0x4012, 0x3fda,
	0xbe08, 0xbfea, 0xc00a, 0xbfa7, 0xbe65, 0x3f10, 0x3fa3, 0x3ff0, 0x3fd7, 0x3e74, 0xbfd1, 0xc01d, 0xbfd4, 0xbdcf, 0x3f82,
	0x3fb6, 0x3fc2, 0x3faa, 0x3ec3, 0xbf9f, 0xc01b, 0xc002, 0xbea5, 0x3fa6 };

static void fill_wave(uint32_t input, float *x)
{
	for (int i = 0; i < 64; i++) {
		x[i] = (float)(2 * sin(0.7 * i + 0.3) + 0.5 * cos(1.3 * i));
		CHECK(bq_bf16_from_f32(x[i]) == wave_bf16[i], "value %d of the wave is another: %.9g", i, x[i]);
		if (input == BQ_BF16)
			x[i] = bq_f32_from_bf16(wave_bf16[i]);
	}
}

struct end_to_end {
	const char *what;
	struct bq_scheme scheme;
	uint32_t input, nscales, nwords;
	float scales[4];
	uint32_t words[8]; /* of all rows */
	const char *codes, *scale_codes;
};

static const struct end_to_end waves[] = {
	{ "nvfp4 f32", { .value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } },
			.layout = BQ_LAYOUT_NVFP4_PACK_QUANTIZED }, BQ_F32, 0, 0, { 0 }, { 0 },
		"6556c2ff4d6794ecde7347daee1d76a5eebd6167e9df396516fe8e5456d2ef5a", "7d7e7d7e" },
	{ "nvfp4 bf16", { .value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } },
			.layout = BQ_LAYOUT_NVFP4_PACK_QUANTIZED }, BQ_BF16, 0, 0, { 0 }, { 0 },
		"6556c2ff4d6794ecde7347daee1d76a5eebd6167e9df396516fe8e5456d2ef5a", "7d7e7d7e" },
	{ "int4 f32", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(16) } }, .layout = BQ_LAYOUT_PACK_QUANTIZED },
		BQ_F32, 4, 8, { .29876935f, .32904178f, .30475506f, .32761791f },
		{ 0x0269bdec, 0x358befb5, 0x47bffa42, 0x7cfe9534, 0xefd96423, 0xeca74128, 0xcb83139d, 0xc72149cd }, NULL, NULL },
	{ "int4 bf16", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(16) } }, .layout = BQ_LAYOUT_PACK_QUANTIZED },
		BQ_BF16, 4, 8, { .298828125f, .330078125f, .3046875f, .326171875f },
		{ 0x1269bdec, 0x358befb5, 0x47bffa42, 0x7cfe9534, 0xefd96423, 0xeca74128, 0xcb83039d, 0xc72149cd }, NULL, NULL },
	{ "int4 asym f32", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(16) } }, .zero = BQ_I4,
			.layout = BQ_LAYOUT_PACK_QUANTIZED },
		BQ_F32, 4, 8, { .29302445f, .29360095f, .29660723f, .27556935f },
		{ 0x0159bdec, 0x358befb4, 0x35afe930, 0x5cfd8322, 0xdfc85311, 0xdb963017, 0xed9303af, 0xe8204aef }, NULL, NULL },
	{ "int4 asym bf16", { .value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(16) } }, .zero = BQ_I4,
			.layout = BQ_LAYOUT_PACK_QUANTIZED },
		BQ_BF16, 4, 8, { .291015625f, .29296875f, .294921875f, .275390625f },
		{ 0x0159bdec, 0x358bffb4, 0x35afe930, 0x5cfd8322, 0xdfc85311, 0xdb963017, 0xed9303af, 0xe8204aee }, NULL, NULL },
	{ "int3 f32", { .value = BQ_I3, .nscales = 1, .scale = { { BQ_INPUT, GROUP(32) } }, .layout = BQ_LAYOUT_PACK_QUANTIZED },
		BQ_F32, 2, 6, { .70508951f, .70203835f },
		{ 0xeb25cbbe, 0xff514e5f, 0x7bf8d24e, 0x4cdf4692, 0x20a6fac4, 0xd09576d6 }, NULL, NULL },
	{ "int3 bf16", { .value = BQ_I3, .nscales = 1, .scale = { { BQ_INPUT, GROUP(32) } }, .layout = BQ_LAYOUT_PACK_QUANTIZED },
		BQ_BF16, 2, 6, { .70703125f, .69921875f },
		{ 0xeb25cbbe, 0xff514e5f, 0x7bf8d24e, 0x4cdf4692, 0x20a6fac4, 0xd09576d6 }, NULL, NULL },
	{ "int8 f32", { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }, .layout = BQ_LAYOUT_INT_QUANTIZED },
		BQ_F32, 1, 0, { .0193553977f }, { 0 }, "385e503310da9c8ccb316f622bf9d4af", NULL },
	{ "int8 bf16", { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }, .layout = BQ_LAYOUT_INT_QUANTIZED },
		BQ_BF16, 1, 0, { .0194091797f }, { 0 }, "385e503310da9c8dcb316f622bf9d4b0", NULL },
	{ "fp8 f32", { .value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }, .layout = BQ_LAYOUT_FLOAT_QUANTIZED },
		BQ_F32, 1, 0, { .0055085118f }, { 0 }, "747a797366f0fbfdf4737c7b71dcf2f9fbf66d7c7d74eaf6f8f9f4647b7e78ea", NULL },
	{ "fp8 bf16", { .value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }, .layout = BQ_LAYOUT_FLOAT_QUANTIZED },
		BQ_BF16, 1, 0, { .0055236816f }, { 0 }, "747a797366f0fbfdf4737c7b71dcf2f9fbf66d7c7d74eaf6f8f8f4647b7e78ea", NULL },
	{ "mxfp4 f32", { .value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } }, .layout = BQ_LAYOUT_MXFP4_PACK_QUANTIZED },
		BQ_F32, 0, 0, { 0 }, { 0 }, "6445b1ee4c6693dbce6246cadd1c66a5ddbc5156e9de296515ed8d5455c2ee59", "7e7e" },
	{ "mxfp4 bf16", { .value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } }, .layout = BQ_LAYOUT_MXFP4_PACK_QUANTIZED },
		BQ_BF16, 0, 0, { 0 }, { 0 }, "6445b1ee4c6693dbce6246cadd1c66a5ddac5156e9de296515ed8d5455c2ee59", "7e7e" },
	{ "mxfp8 f32", { .value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } }, .layout = BQ_LAYOUT_MXFP8_QUANTIZED },
		BQ_F32, 0, 0, { 0 }, { 0 }, "7177747062ecf7f9f06f79776dd9eef5f7f269797970e7f2f4f4f060777a73e6", "78" },
	{ "mxfp8 bf16", { .value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } }, .layout = BQ_LAYOUT_MXFP8_QUANTIZED },
		BQ_BF16, 0, 0, { 0 }, { 0 }, "7177747062ecf7f9f06f79776dd9eef4f8f269797970e7f2f4f4f060777a73e6", "78" },
};

/* Printed with nine digits: the nearest number of the dtype. */
static int near(float got, float printed)
{
	return fabsf(got - printed) <= 1e-8f;
}

static void a_wave_becomes_the_bytes_that_the_reference_printed(void)
{
	float x[64], scales[4];

	for (size_t c = 0; c < sizeof waves / sizeof *waves; c++) {
		const struct end_to_end *each = &waves[c];
		struct outcome o;

		fill_wave(each->input, x);
		o = run(&each->scheme, each->input, 2, 32, x, NULL);
		if (each->nscales)
			scales_of(&o, scales, each->nscales);
		for (uint32_t i = 0; i < each->nscales; i++)
			CHECK(near(scales[i], each->scales[i]), "kernels %u, %s, scale %u: got %.9g", kernels, each->what, i, scales[i]);
		check_words(each->what, plane_of(&o, BQ_ROLE_VALUES), each->words, each->nwords);
		if (each->codes)
			check_hex(each->what, plane_of(&o, BQ_ROLE_VALUES), each->codes);
		if (each->scale_codes)
			check_hex(each->what, plane_of(&o, BQ_ROLE_SCALE0), each->scale_codes);
		discard(&o);
	}
}

static void the_rest_of_the_waves_planes_is_what_the_reference_printed(void)
{
	static const float decoded[8] = { 1.1484375f, 1.53125f, 1.53125f, 1.1484375f, .3828125f, -.765625f, -2.296875f, -2.296875f };
	static const uint32_t zeros[2] = { 0x00000078, 0x00000097 };
	static const float multipliers[2] = { 1089.223388671875f, 1088 };
	static const uint32_t inputs[2] = { BQ_F32, BQ_BF16 };
	float x[64];

	for (int i = 0; i < 2; i++) {
		struct outcome o;

		fill_wave(inputs[i], x);
		o = run(&waves[0].scheme, inputs[i], 2, 32, x, NULL);
		CHECK(bq_load32(plane_of(&o, BQ_ROLE_SCALE1)) == bq_bits(multipliers[i]), "kernels %u, input %d: multiplier", kernels, i);
		check_floats("nvfp4 decoded", o.values, decoded, 8);
		discard(&o);
		o = run(&waves[4].scheme, inputs[i], 2, 32, x, NULL);
		check_words("zero points", plane_of(&o, BQ_ROLE_ZERO), zeros, 2);
		check_hex("shape", plane_of(&o, BQ_ROLE_SHAPE), "02000000000000002000000000000000");
		discard(&o);
	}
}

/* A decoder of nvfp4 returns bfloat16; the fake quantizer of float32 weights does not round to it. */
static void fake_values_keep_the_dtype_of_the_weights(void)
{
	float x[64];
	struct outcome o;
	int differ = 0;

	fill_wave(BQ_F32, x);
	o = run(&waves[0].scheme, BQ_F32, 2, 32, x, NULL);
	for (int i = 0; i < 64; i++) {
		const float scale = bq_f32_from_f8e4m3(plane_of(&o, BQ_ROLE_SCALE0)[i / 16]) / 1089.223388671875f;
		const float expected = bq_f32_from_f4e2m1(plane_of(&o, BQ_ROLE_VALUES)[i / 2] >> (i % 2 ? 4 : 0) & 15) * scale;

		CHECK(o.fake[i] == expected && o.values[i] == bq_round_to(BQ_BF16, expected), "kernels %u, %d: %.9g, %.9g", kernels, i,
			o.fake[i], o.values[i]);
		differ += o.fake[i] != o.values[i];
	}
	CHECK(differ > 32, "kernels %u: %d differ", kernels, differ);
	discard(&o);
}

int main(void)
{
	EACH_ROW_OF_KERNELS {
		correct_divides_in_float32();
		correct_finds_the_multiplier_in_float32();
		a_wave_becomes_the_bytes_that_the_reference_printed();
		the_rest_of_the_waves_planes_is_what_the_reference_printed();
		fake_values_keep_the_dtype_of_the_weights();
	}
	return test_done("test_printed_waves");
}
