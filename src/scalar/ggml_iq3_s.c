/* SPDX-License-Identifier: MIT
 * ggml_iq3_s.c - iq3_s, 3.4375 bits a value: points of 512, each for 4 values, with signs.
 *
 *     byte 0  f16 scale
 *          2  64 bytes: the points' lower 8 bits
 *         66  8 bytes: 8 x 1 upper bit of points
 *         74  32 bytes of signs, each for 8 values
 *        106  8 scales of 4 bits, each for 32 values, the first in the low half
 */
#include "ggml_iq_search.h"

#define NBYTES 110
#define SUB_BLOCKS 8

/* Where the fields of a block begin. */
#define POINTS 2
#define UPPER 66
#define SIGNS 74
#define SCALES 106

/* The reference does not advance over sub-blocks of zeros where it writes points and signs, so that those of all later ones
 * stand too early, and are decoded as another sub-block's. Their upper bits and scales are in their place. */
static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	uint8_t *points = out + POINTS, *signs = out + SIGNS;

	memset(out, 0, NBYTES);
	bq_store16(out, block->outer);
	for (int j = 0; j < SUB_BLOCKS; j++) {
		out[SCALES + j / 2] |= (uint8_t)(block->scale[j] << 4 * (j % 2));
		if ((block->skipped >> j & 1) && !correct)
			continue;
		for (int l = 0; l < 8; l++) {
			*points++ = (uint8_t)block->point[8 * j + l];
			out[UPPER + j] |= (uint8_t)(block->point[8 * j + l] >> 8 << l);
		}
		memcpy(signs, block->signs + 4 * j, 4);
		signs += 4;
	}
}

void bq_unpack_iq3_s(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_load16(in);
	for (int j = 0; j < SUB_BLOCKS; j++) {
		block->scale[j] = in[SCALES + j / 2] >> 4 * (j % 2) & 15;
		for (int l = 0; l < 8; l++)
			block->point[8 * j + l] = (uint16_t)(in[POINTS + 8 * j + l] | (in[UPPER + j] >> l & 1) << 8);
	}
	memcpy(block->signs, in + SIGNS, sizeof(block->signs));
}

const struct bq_iq_format bq_iq3_s_format = {
	.grid = &bq_iq3_s_grid, .unpack = bq_unpack_iq3_s, .nbytes = NBYTES, .coords = 4, .sub_values = 32,
	.values = BQ_IQ3_S_VALUES,
};

static const struct bq_iq_rule rule = {
	.grid = &bq_iq3_s_grid, .sub_values = 32, .sigma = 2.0f, .tiny = 0x1p-149f, .steps = 9, .step = 0.2f,
	.refine = BQ_IQ_REFINE_ALL_IF_OFF, .starts_off = 1, .fudge = 1.033f,
};

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq3_search(&rule, x, importance, tables, block);
}

void bq_encode_iq3_s_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq3_s_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq3_s_format, in, nblocks, out);
}
