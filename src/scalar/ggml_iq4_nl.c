/* SPDX-License-Identifier: MIT
 * ggml_iq4_nl.c - iq4_nl: f16 scale, 16 bytes of two codes of levels; value j in the low half of byte j, value j + 16 in the
 * high half.
 *
 *     byte  0  f16 scale
 *           2  16 bytes, 2 codes a byte: value j in the low, value j + 16 in the high half of byte j
 */
#include "kernels.h"
#include "ggml_iq4.h"

#define VALUES 32
#define NBYTES 18

void bq_encode_iq4_nl_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		const float *weights = importance ? importance + block * VALUES : NULL;

		if (!bq_all_finite(VALUES, x) || (weights && !bq_all_finite(VALUES, weights))) {
			bq_store_nonfinite_block(NBYTES, 0, 1, out);
			continue;
		}

		const float scale = bq_search_levels(x, weights, bq_sum_of_squares(VALUES, x) * (2.0f / VALUES));

		bq_store16(out, bq_ggml_scale_code(scale));
		bq_store_levels(x, scale, out + 2); /* for the scale before it was rounded */
	}
}

void bq_decode_iq4_nl_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float scale = bq_f32_from_f16(bq_load16(in));

		bq_decode_levels(in + 2, scale, out);
		bq_settle_nans(scale, VALUES, out);
	}
}
