/* SPDX-License-Identifier: MIT
 * ggml_iq1_m.c - iq1_m: the scalar search stands in for one of its own; decoding is 8 values at a time.
 */
#include "ggml_iq.h"

void bq_encode_iq1_m_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_encode_iq1_m_scalar(x, importance, context, nblocks, out);
}

void bq_decode_iq1_m_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode_simd128(&bq_iq1_m_format, in, nblocks, out);
}
