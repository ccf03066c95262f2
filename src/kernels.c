/* SPDX-License-Identifier: MIT
 * kernels.c - which rows of the kernel table this build has.
 */
#include "kernels.h"

const struct bq_kernels *bq_kernels(uint32_t id)
{
	switch (id) {
	case BQ_SCALAR:
		return &bq_kernels_scalar;
#ifdef BQ_HAVE_SIMD128
	case BQ_SIMD128:
		return &bq_kernels_simd128;
#endif
	default:
		return NULL;
	}
}

uint32_t bq_kernel_rows(void)
{
	uint32_t rows = 0;

	for (uint32_t id = 0; id < BQ_NKERNELS; id++)
		if (bq_kernels(id))
			rows |= 1u << id;
	return rows;
}
