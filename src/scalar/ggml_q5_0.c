/* SPDX-License-Identifier: MIT
 * ggml_q5_0.c - q5_0: f16 scale, u32 with the fifth bit of each code, 16 bytes of two times four bits; the value of the
 * largest magnitude becomes -16.
 */
#include <math.h>

#include "kernels.h"
#include "ggml_search.h"

#define VALUES 32
#define NBYTES 22
#define LEVELS 16

/* Truncates quotient + 16.5. What no int32 holds, which is all of a block whose inverse is infinite, is 0. */
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

void bq_encode_q5_0_scalar(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	uint8_t codes[VALUES];

	for (size_t block = 0; block < nblocks; block++, out += NBYTES) {
		const size_t first = block * VALUES;
		const float scale = importance ? encode_weighted_block(x + first, importance + first, row_sigma, codes)
									   : encode_block(x + first, codes);
		uint32_t fifth_bits = 0;

		for (int i = 0; i < VALUES; i++)
			fifth_bits |= (uint32_t)(codes[i] >> 4) << i;
		bq_store16(out, bq_ggml_scale_code(scale));
		bq_store32(out + 2, fifth_bits);
		for (int i = 0; i < VALUES / 2; i++)
			out[6 + i] = (uint8_t)((codes[i] & 15) | (codes[i + VALUES / 2] & 15) << 4);
	}
}

void bq_decode_q5_0_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));
		const uint32_t fifth_bits = bq_load32(in + 2);

		for (int i = 0; i < VALUES; i++) {
			const int nibble = i < VALUES / 2 ? in[6 + i] & 15 : in[6 + i - VALUES / 2] >> 4;
			const int code = nibble | (int)(fifth_bits >> i & 1) << 4;

			out[i] = bq_ggml_decoded((float)(code - LEVELS) * scale);
		}
	}
}
