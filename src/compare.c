/* SPDX-License-Identifier: MIT
 * compare.c - error of decoded weights against their original.
 */
#include <math.h>

#include "blockquant.h"

void bq_compare(size_t count, const float *reference, const float *other, double sums[5])
{
	for (size_t i = 0; i < count; i++) {
		double a = reference[i], b = other[i], error = fabs(a - b);

		sums[0] += error * error;
		sums[1] += a * a;
		sums[2] += b * b;
		sums[3] += a * b;
		if (error > sums[4] || error != error)
			sums[4] = error;
	}
}
