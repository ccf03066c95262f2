/* SPDX-License-Identifier: MIT
 * convert.c - bq_convert: arrays of numbers between float32 and another float dtype.
 */
#include "kernels.h"

int bq_convert(uint32_t kernels, uint32_t from, uint32_t to, size_t count, const void *in, void *out)
{
	const struct bq_kernels *row = bq_kernels(kernels);

	if (!row || from >= BQ_NDTYPES || to >= BQ_NDTYPES)
		return 1;
	if (to == BQ_F32 && row->to_f32[from]) {
		row->to_f32[from](in, count, out);
		return 0;
	}
	if (from == BQ_F32 && row->from_f32[to]) {
		row->from_f32[to](in, count, out);
		return 0;
	}
	return 1;
}
