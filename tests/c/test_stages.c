/* SPDX-License-Identifier: MIT
 * test_stages.c - bq_range, bq_encode, bq_decode and bq_compare: the numbers that compressed-tensors itself printed (section
 * 11 of our study of it; [tests] there are its own), schemes against their definition, what a report says, and that no
 * byte beside the caller's buffers changes.
 */
#include <math.h>

#include "dtype.h"
#include "geometry.h"
#include "kernels.h"
#include "number.h"
#include "test.h"

#define TENSOR .rank = 0
#define CHANNEL .rank = 1, .edge = { 0 }
#define GROUP(n) .rank = 1, .edge = { n }
#define BLOCK(r, c) .rank = 2, .edge = { r, c }

/* Of what is being tested: main goes through all rows. */
static uint32_t kernels;

/* ---- one tensor, there and back ---- */

/* AddressSanitizer sees a byte too many by itself, if nothing is behind it. */
#if defined(__SANITIZE_ADDRESS__)
#define GUARD 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD 0
#endif
#endif
#ifndef GUARD
#define GUARD 64
#endif

static void *guarded(size_t nbytes)
{
	return test_buffer(nbytes + GUARD, 0xA5);
}

static void release(void *buffer, size_t nbytes, const char *what)
{
	const uint8_t *guard = (uint8_t *)buffer + nbytes;

	for (size_t i = 0; i < GUARD; i++)
		if (guard[i] != 0xA5) {
			CHECK(0, "kernels %u: byte %zu after the %s changed", kernels, i, what);
			break;
		}
	free(buffer);
}

struct options {
	const float *importance;
	uint32_t nimportance;
	const float *lo, *hi; /* of the whole tensor's cells */
	const struct bq_tensor_range *range; /* in place of the measured one */
	uint32_t correct, band_nbytes; /* 0: one band */
	int backwards;                 /* bands from the last to the first */
};

struct outcome {
	struct bq_plan plan;
	enum bq_status status;
	struct bq_tensor_range range;
	struct bq_report encoded, decoded;
	uint8_t *planes[BQ_MAX_PLANES];
	float *values, *fake;
};

static void discard(struct outcome *outcome)
{
	for (uint32_t p = 0; p < outcome->plan.nplanes; p++)
		free(outcome->planes[p]);
	free(outcome->values);
	free(outcome->fake);
}

static uint8_t *convert(uint32_t input, const float *x, size_t count)
{
	uint8_t *weights = test_buffer(count * bq_dtype(input)->nbytes, 0);

	bq_kernels(BQ_SCALAR)->from_f32[input](x, count, weights);
	return weights;
}

/* Every band has buffers of its own, of exactly its size, and a new workspace. */
static void encode_band(struct outcome *o, const struct bq_band *band, const uint8_t *weights, const struct options *options)
{
	const size_t value_nbytes = bq_dtype(o->plan.input)->nbytes, nbytes = (size_t)band->nvalues * value_nbytes;
	const struct bq_tensor_range *range = options->range ? options->range : &o->range;
	void *planes[BQ_MAX_PLANES], *own = guarded(nbytes), *workspace = guarded(o->plan.workspace_nbytes);
	void *tables = guarded(o->plan.tables_nbytes);

	bq_prepare(&o->plan, tables);
	memcpy(own, weights + band->value_offset * value_nbytes, nbytes);
	for (uint32_t p = 0; p < o->plan.nplanes; p++)
		planes[p] = guarded(band->plane_nbytes[p]);
	o->status = bq_encode(&o->plan, band, own, options->importance, options->nimportance, o->plan.passes == 2 ? range : NULL,
		options->lo ? options->lo + band->cell_offset[0] : NULL, options->hi ? options->hi + band->cell_offset[0] : NULL, NULL,
		options->correct, tables, planes, workspace, &o->encoded);
	CHECK(!memcmp(own, weights + band->value_offset * value_nbytes, nbytes), "kernels %u: the weights changed", kernels);
	for (uint32_t p = 0; p < o->plan.nplanes; p++) {
		if (!o->status)
			memcpy(o->planes[p] + band->plane_offset[p], planes[p], band->plane_nbytes[p]);
		release(planes[p], band->plane_nbytes[p], "plane");
	}
	release(tables, o->plan.tables_nbytes, "tables");
	release(workspace, o->plan.workspace_nbytes, "workspace of bq_encode");
	release(own, nbytes, "weights");
}

static void range_band(struct outcome *o, const struct bq_band *band, const uint8_t *weights, const struct options *options)
{
	void *workspace = guarded(o->plan.workspace_nbytes);

	bq_range(&o->plan, band, weights + band->value_offset * bq_dtype(o->plan.input)->nbytes, options->importance, options->nimportance,
		options->lo ? options->lo + band->cell_offset[0] : NULL, options->hi ? options->hi + band->cell_offset[0] : NULL,
		options->correct, workspace, &o->range, &o->encoded);
	release(workspace, o->plan.workspace_nbytes, "workspace of bq_range");
}

static void decode_band(struct outcome *o, const struct bq_band *band, uint32_t fake, float *values)
{
	const size_t nbytes = (size_t)band->nvalues * sizeof(float);
	void *planes[BQ_MAX_PLANES], *own = guarded(nbytes), *workspace = guarded(o->plan.workspace_nbytes);

	for (uint32_t p = 0; p < o->plan.nplanes; p++) {
		planes[p] = guarded(band->plane_nbytes[p]);
		memcpy(planes[p], o->planes[p] + band->plane_offset[p], band->plane_nbytes[p]);
	}
	bq_decode(&o->plan, band, (const void *const *)planes, fake, own, workspace, &o->decoded);
	memcpy(values + band->value_offset, own, nbytes);
	for (uint32_t p = 0; p < o->plan.nplanes; p++) {
		CHECK(!memcmp(planes[p], o->planes[p] + band->plane_offset[p], band->plane_nbytes[p]),
			"kernels %u: plane %u changed", kernels, p);
		release(planes[p], band->plane_nbytes[p], "plane");
	}
	release(workspace, o->plan.workspace_nbytes, "workspace of bq_decode");
	release(own, nbytes, "values");
}

/* The bands of a plan in one of two orders. */
static uint32_t list_bands(const struct bq_plan *plan, const struct options *options, struct bq_band *bands, uint32_t most)
{
	const uint64_t total = plan->nitems * plan->steps_per_item;
	uint32_t count = 0;

	for (uint64_t step = 0; step < total; step += bands[count++].nsteps) {
		if (count == most)
			abort();
		bq_band(plan, step, options->band_nbytes ? options->band_nbytes : UINT32_MAX, &bands[count]);
	}
	for (uint32_t i = 0; options->backwards && i < count / 2; i++) {
		const struct bq_band swapped = bands[i];

		bands[i] = bands[count - 1 - i];
		bands[count - 1 - i] = swapped;
	}
	return count;
}

static struct outcome run_with(const struct bq_scheme *scheme, uint32_t input, uint32_t rank, const uint64_t *dims,
	const float *x, const struct options *options)
{
	static struct bq_band bands[512];
	struct outcome o = { 0 };
	uint8_t *weights;
	uint32_t nbands;

	o.status = bq_plan(scheme, NULL, input, kernels, rank, dims, &o.plan);
	CHECK(o.status == BQ_OK, "kernels %u: status %d of bq_plan", kernels, o.status);
	if (o.status)
		abort();
	weights = convert(input, x, (size_t)o.plan.nvalues);
	for (uint32_t p = 0; p < o.plan.nplanes; p++)
		o.planes[p] = test_buffer((size_t)o.plan.plane[p].nbytes, 0x5A);
	o.values = test_buffer((size_t)o.plan.nvalues * sizeof(float), 0x5A);
	o.fake = test_buffer((size_t)o.plan.nvalues * sizeof(float), 0x5A);
	nbands = list_bands(&o.plan, options, bands, sizeof bands / sizeof *bands);

	for (uint32_t b = 0; o.plan.passes == 2 && b < nbands; b++)
		range_band(&o, &bands[b], weights, options);
	for (uint32_t b = 0; b < nbands && !o.status; b++)
		encode_band(&o, &bands[b], weights, options);
	for (uint32_t b = 0; b < nbands && !o.status; b++) {
		decode_band(&o, &bands[b], 0, o.values);
		decode_band(&o, &bands[b], 1, o.fake);
	}
	free(weights);
	return o;
}

static struct outcome run(
	const struct bq_scheme *scheme, uint32_t input, uint64_t rows, uint64_t cols, const float *x, const struct options *options)
{
	static const struct options none;
	const uint64_t dims[2] = { rows, cols };

	return run_with(scheme, input, 2, dims, x, options ? options : &none);
}

static uint8_t *plane_of(const struct outcome *o, uint32_t role)
{
	for (uint32_t p = 0; p < o->plan.nplanes; p++)
		if (o->plan.plane[p].role == role)
			return o->planes[p];
	abort();
}

static void scales_of(const struct outcome *o, float *scales, size_t count)
{
	bq_kernels(BQ_SCALAR)->to_f32[o->plan.scheme.scale[0].dtype](plane_of(o, BQ_ROLE_SCALE0), count, scales);
}

static void check_floats(const char *what, const float *got, const float *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(bq_bits(got[i]) == bq_bits(expected[i]), "kernels %u, %s, %zu: got %.9g, expected %.9g", kernels, what, i, got[i],
			expected[i]);
}

static void check_codes(const char *what, const void *got, const int8_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(((const int8_t *)got)[i] == expected[i], "kernels %u, %s, %zu: got %d, expected %d", kernels, what, i,
			((const int8_t *)got)[i], expected[i]);
}

static void check_hex(const char *what, const uint8_t *got, const char *expected)
{
	for (size_t i = 0; expected[2 * i]; i++) {
		unsigned byte = 0;

		sscanf(expected + 2 * i, "%2x", &byte);
		CHECK(got[i] == byte, "kernels %u, %s, byte %zu: got %02x, expected %02x", kernels, what, i, got[i], byte);
	}
}

static void check_words(const char *what, const uint8_t *got, const uint32_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(bq_load32(got + 4 * i) == expected[i], "kernels %u, %s, word %zu: got %08x, expected %08x", kernels, what, i,
			(unsigned)bq_load32(got + 4 * i), (unsigned)expected[i]);
}

static void check_same(const char *what, const struct outcome *got, const struct outcome *expected)
{
	for (uint32_t p = 0; p < expected->plan.nplanes; p++)
		CHECK(!memcmp(got->planes[p], expected->planes[p], (size_t)expected->plan.plane[p].nbytes),
			"kernels %u, %s: plane %u differs", kernels, what, p);
	CHECK(!memcmp(got->values, expected->values, (size_t)expected->plan.nvalues * 4), "kernels %u, %s: values differ", kernels,
		what);
	CHECK(!memcmp(got->fake, expected->fake, (size_t)expected->plan.nvalues * 4), "kernels %u, %s: fake values differ",
		kernels, what);
}

static struct bq_scheme named(const char *name)
{
	const struct bq_preset *preset = bq_preset_named(name);

	if (!preset)
		abort();
	return preset->scheme;
}

static struct bq_scheme unfused(const char *name)
{
	struct bq_scheme scheme = named(name);

	scheme.fused = BQ_GENERIC;
	return scheme;
}

/* ---- what compressed-tensors printed ---- */

struct static_case {
	const char *what;
	struct bq_scheme scheme;
	uint32_t nscales;
	float scales[8];
	int8_t codes[24]; /* E2M1 codes for floats */
	float values[24];
};

/* clang-format off */
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
/* clang-format on */

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

/* clang-format off */
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
/* clang-format on */

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

/* clang-format off */
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
/* clang-format on */

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

/* ---- schemes against their definition ---- */

/* Cell of a value in the grid of a level of a tensor of dims[0..rank). */
static size_t cell_of(const struct bq_level *level, uint32_t rank, const uint64_t *dims, size_t index)
{
	size_t cell = 0, stride = 1;

	for (uint32_t axis = rank; axis-- > 0 && level->rank;) {
		const uint32_t listed = axis + level->rank;
		uint64_t edge = listed < rank ? 1 : level->edge[listed - rank];

		edge = edge ? edge : dims[axis];
		cell += index % dims[axis] / edge * stride;
		stride *= (dims[axis] + edge - 1) / edge;
		index /= dims[axis];
	}
	return cell;
}

static void ranges_of_cells(const struct bq_level *level, uint32_t rank, const uint64_t *dims, const float *x, size_t count,
	float *lo, float *hi)
{
	memset(lo, 0, count * sizeof(float));
	memset(hi, 0, count * sizeof(float));
	for (size_t i = 0; i < count; i++) {
		const size_t cell = cell_of(level, rank, dims, i);

		lo[cell] = x[i] < lo[cell] ? x[i] : lo[cell];
		hi[cell] = x[i] > hi[cell] ? x[i] : hi[cell];
	}
}

#define MOST 4096

static const struct bq_level levels[] = {
	{ BQ_F32, TENSOR },
	{ BQ_F32, CHANNEL },
	{ BQ_F32, BLOCK(2, 3) },
	{ BQ_F32, BLOCK(0, 5) },
	{ BQ_F32, BLOCK(4, 0) },
	{ BQ_F32, BLOCK(1, 17) },
	{ BQ_F32, BLOCK(100, 100) },
	{ BQ_F32, .rank = 3, .edge = { 2, 3, 4 } },
	{ BQ_F32, .rank = 3, .edge = { 2, 0, 0 } },
	{ BQ_F32, .rank = 3, .edge = { 1, 2, 0 } },
	{ BQ_F32, .rank = 4, .edge = { 2, 1, 3, 40 } },
	{ BQ_F32, .rank = 5, .edge = { 0, 2, 0, 2, 3 } },
};
static const uint64_t shapes[][5] = { { 5, 37 }, { 1, 64 }, { 9, 1 }, { 3, 5, 35 }, { 2, 5, 4, 33 }, { 3, 2, 3, 2, 19 } };

static void fill_normal(uint32_t seed, float *x, size_t count)
{
	uint32_t state = seed;

	for (size_t i = 0; i < count; i++)
		x[i] = test_normal(&state);
}

static void check_definition(const struct bq_scheme *scheme, uint32_t rank, const uint64_t *dims, const struct options *options)
{
	static float x[MOST], lo[MOST], hi[MOST];
	const struct bq_level *level = &scheme->scale[0];
	const float *scales;
	struct outcome o;
	size_t count = 1;

	for (uint32_t axis = 0; axis < rank; axis++)
		count *= (size_t)dims[axis];
	fill_normal((uint32_t)count, x, count);
	ranges_of_cells(level, rank, dims, x, count, lo, hi);
	o = run_with(scheme, BQ_F32, rank, dims, x, options);
	scales = (const float *)(const void *)plane_of(&o, BQ_ROLE_SCALE0);
	for (size_t i = 0; i < count; i++) {
		const size_t cell = cell_of(level, rank, dims, i);
		const float amax = hi[cell] > -lo[cell] ? hi[cell] : -lo[cell];
		const float scale = scheme->zero ? (hi[cell] - lo[cell]) / 255 : amax / 127.5f;
		const float zero = scheme->zero ? rintf(-128 - lo[cell] / scale) : 0;
		const float code = rintf(fminf(fmaxf(x[i] / scale + zero, -128), 127));
		const int got = ((const int8_t *)plane_of(&o, BQ_ROLE_VALUES))[i];

		CHECK(scales[cell] == scale && got == (int)code && o.values[i] == (code - zero) * scale,
			"kernels %u, %ux.. block, rank %u, value %zu: scale %.9g of %.9g, code %d of %g, value %.9g", kernels, level->edge[0],
			rank, i, scales[cell], scale, got, code, o.values[i]);
		if (scheme->zero)
			CHECK(((const int8_t *)plane_of(&o, BQ_ROLE_ZERO))[cell] == (int)zero, "kernels %u: zero of cell %zu", kernels, cell);
		if (test_failures > 50)
			break;
	}
	discard(&o);
}

static void blocks_of_any_axes_share_their_cells_parameters(void)
{
	static const struct options bandings[] = { { 0 }, { .band_nbytes = 1 }, { .band_nbytes = 700, .backwards = 1 } };

	for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
		for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
			for (int asymmetric = 0; asymmetric < 2; asymmetric++) {
				const struct bq_scheme scheme = {
					.value = BQ_I8, .nscales = 1, .scale = { levels[l] }, .zero = asymmetric ? BQ_I8 : BQ_NONE
				};
				uint32_t rank = 0;

				while (rank < 5 && shapes[s][rank])
					rank++;
				if (levels[l].rank > rank)
					continue;
				for (size_t b = 0; b < sizeof bandings / sizeof *bandings; b++)
					check_definition(&scheme, rank, shapes[s], &bandings[b]);
			}
}

/* 1 to 70 rows, so that words end within, at and after the 32 rows of a step. */
static void zero_points_down_the_rows_are_a_bit_stream_a_column(void)
{
	static float x[3 * 70 * 6];
	static const uint32_t band_sizes[2] = { 0, 1 };

	fill_normal(5, x, sizeof x / sizeof *x);
	for (uint32_t bits = 1; bits <= 8; bits++)
		for (uint64_t rows = 1; rows <= 70; rows += 1 + rows % 3) {
			const struct bq_scheme scheme = {
				.value = BQ_I1 + bits - 1, .nscales = 1, .scale = { { BQ_F32, GROUP(3) } }, .zero = BQ_I1 + bits - 1,
				.layout = BQ_LAYOUT_PACK_QUANTIZED
			};
			struct bq_scheme plain = scheme;
			const uint64_t dims[3] = { 3, rows, 6 };
			const size_t words = (size_t)(rows * bits + 31) / 32;

			plain.layout = BQ_LAYOUT_INT_QUANTIZED;
			for (int b = 0; b < 2; b++) {
				const struct options options = { .band_nbytes = band_sizes[b], .backwards = b };
				struct outcome o = run_with(&scheme, BQ_F32, 3, dims, x, &options);
				struct outcome bytes = run_with(&plain, BQ_F32, 3, dims, x, &options);

				for (size_t at = 0; at < 3 * words * 2 * 32; at++) {
					const size_t item = at / (words * 64), column = at / 32 % 2, bit = at / 64 % words * 32 + at % 32;
					const size_t row = bit / bits, i = (item * rows + row) * 2 + column;
					const uint32_t word = bq_load32(plane_of(&o, BQ_ROLE_ZERO) + at / 32 * 4);
					unsigned expected = 0;

					if (row < rows)
						expected = (unsigned)(((int8_t *)plane_of(&bytes, BQ_ROLE_ZERO))[i] + (1 << (bits - 1))) >> bit % bits & 1;
					CHECK((word >> at % 32 & 1) == expected, "kernels %u, %u bits, %u rows, item %zu, column %zu, row %zu", kernels,
						bits, (unsigned)rows, item, column, row);
				}
				CHECK(!memcmp(o.values, bytes.values, (size_t)o.plan.nvalues * 4), "kernels %u, %u bits, %u rows: values", kernels,
					bits, (unsigned)rows);
				discard(&o);
				discard(&bytes);
			}
		}
}

static void given_ranges_are_as_good_as_measured_ones(void)
{
	static float x[MOST], lo[MOST], hi[MOST];
	static const char *const names[] = { "ggml:q8_0", "ggml:q5_0", "ggml:q4_0", "ct:w4a16", "ct:w4a16_asym", "ct:fp8_dynamic",
		"ct:nvfp4a16", "ct:mxfp4a16" };
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	static const uint64_t dims[3] = { 2, 5, 256 };

	for (size_t n = 0; n < sizeof names / sizeof *names + 2; n++)
		for (int i = 0; i < 3; i++) {
			const struct bq_scheme blocks = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, BLOCK(2, 100) } } };
			const struct bq_scheme tensor = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, TENSOR } }, .zero = BQ_I8 };
			const struct bq_scheme scheme = n < 8 ? named(names[n]) : n == 8 ? blocks : tensor;
			const struct options measured = { .band_nbytes = 3000 };
			const struct options given = { .lo = lo, .hi = hi, .band_nbytes = 3000, .backwards = 1 };
			struct outcome expected, got;
			uint8_t *weights;

			fill_normal(9, x, 2560);
			weights = convert(inputs[i], x, 2560);
			bq_kernels(BQ_SCALAR)->to_f32[inputs[i]](weights, 2560, x);
			free(weights);
			ranges_of_cells(&scheme.scale[0], 3, dims, x, 2560, lo, hi);
			expected = run_with(&scheme, inputs[i], 3, dims, x, &measured);
			got = run_with(&scheme, inputs[i], 3, dims, x, &given);
			check_same(n < 8 ? names[n] : "blocks", &got, &expected);
			CHECK(got.encoded.generic_values == 2560 && got.encoded.fused_values == 0, "kernels %u, scheme %zu", kernels, n);
			discard(&expected);
			discard(&got);
		}
}

/* A range has 0 in it, whatever is given. A NaN is no range: as from a block with a NaN, its scale is NaN. */
static void given_ranges_are_widened_to_zero(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } }, .zero = BQ_I4 };
	static const struct bq_scheme symmetric = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } } };
	static const struct bq_scheme signed_scheme = {
		.value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } }, .rules = BQ_RULES_GGML_SIGNED
	};
	static const float x[4] = { 1, 1, 1, 1 }, lo[4] = { 3, -5, NAN, -2 }, hi[4] = { 15, -1, 7, 2 };
	static const float affine[2] = { 1, 5.0f / 15 }, halves[2] = { 2, 5 / 7.5f }, extremes[4] = { 15.0f / -8, -5.0f / -8, 0, 2.0f / -8 };
	const struct options options = { .lo = lo, .hi = hi };
	struct outcome o = run(&scheme, BQ_F32, 4, 1, x, &options);
	float scales[4];

	scales_of(&o, scales, 4);
	check_floats("affine", scales, affine, 2);
	CHECK(scales[2] != scales[2] && o.encoded.overflow_blocks == 0, "kernels %u: %.9g, %llu", kernels, scales[2],
		(unsigned long long)o.encoded.overflow_blocks);
	discard(&o);
	o = run(&symmetric, BQ_F32, 4, 1, x, &options);
	scales_of(&o, scales, 4);
	check_floats("symmetric", scales, halves, 2);
	CHECK(scales[2] != scales[2] && o.encoded.overflow_blocks == 0, "kernels %u: %.9g", kernels, scales[2]);
	discard(&o);
	o = run(&signed_scheme, BQ_F32, 4, 1, x, &options);
	scales_of(&o, scales, 4);
	check_floats("extremes", scales, extremes, 2);
	CHECK(scales[2] != scales[2] && scales[3] == extremes[3], "kernels %u: %.9g, %.9g", kernels, scales[2], scales[3]);
	discard(&o);
}

/* ---- ggml's formats in stages ---- */

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

/* ---- rounding, code by code ---- */

enum { COPIES = 37 }; /* two steps of a vector kernel, and a tail */

struct rounding {
	float quotient;
	int even, away, field; /* codes of 4 bits; field: code + 8 is the truncated field */
};

static const struct rounding roundings[] = {
	{ 0.5f, 0, 1, 1 },
	{ 1.5f, 2, 2, 2 },
	{ 2.5f, 2, 3, 3 },
	{ -0.5f, 0, -1, 0 },
	{ -1.5f, -2, -2, -1 },
	{ -2.5f, -2, -3, -2 },
	{ 0x1.fffffep-2f, 0, 0, 1 }, /* below a half, but 8.5 more is 9 in float32 */
	{ -0x1.fffffep-2f, 0, 0, 0 },
	{ 0x1.000002p-1f, 1, 1, 1 },
	{ 0, 0, 0, 0 },
	{ -0.0f, 0, 0, 0 },
	{ 6.5f, 6, 7, 7 },
	{ 7.49f, 7, 7, 7 },
	{ 7.5f, 7, 7, 7 },
	{ 7.6f, 7, 7, 7 },
	{ -7.5f, -8, -8, -7 },
	{ -8.5f, -8, -8, -8 },
	{ -8.6f, -8, -8, -8 },
	{ -9.5f, -8, -8, -8 },
	{ 100, 7, 7, 7 },
	{ -100, -8, -8, -8 },
	{ 2147483520.0f, 7, 7, 7 }, /* the largest float that an int32 holds */
	{ 2147483648.0f, 7, 0, -8 },
	{ -2147483648.0f, -8, -8, -8 },
	{ -2147483904.0f, -8, 0, -8 },
	{ 1e10f, 7, 0, -8 },
	{ -1e10f, -8, 0, -8 },
	{ INFINITY, 7, 0, -8 },
	{ -INFINITY, -8, 0, -8 },
	{ NAN, 0, 0, -8 },
};

static void ties_and_ends_round_as_each_reference_does(void)
{
	static const float one = 1;

	for (size_t r = 0; r < sizeof roundings / sizeof *roundings; r++)
		for (uint32_t round = BQ_HALF_EVEN; round <= BQ_FIELD_HALF_UP; round++)
			for (uint32_t quotient = BQ_DIVIDE; quotient <= BQ_RECIPROCAL; quotient++) {
				const struct bq_quantizer q = { .value = BQ_I4, .scale = &one, .code_min = -8, .code_max = 7, .quotient = quotient, .round = round,
					.work = BQ_F32 };
				const struct rounding *each = &roundings[r];
				const int expected = round == BQ_HALF_EVEN ? each->even : round == BQ_HALF_AWAY ? each->away : each->field;
				float x[COPIES];
				uint8_t codes[COPIES];

				for (int i = 0; i < COPIES; i++)
					x[i] = each->quotient;
				bq_kernels(kernels)->encode(&q, x, COPIES, COPIES, codes);
				for (int i = 0; i < COPIES; i++)
					CHECK((int8_t)codes[i] == expected, "kernels %u, %.9g, rounding %u, copy %d: got %d, expected %d", kernels,
						each->quotient, round, i, (int8_t)codes[i], expected);
			}
}

/* Value and scale in bfloat16; in float32 the codes would be -1 5 3 -5. */
static void bfloat16_quotients_are_rounded_twice(void)
{
	static const float pairs[4][2] = { { -1.578125f, 1.0546875f }, { 4.78125f, .87109375f }, { 3.03125f, 1.2109375f },
		{ -2.875f, .5234375f } };
	static const int expected[2][4] = { { -2, 6, 2, -6 }, { -1, 5, 3, -5 } };

	for (int c = 0; c < 8; c++) {
		const float *pair = pairs[c % 4];
		const struct bq_quantizer q = { .value = BQ_I4, .scale = pair + 1, .code_min = -8, .code_max = 7, .quotient = BQ_DIVIDE,
			.round = BQ_HALF_EVEN, .work = c < 4 ? BQ_BF16 : BQ_F32 };
		float x[COPIES];
		uint8_t codes[COPIES];

		for (int i = 0; i < COPIES; i++)
			x[i] = pair[0];
		bq_kernels(kernels)->encode(&q, x, COPIES, COPIES, codes);
		for (int i = 0; i < COPIES; i++)
			CHECK((int8_t)codes[i] == expected[c / 4][c % 4], "kernels %u, %g / %g, copy %d: got %d", kernels, pair[0], pair[1], i,
				(int8_t)codes[i]);
	}
}

/* Ties go to the even code; beyond the ends, the ends; a negative that rounds to 0 keeps its sign, -0 does not. */
static void e2m1_ties_go_to_even(void)
{
	static const float x[24] = { .25f, .3f, .6f, .75f, .9f, 1.25f, 1.3f, 1.75f, 1.8f, 2.5f, 2.7f, 3.5f, 4.5f, 5, 7, 5.1f, INFINITY,
		-.25f, -.75f, -5, -7, -INFINITY, -0.0f, NAN };
	static const uint8_t expected[24] = { 0, 1, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, 7, 7, 8, 10, 14, 15, 15, 0, 7 };
	static const float one = 1;
	const struct bq_quantizer q = { .value = BQ_F4E2M1, .scale = &one, .code_min = -6, .code_max = 6, .work = BQ_F32, .drop_negative_zero = 1 };
	uint8_t codes[24];

	bq_kernels(kernels)->encode(&q, x, 24, 24, codes);
	for (int i = 0; i < 24; i++)
		CHECK(codes[i] == expected[i], "kernels %u, %g: got %u, expected %u", kernels, x[i], codes[i], expected[i]);
}

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
		{ "ggml:q4_k", -1e10f, 1 }, { "ggml:q4_1", 1e10f, 1 }, { "ggml:q4_1", -1e6f, 1 }, { "ggml:q4_1", 65504.0f * 14, 0 },
		{ "ggml:q5_1", -1e10f, 1 }, { "ggml:q6_k", 1e10f, 1 }, { "ggml:q6_k", -1e10f, 1 }, { "ggml:q2_k", 1e10f, 1 }, { "ggml:q2_k", -1e10f, 1 },
		{ "ggml:iq3_s", -1e10f, 1 }, { "ggml:iq3_xxs", 1e30f, 1 }, { "ggml:iq2_s", 1e10f, 1 }, { "ggml:iq1_m", 1e10f, 1 },
		{ "ggml:iq1_m", -1e30f, 1 }, { "ggml:iq1_m", 100, 0 },
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

/* The scale's dtype is narrower than the arithmetic: compressed-tensors clamps, ggml does not. */
static void scales_beyond_their_dtype_saturate_in_compressed_tensors_alone(void)
{
	static const float x[2] = { 1e10f, -1 };
	static const float expected[2] = { 65504, INFINITY };

	for (uint32_t rules = BQ_RULES_COMPRESSED_TENSORS; rules <= BQ_RULES_GGML; rules++) {
		const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_F16, CHANNEL } }, .rules = rules };
		struct outcome o = run(&scheme, BQ_F32, 1, 2, x, NULL);
		float scale;

		scales_of(&o, &scale, 1);
		CHECK(scale == expected[rules] && o.encoded.overflow_blocks == (rules == BQ_RULES_GGML), "kernels %u, rules %u: %.9g, %llu",
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

/* The first of equals, NaN over all, +0 for zeros. */
static void the_extreme_is_the_first_of_the_largest(void)
{
	float x[COPIES];
	float extreme;

	for (size_t count = 1; count <= COPIES; count++)
		for (size_t at = 0; at < count; at++)
			for (int sign = 0; sign < 2; sign++) {
				for (size_t i = 0; i < count; i++)
					x[i] = (i + sign) % 2 ? 1.5f : -1.5f;
				for (size_t i = 0; i < at; i++)
					x[i] = i % 2 ? -0.5f : 0.5f;
				extreme = 0;
				bq_kernels(kernels)->extreme(x, count, count, &extreme);
				CHECK(extreme == x[at], "kernels %u, %zu values from %zu: %g", kernels, count, at, extreme);
				x[at] = -INFINITY;
				x[0] = at ? NAN : x[0];
				extreme = 0;
				bq_kernels(kernels)->extreme(x, count, count, &extreme);
				CHECK(at ? bq_bits(extreme) == BQ_F32_NAN : extreme == -INFINITY, "kernels %u, %zu values: %g", kernels, count, extreme);
			}
	for (size_t i = 0; i < COPIES; i++)
		x[i] = -0.0f;
	extreme = 0;
	bq_kernels(kernels)->extreme(x, COPIES, COPIES, &extreme);
	CHECK(bq_bits(extreme) == 0, "kernels %u: zeros have %08x", kernels, (unsigned)bq_bits(extreme));
}

/* Partial blocks at the edges: of the 5 cells of a row, the last is alone in its parent. */
static void cells_are_told_together_with_all_that_share_their_parent(void)
{
	const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 2,
		.scale = { { BQ_U8, .rank = 2, .edge = { 1, 4 } }, { BQ_F32, .rank = 2, .edge = { 2, 8 } } }, .rules = BQ_RULES_PLAIN };
	static const uint32_t parents[10] = { 0, 0, 1, 1, 2, 0, 0, 1, 1, 2 }, ends[10] = { 2, 2, 4, 4, 5, 7, 7, 9, 9, 10 };
	const uint64_t dims[2] = { 6, 20 };
	struct bq_plan plan;

	CHECK(bq_plan(&scheme, NULL, BQ_F32, kernels, 2, dims, &plan) == BQ_OK && plan.cells_per_unit == 10, "%u cells", plan.cells_per_unit);
	for (uint32_t cell = 0; cell < 10; cell++) {
		uint32_t end;
		const uint64_t parent = bq_outer_cell(&plan, &plan.scheme.scale[0], &plan.scheme.scale[1], cell, 10, &end);

		CHECK(parent == parents[cell] && end == ends[cell], "cell %u: in %u, up to %u", cell, (unsigned)parent, end);
	}
}

/* ---- rows of kernels ---- */

static float any_float(uint32_t *state)
{
	const uint32_t kind = test_next(state) >> 28;
	const float half = (float)(int)((test_next(state) >> 24) % 64) / 2 - 16;

	if (kind == 0)
		return bq_float(test_next(state) ^ test_next(state) >> 16);
	if (kind == 1)
		return test_next(state) >> 31 ? INFINITY : -INFINITY;
	if (kind == 2)
		return bq_float(0x7FC00000 | test_next(state));
	return kind < 8 ? half : 10 * test_normal(state);
}

struct arrays {
	size_t count, group, ncells;
	float *x, *scale, *zero, *min;
	uint8_t *codes;
};

/* Exact buffers, at odd places: a float more than a vector's alignment. */
static struct arrays any_arrays(size_t count, size_t group, uint32_t *state)
{
	struct arrays a = { .count = count, .group = group, .ncells = (count + group - 1) / group };

	a.x = test_buffer((count + 1) * sizeof(float), 0);
	a.codes = test_buffer(count + 1, 0);
	a.scale = test_buffer(a.ncells * sizeof(float), 0);
	a.zero = test_buffer(a.ncells * sizeof(float), 0);
	a.min = test_buffer(a.ncells * sizeof(float), 0);
	for (size_t i = 0; i < count; i++) {
		a.x[i + 1] = any_float(state);
		a.codes[i + 1] = (uint8_t)(test_next(state) >> 24);
	}
	for (size_t i = 0; i < a.ncells; i++) {
		a.scale[i] = test_next(state) >> 29 ? test_next(state) >> 30 ? fabsf(test_normal(state)) : 1 : any_float(state);
		a.zero[i] = (float)(int)(test_next(state) >> 28) - 8;
		a.min[i] = test_normal(state);
	}
	return a;
}

static void discard_arrays(struct arrays *a)
{
	free(a->x);
	free(a->codes);
	free(a->scale);
	free(a->zero);
	free(a->min);
}

static void check_encoders(const struct arrays *a, const struct bq_quantizer *q)
{
	uint8_t *codes[2];

	for (uint32_t id = 0; id < 2; id++) {
		codes[id] = guarded(a->count);
		bq_kernels(id)->encode(q, a->x + 1, a->count, a->group, codes[id]);
	}
	for (size_t i = 0; i < a->count; i++)
		if (codes[0][i] != codes[1][i]) {
			CHECK(0, "value dtype %u, rounding %u, quotient %u, work %u, %zu of %zu in groups of %zu: %.9g / %.9g: %02x, not %02x", q->value,
				q->round, q->quotient, q->work, i, a->count, a->group, a->x[i + 1], a->scale[i / a->group], codes[1][i], codes[0][i]);
			break;
		}
	release(codes[0], a->count, "codes");
	release(codes[1], a->count, "codes");
}

static void check_decoders(const struct arrays *a, const struct bq_dequantizer *d)
{
	float *values[2];

	for (uint32_t id = 0; id < 2; id++) {
		values[id] = guarded(a->count * sizeof(float));
		bq_kernels(id)->decode(d, a->codes + 1, a->count, a->group, values[id]);
	}
	for (size_t i = 0; i < a->count; i++)
		if (bq_bits(values[0][i]) != bq_bits(values[1][i])) {
			CHECK(0, "value dtype %u, work %u, result %u, %zu of %zu in groups of %zu: code %02x: %.9g, not %.9g", d->value, d->work,
				d->result, i, a->count, a->group, a->codes[i + 1], values[1][i], values[0][i]);
			break;
		}
	release(values[0], a->count * sizeof(float), "values");
	release(values[1], a->count * sizeof(float), "values");
}

static void check_ranges(const struct arrays *a, int skip_nan)
{
	float lo[2][128] = { { 0 } }, hi[2][128] = { { 0 } }, extreme[2][128] = { { 0 } };

	for (uint32_t id = 0; id < 2; id++) {
		bq_kernels(id)->range(a->x + 1, a->count, a->group, skip_nan, lo[id], hi[id]);
		bq_kernels(id)->extreme(a->x + 1, a->count, a->group, extreme[id]);
	}
	CHECK(!memcmp(lo[0], lo[1], sizeof lo[0]) && !memcmp(hi[0], hi[1], sizeof hi[0]), "ranges of %zu in groups of %zu", a->count,
		a->group);
	CHECK(!memcmp(extreme[0], extreme[1], sizeof extreme[0]), "extremes of %zu in groups of %zu", a->count, a->group);
}

static void simd128_gives_the_bytes_of_scalar(void)
{
	static const uint32_t works[] = { BQ_F32, BQ_F16, BQ_BF16 }, floats[] = { BQ_F8E4M3, BQ_F8E5M2, BQ_F4E2M1, BQ_F6E2M3 };
	static float table[256], small_table[256], table_end[40]; /* 0 for codes that are none */
	static uint8_t table_code[40];
	uint32_t state = 77;

	for (uint32_t i = 0; i < 40; i++) {
		table_end[i] = 0.3f * (float)i - 2;
		table_code[i] = (uint8_t)(i * 7 % 40);
		table[i] = test_normal(&state);
		small_table[i % 16] = table[i];
	}
	for (size_t count = 0; count <= 100; count++)
		for (size_t group = 1; group <= 101; group += group < 20 ? 3 : 16) {
			struct arrays a = any_arrays(count, group, &state);

			for (uint32_t choice = 0; choice < 36; choice++) {
				const uint32_t bits = 1 + choice % 8, value = floats[choice / 9];
				struct bq_quantizer q = { .value = BQ_I1 + bits - 1, .scale = a.scale, .zero = choice % 4 == 3 ? a.zero : NULL,
					.code_min = -(float)(1 << (bits - 1)), .code_max = (float)(1 << (bits - 1)) - 1, .quotient = choice / 9 % 2,
					.round = choice % 3, .work = works[choice / 3 % 3], .drop_negative_zero = choice / 18,
					.min = choice % 4 == 2 ? a.min : NULL, .zero_after = choice / 12 % 2 };
				struct bq_dequantizer d = { .value = choice % 2 ? BQ_I8 : BQ_U8, .scale = a.scale, .zero = choice % 4 == 3 ? a.zero : NULL,
					.min = choice % 4 == 2 ? a.min : NULL, .work = works[choice % 3], .result = works[choice / 3 % 3] };

				check_encoders(&a, &q);
				check_decoders(&a, &d);
				q.zero = q.min = NULL;
				q.nan_code = choice % 5 == 4 ? 0x7E : 0;
				q.value = d.value = value;
				q.code_min = bq_dtype(value)->min;
				q.code_max = bq_dtype(value)->max;
				q.work = works[choice % 3];
				check_encoders(&a, &q);
				check_decoders(&a, &d);
				q.nan_code = 0;
				q.value = d.value = BQ_CODEBOOK;
				q.codebook_end = table_end;
				q.codebook_code = table_code;
				q.ncodebook = d.ncodebook = choice % 4 ? 2 + choice % 15 : 40;
				d.codebook = choice % 4 ? small_table : table;
				check_encoders(&a, &q);
				check_decoders(&a, &d);
				q.value = BQ_F4E2M1;
				q.ncodebook = 0;
				q.quotient = BQ_PRODUCTS;
				check_encoders(&a, &q);
				if (test_failures > 20)
					break;
			}
			check_ranges(&a, 0);
			check_ranges(&a, 1);
			discard_arrays(&a);
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
	for (kernels = 0; kernels < BQ_NKERNELS; kernels++) {
		if (!bq_kernels(kernels))
			continue;
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
		correct_divides_in_float32();
		correct_finds_the_multiplier_in_float32();
		a_wave_becomes_the_bytes_that_the_reference_printed();
		the_rest_of_the_waves_planes_is_what_the_reference_printed();
		fake_values_keep_the_dtype_of_the_weights();
		blocks_of_any_axes_share_their_cells_parameters();
		zero_points_down_the_rows_are_a_bit_stream_a_column();
		given_ranges_are_as_good_as_measured_ones();
		given_ranges_are_widened_to_zero();
		zero_blocks_are_ggmls_on_both_paths();
		the_stages_write_the_bytes_of_the_fused_kernel();
		the_last_candidate_of_q4_k_counts();
		the_stages_decode_what_only_a_kernel_encodes();
		nested_scales_and_mins_decode_by_their_definition();
		formats_that_need_importance_refuse_without();
		every_item_has_its_row_of_importance();
		ties_and_ends_round_as_each_reference_does();
		bfloat16_quotients_are_rounded_twice();
		cells_are_told_together_with_all_that_share_their_parent();
		e2m1_ties_go_to_even();
		the_report_counts_nonfinite_weights_and_says_the_first();
		the_report_counts_blocks_whose_scale_overflows();
		scales_beyond_their_dtype_saturate_in_compressed_tensors_alone();
		a_report_and_a_range_are_added_to();
		the_range_is_independent_of_the_order_of_bands();
		the_extreme_is_the_first_of_the_largest();
	}
	if (bq_kernels(BQ_SIMD128))
		simd128_gives_the_bytes_of_scalar();
	comparison_sums_errors_in_float64();
	return test_done("test_stages");
}
