/* SPDX-License-Identifier: MIT
 * ggml_q4_k.c - q4_K, two super-blocks at a time.
 */
#include "kernels.h"
#include "ggml_k32.h"

void bq_encode_q4_k_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	bq_encode_k32_simd128(4, bq_encode_q4_k_scalar, x, importance, nblocks, out);
}

void bq_decode_q4_k_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_k32_simd128(4, bq_decode_q4_k_scalar, in, nblocks, out);
}
