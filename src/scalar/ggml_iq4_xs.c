/* SPDX-License-Identifier: MIT
 * ggml_iq4_xs.c - iq4_xs: f16 scale, 8 scales of 6 bits, for 32 values each 16 bytes of two codes of levels.
 *
 *     byte  0  f16 scale
 *           2  2 bytes, the upper pairs of 8 scales of 6 bits
 *           4  4 bytes, their low halves
 *           8  128 bytes, 16 for 32 values, as in iq4_nl
 */
#include "kernels.h"
#include "ggml_iq4.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 136
#define SUB_BLOCKS 8
#define SUB_VALUES 32
#define SCALE_LEVELS 32

/* Where the fields of a block begin. */
#define SCALES 2
#define CODES 8

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	const float sigma = bq_sum_of_squares(VALUES, x) * (2.0f / VALUES);
	float scale[SUB_BLOCKS];
	uint8_t scales[SUB_BLOCKS];

	for (int j = 0; j < SUB_BLOCKS; j++)
		scale[j] = bq_search_levels(x + j * SUB_VALUES, importance ? importance + j * SUB_VALUES : NULL, sigma);

	const float outer = -bq_largest_number(SUB_BLOCKS, scale) / SCALE_LEVELS;
	const float inverse = outer != 0.0f ? 1.0f / outer : 0.0f;

	bq_store16(out, bq_ggml_scale_code(outer));
	for (int j = 0; j < SUB_BLOCKS; j++) {
		const int32_t code =
			bq_clamp(bq_round_by_magic(inverse * scale[j]), -SCALE_LEVELS, SCALE_LEVELS - 1);

		scales[j] = (uint8_t)(code + SCALE_LEVELS);
		/* outer as it was before it was rounded */
		bq_store_levels(x + j * SUB_VALUES, outer * (float)code, out + CODES + 16 * j);
	}
	bq_pack_scales_of_iq4_xs(scales, out + SCALES);
}

void bq_encode_iq4_xs_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	bq_encode_super_blocks(encode_block, NBYTES, 0, 1, x, importance, nblocks, out);
}

void bq_decode_iq4_xs_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer = bq_f32_from_f16(bq_load16(in));
		uint8_t scales[SUB_BLOCKS];

		bq_unpack_scales_of_iq4_xs(in + SCALES, scales);
		for (int j = 0; j < SUB_BLOCKS; j++) {
			const float scale = outer * (float)(scales[j] - SCALE_LEVELS);

			bq_decode_levels(in + CODES + 16 * j, scale, out + j * SUB_VALUES);
		}
		bq_settle_nans(outer, VALUES, out);
	}
}
