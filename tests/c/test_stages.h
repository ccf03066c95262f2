/* SPDX-License-Identifier: MIT
 * test_stages.h - what tests of bq_range, bq_encode and bq_decode share: one tensor there and back in bands, with buffers of exactly their
 * sizes and a look at what lies behind them, and checks of what came out.
 */
#ifndef BQ_TEST_STAGES_H
#define BQ_TEST_STAGES_H

#include <math.h>

#include "dtype.h"
#include "kernels.h"
#include "number.h"
#include "test.h"

#define TENSOR .rank = 0
#define CHANNEL .rank = 1, .edge = { 0 }
#define GROUP(n) .rank = 1, .edge = { n }
#define BLOCK(r, c) .rank = 2, .edge = { r, c }

/* Of what is being tested. */
static uint32_t kernels;

/* A row of kernels that this build lacks is passed over. */
#define EACH_ROW_OF_KERNELS \
	for (kernels = 0; kernels < BQ_NKERNELS; kernels++) \
		if (bq_kernels(kernels))

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

static inline void *guarded(size_t nbytes)
{
	return test_buffer(nbytes + GUARD, 0xA5);
}

static inline void release(void *buffer, size_t nbytes, const char *what)
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

static inline void discard(struct outcome *outcome)
{
	for (uint32_t p = 0; p < outcome->plan.nplanes; p++)
		free(outcome->planes[p]);
	free(outcome->values);
	free(outcome->fake);
}

static inline uint8_t *convert(uint32_t input, const float *x, size_t count)
{
	uint8_t *weights = test_buffer(count * bq_dtype(input)->nbytes, 0);

	bq_kernels(BQ_SCALAR)->from_f32[input](x, count, weights);
	return weights;
}

/* Every band has buffers of its own, of exactly its size, and a new workspace. */
static inline void encode_band(struct outcome *o, const struct bq_band *band, const uint8_t *weights, const struct options *options)
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

static inline void range_band(struct outcome *o, const struct bq_band *band, const uint8_t *weights, const struct options *options)
{
	void *workspace = guarded(o->plan.workspace_nbytes);

	bq_range(&o->plan, band, weights + band->value_offset * bq_dtype(o->plan.input)->nbytes, options->importance, options->nimportance,
		options->lo ? options->lo + band->cell_offset[0] : NULL, options->hi ? options->hi + band->cell_offset[0] : NULL,
		options->correct, workspace, &o->range, &o->encoded);
	release(workspace, o->plan.workspace_nbytes, "workspace of bq_range");
}

static inline void decode_band(struct outcome *o, const struct bq_band *band, uint32_t fake, float *values)
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
static inline uint32_t list_bands(const struct bq_plan *plan, const struct options *options, struct bq_band *bands, uint32_t most)
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

static inline struct outcome run_with(const struct bq_scheme *scheme, uint32_t input, uint32_t rank, const uint64_t *dims,
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

static inline struct outcome run(
	const struct bq_scheme *scheme, uint32_t input, uint64_t rows, uint64_t cols, const float *x, const struct options *options)
{
	static const struct options none;
	const uint64_t dims[2] = { rows, cols };

	return run_with(scheme, input, 2, dims, x, options ? options : &none);
}

static inline uint8_t *plane_of(const struct outcome *o, uint32_t role)
{
	for (uint32_t p = 0; p < o->plan.nplanes; p++)
		if (o->plan.plane[p].role == role)
			return o->planes[p];
	abort();
}

static inline void scales_of(const struct outcome *o, float *scales, size_t count)
{
	bq_kernels(BQ_SCALAR)->to_f32[o->plan.scheme.scale[0].dtype](plane_of(o, BQ_ROLE_SCALE0), count, scales);
}

static inline void check_floats(const char *what, const float *got, const float *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(bq_bits(got[i]) == bq_bits(expected[i]), "kernels %u, %s, %zu: got %.9g, expected %.9g", kernels, what, i, got[i],
			expected[i]);
}

static inline void check_codes(const char *what, const void *got, const int8_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(((const int8_t *)got)[i] == expected[i], "kernels %u, %s, %zu: got %d, expected %d", kernels, what, i,
			((const int8_t *)got)[i], expected[i]);
}

static inline void check_hex(const char *what, const uint8_t *got, const char *expected)
{
	for (size_t i = 0; expected[2 * i]; i++) {
		unsigned byte = 0;

		sscanf(expected + 2 * i, "%2x", &byte);
		CHECK(got[i] == byte, "kernels %u, %s, byte %zu: got %02x, expected %02x", kernels, what, i, got[i], byte);
	}
}

static inline void check_words(const char *what, const uint8_t *got, const uint32_t *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(bq_load32(got + 4 * i) == expected[i], "kernels %u, %s, word %zu: got %08x, expected %08x", kernels, what, i,
			(unsigned)bq_load32(got + 4 * i), (unsigned)expected[i]);
}

static inline void check_same(const char *what, const struct outcome *got, const struct outcome *expected)
{
	for (uint32_t p = 0; p < expected->plan.nplanes; p++)
		CHECK(!memcmp(got->planes[p], expected->planes[p], (size_t)expected->plan.plane[p].nbytes),
			"kernels %u, %s: plane %u differs", kernels, what, p);
	CHECK(!memcmp(got->values, expected->values, (size_t)expected->plan.nvalues * 4), "kernels %u, %s: values differ", kernels,
		what);
	CHECK(!memcmp(got->fake, expected->fake, (size_t)expected->plan.nvalues * 4), "kernels %u, %s: fake values differ",
		kernels, what);
}

static inline struct bq_scheme named(const char *name)
{
	const struct bq_preset *preset = bq_preset_named(name);

	if (!preset)
		abort();
	return preset->scheme;
}

static inline struct bq_scheme unfused(const char *name)
{
	struct bq_scheme scheme = named(name);

	scheme.fused = BQ_GENERIC;
	return scheme;
}

/* The largest tensor of some. */
#define MOST 4096

static inline void fill_normal(uint32_t seed, float *x, size_t count)
{
	uint32_t state = seed;

	for (size_t i = 0; i < count; i++)
		x[i] = test_normal(&state);
}

#endif
