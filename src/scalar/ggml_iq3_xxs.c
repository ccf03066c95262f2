/* SPDX-License-Identifier: MIT
 * ggml_iq3_xxs.c - iq3_xxs, 3.0625 bits a value: points of 256, each for 4 values, with signs of even number for 8.
 *
 *     byte 0  f16 scale
 *          2  64 points
 *         66  8 times 4 bytes, each for 32 values, from bit 0: 4 x 7 bits of signs, 4 of scale
 */
#include "ggml_iq_search.h"

#define NBYTES 98
#define SUB_BLOCKS 8
#define GROUPS 64

/* Where the fields of a block begin. */
#define POINTS 2
#define REST 66

static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	(void)correct;
	bq_store16(out, block->outer);
	for (int g = 0; g < GROUPS; g++)
		out[POINTS + g] = (uint8_t)block->point[g];
	for (int j = 0; j < SUB_BLOCKS; j++) {
		uint32_t rest = (uint32_t)block->scale[j] << 28;

		for (int l = 0; l < 4; l++)
			rest |= (uint32_t)(block->signs[4 * j + l] & 127) << 7 * l;
		bq_store32(out + REST + 4 * j, rest);
	}
}

void bq_unpack_iq3_xxs(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_load16(in);
	for (int g = 0; g < GROUPS; g++)
		block->point[g] = in[POINTS + g];
	for (int j = 0; j < SUB_BLOCKS; j++) {
		const uint32_t rest = bq_load32(in + REST + 4 * j);

		block->scale[j] = (uint8_t)(rest >> 28);
		for (int l = 0; l < 4; l++)
			block->signs[4 * j + l] = bq_iq_even_signs(rest >> 7 * l & 127);
	}
}

const struct bq_iq_format bq_iq3_xxs_format = {
	.grid = &bq_iq3_xxs_grid, .unpack = bq_unpack_iq3_xxs, .nbytes = NBYTES, .coords = 4, .sub_values = 32,
	.values = BQ_IQ3_XXS_VALUES,
};

static const struct bq_iq_rule rule = {
	.grid = &bq_iq3_xxs_grid, .sub_values = 32, .even_signs = 1, .sigma = 2.0f, .tiny = 1e-8f, .steps = 15,
	.step = 0.2f, .refine = BQ_IQ_REFINE_OFF, .fudge = 1.0125f, .clear = 1,
};

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq3_search(&rule, x, importance, tables, block);
}

void bq_encode_iq3_xxs_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq3_xxs_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq3_xxs_format, in, nblocks, out);
}
