/* SPDX-License-Identifier: MIT
 * ggml_iq2_xxs.c - iq2_xxs, 2.0625 bits a value: points of 256, each for 8 values, with signs of even number.
 *
 *     byte 0  f16 scale
 *          2  8 times 8 bytes, each for 32 values: 4 points | from bit 0 of the other 4 bytes: 4 x 7 bits of signs, 4 of scale
 */
#include "ggml_iq_search.h"

#define NBYTES 66
#define SUB_BLOCKS 8
#define SUB_NBYTES 8

static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	(void)correct;
	bq_store16(out, block->outer);
	out += 2;
	for (int j = 0; j < SUB_BLOCKS; j++, out += SUB_NBYTES) {
		uint32_t rest = (uint32_t)block->scale[j] << 28;

		for (int l = 0; l < 4; l++) {
			out[l] = (uint8_t)block->point[4 * j + l];
			rest |= (uint32_t)(block->signs[4 * j + l] & 127) << 7 * l;
		}
		bq_store32(out + 4, rest);
	}
}

void bq_unpack_iq2_xxs(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_load16(in);
	in += 2;
	for (int j = 0; j < SUB_BLOCKS; j++, in += SUB_NBYTES) {
		const uint32_t rest = bq_load32(in + 4);

		block->scale[j] = (uint8_t)(rest >> 28);
		for (int l = 0; l < 4; l++) {
			block->point[4 * j + l] = in[l];
			block->signs[4 * j + l] = bq_iq_even_signs(rest >> 7 * l & 127);
		}
	}
}

const struct bq_iq_format bq_iq2_xxs_format = {
	.grid = &bq_iq2_xxs_grid, .unpack = bq_unpack_iq2_xxs, .nbytes = NBYTES, .coords = 8, .sub_values = 32,
	.values = BQ_IQ2_VALUES,
};

static const struct bq_iq_rule rule = {
	.grid = &bq_iq2_xxs_grid, .sub_values = 32, .even_signs = 1, .sigma = 1.0f, .tiny = BQ_SEARCH_TINY,
	.start_positive = 1, .steps = 6, .step = 0.1f, .refine = BQ_IQ_REFINE_ALL, .fudge = 1.0f, .clear = 1,
};

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq2_search(&rule, x, importance, tables, block);
}

void bq_encode_iq2_xxs_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq2_xxs_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq2_xxs_format, in, nblocks, out);
}
