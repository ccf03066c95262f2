/* SPDX-License-Identifier: MIT
 * ggml_q1_0.c - q1_0, four blocks at a time: their magnitudes are added in lanes, their signs taken 16 at a time.
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 128
#define NBYTES 18

static v128_t sums_of_magnitudes(const float *x)
{
	v128_t sum = wasm_f32x4_splat(0.0f);

	BQ_ROLLED
	for (int i = 0; i < VALUES; i += 4) {
		v128_t value[4];

		for (int block = 0; block < 4; block++)
			value[block] = wasm_v128_load(x + VALUES * block + i);
		bq_transpose(value);
		for (int k = 0; k < 4; k++)
			sum = wasm_f32x4_add(sum, wasm_f32x4_abs(value[k]));
	}
	return sum;
}

/* A bit for each of 16 values that is not negative. */
static inline uint16_t bits_of(const float *x)
{
	const v128_t zero = wasm_f32x4_splat(0.0f);
	v128_t positive[4];

	for (int k = 0; k < 4; k++)
		positive[k] = wasm_f32x4_ge(wasm_v128_load(x + 4 * k), zero);
	return (uint16_t)wasm_i8x16_bitmask(
		wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(positive[0], positive[1]),
			wasm_i16x8_narrow_i32x4(positive[2], positive[3])));
}

static void encode_four(const float *x, uint8_t *out)
{
	const v128_t sum = sums_of_magnitudes(x);
	const unsigned redo = (unsigned)wasm_i32x4_bitmask(bq_f32x4_nonfinite(sum));
	uint32_t scale_codes[4];

	wasm_v128_store(scale_codes, bq_ggml_scale_codes(wasm_f32x4_mul(sum, wasm_f32x4_splat(1.0f / VALUES))));
	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += VALUES, out += NBYTES) {
		bq_store16(out, (uint16_t)scale_codes[block]);
		for (int k = 0; k < VALUES / 16; k++)
			bq_store16(out + 2 + 2 * k, bits_of(x + 16 * k));
		if (redo >> block & 1)
			bq_encode_q1_0_scalar(x, NULL, 0.0f, 1, out);
	}
}

void bq_encode_q1_0_simd128(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_q1_0_scalar(x, importance, row_sigma, nblocks, out);
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
