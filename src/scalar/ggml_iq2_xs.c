/* SPDX-License-Identifier: MIT
 * ggml_iq2_xs.c - iq2_xs, 2.3125 bits a value: points of 512, each for 8 values, with signs of even number.
 *
 *     byte 0  f16 scale
 *          2  32 times 2 bytes, each for 8 values, from bit 0: 9 bits of point, 7 of signs
 *         66  16 scales of 4 bits, each for 16 values, the first in the low half
 */
#include "ggml_iq_search.h"

#define NBYTES 74
#define GROUPS 32

/* Where the fields of a block begin. */
#define POINTS 2
#define SCALES 66

static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	(void)correct;
	bq_store16(out, block->outer);
	for (int g = 0; g < GROUPS; g++)
		bq_store16(out + POINTS + 2 * g, (uint16_t)(block->point[g] | (block->signs[g] & 127) << 9));
	for (int j = 0; j < 8; j++)
		out[SCALES + j] = (uint8_t)(block->scale[2 * j] | block->scale[2 * j + 1] << 4);
}

void bq_unpack_iq2_xs(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_load16(in);
	for (int g = 0; g < GROUPS; g++) {
		const uint16_t both = bq_load16(in + POINTS + 2 * g);

		block->point[g] = both & 511;
		block->signs[g] = bq_iq_even_signs(both >> 9);
	}
	for (int j = 0; j < 16; j++)
		block->scale[j] = in[SCALES + j / 2] >> 4 * (j % 2) & 15;
}

const struct bq_iq_format bq_iq2_xs_format = {
	.grid = &bq_iq2_xs_grid, .unpack = bq_unpack_iq2_xs, .nbytes = NBYTES, .coords = 8, .sub_values = 16,
	.values = BQ_IQ2_VALUES,
};

static const struct bq_iq_rule rule = {
	.grid = &bq_iq2_xs_grid, .sub_values = 16, .even_signs = 1, .sigma = 1.0f, .tiny = BQ_SEARCH_TINY, .steps = 9,
	.step = 0.1f, .refine = BQ_IQ_REFINE_OFF, .fudge = 1.0f, .clear = 1,
};

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq2_search(&rule, x, importance, tables, block);
}

void bq_encode_iq2_xs_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq2_xs_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq2_xs_format, in, nblocks, out);
}
