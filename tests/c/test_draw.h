/* SPDX-License-Identifier: MIT
 * test_draw.h - values of the kinds that break kernels: ties, zeros, huge and tiny ones, NaN. The same from every build: no function of
 * a library, which may round as it likes, has a part in them.
 */
#ifndef BQ_TEST_DRAW_H
#define BQ_TEST_DRAW_H

#include <math.h>

#include "number.h"
#include "test.h"

/* Distributions that break kernels. */
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

/* Of either sign, its exponent from low to high. */
static inline float test_of_exponents(uint32_t *state, int low, int high)
{
	const uint32_t exponent = (uint32_t)(127 + low) + (test_next(state) >> 8) % (uint32_t)(high - low + 1);
	const uint32_t mantissa = test_next(state) >> 9;

	return bq_float((test_next(state) & 0x80000000) | exponent << 23 | mantissa);
}

static inline float test_power_of_two(int exponent)
{
	return bq_float((uint32_t)(127 + exponent) << 23);
}

/* block_value: one random normal number per block of 32. */
static inline float test_draw(int distribution, uint32_t *state, size_t i, float block_value)
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
		return test_of_exponents(state, -126, -100);
	case HUGE_VALUES: /* some are almost the largest */
		if (test_next(state) >> 28 == 0)
			return bq_float(((test_next(state) & 0x80000000) | 0x7F7FFFFF) - (test_next(state) >> 26));
		return test_of_exponents(state, 100, 127);
	case NONFINITE:
		if (test_next(state) >> 24 == 0)
			return bq_float(test_next(state) | (test_next(state) >> 31 ? 0x7F800000 : 0x7FC00000));
		if (test_next(state) >> 24 == 1)
			return test_next(state) >> 31 ? -INFINITY : INFINITY;
		return i / 32 % 2 ? test_normal(state) : fabsf(test_normal(state));
	case HALF_STEPS:
		return ((float)(int)((test_next(state) >> 16) % 17) - 8.0f) * (i / 32 % 2 ? 0.5f : 0.0625f * block_value);
	case WIDE:
		return test_of_exponents(state, -66, 66);
	case BOTH_EXTREMES:
		return (test_next(state) >> 28 == 0 ? (test_next(state) >> 31 ? 1.0f : -1.0f) : 0.3f * test_normal(state));
	case SPARSE:
		return test_next(state) >> 28 == 0 ? 100.0f * test_normal(state) : 0.0f;
	case POSITIVE:
		return 3.0f + test_normal(state) * 0.25f;
	case NEGATIVE:
		return -3.0f + block_value + test_normal(state) * 0.001f;
	case SCALES: /* 2^-57 to 2^118: where searches take values for zero, and where sums overflow */
		return test_normal(state) * test_power_of_two((int)(i / 64 % 36) * 5 - 57);
	case BITS:
		return bq_float(test_next(state) ^ test_next(state) >> 16);
	default:
		return test_normal(state);
	}
}

#endif
