/* SPDX-License-Identifier: MIT
 * ggml_q4_1.c - q4_1: f16 scale and min, codes of 4 bits from the least value to the largest.
 *
 *     byte  0  f16 scale
 *           2  f16 min
 *           4  16 bytes, 2 codes a byte: value j in the low, value j + 16 in the high half of byte j
 */
#include "kernels.h"
#include "ggml_block32.h"

void bq_encode_q4_1_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_encode_with_min(4, x, importance, context, nblocks, out);
}

void bq_decode_q4_1_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_with_min(4, in, nblocks, out);
}
