/* SPDX-License-Identifier: MIT
 * values.h - what is asked of some values: the largest magnitude, whether all are finite, the sum of squares.
 */
#ifndef BQ_VALUES_H
#define BQ_VALUES_H

#include <stddef.h>

#include "number.h"

/* The largest magnitude, a NaN if there is one. Bits without the sign are in the order of the magnitudes, infinity and NaN on top; of a loop over
 * signed integers that only looks for the largest, compilers make vectors. */
static inline float bq_largest_magnitude(size_t count, const float *x)
{
	int32_t largest = 0;

	for (size_t i = 0; i < count; i++) {
		const int32_t magnitude = (int32_t)(bq_bits(x[i]) & 0x7FFFFFFF);

		largest = magnitude > largest ? magnitude : largest;
	}
	return bq_float((uint32_t)largest);
}

/* Without an early end, so that compilers make vectors of it. */
static inline int bq_all_finite(size_t count, const float *x)
{
	int finite = 1;

	for (size_t i = 0; i < count; i++)
		finite &= (bq_bits(x[i]) & BQ_F32_INFINITY) != BQ_F32_INFINITY;
	return finite;
}

/* From the first to the last. */
static inline float bq_sum_of_squares(size_t count, const float *x)
{
	float sum = 0.0f;

	for (size_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum;
}

#endif
