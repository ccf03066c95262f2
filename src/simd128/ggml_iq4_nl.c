/* SPDX-License-Identifier: MIT
 * ggml_iq4_nl.c - iq4_nl, block by block: the search has its candidates in lanes.
 */
#include "kernels.h"
#include "ggml_iq4.h"

#define VALUES 32
#define NBYTES 18

void bq_encode_iq4_nl_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	struct bq_level_places places;

	(void)context;
	bq_fill_level_places(&places);
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		const float *weights = importance ? importance + block * VALUES : NULL;
		const float sigma = importance ? bq_sum_of_squares(VALUES, x) * (2.0f / VALUES) : 0.0f;

		if (!bq_all_finite_simd128(VALUES, x) || (weights && !bq_all_finite_simd128(VALUES, weights))) {
			bq_store_nonfinite_block(NBYTES, 0, 1, out);
			continue;
		}

		const float scale = bq_search_levels_simd128(x, weights, sigma, &places);

		bq_store16(out, bq_ggml_scale_code(scale));
		bq_store_levels_simd128(x, scale, out + 2);
	}
}

void bq_decode_iq4_nl_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	BQ_ROLLED
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		if ((bq_load16(in) & 0x7C00) == 0x7C00)
			bq_decode_iq4_nl_scalar(in, 1, out);
		else
			bq_decode_level_vectors(in + 2, wasm_f32x4_splat(bq_f32_from_f16(bq_load16(in))), out);
	}
}
