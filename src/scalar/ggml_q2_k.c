/* SPDX-License-Identifier: MIT
 * ggml_q2_k.c - q2_K: codes of 2 bits, scales and mins of 4 bits for each 16 values, f16 scales of these.
 *
 *     byte  0  16 bytes, for 16 values each: scale in the low, min in the high half
 *          16  64 bytes, 32 for 128 values: value 32 k + l at bit 2 k of byte l
 *          80  f16 scale of the scales
 *          82  f16 scale of the mins
 */
#include "kernels.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 84
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define TOP 3
#define TOP_SCALE 15

/* Where the fields of a block begin; its scales and mins are the first: a scale in the low, a min in the high half of a
 * byte. */
#define CODES 16
#define OUTER 80
#define OUTER_MIN 82

/* What the search finds for each sub-block. */
struct found {
	float scale[SUB_BLOCKS], min[SUB_BLOCKS], weight[SUB_BLOCKS];
	uint8_t codes[VALUES];
};

static void search(const float *x, const float *importance, struct found *found)
{
	const float sigma = bq_sum_of_squares(VALUES, x) / VALUES;
	float weight[SUB_VALUES];

	for (int j = 0; j < SUB_BLOCKS; j++) {
		const float *values = x + j * SUB_VALUES;

		for (int i = 0; i < SUB_VALUES; i++)
			weight[i] = fabsf(values[i]);
		if (importance)
			found->weight[j] = bq_weigh(SUB_VALUES, values, importance + j * SUB_VALUES, sigma, weight);
		found->scale[j] = bq_search_scale_and_min(SUB_VALUES, TOP, values, weight,
			importance ? &bq_search_steps_weighted : &bq_search_steps_q2_k, found->codes + j * SUB_VALUES,
			&found->min[j]);
	}
}

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	struct found found;
	uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];
	float outer_scale, outer_min;

	search(x, importance, &found);
	if (importance) {
		outer_scale = bq_search_positive_scale(SUB_BLOCKS, TOP_SCALE, found.scale, found.weight, scales);
		outer_min = bq_search_positive_scale(SUB_BLOCKS, TOP_SCALE, found.min, found.weight, mins);
	} else {
		/* Not cut to TOP_SCALE: a negative scale's code wraps and reaches into the min's. */
		outer_scale = bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, 255, found.scale, scales);
		outer_min = bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, 255, found.min, mins);
	}
	bq_store16(out + OUTER, bq_ggml_scale_code(outer_scale));
	bq_store16(out + OUTER_MIN, bq_ggml_scale_code(outer_min));
	outer_scale = bq_f32_from_f16(bq_load16(out + OUTER));
	outer_min = bq_f32_from_f16(bq_load16(out + OUTER_MIN));

	for (int j = 0; j < SUB_BLOCKS; j++) {
		out[j] = (uint8_t)(scales[j] | mins[j] << 4);

		const float scale = outer_scale * (float)(out[j] & 15);
		const float min = outer_min * (float)(out[j] >> 4);

		if (scale == 0.0f)
			continue; /* the codes stay those of the search */
		for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
			found.codes[i] = (uint8_t)bq_clamp(bq_round_by_magic((x[i] + min) / scale), 0, TOP);
	}
	bq_pack_pairs(found.codes, out + CODES);
}

void bq_encode_q2_k_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	bq_encode_super_blocks(encode_block, NBYTES, OUTER, 2, x, importance, nblocks, out);
}

void bq_decode_q2_k_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer_scale = bq_f32_from_f16(bq_load16(in + OUTER));
		const float outer_min = bq_f32_from_f16(bq_load16(in + OUTER_MIN));
		uint8_t codes[VALUES];

		bq_unpack_pairs(in + CODES, codes);
		for (int j = 0; j < SUB_BLOCKS; j++) {
			const float scale = outer_scale * (float)(in[j] & 15);
			const float min = outer_min * (float)(in[j] >> 4);

			for (int i = j * SUB_VALUES; i < (j + 1) * SUB_VALUES; i++)
				out[i] = scale * (float)codes[i] - min;
		}
		bq_settle_nans(outer_scale - outer_min, VALUES, out);
	}
}
