/* SPDX-License-Identifier: MIT
 * ggml_q8_0.c - q8_0: f16 scale, 32 x i8; the largest magnitude becomes 127.
 */
#include <math.h>

#include "kernels.h"
#include "ggml_search.h"

#define VALUES 32
#define NBYTES 34

/* Half away from zero. What no int32 holds, which is all of a block whose inverse is infinite, is 0. */
static int8_t round_to_code(float quotient)
{
	const float rounded = roundf(quotient);

	if (!(rounded > -2147483648.0f && rounded < 2147483648.0f))
		return 0;
	return (int8_t)(int32_t)rounded;
}

void bq_encode_q8_0_scalar(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	(void)importance;
	(void)row_sigma;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		const float scale = bq_float(bq_bits(bq_first_largest(VALUES, x)) & 0x7FFFFFFF) / 127.0f;
		const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

		bq_store16(out, bq_ggml_scale_code(scale));
		for (int i = 0; i < VALUES; i++)
			out[2 + i] = (uint8_t)round_to_code(x[i] * inverse);
	}
}

void bq_decode_q8_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		for (int i = 0; i < VALUES; i++)
			out[i] = bq_ggml_decoded((float)(int8_t)in[2 + i] * scale);
	}
}
