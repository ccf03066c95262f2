/* SPDX-License-Identifier: MIT
 * ggml_tq1_0.c - tq1_0, four blocks at a time: their scales are found in lanes, their codes block by block.
 */
#include "kernels.h"
#include "ggml_ternary.h"

#define VALUES 256
#define NBYTES 54
#define OUTER 52

/* Numbers of trits, most significant first, as fractions of 256, rounded up: ceil(256 q / 243) = q + ceil(13 q / 243), and
 * (13 q + 242) / 243 = (13 q + 242) * 4316 >> 20 for each q below 243. */
static inline v128_t fractions_of(v128_t numbers)
{
	const v128_t thirteen = wasm_i16x8_splat(13), up = wasm_i16x8_splat(242), inverse = wasm_i16x8_splat(4316);
	v128_t part[2], quotient[4];

	part[0] = wasm_u16x8_extend_low_u8x16(numbers);
	part[1] = wasm_u16x8_extend_high_u8x16(numbers);
	for (int k = 0; k < 2; k++) {
		const v128_t scaled = wasm_i16x8_add(wasm_i16x8_mul(part[k], thirteen), up);

		quotient[2 * k] = wasm_u32x4_shr(wasm_u32x4_extmul_low_u16x8(scaled, inverse), 20);
		quotient[2 * k + 1] = wasm_u32x4_shr(wasm_u32x4_extmul_high_u16x8(scaled, inverse), 20);
	}
	return wasm_i8x16_add(numbers, bq_u8x16_from_i32(quotient));
}

/* 16 bytes from 5 times 16 codes. Bytes stay below 243, so that 16-bit products do not reach the next one. */
static inline v128_t pack_fives(const float *x, int stride, v128_t inverse)
{
	v128_t number = bq_ternary_vector(x, inverse);

	BQ_ROLLED
	for (int n = 1; n < 5; n++)
		number = wasm_i8x16_add(
			wasm_i16x8_mul(number, wasm_i16x8_splat(3)), bq_ternary_vector(x + n * stride, inverse));
	return fractions_of(number);
}

/* The last 4 bytes, from 4 times 4 codes. */
static inline uint32_t pack_fours(const float *x, v128_t inverse)
{
	uint8_t codes[16];
	uint32_t bytes = 0;

	wasm_v128_store(codes, bq_ternary_vector(x, inverse));
	for (int b = 0; b < 4; b++)
		bytes |= (uint32_t)bq_pack_trits_of_byte(codes + b, 4, 4) << 8 * b;
	return bytes;
}

static void encode_four(const float *x, uint8_t *out)
{
	const struct bq_ternary_scales scales = bq_ternary_scales_of_four(VALUES, x);

	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += VALUES, out += NBYTES) {
		const v128_t inverse = wasm_v128_load32_splat(scales.inverse + block);

		wasm_v128_store(out, pack_fives(x, 32, inverse));
		wasm_v128_store(out + 16, pack_fives(x + 16, 32, inverse));
		wasm_v128_store(out + 32, pack_fives(x + 160, 16, inverse));
		bq_store32(out + 48, pack_fours(x + 240, inverse));
		bq_store16(out + OUTER, (uint16_t)scales.code[block]);
		if (scales.redo >> block & 1)
			bq_encode_tq1_0_scalar(x, NULL, NULL, 1, out);
	}
}

void bq_encode_tq1_0_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_tq1_0_scalar(x, importance, context, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		encode_four(x + first * VALUES, out + first * NBYTES);
	}
}

/* The first trits of 16 bytes; the bytes lose them. 3 * byte >> 8 is 1 from 86, 2 from 171 on. */
static inline v128_t take_trits(v128_t *bytes)
{
	const v128_t one = wasm_u8x16_gt(*bytes, bq_u8x16_splat(85)), two = wasm_u8x16_gt(*bytes, bq_u8x16_splat(170));

	/* bq_opaque: LLVM 14 makes scalar code of b + b + b, for want of i8x16.mul. */
	*bytes = wasm_i8x16_add(bq_opaque(wasm_i8x16_add(*bytes, *bytes)), *bytes);
	return wasm_i8x16_neg(wasm_i8x16_add(one, two));
}

static void decode_block(const uint8_t *in, float *out)
{
	const v128_t scale = wasm_f32x4_splat(bq_f32_from_f16(bq_load16(in + OUTER)));
	v128_t bytes[4], fours[4];

	for (int k = 0; k < 3; k++)
		bytes[k] = wasm_v128_load(in + 16 * k);
	bytes[3] = wasm_v128_load32_zero(in + 48);
	BQ_ROLLED
	for (int n = 0; n < 5; n++) {
		bq_store_ternary_values(take_trits(&bytes[0]), scale, out + 32 * n);
		bq_store_ternary_values(take_trits(&bytes[1]), scale, out + 32 * n + 16);
		bq_store_ternary_values(take_trits(&bytes[2]), scale, out + 160 + 16 * n);
	}
	for (int n = 0; n < 4; n++)
		fours[n] = take_trits(&bytes[3]);
	fours[0] = wasm_i32x4_shuffle(fours[0], fours[1], 0, 4, 0, 4);
	fours[2] = wasm_i32x4_shuffle(fours[2], fours[3], 0, 4, 0, 4);
	bq_store_ternary_values(wasm_i64x2_shuffle(fours[0], fours[2], 0, 2), scale, out + 240);
}

void bq_decode_tq1_0_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		if ((bq_load16(in + OUTER) & 0x7C00) == 0x7C00)
			bq_decode_tq1_0_scalar(in, 1, out);
		else
			decode_block(in, out);
	}
}
