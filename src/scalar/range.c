/* SPDX-License-Identifier: MIT
 * range.c - the range of each group of a row, scalar.
 */
#include "kernels.h"
#include "number.h"

void bq_range_scalar(const float *x, size_t count, size_t group, int skip_nan, float *lo, float *hi)
{
	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t end = count - begin < group ? count : begin + group;
		float least = lo[cell], most = hi[cell];
		int has_nan = 0;

		for (size_t i = begin; i < end; i++) {
			least = x[i] < least ? x[i] : least;
			most = x[i] > most ? x[i] : most;
			has_nan |= !skip_nan && x[i] != x[i];
		}
		lo[cell] = has_nan ? bq_float(BQ_F32_NAN) : least;
		hi[cell] = has_nan ? bq_float(BQ_F32_NAN) : most;
	}
}

void bq_extreme_scalar(const float *x, size_t count, size_t group, float *extreme)
{
	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t end = count - begin < group ? count : begin + group;
		/* The bits of magnitudes are ordered as the magnitudes are, NaN last. */
		uint32_t found = bq_bits(extreme[cell]);

		for (size_t i = begin; i < end; i++)
			if ((bq_bits(x[i]) & 0x7FFFFFFF) > (found & 0x7FFFFFFF))
				found = bq_bits(x[i]);
		extreme[cell] = (found & 0x7FFFFFFF) > BQ_F32_INFINITY ? bq_float(BQ_F32_NAN) : bq_float(found);
	}
}
