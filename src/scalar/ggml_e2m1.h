/* SPDX-License-Identifier: MIT
 * ggml_e2m1.h - E2M1 codes of ggml's mxfp4 and nvfp4: doubled, so that they are integers, under a halved scale.
 */
#ifndef BQ_GGML_E2M1_H
#define BQ_GGML_E2M1_H

#include "ggml_search.h"

/* Of code 0 to 15. There is no -0. */
static inline int bq_doubled_e2m1(unsigned code)
{
	static const int8_t doubled[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

	return doubled[code];
}

/* The nearest, the first of equals: ties go to the smaller magnitude, a NaN gets 0. */
static inline uint8_t bq_nearest_e2m1(float x, float step)
{
	unsigned best = 0;
	float least = fabsf((float)bq_doubled_e2m1(0) * step - x);

	for (unsigned code = 1; code < 16; code++) {
		const float distance = fabsf((float)bq_doubled_e2m1(code) * step - x);

		if (distance < least) {
			least = distance;
			best = code;
		}
	}
	return (uint8_t)best;
}

/* floor(log2f(x)) of a finite x > 0, where log2f gives the float32 nearest to the logarithm: just below 2^k that is k. The
 * float32 below k are 2^(size - 24) apart if size is the number of bits of k - 1 (for k > 0; of -k otherwise), so x may be
 * less than 2^k by half of that times ln 2: by 44.36 / 2^(7 - size) steps of 2^(k - 24). */
static inline int bq_floor_log2f(float x)
{
	static const uint8_t within[9] = { 0, 0, 1, 2, 5, 11, 22, 44, 88 };
	uint32_t bits = bq_bits(x);
	int exponent = (int)(bits >> 23) - 127;
	int size = 0;

	for (exponent = exponent < -126 ? -126 : exponent; bits < 0x00800000; bits <<= 1)
		exponent--;
	for (int distance = exponent >= 0 ? exponent : -1 - exponent; distance; distance >>= 1)
		size++;
	return exponent + (0x00800000 - (bits & 0x007FFFFF) <= within[size]);
}

#endif
