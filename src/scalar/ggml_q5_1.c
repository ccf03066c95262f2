/* SPDX-License-Identifier: MIT
 * ggml_q5_1.c - q5_1: f16 scale and min, codes of 5 bits from the least value to the largest.
 */
#include "kernels.h"
#include "ggml_block32.h"

void bq_encode_q5_1_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_encode_with_min(5, x, importance, context, nblocks, out);
}

void bq_decode_q5_1_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_with_min(5, in, nblocks, out);
}
