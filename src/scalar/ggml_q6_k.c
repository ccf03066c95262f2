/* SPDX-License-Identifier: MIT
 * ggml_q6_k.c - q6_K: 16 sub-blocks of 16 values, each with a scale of 8 bits; an f16 scale of these. Codes of 6 bits.
 */
#include <math.h>

#include "kernels.h"
#include "ggml_search.h"

#define VALUES 256
#define NBYTES 210
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define LEVELS 32

/* Where the fields of a block begin. */
#define HIGH 128
#define SCALES 192
#define OUTER 208

/* 128 values take 64 bytes of low halves and 32 of high bits: value k has the low half of byte k % 64, or the high one from
 * k = 64 on, and two bits of byte k % 32. */
static void pack_codes(const uint8_t *codes, uint8_t *out)
{
	memset(out, 0, SCALES);
	for (int i = 0; i < VALUES; i++) {
		const int half = i / 128, k = i % 128;

		out[64 * half + k % 64] |= (uint8_t)((codes[i] & 15) << (k < 64 ? 0 : 4));
		out[HIGH + 32 * half + k % 32] |= (uint8_t)(codes[i] >> 4 << 2 * (k / 32));
	}
}

static int unpack_code(const uint8_t *in, int i)
{
	const int half = i / 128, k = i % 128;
	const int low = in[64 * half + k % 64] >> (k < 64 ? 0 : 4) & 15;

	return low | (in[HIGH + 32 * half + k % 32] >> 2 * (k / 32) & 3) << 4;
}

/* The scale of the largest magnitude; the searches of extreme values give NaN, which is passed over. */
static float largest_of(const float *scale)
{
	float largest = 0.0f;

	for (int j = 0; j < SUB_BLOCKS; j++)
		if (fabsf(scale[j]) > fabsf(largest))
			largest = scale[j];
	return largest;
}

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	float scale[SUB_BLOCKS];
	uint8_t codes[VALUES];

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const int first = j * SUB_VALUES;

		scale[j] = bq_search_signed_scale(
			SUB_VALUES, LEVELS, x + first, importance ? importance + first : NULL, codes + first);
	}

	const float largest = largest_of(scale);

	if (fabsf(largest) < BQ_SEARCH_TINY) {
		memset(out, 0, NBYTES);
		return;
	}

	const float inverse = -128.0f / largest;

	bq_store16(out + OUTER, bq_ggml_scale_code(1.0f / inverse));

	const float outer = bq_f32_from_f16(bq_load16(out + OUTER));

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const int32_t rounded = bq_round_by_magic(inverse * scale[j]);
		const int8_t code = (int8_t)(rounded < 127 ? rounded : 127);
		const float stored = outer * (float)code;

		out[SCALES + j] = (uint8_t)code;
		if (stored == 0.0f)
			continue; /* the codes stay those of the search */
		for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
			codes[i] = (uint8_t)(bq_clamp(bq_round_by_magic(x[i] / stored), -LEVELS, LEVELS - 1) + LEVELS);
	}
	pack_codes(codes, out);
}

void bq_encode_q6_k_scalar(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	(void)row_sigma;
	for (size_t block = 0; block < nblocks; block++, out += NBYTES) {
		const float *values = x + block * VALUES;
		const float *weights = importance ? importance + block * VALUES : NULL;

		if (bq_all_finite(VALUES, values) && (!weights || bq_all_finite(VALUES, weights))) {
			encode_block(values, weights, out);
		} else {
			memset(out, 0, NBYTES); /* as in q4_K */
			bq_store16(out + OUTER, 0x7E00);
		}
	}
}

void bq_decode_q6_k_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer = bq_f32_from_f16(bq_load16(in + OUTER));

		for (int i = 0; i < VALUES; i++) {
			const float scale = outer * (float)(int8_t)in[SCALES + i / SUB_VALUES];

			out[i] = bq_ggml_decoded(scale * (float)(unpack_code(in, i) - LEVELS));
		}
	}
}
