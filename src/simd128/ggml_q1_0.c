/* SPDX-License-Identifier: MIT
 * ggml_q1_0.c - q1_0, four blocks at a time: their magnitudes are added in lanes.
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 128
#define NBYTES 18

/* Bits of 32 values of each of four blocks, and their magnitudes to the sums. Both in one loop: the additions wait for one
 * another. */
static inline v128_t encode_part(const float *x, v128_t sum, uint8_t *out)
{
	const v128_t zero = wasm_f32x4_splat(0.0f);
	uint32_t bits[4] = { 0, 0, 0, 0 };

	BQ_ROLLED
	for (int i = 0; i < 32; i += 4) {
		v128_t value[4];

		for (int block = 0; block < 4; block++) {
			value[block] = wasm_v128_load(x + VALUES * block + i);
			bits[block] |= (uint32_t)wasm_i32x4_bitmask(wasm_f32x4_ge(value[block], zero)) << i;
		}
		bq_transpose(value);
		for (int k = 0; k < 4; k++)
			sum = wasm_f32x4_add(sum, wasm_f32x4_abs(value[k]));
	}
	for (int block = 0; block < 4; block++)
		bq_store32(out + NBYTES * block, bits[block]);
	return sum;
}

static void encode_four(const float *x, uint8_t *out)
{
	v128_t sum = wasm_f32x4_splat(0.0f);
	uint32_t scale_codes[4];

	BQ_ROLLED
	for (int part = 0; part < VALUES / 32; part++)
		sum = encode_part(x + 32 * part, sum, out + 2 + 4 * part);

	const unsigned redo = (unsigned)wasm_i32x4_bitmask(bq_f32x4_nonfinite(sum));

	wasm_v128_store(scale_codes, bq_ggml_scale_codes(wasm_f32x4_mul(sum, wasm_f32x4_splat(1.0f / VALUES))));
	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += VALUES, out += NBYTES) {
		bq_store16(out, (uint16_t)scale_codes[block]);
		if (redo >> block & 1)
			bq_encode_q1_0_scalar(x, NULL, NULL, 1, out);
	}
}

void bq_encode_q1_0_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_q1_0_scalar(x, importance, context, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		encode_four(x + first * VALUES, out + first * NBYTES);
	}
}

void bq_decode_q1_0_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	const v128_t low = wasm_i32x4_make(1, 2, 4, 8), high = wasm_i32x4_make(16, 32, 64, 128);

	for (size_t block = 0; block < nblocks; block++, in += NBYTES) {
		const v128_t scale = wasm_f32x4_splat(bq_f32_from_f16(bq_load16(in)));
		const v128_t negative = wasm_f32x4_neg(scale);

		if ((bq_load16(in) & 0x7C00) == 0x7C00) {
			bq_decode_q1_0_scalar(in, 1, out);
			out += VALUES;
			continue;
		}
		BQ_ROLLED
		for (int b = 2; b < NBYTES; b++, out += 8) {
			const v128_t byte = wasm_i32x4_splat(in[b]);

			wasm_v128_store(
				out, wasm_v128_bitselect(scale, negative, wasm_i32x4_eq(wasm_v128_and(byte, low), low)));
			wasm_v128_store(
				out + 4, wasm_v128_bitselect(scale, negative, wasm_i32x4_eq(wasm_v128_and(byte, high), high)));
		}
	}
}
