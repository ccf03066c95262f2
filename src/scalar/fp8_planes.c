/* SPDX-License-Identifier: MIT
 * fp8_planes.c - E4M3 codes under one scale a cell, in the weights' dtype: the largest magnitude divided by 448.
 */
#include "planes.h"

uint32_t bq_encode_fp8_planes_scalar(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	return bq_encode_bytes(BQ_F8E4M3, 448, cells, x, codes, scales);
}

void bq_decode_fp8_planes_scalar(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	bq_decode_bytes(BQ_F8E4M3, cells, codes, scales, out);
}
