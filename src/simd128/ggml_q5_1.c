/* SPDX-License-Identifier: MIT
 * ggml_q5_1.c - q5_1 in batches of four blocks, with importance of sixteen.
 */
#include "kernels.h"
#include "ggml_block32.h"

void bq_encode_q5_1_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_encode_with_min_simd128(5, bq_encode_q5_1_scalar, x, importance, context, nblocks, out);
}

void bq_decode_q5_1_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_with_min_simd128(5, bq_decode_q5_1_scalar, in, nblocks, out);
}
