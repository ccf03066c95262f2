/* SPDX-License-Identifier: MIT
 * ggml_q2_0.c - q2_0, four blocks at a time: their scales are found in lanes, their codes block by block.
 */
#include "kernels.h"
#include "ggml_ternary.h"

#define VALUES 64
#define NBYTES 18

/* The sixteen bytes of 64 codes: within 32-bit lanes, bytes 0 to 3 hold one code each; they are moved together. */
static inline v128_t join_fours(const v128_t codes[4])
{
	const v128_t mask = bq_u32x4_splat(0x00FF00FF), low = bq_u32x4_splat(0xFF);
	v128_t byte[4];

	for (int k = 0; k < 4; k++) {
		const v128_t twos = wasm_v128_and(wasm_v128_or(codes[k], wasm_u16x8_shr(codes[k], 6)), mask);

		byte[k] = wasm_v128_and(wasm_v128_or(twos, wasm_u32x4_shr(twos, 12)), low);
	}
	return bq_u8x16_from_i32(byte);
}

static void encode_four(const float *x, uint8_t *out)
{
	const struct bq_ternary_scales scales = bq_ternary_scales_of_four(VALUES, x);

	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += VALUES, out += NBYTES) {
		const v128_t inverse = wasm_v128_load32_splat(scales.inverse + block);
		v128_t codes[4];

		for (int k = 0; k < 4; k++)
			codes[k] = bq_ternary_vector(x + 16 * k, inverse);
		bq_store16(out, (uint16_t)scales.code[block]);
		wasm_v128_store(out + 2, join_fours(codes));
		if ((scales.redo | scales.beyond) >> block & 1)
			bq_encode_q2_0_scalar(x, NULL, NULL, 1, out);
	}
}

void bq_encode_q2_0_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_q2_0_scalar(x, importance, context, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		encode_four(x + first * VALUES, out + first * NBYTES);
	}
}

static void decode_block(const uint8_t *in, float *out)
{
	const v128_t bytes = wasm_v128_load(in + 2), three = bq_u8x16_splat(3);
	const v128_t scale = wasm_f32x4_splat(bq_f32_from_f16(bq_load16(in)));
	v128_t pair[4];

	for (int k = 0; k < 4; k++)
		pair[k] = wasm_v128_and(wasm_u16x8_shr(bytes, (unsigned)(2 * k)), three);

	const v128_t low01 = wasm_i8x16_shuffle(pair[0], pair[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const v128_t low23 = wasm_i8x16_shuffle(pair[2], pair[3], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const v128_t high01 =
		wasm_i8x16_shuffle(pair[0], pair[1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	const v128_t high23 =
		wasm_i8x16_shuffle(pair[2], pair[3], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);

	bq_store_ternary_values(wasm_i16x8_shuffle(low01, low23, 0, 8, 1, 9, 2, 10, 3, 11), scale, out);
	bq_store_ternary_values(wasm_i16x8_shuffle(low01, low23, 4, 12, 5, 13, 6, 14, 7, 15), scale, out + 16);
	bq_store_ternary_values(wasm_i16x8_shuffle(high01, high23, 0, 8, 1, 9, 2, 10, 3, 11), scale, out + 32);
	bq_store_ternary_values(wasm_i16x8_shuffle(high01, high23, 4, 12, 5, 13, 6, 14, 7, 15), scale, out + 48);
}

void bq_decode_q2_0_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		if ((bq_load16(in) & 0x7C00) == 0x7C00)
			bq_decode_q2_0_scalar(in, 1, out);
		else
			decode_block(in, out);
	}
}
