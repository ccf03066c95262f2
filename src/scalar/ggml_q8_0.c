/* SPDX-License-Identifier: MIT
 * ggml_q8_0.c - q8_0: f16 scale, 32 x i8; the largest magnitude becomes 127. Codes are 0 if a value or the scale's inverse is
 * not finite.
 *
 *     byte  0  f16 scale
 *           2  32 codes of 8 bits
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 32
#define NBYTES 34

void bq_encode_q8_0_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		const float scale = bq_largest_magnitude(VALUES, x) / 127.0f;
		const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

		bq_store16(out, bq_ggml_scale_code(scale));
		if (!(scale < INFINITY && inverse < INFINITY)) {
			memset(out + 2, 0, VALUES);
			continue;
		}
		for (int i = 0; i < VALUES; i++)
			out[2 + i] = (uint8_t)(int8_t)roundf(x[i] * inverse); /* half away from zero */
	}
}

void bq_decode_q8_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		for (int i = 0; i < VALUES; i++)
			out[i] = (float)(int8_t)in[2 + i] * scale;
		bq_settle_nans(scale, VALUES, out);
	}
}
