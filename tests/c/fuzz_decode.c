/* SPDX-License-Identifier: MIT
 * fuzz_decode.c - decoding of bytes that nobody checked: every preset, rows of random codes under scales that a model may have and
 * under ones that none has. Scalar and simd128 give the same floats, whole and band by band; nothing beside the buffers is read
 * or written (the sanitized build sees that).
 *
 *   fuzz_decode [FOLDER]                        a few seconds, always the same: what CTest runs
 *   fuzz_decode FOLDER MINUTES [FIRST_ROUND]    as long as that, from a round on: `npm run fuzz`
 */
#include <time.h>

#include "dtype.h"
#include "layouts.h"
#include "number.h"
#include "test.h"

#define ROUNDS 800 /* of a run without a time */

struct random {
	uint32_t state;
};

static uint32_t below(struct random *random, uint32_t end)
{
	return (uint32_t)((uint64_t)test_next(&random->state) * end >> 32);
}

/* Bits of an f16 or bf16: what a scale may be (some 2^-14 to 2), and every kind of what it should not be. */
static uint16_t half(struct random *random, uint32_t dtype)
{
	const uint32_t mantissa_bits = dtype == BQ_BF16 ? 7 : 10, top = dtype == BQ_BF16 ? 0xFF : 0x1F, bias = top >> 1;
	const uint32_t mantissa = below(random, 1u << mantissa_bits);
	const uint32_t sign = below(random, 2) << 15;
	uint32_t exponent = 0;

	switch (below(random, 8)) {
	case 0: return (uint16_t)sign;                                             /* zeros */
	case 1: return (uint16_t)(sign | mantissa);                                /* subnormal */
	case 2: return (uint16_t)(sign | top << mantissa_bits);                    /* infinities */
	case 3: return (uint16_t)(sign | top << mantissa_bits | mantissa);         /* NaN, of any payload */
	case 4: return (uint16_t)(sign | ((top << mantissa_bits) - 1));            /* the largest */
	case 5: return (uint16_t)below(random, 1u << 16);
	default: exponent = bias - 14 + below(random, 15);
	}
	return (uint16_t)(sign | exponent << mantissa_bits | mantissa);
}

static void fill(struct random *random, size_t nbytes, uint8_t *bytes)
{
	const uint32_t kind = below(random, 8);
	const uint32_t same = below(random, 256);

	for (size_t i = 0; i < nbytes; i++) {
		const uint32_t byte = below(random, 256);

		bytes[i] = (uint8_t)(kind == 0 ? same : kind == 1 ? byte & 0x11 : kind == 2 ? byte | 0xEE : byte);
	}
}

static void fill_halves(struct random *random, uint32_t dtype, size_t nbytes, uint8_t *bytes)
{
	for (size_t i = 0; i + 2 <= nbytes; i += 2)
		bq_store16(bytes + i, half(random, dtype));
}

/* Blocks: their f16 fields, and now and then a number that could be one anywhere: formats spread scales over other fields. */
static void fill_blocks(struct random *random, const struct bq_layout *layout, size_t nbytes, uint8_t *bytes)
{
	fill(random, nbytes, bytes);
	for (size_t block = 0; block < nbytes; block += layout->block_nbytes) {
		fill_halves(random, BQ_F16, 2 * layout->halves, bytes + block + layout->halves_at);
		if (below(random, 4) == 0) {
			uint8_t *at = bytes + block + below(random, layout->block_nbytes);

			*at = (uint8_t)(below(random, 2) ? 0xFF : 0x7F);
		}
		if (below(random, 4) == 0) {
			uint8_t *at = bytes + block + 2 * below(random, layout->block_nbytes / 2);

			bq_store16(at, half(random, BQ_F16));
		}
	}
}

static void fill_plane(struct random *random, const struct bq_plan *plan, const struct bq_plane *plane, uint8_t *bytes)
{
	const size_t nbytes = (size_t)plane->nbytes;

	if (plane->role == BQ_ROLE_BLOCKS)
		fill_blocks(random, bq_layout(plan->scheme.layout), nbytes, bytes);
	else if (plane->dtype == BQ_F16 || plane->dtype == BQ_BF16)
		fill_halves(random, plane->dtype, nbytes, bytes);
	else
		fill(random, nbytes, bytes);
}

/* Decodes in bands of at most max_nbytes of float32. The buffers of a band are its own, from the allocator, and end with their last
 * byte; planes begin `shift` bytes after an aligned address. */
static void decode(const struct bq_plan *plan, uint8_t *const *stored, uint32_t max_nbytes, size_t shift, float *values)
{
	const uint64_t nsteps = plan->nitems * plan->steps_per_item;
	void *workspace = test_buffer(plan->workspace_nbytes, 0xA5);
	struct bq_report report = { 0 };
	struct bq_band band;

	for (uint64_t step = 0; step < nsteps; step += band.nsteps) {
		uint8_t *buffers[BQ_MAX_PLANES];
		const void *planes[BQ_MAX_PLANES];
		float *out;

		bq_band(plan, step, max_nbytes, &band);
		for (uint32_t p = 0; p < plan->nplanes; p++) {
			buffers[p] = test_buffer(shift + band.plane_nbytes[p], 0xA5);
			memcpy(buffers[p] + shift, stored[p] + band.plane_offset[p], band.plane_nbytes[p]);
			planes[p] = buffers[p] + shift;
		}
		out = test_buffer((size_t)band.nvalues * sizeof *out, 0xA5);
		bq_decode(plan, &band, planes, 0, out, workspace, &report);
		memcpy(values + band.value_offset, out, (size_t)band.nvalues * sizeof *out);
		for (uint32_t p = 0; p < plan->nplanes; p++)
			free(buffers[p]);
		free(out);
	}
	CHECK(report.fused_values + report.generic_values == plan->nvalues, "values decoded");
	free(workspace);
}

static void compare(const struct bq_preset *preset, uint32_t round, const char *what, size_t count, const float *got,
	const float *expected)
{
	for (size_t i = 0; i < count; i++)
		if (bq_bits(got[i]) != bq_bits(expected[i])) {
			CHECK(bq_bits(got[i]) == bq_bits(expected[i]), "%s, round %u, %s, value %u: got %08x, expected %08x",
				preset->name, (unsigned)round, what, (unsigned)i, (unsigned)bq_bits(got[i]), (unsigned)bq_bits(expected[i]));
			return;
		}
}

/* One tensor of a preset; its number of values. */
static uint64_t fuzz(const struct bq_preset *preset, uint32_t round, struct random *random)
{
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	const struct bq_layout *layout = bq_layout(preset->scheme.layout);
	const uint32_t input = inputs[below(random, 3)];
	const uint64_t nrows = 1 + below(random, 4);
	const uint64_t dims[] = { nrows,
		layout->block_values ? (1 + below(random, 9)) * (uint64_t)layout->block_values : (1 + below(random, 4)) * (uint64_t)128 };
	struct bq_scheme generic = preset->scheme;
	uint8_t *stored[BQ_MAX_PLANES];
	float *expected, *values;
	struct bq_plan plan;
	size_t count;

	if (bq_plan(&preset->scheme, NULL, input, BQ_SCALAR, 2, dims, &plan) != BQ_OK) {
		CHECK(0, "%s takes no %u x %u", preset->name, (unsigned)dims[0], (unsigned)dims[1]);
		return 0;
	}
	count = (size_t)plan.nvalues;
	for (uint32_t p = 0; p < plan.nplanes; p++) {
		stored[p] = test_buffer((size_t)plan.plane[p].nbytes, 0);
		fill_plane(random, &plan, &plan.plane[p], stored[p]);
	}
	expected = test_buffer(count * sizeof *expected, 0);
	values = test_buffer(count * sizeof *values, 0);
	decode(&plan, stored, 1u << 30, 0, expected);
	decode(&plan, stored, 1, layout->block_values ? 1 : 0, values);
	compare(preset, round, "scalar in bands", count, values, expected);
	if (bq_kernel_rows() >> BQ_SIMD128 & 1 && bq_plan(&preset->scheme, NULL, input, BQ_SIMD128, 2, dims, &plan) == BQ_OK) {
		decode(&plan, stored, 1u << 30, 0, values);
		compare(preset, round, "simd128", count, values, expected);
		decode(&plan, stored, 1, layout->block_values ? 1 : 0, values);
		compare(preset, round, "simd128 in bands", count, values, expected);
	}
	generic.fused = BQ_GENERIC;
	if (preset->scheme.fused && bq_plan(&generic, NULL, input, BQ_SCALAR, 2, dims, &plan) == BQ_OK) {
		decode(&plan, stored, 1u << 30, 0, values);
		compare(preset, round, "the generic path", count, values, expected);
	}
	for (uint32_t p = 0; p < plan.nplanes; p++)
		free(stored[p]);
	free(expected);
	free(values);
	return plan.nvalues;
}

int main(int argc, char **argv)
{
	const double minutes = argc > 2 ? atof(argv[2]) : 0;
	const uint32_t first = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	const time_t start = time(NULL);
	uint64_t nvalues = 0;
	uint32_t npresets = 0, round = first;

	for (; minutes > 0 ? difftime(time(NULL), start) < 60 * minutes : round < ROUNDS; round++) {
		struct random random = { round * 2654435761u + 1 };
		const struct bq_preset *preset;

		for (npresets = 0; (preset = bq_preset_at(npresets)); npresets++)
			nvalues += fuzz(preset, round, &random);
		if (test_failures)
			break;
	}
	printf("fuzz_decode: %u presets, rounds %u to %u, %.1f million values, %.0f s\n", (unsigned)npresets, (unsigned)first,
		(unsigned)round, (double)nvalues / 1e6, difftime(time(NULL), start));
	return test_done("fuzz_decode");
}
