/* SPDX-License-Identifier: MIT
 * test_ggml_simd128.c - the fused kernels of ggml's formats: simd128 gives the bytes and floats of scalar on generated rows.
 */
#include <math.h>

#include "test_ggml.h"

enum {
	GAUSSIAN,
	TIES,
	SAME,
	ZEROS,
	SUBNORMAL,
	TINY,
	HUGE_VALUES,
	NONFINITE,
	HALF_STEPS,
	WIDE,
	BOTH_EXTREMES,
	SPARSE,
	POSITIVE,
	NEGATIVE,
	BITS,
	SCALES,
	NDISTRIBUTIONS
};

static float power_of_ten(uint32_t *state, float low, float high)
{
	const float exponent = low + (high - low) * (float)(test_next(state) >> 8) * 0x1p-24f;

	return powf(10.0f, exponent) * (test_next(state) >> 31 ? -1.0f : 1.0f);
}

/* block_value: one random normal number per block of 32. */
static float draw(int distribution, uint32_t *state, size_t i, float block_value)
{
	switch (distribution) {
	case TIES:
		return (float)((int)(test_next(state) >> 16) % 3 - 1) * 0.375f;
	case SAME:
		return block_value;
	case ZEROS:
		return test_next(state) >> 31 ? -0.0f : 0.0f;
	case SUBNORMAL:
		return bq_float((test_next(state) & 0x80000000) | test_next(state) >> (9 + (i / 64) % 22));
	case TINY:
		return power_of_ten(state, -38.0f, -30.0f);
	case HUGE_VALUES:
		return power_of_ten(state, 30.0f, 38.5f);
	case NONFINITE:
		if (test_next(state) >> 24 == 0)
			return bq_float(test_next(state) | (test_next(state) >> 31 ? 0x7F800000 : 0x7FC00000));
		if (test_next(state) >> 24 == 1)
			return test_next(state) >> 31 ? -INFINITY : INFINITY;
		return i / 32 % 2 ? test_normal(state) : fabsf(test_normal(state));
	case HALF_STEPS:
		return ((float)(int)((test_next(state) >> 16) % 17) - 8.0f) * (i / 32 % 2 ? 0.5f : 0.0625f * block_value);
	case WIDE:
		return power_of_ten(state, -20.0f, 20.0f);
	case BOTH_EXTREMES:
		return (test_next(state) >> 28 == 0 ? (test_next(state) >> 31 ? 1.0f : -1.0f) : 0.3f * test_normal(state));
	case SPARSE:
		return test_next(state) >> 28 == 0 ? 100.0f * test_normal(state) : 0.0f;
	case POSITIVE:
		return 3.0f + test_normal(state) * 0.25f;
	case NEGATIVE:
		return -3.0f + block_value + test_normal(state) * 0.001f;
	case SCALES: /* 1e-17 to 1e36: where searches take values for zero, and where sums overflow */
		return test_normal(state) * powf(10.0f, (float)(i / 64 % 36) * 1.5f - 17.0f);
	case BITS:
		return bq_float(test_next(state) ^ test_next(state) >> 16);
	default:
		return test_normal(state);
	}
}

static float draw_weight(int kind, uint32_t *state, size_t i)
{
	switch (kind) {
	case 0:
		return (float)((test_next(state) >> 20) + 1) * 0x1p-8f;
	case 1: /* with zeros, in some places nothing else */
		return i / 64 % 3 == 0 || test_next(state) >> 31 ? 0.0f : (float)(test_next(state) >> 20);
	case 2:
		return power_of_ten(state, -20.0f, 20.0f);
	default:
		return test_next(state) >> 24 == 0 ? bq_float(test_next(state) | 0x7F800000) : fabsf(test_normal(state));
	}
}

/* Rows of 1 to 9 blocks, and of up to 65 shorter ones. */
static size_t row_length(const struct format *format, size_t row)
{
	return 1 + row / 4 % 9 * (row % 4 == 3 ? 256 / layout_of(format)->block_values : 1);
}

static void check_same_bytes(const struct format *format, int distribution, int weighting, size_t nrows)
{
	static float x[9 * 256], weights[9 * 256];
	const struct bq_layout *layout = layout_of(format);
	const uint32_t seed = (uint32_t)(distribution * 64 + weighting * 4 + 1);
	uint32_t state = seed;

	for (size_t row = 0; row < nrows; row++) {
		const size_t length = row_length(format, row);
		float block_value = 0.0f;

		for (size_t i = 0; i < length * layout->block_values; i++) {
			if (i % 32 == 0)
				block_value = test_normal(&state);
			x[i] = draw(distribution, &state, i, block_value);
			weights[i] = weighting ? draw_weight(weighting - 1, &state, i) : 0.0f;
		}

		uint8_t *expected = encode_row(bq_kernels(BQ_SCALAR), format, length, x, weighting ? weights : NULL);
		uint8_t *got = encode_row(bq_kernels(BQ_SIMD128), format, length, x, weighting ? weights : NULL);

		for (size_t i = 0; i < length * layout->block_nbytes; i++)
			if (got[i] != expected[i]) {
				CHECK(got[i] == expected[i],
					"%s, distribution %d, weighting %d, seed %u, row %u of %u blocks, block %u, byte %u: got %02x, "
					"expected %02x",
					format->name, distribution, weighting, (unsigned)seed, (unsigned)row, (unsigned)length,
					(unsigned)(i / layout->block_nbytes), (unsigned)(i % layout->block_nbytes), got[i], expected[i]);
				break;
			}
		free(expected);
		free(got);
	}
}

/* 10,400 rows a format. */
static void simd128_encodes_the_bytes_of_scalar(void)
{
	for (size_t f = 0; f < NFORMATS; f++)
		for (int distribution = 0; distribution < NDISTRIBUTIONS; distribution++)
			for (int weighting = 0; weighting <= 4; weighting++) {
				if (!takes(bq_kernels(BQ_SCALAR), &formats[f], weighting))
					continue;
				if (!takes(bq_kernels(BQ_SCALAR), &formats[f], 0))
					check_same_bytes(&formats[f], distribution, weighting, 163);
				else
					check_same_bytes(&formats[f], distribution, weighting, weighting ? 80 : 330);
			}
}

static void simd128_decodes_the_floats_of_scalar(void)
{
	static uint8_t bytes[72 * 36]; /* of 65 blocks of 32, or 9 of 256 */
	uint32_t state = 7;

	for (size_t f = 0; f < NFORMATS; f++)
		for (size_t done = 0, row = 0; done < 20000; row++) {
			const struct bq_layout *layout = layout_of(&formats[f]);
			const size_t length = row_length(&formats[f], row), count = length * layout->block_values;

			fill_bytes(&state, length * layout->block_nbytes, bytes);
			/* NaN and infinities are one in 32 of the random f16 fields; make more of the last ones. */
			if (row % 4 == 0 && layout->halves)
				bq_store16(bytes + layout->halves_at + 2 * (layout->halves - 1), (uint16_t)(0x7C00 | (row & 0x83FF)));

			float *expected = decode_row(bq_kernels(BQ_SCALAR), &formats[f], length, bytes);
			float *got = decode_row(bq_kernels(BQ_SIMD128), &formats[f], length, bytes);

			for (size_t i = 0; i < count; i++)
				if (bq_bits(got[i]) != bq_bits(expected[i])) {
					CHECK(bq_bits(got[i]) == bq_bits(expected[i]), "%s, row %u, value %u: got %08x, expected %08x",
						formats[f].name, (unsigned)row, (unsigned)i, (unsigned)bq_bits(got[i]),
						(unsigned)bq_bits(expected[i]));
					break;
				}
			free(expected);
			free(got);
			done += length;
		}
}

int main(void)
{
	if (bq_kernels(BQ_SIMD128)) {
		simd128_encodes_the_bytes_of_scalar();
		simd128_decodes_the_floats_of_scalar();
	}
	return test_done("test_ggml_simd128");
}
