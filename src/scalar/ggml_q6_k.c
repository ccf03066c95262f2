/* SPDX-License-Identifier: MIT
 * ggml_q6_k.c - q6_K: 16 sub-blocks of 16 values, each with a scale of 8 bits; an f16 scale of these. Codes of 6 bits.
 *
 *     byte  0  128 bytes of low halves, 64 for 128 values: value l in the low, value 64 + l in the high half of byte l
 *         128  64 bytes of upper pairs, 32 for 128 values: value 32 k + l at bit 2 k of byte l
 *         192  16 scales of 8 bits, with a sign
 *         208  f16 scale of the scales
 */
#include "kernels.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 210
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define LEVELS 32

/* Where the fields of a block begin. */
#define SCALES 192
#define OUTER 208

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	float scale[SUB_BLOCKS];
	uint8_t codes[VALUES];

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const int first = j * SUB_VALUES;

		scale[j] = bq_search_signed_scale(
			SUB_VALUES, LEVELS, x + first, importance ? importance + first : NULL, codes + first);
	}

	const float largest = bq_largest_number(SUB_BLOCKS, scale);

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
	bq_pack_codes_of_q6_k(codes, out);
}

void bq_encode_q6_k_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	bq_encode_super_blocks(encode_block, NBYTES, OUTER, 1, x, importance, nblocks, out);
}

void bq_decode_q6_k_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer = bq_f32_from_f16(bq_load16(in + OUTER));
		uint8_t codes[VALUES];

		bq_unpack_codes_of_q6_k(in, codes);
		for (int j = 0; j < SUB_BLOCKS; j++) {
			const float scale = outer * (float)(int8_t)in[SCALES + j];

			for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
				out[i] = scale * (float)(codes[i] - LEVELS);
		}
		bq_settle_nans(outer, VALUES, out);
	}
}
