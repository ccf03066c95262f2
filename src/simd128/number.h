/* SPDX-License-Identifier: MIT
 * number.h - the conversions of src/number.h on four lanes in a register; codes stand in 32-bit lanes.
 *
 * Same bits as the scalar ones for every input (compared on all 2^32). Float arithmetic sees finite lanes only: NaN and
 * infinity are put in by integer operations, since wasm leaves open the bits of an arithmetic NaN.
 */
#ifndef BQ_SIMD128_NUMBER_H
#define BQ_SIMD128_NUMBER_H

#include "../kernels.h"
#include "../number.h"
#include "simd.h"

/* 0, but the compiler cannot know: the table is constant and another file's (no numbers are of dtype BQ_NONE). What it
 * is added to is computed before a loop and stays in a register. Plain constants become v128.const, which V8 13.6
 * builds anew on each use: f8e4m3 encode ran at 2.0e9 values/s with them, at 4.0e9 so (V8 11.3: 3.6e9 and 4.0e9;
 * LLVM 14, 16384 values). */
static inline uint32_t bq_unknown_zero(void)
{
	return (uint32_t)(uintptr_t)bq_kernels_simd128.to_f32[BQ_NONE];
}

static inline v128_t bq_u32x4_splat(uint32_t value)
{
	return wasm_i32x4_splat((int32_t)(value + bq_unknown_zero()));
}

static inline v128_t bq_f32x4_splat(float value)
{
	return bq_u32x4_splat(bq_bits(value));
}

static inline v128_t bq_u16x8_splat(uint16_t value)
{
	return wasm_i16x8_splat((int16_t)(value + bq_unknown_zero()));
}

static inline v128_t bq_u8x16_splat(uint8_t value)
{
	return wasm_i8x16_splat((int8_t)(value + bq_unknown_zero()));
}

static inline v128_t bq_u8x16_table(const uint8_t table[16])
{
	return wasm_v128_load(table + bq_unknown_zero());
}

static inline v128_t bq_f32x4_magnitude(v128_t x)
{
	return wasm_v128_and(x, bq_u32x4_splat(0x7FFFFFFF));
}

/* Lanes that are NaN or infinite, all ones. */
static inline v128_t bq_f32x4_nonfinite(v128_t x)
{
	return wasm_i32x4_gt(bq_f32x4_magnitude(x), bq_u32x4_splat(0x7F7FFFFF));
}

/* Lanes of less than 2^22 in magnitude as the nearest integers, ties to even, with offset added: 1.5 * 2^23, which is 0x4B400000,
 * leaves an integer in the low bits. */
static inline v128_t bq_i32x4_rounded(v128_t x, int offset)
{
	return wasm_i32x4_sub(wasm_f32x4_add(x, bq_f32x4_splat(0x1.8p23f)), bq_u32x4_splat(0x4B400000 - (uint32_t)offset));
}

/* All ones in the lanes that are NaN. */
static inline v128_t bq_f32x4_is_nan(v128_t x)
{
	return wasm_f32x4_ne(x, x);
}

/* What bq_nearest_code computes, for finite magnitudes whose exponent leaves room for drop more. Adding 2^drop times
 * the power of two at or below the value rounds off the last drop bits, half to even, and leaves a sum whose low bits
 * count the format's steps; below the format's least normal value the step is fixed, so the power of two is too. */
static inline v128_t bq_u32x4_nearest_code(v128_t magnitude, uint32_t mantissa_bits, uint32_t bias)
{
	const uint32_t drop = 23 - mantissa_bits;
	const v128_t least = bq_u32x4_splat((128 - bias) << 23);
	const v128_t power = wasm_i32x4_max(wasm_v128_and(magnitude, bq_u32x4_splat(0x7F800000)), least);
	const v128_t shifter = wasm_i32x4_add(power, bq_u32x4_splat(drop << 23));
	const v128_t steps = wasm_i32x4_sub(wasm_f32x4_add(magnitude, shifter), shifter);

	return wasm_i32x4_add(steps, wasm_u32x4_shr(wasm_i32x4_sub(power, least), drop));
}

/* And bq_code_magnitude. Subnormal codes get the exponent of the least normal value; its implied bit is subtracted. */
static inline v128_t bq_f32x4_code_magnitude(v128_t code, uint32_t mantissa_bits, uint32_t bias)
{
	const uint32_t drop = 23 - mantissa_bits;
	const v128_t subnormal = wasm_i32x4_lt(code, bq_u32x4_splat(1u << mantissa_bits));
	const v128_t normal = wasm_i32x4_add(wasm_i32x4_shl(code, drop), bq_u32x4_splat((127 - bias) << 23));
	const v128_t raised = wasm_i32x4_add(normal, wasm_v128_and(subnormal, bq_u32x4_splat(1u << 23)));

	return wasm_f32x4_sub(raised, wasm_v128_and(subnormal, bq_u32x4_splat((128 - bias) << 23)));
}

/* A NaN becomes infinity. */
static inline v128_t bq_u32x4_f16_from_number(v128_t x)
{
	const v128_t magnitude = bq_f32x4_magnitude(x);
	const v128_t sign = wasm_u32x4_shr(wasm_v128_xor(x, magnitude), 16);
	/* All from 65520 rounds up to 65536, whose code is that of infinity. */
	const v128_t least = wasm_i32x4_min(magnitude, bq_u32x4_splat(0x47800000));

	return wasm_v128_or(bq_u32x4_nearest_code(least, 10, 15), sign);
}

static inline v128_t bq_u32x4_f16_from_f32(v128_t x)
{
	const v128_t nan = wasm_v128_and(bq_f32x4_is_nan(x), bq_u32x4_splat(0x0200));

	return wasm_v128_or(bq_u32x4_f16_from_number(x), nan);
}

static inline v128_t bq_f32x4_from_finite_f16(v128_t code)
{
	const v128_t magnitude = wasm_v128_and(code, bq_u32x4_splat(0x7FFF));
	const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(code, magnitude), 16);

	return wasm_v128_or(bq_f32x4_code_magnitude(magnitude, 10, 15), sign);
}

static inline v128_t bq_f32x4_from_f16(v128_t code)
{
	const v128_t magnitude = wasm_v128_and(code, bq_u32x4_splat(0x7FFF));
	const v128_t infinite = wasm_i32x4_gt(magnitude, bq_u32x4_splat(0x7BFF));
	const v128_t nan = wasm_i32x4_gt(magnitude, bq_u32x4_splat(0x7C00));
	/* The exponent 31 came out as 143; 143 | 255 is 255. */
	const v128_t special = wasm_v128_or(
		wasm_v128_and(infinite, bq_u32x4_splat(0x7F800000)), wasm_v128_and(nan, bq_u32x4_splat(0x00400000)));

	return wasm_v128_or(bq_f32x4_from_finite_f16(code), special);
}

/* x rounded to binary16, in float32. */
static inline v128_t bq_f32x4_round_f16(v128_t x)
{
	/* As bq_u32x4_nearest_code with the power taken off again: exact, so the rounded value is left. */
	const v128_t magnitude = wasm_i32x4_min(bq_f32x4_magnitude(x), bq_u32x4_splat(0x47800000));
	const v128_t least = bq_u32x4_splat(0x38800000);
	const v128_t power = wasm_i32x4_max(wasm_v128_and(magnitude, bq_u32x4_splat(0x7F800000)), least);
	const v128_t shifter = wasm_i32x4_add(power, bq_u32x4_splat(13u << 23));
	const v128_t rounded = wasm_f32x4_sub(wasm_f32x4_add(magnitude, shifter), shifter);
	/* 65536 stands for infinity and NaN: 0x47800000 | 0x7F800000 is infinity. */
	const v128_t overflow = wasm_i32x4_eq(rounded, bq_u32x4_splat(0x47800000));
	const v128_t infinite = wasm_v128_and(overflow, bq_u32x4_splat(0x7F800000));
	const v128_t nan = wasm_v128_and(bq_f32x4_is_nan(x), bq_u32x4_splat(0x00400000));
	const v128_t sign = wasm_v128_and(x, bq_u32x4_splat(0x80000000));

	return wasm_v128_or(wasm_v128_or(rounded, sign), wasm_v128_or(infinite, nan));
}

/* x rounded to bfloat16, in float32 but with rubbish in the low 16 bits. */
static inline v128_t bq_f32x4_near_bf16(v128_t x)
{
	const v128_t nan = bq_f32x4_is_nan(x);
	const v128_t odd = wasm_v128_and(wasm_u32x4_shr(x, 16), bq_u32x4_splat(1));
	const v128_t half = wasm_v128_andnot(wasm_i32x4_add(odd, bq_u32x4_splat(0x7FFF)), nan); /* a NaN must not carry */

	return wasm_v128_or(wasm_i32x4_add(x, half), wasm_v128_and(nan, bq_u32x4_splat(0x00400000)));
}

static inline v128_t bq_f32x4_round_bf16(v128_t x)
{
	return wasm_v128_and(bq_f32x4_near_bf16(x), bq_u32x4_splat(0xFFFF0000));
}

/* bq_round_to. */
static inline v128_t bq_f32x4_round_to(uint32_t dtype, v128_t x)
{
	if (dtype == BQ_BF16)
		return bq_f32x4_round_bf16(x);
	return dtype == BQ_F16 ? bq_f32x4_round_f16(x) : x;
}

static inline v128_t bq_u32x4_bf16_from_f32(v128_t x)
{
	return wasm_u32x4_shr(bq_f32x4_near_bf16(x), 16);
}

static inline v128_t bq_u32x4_f8e4m3_from_f32(v128_t x)
{
	/* 480 would be the next value after 448: its code is the NaN, also for infinity and NaN. */
	const v128_t magnitude = wasm_i32x4_min(bq_f32x4_magnitude(x), bq_u32x4_splat(0x43F00000));
	const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 24), bq_u32x4_splat(0x80));

	return wasm_v128_or(bq_u32x4_nearest_code(magnitude, 3, 7), sign);
}

static inline v128_t bq_f32x4_from_f8e4m3(v128_t code)
{
	const v128_t magnitude = wasm_v128_and(code, bq_u32x4_splat(0x7F));
	const v128_t value = bq_f32x4_code_magnitude(magnitude, 3, 7);
	const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(code, magnitude), 24);
	const v128_t nan = wasm_v128_and(wasm_i32x4_eq(magnitude, bq_u32x4_splat(0x7F)), bq_u32x4_splat(0x7FF00000));

	return wasm_v128_or(wasm_v128_or(value, sign), nan);
}

static inline v128_t bq_u32x4_f8e5m2_from_f32(v128_t x)
{
	/* As bq_u32x4_f16_from_f32. */
	const v128_t magnitude = wasm_i32x4_min(bq_f32x4_magnitude(x), bq_u32x4_splat(0x47800000));
	const v128_t code = bq_u32x4_nearest_code(magnitude, 2, 15);
	const v128_t nan = wasm_v128_and(bq_f32x4_is_nan(x), bq_u32x4_splat(0x03));
	const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 24), bq_u32x4_splat(0x80));

	return wasm_v128_or(wasm_v128_or(code, nan), sign);
}

static inline v128_t bq_f32x4_from_f8e5m2(v128_t code)
{
	return bq_f32x4_from_f16(wasm_i32x4_shl(code, 8));
}

static inline v128_t bq_u32x4_f4e2m1_from_f32(v128_t x)
{
	const v128_t magnitude = wasm_i32x4_min(bq_f32x4_magnitude(x), bq_u32x4_splat(0x40C00000)); /* 6, of NaN too */
	const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 28), bq_u32x4_splat(8));

	return wasm_v128_or(bq_u32x4_nearest_code(magnitude, 1, 1), wasm_v128_andnot(sign, bq_f32x4_is_nan(x)));
}

/* Codes 0 to 15. */
static inline v128_t bq_f32x4_from_f4e2m1(v128_t code)
{
	const v128_t magnitude = wasm_v128_and(code, bq_u32x4_splat(7));
	const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(code, magnitude), 28);

	return wasm_v128_or(bq_f32x4_code_magnitude(magnitude, 1, 1), sign);
}

static inline v128_t bq_u32x4_f6e2m3_from_f32(v128_t x)
{
	const v128_t magnitude = wasm_i32x4_min(bq_f32x4_magnitude(x), bq_u32x4_splat(0x40F00000)); /* 7.5, of NaN too */
	const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 26), bq_u32x4_splat(0x20));

	return wasm_v128_or(bq_u32x4_nearest_code(magnitude, 3, 1), wasm_v128_andnot(sign, bq_f32x4_is_nan(x)));
}

/* Codes 0 to 63. */
static inline v128_t bq_f32x4_from_f6e2m3(v128_t code)
{
	const v128_t magnitude = wasm_v128_and(code, bq_u32x4_splat(0x1F));
	const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(code, magnitude), 26);

	return wasm_v128_or(bq_f32x4_code_magnitude(magnitude, 3, 1), sign);
}

static inline v128_t bq_u32x4_ggml_ue4m3_from_f32(v128_t x)
{
	/* Of no use in the lanes of NaN and negatives, which positive clears in the end. */
	const v128_t positive = wasm_f32x4_gt(x, bq_u32x4_splat(0));
	const v128_t bits = wasm_i32x4_min(x, bq_u32x4_splat(0x43E00000)); /* 448 */

	const v128_t subnormal = wasm_i32x4_lt(bits, bq_u32x4_splat(0x3C800000));  /* 2^-6 */
	const v128_t scaled = wasm_f32x4_mul(bits, bq_u32x4_splat(0x44000000));	   /* 512: steps of 2^-9 */
	const v128_t half_up = wasm_f32x4_add(scaled, bq_u32x4_splat(0x3F000000)); /* 0.5 */
	const v128_t steps = wasm_i32x4_min(wasm_i32x4_trunc_sat_f32x4(half_up), bq_u32x4_splat(7));

	const v128_t rounded = wasm_u32x4_shr(wasm_i32x4_add(bits, bq_u32x4_splat((1u << 19) - (120u << 23))), 20);
	const v128_t high = wasm_i32x4_gt(rounded, bq_u32x4_splat(0x77));
	const v128_t normal = wasm_v128_bitselect(bq_u32x4_splat(0x7E), rounded, high);

	return wasm_v128_and(wasm_v128_bitselect(steps, normal, subnormal), positive);
}

/* 32-bit lanes from their lower and upper halves. */
static inline v128_t bq_lower_four(v128_t lower, v128_t upper)
{
	return wasm_i16x8_shuffle(lower, upper, 0, 8, 1, 9, 2, 10, 3, 11);
}

static inline v128_t bq_upper_four(v128_t lower, v128_t upper)
{
	return wasm_i16x8_shuffle(lower, upper, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* 16 bytes to floats: byte + offset for an offset below 2^22. The bytes become the lowest mantissa bits of 2^23, which
 * is subtracted again: exact, and fewer instructions than extending and converting. */
static inline void bq_f32x16_from_bytes(v128_t bytes, int offset, v128_t out[4])
{
	const v128_t zero = wasm_i32x4_splat(0);
	const v128_t exponent = bq_u16x8_splat(0x4B00);
	const v128_t bias = bq_f32x4_splat(8388608.0f - (float)offset);
	const v128_t low = wasm_i8x16_shuffle(bytes, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const v128_t high = wasm_i8x16_shuffle(bytes, zero, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);

	out[0] = wasm_f32x4_sub(wasm_i16x8_shuffle(low, exponent, 0, 8, 1, 9, 2, 10, 3, 11), bias);
	out[1] = wasm_f32x4_sub(wasm_i16x8_shuffle(low, exponent, 4, 12, 5, 13, 6, 14, 7, 15), bias);
	out[2] = wasm_f32x4_sub(wasm_i16x8_shuffle(high, exponent, 0, 8, 1, 9, 2, 10, 3, 11), bias);
	out[3] = wasm_f32x4_sub(wasm_i16x8_shuffle(high, exponent, 4, 12, 5, 13, 6, 14, 7, 15), bias);
}

/* Four times four int32 to bytes, saturated to 0 .. 255 (through int16). */
static inline v128_t bq_u8x16_from_i32(const v128_t x[4])
{
	return wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(x[0], x[1]), wasm_i16x8_narrow_i32x4(x[2], x[3]));
}

/* Bytes 2 and 3 of sixteen float32, all that a value of an 8-bit format or bfloat16 needs, to four vectors. */
static inline void bq_f32x16_from_upper(v128_t byte2, v128_t byte3, v128_t out[4])
{
	const v128_t zero = bq_u32x4_splat(0);
	const v128_t first = wasm_i8x16_shuffle(byte2, byte3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const v128_t second =
		wasm_i8x16_shuffle(byte2, byte3, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);

	out[0] = bq_lower_four(zero, first);
	out[1] = bq_upper_four(zero, first);
	out[2] = bq_lower_four(zero, second);
	out[3] = bq_upper_four(zero, second);
}

/* Sixteen E4M3 or E5M2 codes without sign to bytes 2 and 3 of float32: a table for the codes below 16, all subnormals
 * among them, and for the others their bits moved. moved is the code, or another whose value is meant.
 * base: half the difference of the exponent biases. */
struct bq_upper_bytes {
	v128_t byte2, byte3;
};

static inline struct bq_upper_bytes bq_decode8(
	v128_t code, v128_t moved, int mantissa_bits, uint8_t base, v128_t table2, v128_t table3)
{
	const v128_t small = wasm_i8x16_lt(code, bq_u8x16_splat(16));
	const v128_t low_mask = bq_u8x16_splat((uint8_t)(0xFF << (7 - mantissa_bits)));
	const v128_t high_mask = bq_u8x16_splat((uint8_t)(0x7F >> (mantissa_bits + 1)));
	/* float32's exponent begins at bit 7 of byte 2: the code's lowest exponent bit comes there. Shifts in 16-bit lanes
	 * with a mask, since x86 has none in bytes. */
	const v128_t low = wasm_v128_and(wasm_i16x8_shl(moved, 7 - mantissa_bits), low_mask);
	const v128_t high = wasm_v128_and(wasm_u16x8_shr(moved, mantissa_bits + 1), high_mask);
	const v128_t high_biased = wasm_i8x16_add(high, bq_u8x16_splat(base));

	/* The swizzle gives 0 for an index above 15. */
	return (struct bq_upper_bytes){
		wasm_v128_or(wasm_i8x16_swizzle(table2, code), wasm_v128_andnot(low, small)),
		wasm_v128_or(wasm_i8x16_swizzle(table3, code), wasm_v128_andnot(high_biased, small)),
	};
}

/* Sixteen E4M3 codes. signs is 0x80, or 0 to ignore bit 7. */
static inline void bq_f32x16_from_f8e4m3(v128_t code, uint8_t signs, v128_t out[4])
{
	/* Bytes 2 and 3 of the float32 of codes 0 to 15. */
	static const uint8_t table[2][16] = {
		{ 0, 0, 0x80, 0xC0, 0, 0x20, 0x40, 0x60, 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0, 0xE0, 0xF0 },
		{ 0, 0x3B, 0x3B, 0x3B, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C },
	};
	const v128_t magnitude = wasm_v128_and(code, bq_u8x16_splat(0x7F));
	const struct bq_upper_bytes value = bq_decode8(magnitude, magnitude, 3, 120 / 2, bq_u8x16_table(table[0]), bq_u8x16_table(table[1]));
	/* 0x7F: byte 2 is 0xF0 already. */
	const v128_t nan = wasm_v128_and(wasm_i8x16_eq(magnitude, bq_u8x16_splat(0x7F)), bq_u8x16_splat(0x7F));
	const v128_t top = wasm_v128_or(nan, wasm_v128_and(code, bq_u8x16_splat(signs)));

	bq_f32x16_from_upper(value.byte2, wasm_v128_or(value.byte3, top), out);
}

#endif
