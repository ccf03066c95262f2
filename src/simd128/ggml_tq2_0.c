/* SPDX-License-Identifier: MIT
 * ggml_tq2_0.c - tq2_0, four blocks at a time: their scales are found in lanes, their codes block by block.
 */
#include "kernels.h"
#include "ggml_k16.h"
#include "ggml_ternary.h"

#define VALUES 256
#define NBYTES 66
#define OUTER 64

static void encode_four(const float *x, uint8_t *out)
{
	const struct bq_ternary_scales scales = bq_ternary_scales_of_four(VALUES, x);

	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += VALUES, out += NBYTES) {
		const v128_t inverse = wasm_v128_load32_splat(scales.inverse + block);

		BQ_ROLLED
		for (int k = 0; k < 4; k++) {
			const float *values = x + 128 * (k / 2) + 16 * (k % 2);
			v128_t bits = bq_ternary_vector(values, inverse);

			/* Rolled: else all loads come first and are spilled. */
			BQ_ROLLED
			for (unsigned group = 1; group < 4; group++)
				bits = wasm_v128_or(bits, wasm_i16x8_shl(bq_ternary_vector(values + 32 * group, inverse), 2 * group));
			wasm_v128_store(out + 16 * k, bits);
		}
		bq_store16(out + OUTER, (uint16_t)scales.code[block]);
		if (scales.redo >> block & 1)
			bq_encode_tq2_0_scalar(x, NULL, NULL, 1, out);
	}
}

void bq_encode_tq2_0_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_tq2_0_scalar(x, importance, context, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		encode_four(x + first * VALUES, out + first * NBYTES);
	}
}

void bq_decode_tq2_0_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const v128_t scale = wasm_f32x4_splat(bq_f32_from_f16(bq_load16(in + OUTER)));

		if ((bq_load16(in + OUTER) & 0x7C00) == 0x7C00) {
			bq_decode_tq2_0_scalar(in, 1, out);
			continue;
		}
		BQ_ROLLED
		for (int k = 0; k < 4; k++) {
			const v128_t pairs = wasm_v128_load(in + 16 * k);
			float *const values = out + 128 * (k / 2) + 16 * (k % 2);

			for (int group = 0; group < 4; group++)
				bq_store_ternary_values(bq_pairs_of_group(pairs, group), scale, values + 32 * group);
		}
	}
}
