/* SPDX-License-Identifier: MIT
 * ggml_q3_k.c - q3_K: codes of 3 bits, scales of 6 bits for each 16 values, an f16 scale of these.
 *
 *     byte  0  32 bytes of third bits: value 32 k + l at bit k of byte l
 *          32  64 bytes of the other two, as in q2_K
 *          96  12 bytes, 16 scales of 6 bits: 8 bytes of two low halves (j and j + 8), 4 of four upper pairs
 *         108  f16 scale of the scales
 */
#include "kernels.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 110
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define LEVELS 4
#define SCALE_LEVELS 32

/* Where the fields of a block begin; the third bits are first. */
#define CODES 32
#define SCALES 96
#define OUTER 108

static float search_plain(const float *x, uint8_t *codes, uint8_t *scales)
{
	float scale[SUB_BLOCKS];

	for (int j = 0; j < SUB_BLOCKS; j++)
		scale[j] = bq_search_by_turns(x + j * SUB_VALUES, codes + j * SUB_VALUES);
	return bq_scale_of_q3_k(scale, scales);
}

static float search_weighted(const float *x, const float *importance, uint8_t *codes, uint8_t *scales)
{
	const float sigma = (2.0f * bq_sum_of_squares(VALUES, x)) / VALUES;
	float scale[SUB_BLOCKS], sum_weight[SUB_BLOCKS], weight[SUB_VALUES];

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const int first = j * SUB_VALUES;

		sum_weight[j] = bq_weigh(SUB_VALUES, x + first, importance + first, sigma, weight);
		scale[j] = bq_search_signed_scale(SUB_VALUES, LEVELS, x + first, weight, codes + first);
	}
	return bq_search_signed_scale_from(
		bq_largest_number(SUB_BLOCKS, scale), SUB_BLOCKS, SCALE_LEVELS, scale, sum_weight, scales);
}

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	uint8_t codes[VALUES], scales[SUB_BLOCKS];
	const float found =
		importance ? search_weighted(x, importance, codes, scales) : search_plain(x, codes, scales);

	bq_store16(out + OUTER, bq_ggml_scale_code(found));

	const float outer = bq_f32_from_f16(bq_load16(out + OUTER));

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const float scale = outer * (float)(scales[j] - SCALE_LEVELS);

		if (scale == 0.0f)
			continue; /* the codes stay those of the search */
		for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
			codes[i] = (uint8_t)(bq_clamp(bq_round_by_magic(x[i] / scale), -LEVELS, LEVELS - 1) + LEVELS);
	}
	bq_pack_bit_plane(codes, 2, out);
	bq_pack_pairs(codes, out + CODES);
	bq_pack_scales_of_q3_k(scales, out + SCALES);
}

void bq_encode_q3_k_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	bq_encode_super_blocks(encode_block, NBYTES, OUTER, 1, x, importance, nblocks, out);
}

void bq_decode_q3_k_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer = bq_f32_from_f16(bq_load16(in + OUTER));
		uint8_t scales[SUB_BLOCKS], codes[VALUES];

		bq_unpack_scales_of_q3_k(in + SCALES, scales);
		bq_unpack_pairs(in + CODES, codes);
		bq_unpack_bit_plane(in, 2, codes);
		for (int j = 0; j < SUB_BLOCKS; j++) {
			const float scale = outer * (float)(scales[j] - SCALE_LEVELS);

			for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
				out[i] = scale * (float)(codes[i] - LEVELS);
		}
		bq_settle_nans(outer, VALUES, out);
	}
}
