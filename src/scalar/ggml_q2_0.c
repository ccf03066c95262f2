/* SPDX-License-Identifier: MIT
 * ggml_q2_0.c - q2_0: f16 scale, the largest of 64 magnitudes, and codes -1, 0, 1 in pairs of bits, with 1 added. (The fourth
 * pair is 2, which no encoder writes.)
 *
 *     byte  0  f16 scale
 *           2  16 bytes of 4 codes: value j at bit 2 (j % 4) of byte j / 4
 */
#include "kernels.h"
#include "ggml_ternary.h"

#define VALUES 64
#define NBYTES 18

void bq_encode_q2_0_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	uint8_t codes[VALUES];

	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		bq_store16(out, bq_ggml_scale_code(bq_ternary_codes(VALUES, x, 0, codes)));
		for (int i = 0; i < VALUES; i += 4)
			out[2 + i / 4] = (uint8_t)(codes[i] | codes[i + 1] << 2 | codes[i + 2] << 4 | codes[i + 3] << 6);
	}
}

void bq_decode_q2_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		for (int i = 0; i < VALUES / 4; i++)
			for (int k = 0; k < 4; k++)
				out[4 * i + k] = (float)((in[2 + i] >> 2 * k & 3) - 1) * scale;
		bq_settle_nans(scale, VALUES, out);
	}
}
