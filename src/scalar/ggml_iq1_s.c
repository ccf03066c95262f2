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

/* The cut with the best fit; its shift is 0 for up, 1 for down. first is -1 if all weights are 0. */
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

				bq_iq1_try(&best, i, j, down,
					(products[i] * level[0] + (products[j] - products[i]) * level[1]) +
						(products[SUB_VALUES] - products[j]) * level[2],
					((low * level[0]) * level[0] + (middle * level[1]) * level[1]) + (high * level[2]) * level[2]);
			}
	return best;
}

static int search(const float *x, const float *importance, const void *buffer, struct bq_iq_block *block)
{
	const struct bq_iq_tables tables = bq_iq_tables_in(&bq_iq1_grid, buffer);
	const float sigma = 2.0f * bq_sum_of_squares(BQ_IQ_VALUES, x) / BQ_IQ_VALUES;
	float scale[SUB_BLOCKS] = { 0 }, largest = 0.0f;

	if (!isfinite(sigma))
		return 0;
	for (int j = 0; j < SUB_BLOCKS; j++, x += SUB_VALUES, importance += SUB_VALUES) {
		float weight[SUB_VALUES];
		uint8_t order[SUB_VALUES], level[SUB_VALUES];

		if (bq_iq1_largest(SUB_VALUES, x) < 1e-12f)
			continue;
		bq_weigh(SUB_VALUES, x, importance, sigma, weight);
		bq_iq1_sort(SUB_VALUES, x, order);

		struct bq_iq1_cut cut = search_cut(x, weight, order);

		if (cut.first < 0)
			continue;
		bq_iq1_cut_levels(SUB_VALUES, order, 1, &cut, level);
		if (!bq_iq1_to_grid(SUB_VALUES, &tables, x, weight,
			    (int[]){ cut.shifts, cut.shifts, cut.shifts, cut.shifts }, level, &cut.scale, block->point + 4 * j))
			return 0;
		scale[j] = cut.scale;
		largest = largest > cut.scale ? largest : cut.scale;
		memset(block->signs + 4 * j, cut.shifts, 4);
	}
	if (largest == 0.0f) {
		memset(block->signs, 0, sizeof(block->signs));
		return 1;
	}

	const float outer = largest / 15.0f;

	block->outer = bq_ggml_scale_code(outer * 1.125f);
	for (int j = 0; j < SUB_BLOCKS; j++)
		block->scale[j] = bq_iq_scale_code(1.0f / outer, scale[j], 7);
	return 1;
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
