/* SPDX-License-Identifier: MIT
 * ggml_tq1_0.c - tq1_0: codes -1, 0, 1 with 1 added, five in a byte, and an f16 scale, the largest of 256 magnitudes.
 *
 *     byte  0  32 bytes of five codes: values j + 32 k of the first 160
 *          32  16 bytes of five: values 160 + j + 16 k
 *          48  4 bytes of four: values 240 + j + 4 k
 *          52  f16 scale
 */
#include "kernels.h"
#include "ggml_ternary.h"

#define VALUES 256
#define NBYTES 54
#define OUTER 52

void bq_encode_tq1_0_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	uint8_t codes[VALUES];

	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		const float scale = bq_ternary_codes(VALUES, x, 1, codes);

		if (scale != scale) {
			bq_store_nonfinite_block(NBYTES, OUTER, 1, out);
			continue;
		}
		bq_pack_trits(codes, out);
		bq_store16(out + OUTER, bq_ggml_scale_code(scale));
	}
}

void bq_decode_tq1_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	uint8_t codes[VALUES];

	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in + OUTER));

		bq_unpack_trits(in, codes);
		for (int i = 0; i < VALUES; i++)
			out[i] = (float)(codes[i] - 1) * scale;
		bq_settle_nans(scale, VALUES, out);
	}
}
