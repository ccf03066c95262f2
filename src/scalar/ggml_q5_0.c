/* SPDX-License-Identifier: MIT
 * ggml_q5_0.c - q5_0: f16 scale, codes of 5 bits; the value of the largest magnitude becomes -16.
 *
 *     byte  0  f16 scale
 *           2  4 bytes of fifth bits, from bit 0
 *           6  16 bytes, 2 codes a byte: value j in the low, value j + 16 in the high half of byte j
 */
#include "kernels.h"
#include "ggml_block32.h"

void bq_encode_q5_0_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_encode_signed(5, x, importance, context, nblocks, out);
}

void bq_decode_q5_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_signed(5, in, nblocks, out);
}
