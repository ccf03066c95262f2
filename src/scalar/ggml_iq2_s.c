/* SPDX-License-Identifier: MIT
 * ggml_iq2_s.c - iq2_s, 2.5625 bits a value: points of 1024, each for 8 values, with signs.
 *
 *     byte 0  f16 scale
 *          2  32 bytes: the points' lower 8 bits
 *         34  32 bytes of signs
 *         66  8 bytes: 4 x 2 upper bits of points
 *         74  16 scales of 4 bits, each for 16 values, the first in the low half
 */
#include "ggml_iq_search.h"

#define NBYTES 82
#define GROUPS 32

/* Where the fields of a block begin. */
#define POINTS 2
#define SIGNS 34
#define UPPER 66
#define SCALES 74

static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	(void)correct;
	memset(out, 0, NBYTES);
	bq_store16(out, block->outer);
	for (int g = 0; g < GROUPS; g++) {
		out[POINTS + g] = (uint8_t)block->point[g];
		out[SIGNS + g] = block->signs[g];
		out[UPPER + g / 4] |= (uint8_t)(block->point[g] >> 8 << 2 * (g % 4));
	}
	for (int j = 0; j < 8; j++)
		out[SCALES + j] = (uint8_t)(block->scale[2 * j] | block->scale[2 * j + 1] << 4);
}

void bq_unpack_iq2_s(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_load16(in);
	for (int g = 0; g < GROUPS; g++) {
		block->point[g] = (uint16_t)(in[POINTS + g] | (in[UPPER + g / 4] >> 2 * (g % 4) & 3) << 8);
		block->signs[g] = in[SIGNS + g];
	}
	for (int j = 0; j < 16; j++)
		block->scale[j] = in[SCALES + j / 2] >> 4 * (j % 2) & 15;
}

const struct bq_iq_format bq_iq2_s_format = {
	.grid = &bq_iq2_s_grid, .unpack = bq_unpack_iq2_s, .nbytes = NBYTES, .coords = 8, .sub_values = 16,
	.values = BQ_IQ2_VALUES,
};

static const struct bq_iq_rule rule = {
	.grid = &bq_iq2_s_grid, .sub_values = 16, .sigma = 2.0f, .plain_sigma = 0.25f, .tiny = 1e-8f, .steps = 9,
	.step = 0.1f, .refine = BQ_IQ_REFINE_OFF, .fudge = 0.9875f,
};

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq2_search(&rule, x, importance, tables, block);
}

void bq_encode_iq2_s_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq2_s_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq2_s_format, in, nblocks, out);
}
