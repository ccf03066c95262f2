/* SPDX-License-Identifier: MIT
 * number.c - arrays of numbers to and from float32, 8 or 16 in a step; which weights are not finite.
 *
 * The last values, fewer than a step, go to the scalar kernels.
 */
#include <string.h>

#include "../kernels.h"
#include "number.h"

typedef v128_t codes_of_four(v128_t x);

/* Inlined with their function arguments, so that each kernel is one loop without calls. */
#define INLINED static inline __attribute__((always_inline))

/* Codes of 16 bits, 8 in a step. */
INLINED void encode16(codes_of_four *four, bq_from_f32 *tail, const float *in, size_t count, uint16_t *out)
{
	size_t i = 0;

	BQ_ROLLED
	for (; i + 8 <= count; i += 8) {
		const v128_t first = four(wasm_v128_load(in + i));
		const v128_t second = four(wasm_v128_load(in + i + 4));

		wasm_v128_store(out + i, wasm_u16x8_narrow_i32x4(first, second));
	}
	tail(in + i, count - i, out + i);
}

/* Codes of 8 bits, 16 in a step. */
INLINED void encode8(codes_of_four *four, bq_from_f32 *tail, const float *in, size_t count, uint8_t *out)
{
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16) {
		const v128_t first = four(wasm_v128_load(in + i));
		const v128_t second = four(wasm_v128_load(in + i + 4));
		const v128_t third = four(wasm_v128_load(in + i + 8));
		const v128_t fourth = four(wasm_v128_load(in + i + 12));
		const v128_t lower = wasm_i16x8_narrow_i32x4(first, second);
		const v128_t upper = wasm_i16x8_narrow_i32x4(third, fourth);

		wasm_v128_store(out + i, wasm_u8x16_narrow_i16x8(lower, upper));
	}
	tail(in + i, count - i, out + i);
}

/* The upper halves of eight float32 whose lower halves are zero. */
INLINED void store_upper16(v128_t upper, float *out)
{
	const v128_t zero = bq_u32x4_splat(0);

	wasm_v128_store(out, bq_lower_four(zero, upper));
	wasm_v128_store(out + 4, bq_upper_four(zero, upper));
}

INLINED void store_upper8(v128_t byte2, v128_t byte3, float *out)
{
	v128_t value[4];

	bq_f32x16_from_upper(byte2, byte3, value);
	for (int k = 0; k < 4; k++)
		wasm_v128_store(out + 4 * k, value[k]);
}

void bq_f32_to_f32_simd128(const void *in, size_t count, float *out)
{
	if (count)
		memcpy(out, in, count * sizeof *out);
}

void bq_f32_from_f32_simd128(const float *in, size_t count, void *out)
{
	if (count)
		memcpy(out, in, count * sizeof *in);
}

/* As bq_f32x4_from_f16, but what concerns the upper 16 bits only is done there, on eight lanes. */
void bq_f16_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint16_t *codes = in;
	const v128_t zero = bq_u32x4_splat(0);
	size_t i = 0;

	BQ_ROLLED
	for (; i + 8 <= count; i += 8) {
		const v128_t code = wasm_v128_load(codes + i);
		const v128_t magnitude = wasm_v128_and(code, bq_u16x8_splat(0x7FFF));
		const v128_t sign = wasm_v128_xor(code, magnitude);
		const v128_t subnormal = wasm_i16x8_lt(magnitude, bq_u16x8_splat(0x0400));
		const v128_t infinite = wasm_i16x8_gt(magnitude, bq_u16x8_splat(0x7BFF));
		const v128_t nan = wasm_i16x8_gt(magnitude, bq_u16x8_splat(0x7C00));
		const v128_t exponent = wasm_v128_and(infinite, bq_u16x8_splat(0x7F80));
		const v128_t quiet = wasm_v128_and(nan, bq_u16x8_splat(0x0040));
		const v128_t special = wasm_v128_or(sign, wasm_v128_or(exponent, quiet));

		/* 112 is what the exponent biases differ by; subnormals get the exponent 113 and lose its implied bit. */
		const v128_t lower = wasm_i16x8_shl(magnitude, 13);
		const v128_t normal = wasm_i16x8_add(wasm_u16x8_shr(magnitude, 3), bq_u16x8_splat(112 << 7));
		const v128_t upper = wasm_i16x8_add(normal, wasm_v128_and(subnormal, bq_u16x8_splat(1 << 7)));
		const v128_t implied = wasm_v128_and(subnormal, bq_u16x8_splat(113 << 7));

		const v128_t first = wasm_f32x4_sub(bq_lower_four(lower, upper), bq_lower_four(zero, implied));
		const v128_t second = wasm_f32x4_sub(bq_upper_four(lower, upper), bq_upper_four(zero, implied));

		wasm_v128_store(out + i, wasm_v128_or(first, bq_lower_four(zero, special)));
		wasm_v128_store(out + i + 4, wasm_v128_or(second, bq_upper_four(zero, special)));
	}
	bq_f16_to_f32_scalar(codes + i, count - i, out + i);
}

void bq_f16_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode16(bq_u32x4_f16_from_f32, bq_f16_from_f32_scalar, in, count, out);
}

void bq_bf16_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint16_t *codes = in;
	size_t i = 0;

	BQ_ROLLED
	for (; i + 8 <= count; i += 8)
		store_upper16(wasm_v128_load(codes + i), out + i);
	bq_bf16_to_f32_scalar(codes + i, count - i, out + i);
}

void bq_bf16_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode16(bq_u32x4_bf16_from_f32, bq_bf16_from_f32_scalar, in, count, out);
}

/* Bytes 2 and 3 of the float32 of codes 0 to 15. */
static const uint8_t HALF_E4M3[2][16] = {
	{ 0, 0x80, 0, 0x40, 0x80, 0xA0, 0xC0, 0xE0, 0, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70 },
	{ 0, 0x3A, 0x3B, 0x3B, 0x3B, 0x3B, 0x3B, 0x3B, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C, 0x3C },
};
static const uint8_t E5M2[2][16] = {
	{ 0, 0x80, 0, 0x40, 0x80, 0xA0, 0xC0, 0xE0, 0, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0 },
	{ 0, 0x37, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x39, 0x39, 0x39, 0x39, 0x39, 0x39, 0x39, 0x39 },
};
static const uint8_t E2M1[2][16] = {
	{ 0, 0, 0x80, 0xC0, 0, 0x40, 0x80, 0xC0, 0, 0, 0x80, 0xC0, 0, 0x40, 0x80, 0xC0 },
	{ 0, 0x3F, 0x3F, 0x3F, 0x40, 0x40, 0x40, 0x40, 0x80, 0xBF, 0xBF, 0xBF, 0xC0, 0xC0, 0xC0, 0xC0 },
};

/* E4M3, whole steps of it: returns how many values. signs is 0x80, or 0 to ignore bit 7. */
INLINED size_t decode_e4m3(const uint8_t *codes, size_t count, uint8_t signs, float *out)
{
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16) {
		v128_t value[4];

		bq_f32x16_from_f8e4m3(wasm_v128_load(codes + i), signs, value);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(out + i + 4 * k, value[k]);
	}
	return i;
}

void bq_f8e4m3_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	const size_t whole = decode_e4m3(codes, count, 0x80, out);

	bq_f8e4m3_to_f32_scalar(codes + whole, count - whole, out + whole);
}

void bq_f8e4m3_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(bq_u32x4_f8e4m3_from_f32, bq_f8e4m3_from_f32_scalar, in, count, out);
}

void bq_f8e5m2_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	const v128_t table2 = bq_u8x16_table(E5M2[0]);
	const v128_t table3 = bq_u8x16_table(E5M2[1]);
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16) {
		const v128_t code = wasm_v128_load(codes + i);
		const v128_t magnitude = wasm_v128_and(code, bq_u8x16_splat(0x7F));
		const struct bq_upper_bytes value = bq_decode8(magnitude, magnitude, 2, 112 / 2, table2, table3);
		const v128_t infinite = wasm_v128_and(wasm_i8x16_gt(magnitude, bq_u8x16_splat(0x7B)), bq_u8x16_splat(0x7F));
		const v128_t quiet = wasm_v128_and(wasm_i8x16_gt(magnitude, bq_u8x16_splat(0x7C)), bq_u8x16_splat(0x40));
		const v128_t top = wasm_v128_or(infinite, wasm_v128_xor(code, magnitude));

		store_upper8(wasm_v128_or(value.byte2, quiet), wasm_v128_or(value.byte3, top), out + i);
	}
	bq_f8e5m2_to_f32_scalar(codes + i, count - i, out + i);
}

void bq_f8e5m2_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(bq_u32x4_f8e5m2_from_f32, bq_f8e5m2_from_f32_scalar, in, count, out);
}

void bq_f4e2m1_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	const v128_t table2 = bq_u8x16_table(E2M1[0]);
	const v128_t table3 = bq_u8x16_table(E2M1[1]);
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16) {
		const v128_t code = wasm_v128_and(wasm_v128_load(codes + i), bq_u8x16_splat(15));

		store_upper8(wasm_i8x16_swizzle(table2, code), wasm_i8x16_swizzle(table3, code), out + i);
	}
	bq_f4e2m1_to_f32_scalar(codes + i, count - i, out + i);
}

void bq_f4e2m1_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(bq_u32x4_f4e2m1_from_f32, bq_f4e2m1_from_f32_scalar, in, count, out);
}

void bq_f6e2m3_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	size_t i = 0;

	BQ_ROLLED
	for (; i + 4 <= count; i += 4) {
		const v128_t bytes = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(codes + i));
		const v128_t code = wasm_v128_and(wasm_u32x4_extend_low_u16x8(bytes), bq_u32x4_splat(63));

		wasm_v128_store(out + i, bq_f32x4_from_f6e2m3(code));
	}
	bq_f6e2m3_to_f32_scalar(codes + i, count - i, out + i);
}

void bq_f6e2m3_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(bq_u32x4_f6e2m3_from_f32, bq_f6e2m3_from_f32_scalar, in, count, out);
}

void bq_e8m0_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16) {
		const v128_t code = wasm_v128_load(codes + i);
		const v128_t low = wasm_v128_and(wasm_i16x8_shl(code, 7), bq_u8x16_splat(0x80));
		const v128_t high = wasm_v128_and(wasm_u16x8_shr(code, 1), bq_u8x16_splat(0x7F));
		/* The mantissa is not 0 for the subnormal 2^-127 and for NaN. */
		const v128_t least = wasm_i8x16_eq(code, bq_u8x16_splat(0));
		const v128_t nan = wasm_i8x16_eq(code, bq_u8x16_splat(255));
		const v128_t mantissa = wasm_v128_and(wasm_v128_or(least, nan), bq_u8x16_splat(0x40));

		store_upper8(wasm_v128_or(low, mantissa), high, out + i);
	}
	bq_e8m0_to_f32_scalar(codes + i, count - i, out + i);
}

static inline v128_t e8m0_from_four(v128_t x)
{
	const v128_t exponent = wasm_u32x4_shr(wasm_i32x4_max(x, bq_u32x4_splat(0)), 23);
	const v128_t finite = wasm_i32x4_min(exponent, bq_u32x4_splat(254));

	return wasm_v128_or(finite, wasm_v128_and(bq_f32x4_is_nan(x), bq_u32x4_splat(255)));
}

void bq_e8m0_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(e8m0_from_four, bq_e8m0_from_f32_scalar, in, count, out);
}

void bq_ue4m3_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	const size_t whole = decode_e4m3(codes, count, 0, out);

	bq_ue4m3_to_f32_scalar(codes + whole, count - whole, out + whole);
}

static inline v128_t ue4m3_from_four(v128_t x)
{
	const v128_t positive = wasm_i32x4_max(x, bq_u32x4_splat(0));
	const v128_t magnitude = wasm_i32x4_min(positive, bq_u32x4_splat(0x43E00000)); /* 448 */

	const v128_t nan = wasm_v128_and(bq_f32x4_is_nan(x), bq_u32x4_splat(0x7F));

	return wasm_v128_or(bq_u32x4_nearest_code(magnitude, 3, 7), nan);
}

void bq_ue4m3_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(ue4m3_from_four, bq_ue4m3_from_f32_scalar, in, count, out);
}

void bq_ggml_ue4m3_to_f32_simd128(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;
	const v128_t table2 = bq_u8x16_table(HALF_E4M3[0]);
	const v128_t table3 = bq_u8x16_table(HALF_E4M3[1]);
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16) {
		const v128_t code = wasm_v128_load(codes + i);
		const v128_t magnitude = wasm_v128_and(code, bq_u8x16_splat(0x7F));
		const v128_t halved = wasm_i8x16_sub(magnitude, bq_u8x16_splat(8)); /* one off the exponent */
		const struct bq_upper_bytes value = bq_decode8(magnitude, halved, 3, 120 / 2, table2, table3);
		const v128_t none = wasm_i8x16_eq(code, bq_u8x16_splat(0x7F));

		store_upper8(wasm_v128_andnot(value.byte2, none), wasm_v128_andnot(value.byte3, none), out + i);
	}
	bq_ggml_ue4m3_to_f32_scalar(codes + i, count - i, out + i);
}

void bq_ggml_ue4m3_from_f32_simd128(const float *in, size_t count, void *out)
{
	encode8(bq_u32x4_ggml_ue4m3_from_f32, bq_ggml_ue4m3_from_f32_scalar, in, count, out);
}

/* Whether any 16-bit half of whole 64 bytes has all bits of the mask: the largest of the masked ones is the mask then. */
INLINED int any_infinite(const uint8_t *bytes, size_t nbytes, v128_t mask)
{
	v128_t most = wasm_i32x4_splat(0);

	BQ_ROLLED
	for (size_t at = 0; at < nbytes; at += 64)
		for (size_t part = at; part < at + 64; part += 16)
			most = wasm_i16x8_max(most, wasm_v128_and(wasm_v128_load(bytes + part), mask));
	/* The lower half of a float32 has no bit in the mask. */
	return wasm_v128_any_true(wasm_v128_and(wasm_i16x8_eq(most, mask), mask));
}

/* Weights are nearly always finite: only a part that has some other is looked at value by value. */
size_t bq_count_nonfinite_simd128(const void *in, uint32_t dtype, size_t count, size_t *first)
{
	const uint8_t *bytes = in;
	const size_t value_nbytes = dtype == BQ_F16 || dtype == BQ_BF16 ? 2 : 4;
	const size_t step = 1024 / value_nbytes;
	const uint32_t mask = dtype == BQ_F16 ? 0x7C007C00 : dtype == BQ_BF16 ? 0x7F807F80 : 0x7F800000;
	size_t found = 0;

	for (size_t i = 0; i < count; i += step) {
		const size_t nvalues = count - i < step ? count - i : step;
		const uint8_t *values = bytes + i * value_nbytes;
		size_t first_here = 0, here;

		if (nvalues == step && !any_infinite(values, 1024, bq_u32x4_splat(mask)))
			continue;
		here = bq_count_nonfinite_scalar(values, dtype, nvalues, &first_here);
		if (here && !found)
			*first = i + first_here;
		found += here;
	}
	return found;
}
