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

#endif
