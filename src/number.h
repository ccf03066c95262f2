/* SPDX-License-Identifier: MIT
 * number.h - one number at a time: every float dtype from and to float32, rounding, little-endian loads and stores.
 *
 * These define the results; src/scalar/number.c loops over them and src/simd128 has to give the same bits.
 * All rounding is to nearest, ties to even, but that of ggml_ue4m3. NaNs are made of integers only, so that their bits
 * are the same everywhere. docs/numbers.md is the table of ranges and special values.
 */
#ifndef BQ_NUMBER_H
#define BQ_NUMBER_H

#include <stdint.h>
#include <string.h>

#include "blockquant.h"

#define BQ_F32_INFINITY 0x7F800000u
#define BQ_F32_NAN 0x7FC00000u

static inline uint32_t bq_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float bq_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* File bytes: little-endian, of any alignment. Compilers make one instruction of each. */
static inline uint16_t bq_load16(const void *from)
{
	const uint8_t *bytes = from;

	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t bq_load32(const void *from)
{
	const uint8_t *bytes = from;

	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void bq_store16(void *to, uint16_t value)
{
	uint8_t *bytes = to;

	bytes[0] = (uint8_t)value;
	bytes[1] = (uint8_t)(value >> 8);
}

static inline void bq_store32(void *to, uint32_t value)
{
	bq_store16(to, (uint16_t)value);
	bq_store16((uint8_t *)to + 2, (uint16_t)(value >> 16));
}

static inline void bq_store64(void *to, uint64_t value)
{
	bq_store32(to, (uint32_t)value);
	bq_store32((uint8_t *)to + 4, (uint32_t)(value >> 32));
}

/* The code nearest to a magnitude (float32 bits without the sign) in a format with so many mantissa bits and that
 * exponent bias. The format has no upper end here: codes go on past it, in the order of the values. */
static inline uint32_t bq_nearest_code(uint32_t magnitude, uint32_t mantissa_bits, uint32_t bias)
{
	const uint32_t exponent = magnitude >> 23;
	const uint32_t least = 128 - bias; /* float32's exponent field of the format's least normal value */
	uint32_t drop = 23 - mantissa_bits;
	uint32_t value;

	if (exponent >= least) {
		value = magnitude - ((least - 1) << 23);
	} else {
		/* Subnormal: the implied bit becomes a real one, at its place above the fixed step. Past 24 places nothing
		 * rounds up to the step; so it is for all subnormals of float32, which have no implied bit. */
		value = (magnitude & 0x7FFFFF) | 0x800000;
		drop += least - exponent;
		if (drop > 24)
			return 0;
	}

	const uint32_t code = value >> drop;
	const uint32_t rest = value & ((1u << drop) - 1);
	const uint32_t half = 1u << (drop - 1);

	return code + (rest + (code & 1) > half); /* half goes to the even code; without a branch, which would be a guess */
}

/* The way back, for codes without a sign and without infinities or NaN. */
static inline uint32_t bq_code_magnitude(uint32_t code, uint32_t mantissa_bits, uint32_t bias)
{
	const uint32_t drop = 23 - mantissa_bits;

	if (code >> mantissa_bits)
		return (code << drop) + ((127 - bias) << 23);
	/* Subnormal: a count of steps of 2^(1 - bias - mantissa_bits); the product is exact and normal in float32. */
	return bq_bits((float)code * bq_float((128 - bias - mantissa_bits) << 23));
}

/* binary16. 65520, halfway between the largest value and the next power of two, and above: infinity. */
static inline uint16_t bq_f16_from_f32(float x)
{
	const uint32_t magnitude = bq_bits(x) & 0x7FFFFFFF;
	const uint32_t sign = bq_bits(x) >> 16 & 0x8000;

	if (magnitude > BQ_F32_INFINITY)
		return (uint16_t)(sign | 0x7E00);
	if (magnitude >= 0x477FF000) /* 65520 */
		return (uint16_t)(sign | 0x7C00);
	return (uint16_t)(sign | bq_nearest_code(magnitude, 10, 15));
}

/* NaN keeps its payload and becomes quiet. */
static inline float bq_f32_from_f16(uint16_t code)
{
	const uint32_t sign = (uint32_t)(code & 0x8000) << 16;
	const uint32_t magnitude = code & 0x7FFF;

	if (magnitude > 0x7C00)
		return bq_float(sign | BQ_F32_NAN | (magnitude & 0x3FF) << 13);
	if (magnitude == 0x7C00)
		return bq_float(sign | BQ_F32_INFINITY);
	return bq_float(sign | bq_code_magnitude(magnitude, 10, 15));
}

/* bfloat16: the upper half of float32. NaN keeps the upper half of its payload and becomes quiet. */
static inline uint16_t bq_bf16_from_f32(float x)
{
	const uint32_t bits = bq_bits(x);

	if ((bits & 0x7FFFFFFF) > BQ_F32_INFINITY)
		return (uint16_t)(bits >> 16 | 64);
	return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static inline float bq_f32_from_bf16(uint16_t code)
{
	return bq_float((uint32_t)code << 16);
}

/* E4M3 without infinities. Above 464, halfway between 448 and the 480 that would follow it: NaN, as is infinity. */
static inline uint8_t bq_f8e4m3_from_f32(float x)
{
	const uint32_t magnitude = bq_bits(x) & 0x7FFFFFFF;
	const uint32_t sign = bq_bits(x) >> 24 & 0x80;

	if (magnitude > 0x43E80000) /* 464 */
		return (uint8_t)(sign | 0x7F);
	return (uint8_t)(sign | bq_nearest_code(magnitude, 3, 7));
}

static inline float bq_f32_from_f8e4m3(uint8_t code)
{
	const uint32_t sign = (uint32_t)(code & 0x80) << 24;
	const uint32_t magnitude = code & 0x7F;

	if (magnitude == 0x7F)
		return bq_float(sign | 0x7FF00000); /* quiet, the code's mantissa as payload, as PyTorch decodes it */
	return bq_float(sign | bq_code_magnitude(magnitude, 3, 7));
}

/* E5M2: binary16 with fewer bits. 61440, halfway between 57344 and 65536, and above: infinity. */
static inline uint8_t bq_f8e5m2_from_f32(float x)
{
	const uint32_t magnitude = bq_bits(x) & 0x7FFFFFFF;
	const uint32_t sign = bq_bits(x) >> 24 & 0x80;

	if (magnitude > BQ_F32_INFINITY)
		return (uint8_t)(sign | 0x7F);
	if (magnitude >= 0x47700000) /* 61440 */
		return (uint8_t)(sign | 0x7C);
	return (uint8_t)(sign | bq_nearest_code(magnitude, 2, 15));
}

static inline float bq_f32_from_f8e5m2(uint8_t code)
{
	return bq_f32_from_f16((uint16_t)(code << 8));
}

/* E2M1, one code in the low half of a byte: saturates, has no infinity and no NaN. A negative that rounds to zero keeps
 * its sign, and so does -0. */
static inline uint8_t bq_f4e2m1_from_f32(float x)
{
	const uint32_t magnitude = bq_bits(x) & 0x7FFFFFFF;
	const uint32_t sign = bq_bits(x) >> 28 & 8;

	if (magnitude > BQ_F32_INFINITY)
		return 7;
	if (magnitude > 0x40C00000) /* 6 */
		return (uint8_t)(sign | 7);
	return (uint8_t)(sign | bq_nearest_code(magnitude, 1, 1));
}

/* Bits 4 to 7 of the byte are ignored. */
static inline float bq_f32_from_f4e2m1(uint8_t code)
{
	return bq_float((uint32_t)(code & 8) << 28 | bq_code_magnitude(code & 7, 1, 1));
}

/* E2M3 of OCP MX: saturates at 7.5; NaN, which it lacks, becomes that. The sign of zero is kept. */
static inline uint8_t bq_f6e2m3_from_f32(float x)
{
	const uint32_t magnitude = bq_bits(x) & 0x7FFFFFFF;
	const uint32_t sign = bq_bits(x) >> 26 & 0x20;

	if (magnitude > BQ_F32_INFINITY)
		return 0x1F;
	if (magnitude > 0x40F00000) /* 7.5 */
		return (uint8_t)(sign | 0x1F);
	return (uint8_t)(sign | bq_nearest_code(magnitude, 3, 1));
}

/* Bits 6 and 7 of the byte are ignored. */
static inline float bq_f32_from_f6e2m3(uint8_t code)
{
	return bq_float((uint32_t)(code & 0x20) << 26 | bq_code_magnitude(code & 0x1F, 3, 1));
}

/* E8M0: the power of two at or below x, from 2^-127 (also for what is smaller, zero and negative) to 2^127. */
static inline uint8_t bq_e8m0_from_f32(float x)
{
	const uint32_t bits = bq_bits(x);

	if ((bits & 0x7FFFFFFF) > BQ_F32_INFINITY)
		return 255;
	if (bits >> 31)
		return 0;
	if (bits == BQ_F32_INFINITY)
		return 254;
	return (uint8_t)(bits >> 23); /* 0 for all subnormals, 2^-127 among them */
}

static inline float bq_f32_from_e8m0(uint8_t code)
{
	if (code == 255)
		return bq_float(BQ_F32_NAN);
	return bq_float(code ? (uint32_t)code << 23 : 0x00400000); /* 2^-127 is subnormal in float32 */
}

/* E4M3 of what is not negative; negatives become 0. Unlike bq_f8e4m3_from_f32 it saturates: 448, for infinity too. */
static inline uint8_t bq_ue4m3_from_f32(float x)
{
	const uint32_t bits = bq_bits(x);

	if ((bits & 0x7FFFFFFF) > BQ_F32_INFINITY)
		return 0x7F;
	if (bits >> 31)
		return 0;
	if (bits > 0x43E00000) /* 448 */
		return 0x7E;
	return (uint8_t)bq_nearest_code(bits, 3, 7);
}

/* Bit 7 is ignored. */
static inline float bq_f32_from_ue4m3(uint8_t code)
{
	return bq_f32_from_f8e4m3(code & 0x7F);
}

/* ggml's UE4M3 (its ggml-impl.h). Encoding rounds half up in magnitude, makes 448 of all from 248 on and has no NaN.
 * Decoding gives half the value, since ggml doubles the E2M1 values that it scales. */
static inline uint8_t bq_ggml_ue4m3_from_f32(float x)
{
	if (!(x > 0.0f))
		return 0;
	if (x > 448.0f)
		x = 448.0f;

	const uint32_t bits = bq_bits(x);

	if (bits < 0x3C800000) { /* 2^-6, the least normal value: below, steps of 2^-9 */
		const uint32_t steps = (uint32_t)(x * 512.0f + 0.5f);

		return (uint8_t)(steps < 7 ? steps : 7); /* 8 would be the least normal value */
	}

	const uint32_t code = ((bits - (120u << 23)) + (1u << 19)) >> 20;

	return (uint8_t)(code < 0x78 ? code : 0x7E); /* exponent 15 has one value only */
}

/* 0x7F is 0, but 0xFF, which no encoder writes, is 240. */
static inline float bq_f32_from_ggml_ue4m3(uint8_t code)
{
	if (code == 0x7F)
		return 0.0f;
	return bq_float(bq_code_magnitude(code & 0x7F, 3, 7)) * 0.5f;
}

/* floor(log2f(x)) of a finite x > 0, where log2f gives the float32 nearest to the logarithm: just below 2^k that is k. The
 * float32 below k are 2^(size - 24) apart if size is the number of bits of k - 1 (for k > 0; of -k otherwise), so x may be
 * less than 2^k by half of that times ln 2: by 44.36 / 2^(7 - size) steps of 2^(k - 24). */
static inline int bq_floor_log2f(float x)
{
	static const uint8_t within[9] = { 0, 0, 1, 2, 5, 11, 22, 44, 88 };
	uint32_t bits = bq_bits(x);
	int exponent = (int)(bits >> 23) - 127;
	int size = 0;

	for (exponent = exponent < -126 ? -126 : exponent; bits < 0x00800000; bits <<= 1)
		exponent--;
	for (int distance = exponent >= 0 ? exponent : -1 - exponent; distance; distance >>= 1)
		size++;
	return exponent + (0x00800000 - (bits & 0x007FFFFF) <= within[size]);
}

/* x rounded to a working dtype: BQ_F16 or BQ_BF16; any other leaves it as it is. */
static inline float bq_round_to(uint32_t dtype, float x)
{
	if (dtype == BQ_F16)
		return bq_f32_from_f16(bq_f16_from_f32(x));
	if (dtype == BQ_BF16)
		return bq_f32_from_bf16(bq_bf16_from_f32(x));
	return x;
}

/* The exponent of a magnitude, one more where its significand is at least 2 - 2^-carry, less that of the highest code; as E8M0
 * has it, 255 where the carry leaves the working dtype. It is done on the bit pattern of that dtype, so that float16's
 * subnormals come out as compressed-tensors' do. */
static inline uint8_t bq_carried_exponent(uint32_t work, unsigned carry, int32_t highest, float magnitude)
{
	uint32_t bits = bq_bits(magnitude) + (0x800000u >> carry);
	int32_t exponent;

	if (work == BQ_F16)
		bits = bq_bits(bq_f32_from_f16((uint16_t)((bq_f16_from_f32(magnitude) + (0x400u >> carry)) & 0x7C00)));
	bits &= BQ_F32_INFINITY;
	if (bits == BQ_F32_INFINITY || magnitude != magnitude)
		return 255;
	exponent = (int32_t)(bits >> 23) - highest;
	return (uint8_t)(bits == 0 || exponent < 0 ? 0 : exponent);
}

/* NaNs that come out of arithmetic have bits that differ between machines; ours are all this one. */
static inline float bq_canonical(float x)
{
	return x != x ? bq_float(BQ_F32_NAN) : x;
}

/* NaN stays, but compilers make f32.min of this, whose NaN has either sign in wasm: bq_canonical comes after it, not before. */
static inline float bq_clamp_f32(float x, float min, float max)
{
	x = x < min ? min : x;
	return x > max ? max : x;
}

#endif
