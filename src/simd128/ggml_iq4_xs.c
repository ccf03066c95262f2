/* SPDX-License-Identifier: MIT
 * ggml_iq4_xs.c - iq4_xs, block by block: the search has its candidates in lanes.
 */
#include "kernels.h"
#include "ggml_iq4.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 136
#define SUB_BLOCKS 8
#define SUB_VALUES 32
#define SCALE_LEVELS 32

/* Where the fields of a block begin. */
#define SCALES 2
#define CODES 8

static void encode_block(
	const float *x, const float *importance, const struct bq_level_places *places, uint8_t *out)
{
	const float sigma = importance ? bq_sum_of_squares(VALUES, x) * (2.0f / VALUES) : 0.0f;
	float scale[SUB_BLOCKS];
	uint8_t scales[SUB_BLOCKS];

	for (int j = 0; j < SUB_BLOCKS; j++)
		scale[j] = bq_search_levels_simd128(
			x + j * SUB_VALUES, importance ? importance + j * SUB_VALUES : NULL, sigma, places);

	const float outer = -bq_largest_number(SUB_BLOCKS, scale) / SCALE_LEVELS;
	const float inverse = outer != 0.0f ? 1.0f / outer : 0.0f;

	bq_store16(out, bq_ggml_scale_code(outer));
	for (int j = 0; j < SUB_BLOCKS; j++) {
		const int32_t code =
			bq_clamp(bq_round_by_magic(inverse * scale[j]), -SCALE_LEVELS, SCALE_LEVELS - 1);

		scales[j] = (uint8_t)(code + SCALE_LEVELS);
		bq_store_levels_simd128(x + j * SUB_VALUES, outer * (float)code, out + CODES + 16 * j);
	}
	bq_pack_scales_of_iq4_xs(scales, out + SCALES);
}

void bq_encode_iq4_xs_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	struct bq_level_places places;

	(void)context;
	bq_fill_level_places(&places);
	for (size_t block = 0; block < nblocks; block++, out += NBYTES) {
		const float *values = x + block * VALUES;
		const float *weights = importance ? importance + block * VALUES : NULL;

		if (bq_all_finite_simd128(VALUES, values) && (!weights || bq_all_finite_simd128(VALUES, weights)))
			encode_block(values, weights, &places, out);
		else
			bq_store_nonfinite_block(NBYTES, 0, 1, out);
	}
}

void bq_decode_iq4_xs_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float outer = bq_f32_from_f16(bq_load16(in));
		uint8_t scales[SUB_BLOCKS];

		if ((bq_load16(in) & 0x7C00) == 0x7C00) {
			bq_decode_iq4_xs_scalar(in, 1, out);
			continue;
		}
		bq_unpack_scales_of_iq4_xs(in + SCALES, scales);
		BQ_ROLLED
		for (int j = 0; j < SUB_BLOCKS; j++)
			bq_decode_level_vectors(in + CODES + 16 * j, wasm_f32x4_splat(outer * (float)(scales[j] - SCALE_LEVELS)),
				out + j * SUB_VALUES);
	}
}
