/* SPDX-License-Identifier: MIT
 * ggml_q1_0.c - q1_0: f16 scale, the mean magnitude of 128 values, and a bit for each that is set if it is not negative.
 *
 *     byte  0  f16 scale
 *           2  16 bytes of 8 signs: value j is bit j % 8 of byte j / 8
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 128
#define NBYTES 18

void bq_encode_q1_0_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		float sum = 0.0f;

		if (!bq_all_finite(VALUES, x)) {
			bq_store_nonfinite_block(NBYTES, 0, 1, out);
			continue;
		}
		memset(out, 0, NBYTES);
		for (int i = 0; i < VALUES; i++) {
			sum += fabsf(x[i]);
			out[2 + i / 8] |= (uint8_t)((x[i] >= 0.0f) << i % 8); /* -0 too */
		}
		bq_store16(out, bq_ggml_scale_code(sum / VALUES));
	}
}

void bq_decode_q1_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		for (int i = 0; i < VALUES / 8; i++)
			for (int k = 0; k < 8; k++)
				out[8 * i + k] = in[2 + i] >> k & 1 ? scale : -scale;
		bq_settle_nans(scale, VALUES, out);
	}
}
