/* SPDX-License-Identifier: MIT
 * ggml_iq1_m.c - iq1_m, 1.75 bits a value: points of 2048, each for 8 values, with a shift.
 *
 *     byte 0  32 bytes: the points' lower 8 bits
 *         32  32 halves of bytes, each for 8 values, from bit 0: 3 upper bits of point, 1 of shift (1: down)
 *         48  4 times 2 bytes, each for 64 values, from bit 0: 4 x 3 bits of scale for 16, 4 of the f16 scale, its lowest first
 */
#include <float.h>

#include "ggml_iq1.h"

#define NBYTES 56
#define SUB_BLOCKS 16
#define SUB_VALUES 16

/* Where the fields of a block begin. */
#define UPPER 32
#define SCALES 48

static void pack(const struct bq_iq_block *block, int correct, uint8_t *out)
{
	(void)correct;
	for (int g = 0; g < 2 * SUB_BLOCKS; g++)
		out[g] = (uint8_t)block->point[g];
	for (int j = 0; j < SUB_BLOCKS; j++)
		out[UPPER + j] = (uint8_t)(block->point[2 * j] >> 8 | block->signs[2 * j] << 3 |
			block->point[2 * j + 1] >> 8 << 4 | block->signs[2 * j + 1] << 7);
	for (int k = 0; k < 4; k++) {
		unsigned scales = (unsigned)(block->outer >> 4 * k & 15) << 12;

		for (int l = 0; l < 4; l++)
			scales |= (unsigned)block->scale[4 * k + l] << 3 * l;
		bq_store16(out + SCALES + 2 * k, (uint16_t)scales);
	}
}

uint16_t bq_outer_of_iq1_m(const uint8_t *in)
{
	unsigned outer = 0;

	for (int k = 0; k < 4; k++)
		outer |= (unsigned)(bq_load16(in + SCALES + 2 * k) >> 12) << 4 * k;
	return (uint16_t)outer;
}

void bq_unpack_iq1_m(const uint8_t *in, struct bq_iq_block *block)
{
	block->outer = bq_outer_of_iq1_m(in);
	for (int j = 0; j < SUB_BLOCKS; j++) {
		const unsigned rest = in[UPPER + j];

		block->point[2 * j] = (uint16_t)(in[2 * j] | (rest & 7) << 8);
		block->point[2 * j + 1] = (uint16_t)(in[2 * j + 1] | (rest >> 4 & 7) << 8);
		block->signs[2 * j] = rest >> 3 & 1;
		block->signs[2 * j + 1] = (uint8_t)(rest >> 7);
	}
	for (int j = 0; j < SUB_BLOCKS; j++)
		block->scale[j] = bq_load16(in + SCALES + j / 4 * 2) >> 3 * (j % 4) & 7;
}

const struct bq_iq_format bq_iq1_m_format = {
	.grid = &bq_iq1_grid, .unpack = bq_unpack_iq1_m, .nbytes = NBYTES, .coords = 8, .sub_values = SUB_VALUES, .shifted = 1,
	.values = BQ_IQ1_VALUES,
};

/* Sums over one group's values among the first of the order. */
struct sums {
	float product[SUB_VALUES + 1], weight[SUB_VALUES + 1];
};

/* The sums of a group's products and squares for a cut and a shift, in the reference's way (llama.cpp 0.5): the whole at the
 * highest level, less one step for each value below the first cut and below the second. */
static float product_of(const struct sums *sums, const float *level, int i, int j)
{
	return sums->product[SUB_VALUES] * level[2] - (sums->product[i] + sums->product[j]);
}

static float square_of(const struct sums *sums, const float *level, int i, int j)
{
	const float low = level[0] * level[0] - level[1] * level[1], high = level[1] * level[1] - level[2] * level[2];

	return ((sums->weight[SUB_VALUES] * level[2]) * level[2] + sums->weight[i] * low) + sums->weight[j] * high;
}

static struct bq_iq1_cut search_cut(const float *x, const float *weight, const uint8_t *order)
{
	struct bq_iq1_cut best = { .first = -1, .fit = -FLT_MAX };
	struct sums sums[2] = { 0 };

	for (int j = 0; j < SUB_VALUES; j++)
		for (int group = 0; group < 2; group++) {
			const int here = order[j] / 8 == group;

			sums[group].product[j + 1] = sums[group].product[j] + (here ? weight[order[j]] * x[order[j]] : 0.0f);
			sums[group].weight[j + 1] = sums[group].weight[j] + (here ? weight[order[j]] : 0.0f);
		}
	for (int i = 0; i <= SUB_VALUES; i++)
		for (int j = i; j <= SUB_VALUES; j++) {
			float product[2][2], square[2][2];

			for (int group = 0; group < 2; group++)
				for (int down = 0; down < 2; down++) {
					product[group][down] = product_of(&sums[group], bq_iq1_levels[down], i, j);
					square[group][down] = square_of(&sums[group], bq_iq1_levels[down], i, j);
				}
			for (int shifts = 0; shifts < 4; shifts++)
				bq_iq1_try(&best, i, j, shifts, product[0][shifts >> 1] + product[1][shifts & 1],
					square[0][shifts >> 1] + square[1][shifts & 1]);
		}
	return best;
}

/* The scale's codes, then the outer scale that fits best to all values. Sub-blocks of zeros take part, as what they are
 * decoded to: point 0, shifted up. */
static void store_scales(const float *x, const float *importance, float sigma, const float *scale, float largest,
	const struct bq_iq_tables *tables, struct bq_iq_block *block)
{
	float outer = largest / 15.0f, product = 0.0f, square = 0.0f;
	const float inverse = 1.0f / outer;

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const float *values = x + SUB_VALUES * j;
		float weight[SUB_VALUES];

		block->scale[j] = bq_iq_scale_code(inverse, scale[j], 7);
		bq_iq1_weigh(SUB_VALUES, values, importance ? importance + SUB_VALUES * j : NULL, sigma, weight);
		for (int i = 0; i < SUB_VALUES; i++) {
			const int group = 2 * j + i / 8;
			const uint8_t level = tables->points[8 * block->point[group] + i % 8];
			const float q = bq_iq1_levels[block->signs[group]][level] * (float)(2 * block->scale[j] + 1);

			product += (weight[i] * q) * values[i];
			square += (weight[i] * q) * q;
		}
	}
	if (square > 0.0f)
		outer = product / square;
	block->outer = bq_ggml_scale_code(outer * 1.1125f);
}

static const struct bq_iq1_rule rule = { .sub_values = SUB_VALUES, .tiny = 1e-7f, .cut = search_cut, .store = store_scales };

static int search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block)
{
	return bq_iq1_search(&rule, x, importance, tables, block);
}

void bq_encode_iq1_m_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	bq_iq_encode(NBYTES, search, pack, x, importance, context, nblocks, out);
}

void bq_decode_iq1_m_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	bq_iq_decode(&bq_iq1_m_format, in, nblocks, out);
}
