/* SPDX-License-Identifier: MIT
 * int8_planes.c - int8 codes under one scale a cell, in the weights' dtype: the largest magnitude divided by 127.5.
 */
#include "planes.h"

uint32_t bq_encode_int8_planes_scalar(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	return bq_encode_bytes(BQ_I8, 127.5f, cells, x, codes, scales);
}

void bq_decode_int8_planes_scalar(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	bq_decode_bytes(BQ_I8, cells, codes, scales, out);
}
