/* SPDX-License-Identifier: MIT
 * ggml_q4_k.c - q4_K: 8 sub-blocks of 32 values, each with a scale and a min of 6 bits; f16 scales of these two.
 */
#include <math.h>

#include "kernels.h"
#include "ggml_search.h"

#define VALUES 256
#define NBYTES 144
#define SUB_BLOCKS 8
#define SUB_VALUES 32
#define TOP 15       /* of the codes */
#define TOP_SCALE 63 /* of the scales' and mins' codes */

/* What the search finds for each sub-block. */
struct found {
	float scale[SUB_BLOCKS], min[SUB_BLOCKS], weight[SUB_BLOCKS];
	uint8_t codes[VALUES];
};

static void search_plain(const float *x, struct found *found)
{
	float weight[SUB_VALUES];

	for (int j = 0; j < SUB_BLOCKS; j++, x += SUB_VALUES) {
		const float typical = sqrtf(bq_sum_of_squares(SUB_VALUES, x) / SUB_VALUES);

		for (int i = 0; i < SUB_VALUES; i++)
			weight[i] = typical + fabsf(x[i]);
		found->scale[j] = bq_search_scale_and_min(
			SUB_VALUES, TOP, x, weight, &bq_search_steps_q4_k, found->codes + j * SUB_VALUES, &found->min[j]);
	}
}

static void search_weighted(const float *x, const float *importance, struct found *found)
{
	const float sigma = (2.0f * bq_sum_of_squares(VALUES, x)) / VALUES;
	float weight[SUB_VALUES];

	for (int j = 0; j < SUB_BLOCKS; j++, x += SUB_VALUES, importance += SUB_VALUES) {
		found->weight[j] = bq_weigh(SUB_VALUES, x, importance, sigma, weight);
		found->scale[j] = bq_search_scale_and_min(
			SUB_VALUES, TOP, x, weight, &bq_search_steps_weighted, found->codes + j * SUB_VALUES, &found->min[j]);
	}
}

/* The codes for the scales as stored. Where a scale became 0 the codes stay those of the search. */
static void round_to_stored_scales(const float *x, const uint8_t *block, uint8_t *codes)
{
	const float outer_scale = bq_f32_from_f16(bq_load16(block));
	const float outer_min = bq_f32_from_f16(bq_load16(block + 2));
	uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];

	bq_unpack_scales_and_mins(block + 4, scales, mins);
	for (int j = 0; j < SUB_BLOCKS; j++) {
		const float scale = outer_scale * (float)scales[j];
		const float min = outer_min * (float)mins[j];

		if (scale == 0.0f)
			continue;
		for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
			codes[i] = (uint8_t)bq_clamp(bq_round_by_magic((x[i] + min) / scale), 0, TOP);
	}
}

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	struct found found;
	uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];
	float outer_scale, outer_min;

	if (importance) {
		search_weighted(x, importance, &found);
		outer_scale = bq_search_positive_scale(SUB_BLOCKS, TOP_SCALE, found.scale, found.weight, scales);
		outer_min = bq_search_positive_scale(SUB_BLOCKS, TOP_SCALE, found.min, found.weight, mins);
	} else {
		search_plain(x, &found);
		outer_scale = bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, found.scale, scales);
		outer_min = bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, found.min, mins);
	}
	bq_store16(out, bq_ggml_scale_code(outer_scale));
	bq_store16(out + 2, bq_ggml_scale_code(outer_min));
	bq_pack_scales_and_mins(scales, mins, out + 4);
	round_to_stored_scales(x, out, found.codes);

	for (int i = 0; i < VALUES / 2; i++) {
		const int low = i / SUB_VALUES * 2 * SUB_VALUES + i % SUB_VALUES;

		out[16 + i] = (uint8_t)(found.codes[low] | found.codes[low + SUB_VALUES] << 4);
	}
}

/* The reference leaves such a block to chance: NaNs would survive or not, depending on where they stand. */
static void encode_nonfinite_block(uint8_t *out)
{
	memset(out, 0, NBYTES);
	bq_store16(out, 0x7E00);
	bq_store16(out + 2, 0x7E00);
}

void bq_encode_q4_k_scalar(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	(void)row_sigma;
	for (size_t block = 0; block < nblocks; block++, out += NBYTES) {
		const float *values = x + block * VALUES;
		const float *weights = importance ? importance + block * VALUES : NULL;

		if (bq_all_finite(VALUES, values) && (!weights || bq_all_finite(VALUES, weights)))
			encode_block(values, weights, out);
		else
			encode_nonfinite_block(out);
	}
}

void bq_decode_q4_k_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer_scale = bq_f32_from_f16(bq_load16(in));
		const float outer_min = bq_f32_from_f16(bq_load16(in + 2));
		uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];

		bq_unpack_scales_and_mins(in + 4, scales, mins);
		for (int i = 0; i < VALUES; i++) {
			const int j = i / SUB_VALUES;
			const uint8_t byte = in[16 + j / 2 * SUB_VALUES + i % SUB_VALUES];
			const int code = j % 2 ? byte >> 4 : byte & 15;

			out[i] = bq_ggml_decoded((outer_scale * (float)scales[j]) * (float)code - outer_min * (float)mins[j]);
		}
	}
}
