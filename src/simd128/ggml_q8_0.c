/* SPDX-License-Identifier: MIT
 * ggml_q8_0.c - q8_0, four blocks at a time: their scales are found and converted in one vector.
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 32
#define NBYTES 34

static void encode_four(const float *x, uint8_t *out)
{
	/* trunc(x + copysign(0.49999997, x)) is roundf(x) for |x| < 2^22: with 0.5 the sum would round 0.49999997 up to 1. */
	const v128_t below_half = bq_f32x4_splat(0.49999997f);
	const v128_t sign = bq_u32x4_splat(0x80000000);
	const v128_t largest = bq_largest_magnitudes_of_four(VALUES, x);
	const v128_t scale = wasm_f32x4_div(largest, wasm_f32x4_splat(127.0f));
	const v128_t quotient = wasm_f32x4_div(wasm_f32x4_splat(1.0f), scale);
	/* A scale of 0 has the inverse 0; an infinite inverse gives the codes 0, as 0 does. */
	const v128_t inverse = wasm_v128_andnot(quotient, bq_f32x4_nonfinite(quotient));
	float inverses[4];
	uint32_t scale_codes[4];

	wasm_v128_store(inverses, inverse);
	wasm_v128_store(scale_codes, bq_ggml_scale_codes(scale));

	BQ_ROLLED
	for (int block = 0; block < 4; block++) {
		const v128_t factor = wasm_v128_load32_splat(inverses + block);

		for (int half = 0; half < 2; half++) {
			v128_t code[4];

			for (int k = 0; k < 4; k++) {
				const v128_t value = wasm_f32x4_mul(wasm_v128_load(x + VALUES * block + 16 * half + 4 * k), factor);
				const v128_t away = wasm_v128_or(wasm_v128_and(value, sign), below_half);

				code[k] = bq_i32x4_rounded(wasm_f32x4_trunc(wasm_f32x4_add(value, away)), 0);
			}
			wasm_v128_store(out + NBYTES * block + 2 + 16 * half,
				wasm_i8x16_narrow_i16x8(
					wasm_i16x8_narrow_i32x4(code[0], code[1]), wasm_i16x8_narrow_i32x4(code[2], code[3])));
		}
		bq_store16(out + NBYTES * block, (uint16_t)scale_codes[block]);
	}

	const v128_t nonfinite = bq_f32x4_nonfinite(largest);

	if (wasm_v128_any_true(nonfinite))
		for (int block = 0; block < 4; block++)
			if (wasm_i32x4_bitmask(nonfinite) >> block & 1)
				bq_encode_q8_0_scalar(x + VALUES * block, NULL, NULL, 1, out + NBYTES * block);
}

void bq_encode_q8_0_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_q8_0_scalar(x, importance, context, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		encode_four(x + first * VALUES, out + first * NBYTES);
	}
}

static void decode_four(const uint8_t *in, float *out)
{
	const v128_t scale_codes = bq_scale_codes_of_four(in, NBYTES);
	float scales[4];

	if (bq_any_nonfinite_code(scale_codes)) {
		bq_decode_q8_0_scalar(in, 4, out);
		return;
	}
	wasm_v128_store(scales, bq_f32x4_from_f16(scale_codes));

	BQ_ROLLED
	for (int block = 0; block < 4; block++, in += NBYTES, out += VALUES) {
		const v128_t scale = wasm_v128_load32_splat(scales + block);

		for (int half = 0; half < 2; half++) {
			v128_t code[4];

			bq_f32x16_from_bytes(wasm_v128_xor(wasm_v128_load(in + 2 + 16 * half), bq_u8x16_splat(128)), -128, code);
			for (int k = 0; k < 4; k++)
				wasm_v128_store(out + 16 * half + 4 * k, wasm_f32x4_mul(code[k], scale));
		}
	}
}

void bq_decode_q8_0_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	if (nblocks < 4) {
		bq_decode_q8_0_scalar(in, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same floats again */

		decode_four(in + first * NBYTES, out + first * VALUES);
	}
}
