/* SPDX-License-Identifier: MIT
 * ggml_mxfp4.c - ggml's mxfp4, four blocks at a time: their scales are found in lanes, their codes block by block.
 */
#include "kernels.h"
#include "ggml_e2m1.h"

#define VALUES 32
#define NBYTES 17

/* bq_floor_log2f of normal numbers. */
static v128_t floor_log2f(v128_t x)
{
	const v128_t exponent = wasm_i32x4_sub(wasm_u32x4_shr(x, 23), wasm_i32x4_splat(127));
	const v128_t distance = wasm_v128_xor(exponent, wasm_i32x4_shr(exponent, 31));
	const v128_t below = wasm_i32x4_sub(wasm_i32x4_splat(0x00800000), wasm_v128_and(x, wasm_i32x4_splat(0x007FFFFF)));
	v128_t within = wasm_i32x4_splat(0);

	/* 1, 2, 5, 11, 22, 44 from these distances on. */
	within = wasm_i32x4_sub(within, wasm_i32x4_gt(distance, wasm_i32x4_splat(1)));
	within = wasm_i32x4_sub(within, wasm_i32x4_gt(distance, wasm_i32x4_splat(3)));
	within = wasm_i32x4_add(within, wasm_v128_and(wasm_i32x4_gt(distance, wasm_i32x4_splat(7)), wasm_i32x4_splat(3)));
	within = wasm_i32x4_add(within, wasm_v128_and(wasm_i32x4_gt(distance, wasm_i32x4_splat(15)), wasm_i32x4_splat(6)));
	within = wasm_i32x4_add(within, wasm_v128_and(wasm_i32x4_gt(distance, wasm_i32x4_splat(31)), wasm_i32x4_splat(11)));
	within = wasm_i32x4_add(within, wasm_v128_and(wasm_i32x4_gt(distance, wasm_i32x4_splat(63)), wasm_i32x4_splat(22)));
	return wasm_i32x4_sub(exponent, wasm_i32x4_le(below, within));
}

/* 16 codes; factor: the inverse of half the scale, a power of two, so that products are exact. The bounds between the doubled
 * values, 0.5, 1.5, 2.5, 3.5, 5, 7 and 10, all have two bits of mantissa at most. Rounding a magnitude's bits up to that many
 * leaves what is equal to a bound at it, and what is above it above: at 504, 510, 513, 515, 517, 519 and 521. */
static inline v128_t codes_of(const float *x, v128_t factor)
{
	static const uint8_t above_507[16] = { 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6 };
	const v128_t mask = bq_u32x4_splat(0x7FFFFFFF), up = bq_u32x4_splat(0x1FFFFF), first = bq_u32x4_splat(504);
	v128_t value[4], key[4];

	for (int k = 0; k < 4; k++) {
		value[k] = wasm_v128_load(x + 4 * k);

		const v128_t magnitude = wasm_v128_and(wasm_f32x4_mul(value[k], factor), mask);

		key[k] = wasm_i32x4_sub(wasm_u32x4_shr(wasm_i32x4_add(magnitude, up), 21), first);
	}

	const v128_t above = bq_u8x16_from_i32(key);
	const v128_t place = wasm_u8x16_min(wasm_u8x16_sub_sat(above, bq_u8x16_splat(3)), bq_u8x16_splat(15));
	const v128_t codes = wasm_i8x16_add(
		wasm_i8x16_swizzle(bq_u8x16_table(above_507), place), wasm_u8x16_min(above, bq_u8x16_splat(1)));

	return bq_sign_codes(codes, value);
}

static void encode_four(const float *x, const struct bq_context *context, uint8_t *out)
{
	const v128_t zero = wasm_i32x4_splat(0);
	const v128_t largest = bq_largest_magnitudes_of_four(VALUES, x);
	const v128_t some = wasm_i32x4_gt(largest, zero);
	const v128_t code = wasm_v128_and(wasm_i32x4_add(floor_log2f(largest), wasm_i32x4_splat(125)), some);
	/* From code 1 on the inverse of 2^(code - 128) is a float32. A block of zeros has the code 0. */
	const v128_t tiny = wasm_v128_and(wasm_i32x4_lt(code, wasm_i32x4_splat(1)), some);
	/* From code 253 on the distance from a code's value can be infinite, and then no code is nearer than the first. */
	const v128_t huge = wasm_i32x4_gt(code, wasm_i32x4_splat(252));
	const unsigned redo = (unsigned)wasm_i32x4_bitmask(wasm_v128_or(wasm_v128_or(tiny, huge), bq_f32x4_nonfinite(largest)));
	uint32_t scale_codes[4];
	float factors[4];

	wasm_v128_store(scale_codes, code);
	wasm_v128_store(factors, wasm_v128_and(wasm_i32x4_shl(wasm_i32x4_sub(wasm_i32x4_splat(255), code), 23), some));

	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += VALUES, out += NBYTES) {
		const v128_t factor = wasm_v128_load32_splat(factors + block);

		out[0] = (uint8_t)scale_codes[block];
		wasm_v128_store(out + 1, bq_join_nibbles(codes_of(x, factor), codes_of(x + 16, factor)));
		if (redo >> block & 1)
			bq_encode_mxfp4_scalar(x, NULL, context, 1, out);
	}
}

void bq_encode_mxfp4_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	if (nblocks < 4) {
		bq_encode_mxfp4_scalar(x, importance, context, nblocks, out);
		return;
	}
	for (size_t block = 0; block < nblocks; block += 4) {
		const size_t first = block < nblocks - 4 ? block : nblocks - 4; /* the last four overlap: same bytes again */

		encode_four(x + first * VALUES, context, out + first * NBYTES);
	}
}

void bq_decode_mxfp4_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	BQ_ROLLED
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		/* 2^(code - 128) */
		const v128_t step = wasm_i32x4_splat((int32_t)(in[0] < 2 ? 0x00200000u << in[0] : (in[0] - 1u) << 23));
		const v128_t bytes = wasm_v128_load(in + 1);
		v128_t low[4], high[4];

		bq_f32x16_from_e2m1(bq_low_nibbles(bytes), low);
		bq_f32x16_from_e2m1(bq_high_nibbles(bytes), high);
		for (int k = 0; k < 4; k++) {
			wasm_v128_store(out + 4 * k, wasm_f32x4_mul(low[k], step));
			wasm_v128_store(out + 16 + 4 * k, wasm_f32x4_mul(high[k], step));
		}
	}
}
