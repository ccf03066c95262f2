/* SPDX-License-Identifier: MIT
 * ggml_tq2_0.c - tq2_0: codes -1, 0, 1 with 1 added in a plane of pairs, and an f16 scale, the largest of 256 magnitudes.
 *
 *     byte  0  64 bytes, 32 for 128 values: value 32 k + l at bit 2 k of byte l
 *          64  f16 scale
 */
#include "kernels.h"
#include "ggml_k16.h"
#include "ggml_ternary.h"

#define VALUES 256
#define NBYTES 66
#define OUTER 64

void bq_encode_tq2_0_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	uint8_t codes[VALUES];

	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		bq_store16(out + OUTER, bq_ggml_scale_code(bq_ternary_codes(VALUES, x, 1, codes)));
		bq_pack_pairs(codes, out);
	}
}

void bq_decode_tq2_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	uint8_t codes[VALUES];

	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in + OUTER));

		bq_unpack_pairs(in, codes);
		for (int i = 0; i < VALUES; i++)
			out[i] = (float)(codes[i] - 1) * scale;
		bq_settle_nans(scale, VALUES, out);
	}
}
