/* SPDX-License-Identifier: MIT
 * ggml_iq1_s.c - iq1_s, 1.5625 bits a value: points of 2048, each for 8 values, with a shift for 32.
 *
 *     byte 0  f16 scale
 *          2  32 bytes: the points' lower 8 bits
 *         34  8 times 2 bytes, each for 32 values, from bit 0: 4 x 3 upper bits of points, 3 of scale, 1 of shift (1: down)
 */
#include <float.h>

#include "ggml_iq1.h"

#define NBYTES 50
#define SUB_BLOCKS 8
#define SUB_VALUES 32

/* Where the fields of a block begin. */
#define POINTS 2
#define REST 34

static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	(void)correct;
	bq_store16(out, block->outer);
	for (int j = 0; j < SUB_BLOCKS; j++) {
		unsigned rest = (unsigned)(block->scale[j] << 12 | block->signs[4 * j] << 15);

		for (int l = 0; l < 4; l++) {
			out[POINTS + 4 * j + l] = (uint8_t)block->point[4 * j + l];
			rest |= (unsigned)(block->point[4 * j + l] >> 8 << 3 * l);
		}
		bq_store16(out + REST + 2 * j, (uint16_t)rest);
	}
}

void bq_unpack_iq1_s(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_load16(in);
	for (int j = 0; j < SUB_BLOCKS; j++) {
		const unsigned rest = bq_load16(in + REST + 2 * j);

		block->scale[j] = rest >> 12 & 7;
		memset(block->signs + 4 * j, (int)(rest >> 15), 4);
		for (int l = 0; l < 4; l++)
			block->point[4 * j + l] = (uint16_t)(in[POINTS + 4 * j + l] | (rest >> 3 * l & 7) << 8);
	}
}

const struct bq_iq_format bq_iq1_s_format = {
	.grid = &bq_iq1_grid, .unpack = bq_unpack_iq1_s, .nbytes = NBYTES, .coords = 8, .sub_values = SUB_VALUES, .shifted = 1,
	.values = BQ_IQ1_VALUES,
};

/* All four groups have one shift. */
static struct bq_iq1_cut search_cut(const float *x, const float *weight, const uint8_t *order)
{
	struct bq_iq1_cut best = { .first = -1, .fit = -FLT_MAX };
	float products[SUB_VALUES + 1] = { 0 }, weights[SUB_VALUES + 1] = { 0 };

	for (int j = 0; j < SUB_VALUES; j++) {
		products[j + 1] = products[j] + weight[order[j]] * x[order[j]];
		weights[j + 1] = weights[j] + weight[order[j]];
	}
	for (int i = 0; i <= SUB_VALUES; i++)
		for (int j = i; j <= SUB_VALUES; j++)
			for (int down = 0; down < 2; down++) {
				const float *level = bq_iq1_levels[down];
				const float low = weights[i], middle = weights[j] - weights[i], high = weights[SUB_VALUES] - weights[j];

				bq_iq1_try(&best, i, j, down ? 15 : 0,
					(products[i] * level[0] + (products[j] - products[i]) * level[1]) +
						(products[SUB_VALUES] - products[j]) * level[2],
					((low * level[0]) * level[0] + (middle * level[1]) * level[1]) + (high * level[2]) * level[2]);
			}
	return best;
}

static void store_scales(const float *x, const float *importance, float sigma, const float *scale, float largest,
	const struct bq_iq_tables *tables, struct bq_iq_block *block)
{
	const float outer = largest / 15.0f;

	(void)x, (void)importance, (void)sigma, (void)tables;
	block->outer = bq_ggml_scale_code(outer * 1.125f);
	for (int j = 0; j < SUB_BLOCKS; j++)
		block->scale[j] = bq_iq_scale_code(1.0f / outer, scale[j], 7);
}

static const struct bq_iq1_rule rule = { .sub_values = SUB_VALUES, .tiny = 1e-12f, .cut = search_cut, .store = store_scales };

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq1_search(&rule, x, importance, tables, block);
}

void bq_encode_iq1_s_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq1_s_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq1_s_format, in, nblocks, out);
}
