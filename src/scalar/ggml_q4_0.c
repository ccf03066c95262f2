/* SPDX-License-Identifier: MIT
 * ggml_q4_0.c - q4_0: f16 scale, 16 bytes of two codes; the value of the largest magnitude becomes -8.
 */
#include <math.h>

#include "kernels.h"
#include "ggml_search.h"

#define VALUES 32
#define NBYTES 18
#define LEVELS 8

/* Truncates quotient + 8.5. What no int32 holds, which is all of a block whose inverse is infinite, is 0. */
static uint8_t round_to_code(float quotient)
{
	const float shifted = quotient + ((float)LEVELS + 0.5f);

	if (!(shifted > -2147483648.0f && shifted < 2147483648.0f))
		return 0;

	const int8_t code = (int8_t)(int32_t)shifted;

	return (uint8_t)(code < 2 * LEVELS - 1 ? code : 2 * LEVELS - 1);
}

static float encode_block(const float *x, uint8_t *codes)
{
	const float scale = bq_first_largest(VALUES, x) / -LEVELS;
	const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

	for (int i = 0; i < VALUES; i++)
		codes[i] = round_to_code(x[i] * inverse);
	return scale;
}

static float encode_weighted_block(const float *x, const float *importance, float row_sigma, uint8_t *codes)
{
	float weight[VALUES];

	for (int i = 0; i < VALUES; i++)
		weight[i] = importance[i] * sqrtf(row_sigma + x[i] * x[i]);
	return bq_search_signed_scale(VALUES, LEVELS, x, weight, codes);
}

void bq_encode_q4_0_scalar(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	uint8_t codes[VALUES];

	for (size_t block = 0; block < nblocks; block++, out += NBYTES) {
		const size_t first = block * VALUES;
		const float scale = importance ? encode_weighted_block(x + first, importance + first, row_sigma, codes)
									   : encode_block(x + first, codes);

		bq_store16(out, bq_ggml_scale_code(scale));
		for (int i = 0; i < VALUES / 2; i++)
			out[2 + i] = (uint8_t)(codes[i] | codes[i + VALUES / 2] << 4);
	}
}

void bq_decode_q4_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		for (int i = 0; i < VALUES / 2; i++) {
			out[i] = bq_ggml_decoded((float)((in[2 + i] & 15) - LEVELS) * scale);
			out[i + VALUES / 2] = bq_ggml_decoded((float)((in[2 + i] >> 4) - LEVELS) * scale);
		}
	}
}
