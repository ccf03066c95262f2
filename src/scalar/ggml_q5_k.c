/* SPDX-License-Identifier: MIT
 * ggml_q5_k.c - q5_K: codes of 5 bits, scales and mins of 6 bits for each 32 values, f16 scales of these.
 *
 *     byte  0  f16 scale of the scales
 *           2  f16 scale of the mins
 *           4  12 bytes, 8 scales and mins of 6 bits (bq_pack_scales_and_mins)
 *          16  32 bytes of fifth bits: value 32 k + l at bit k of byte l
 *          48  128 bytes, 32 for 64 values: value l in the low, value 32 + l in the high half of byte l
 */
#include "kernels.h"
#include "ggml_k32.h"

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	bq_encode_block_k32(5, x, importance, out);
}

void bq_encode_q5_k_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	bq_encode_super_blocks(encode_block, BQ_K32_NBYTES(5), 0, 2, x, importance, nblocks, out);
}

void bq_decode_q5_k_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_decode_k32(5, in, nblocks, out);
}
