/* SPDX-License-Identifier: MIT
 * planes.h - scalar/planes.h, 16 values at a time. Cells that are not finite are left to scalar, so that no quotient is NaN.
 */
#ifndef BQ_SIMD128_PLANES_H
#define BQ_SIMD128_PLANES_H

#include <math.h>

#include "../scalar/planes.h"
#include "nibbles.h"
#include "values.h"

/* A NaN if there is one. */
static inline float bq_largest_of_cell_simd128(const struct bq_cells *cells, const float *x)
{
	const size_t whole = cells->cols & ~(size_t)15;
	struct bq_cells rest = *cells;
	v128_t most = wasm_i32x4_splat(0);
	float lanes[5];

	for (size_t row = 0; row < cells->nrows; row++) {
		const float *values = x + row * cells->stride;

		BQ_ROLLED
		for (size_t i = 0; i < whole; i += 16) {
			v128_t magnitude[4];

			/* A tree: in a chain each waits for the one before (4300 against 6500 Melem/s). */
			for (int k = 0; k < 4; k++)
				magnitude[k] = bq_f32x4_magnitude(wasm_v128_load(values + i + 4 * k));
			most = wasm_i32x4_max(most,
				wasm_i32x4_max(wasm_i32x4_max(magnitude[0], magnitude[1]), wasm_i32x4_max(magnitude[2], magnitude[3])));
		}
	}
	rest.cols -= whole;
	wasm_v128_store(lanes, most);
	lanes[4] = bq_largest_of_cell(&rest, x + whole);
	return bq_largest_magnitude(5, lanes);
}

/* bq_f32x4_round_to of quotients: none is NaN or beyond what float16 holds. */
static inline v128_t bq_round_quotient(uint32_t work, v128_t x)
{
	if (work == BQ_BF16) {
		const v128_t odd = wasm_v128_and(wasm_u32x4_shr(x, 16), bq_u32x4_splat(1));

		return wasm_v128_and(wasm_i32x4_add(wasm_i32x4_add(x, bq_u32x4_splat(0x7FFF)), odd), bq_u32x4_splat(0xFFFF0000));
	}
	if (work == BQ_F16) {
		/* As bq_u32x4_nearest_code, with the power taken off again. */
		const v128_t magnitude = bq_f32x4_magnitude(x);
		const v128_t power = wasm_i32x4_max(wasm_v128_and(magnitude, bq_u32x4_splat(0x7F800000)), bq_u32x4_splat(0x38800000));
		const v128_t shifter = wasm_i32x4_add(power, bq_u32x4_splat(13u << 23));

		return wasm_v128_or(wasm_f32x4_sub(wasm_f32x4_add(magnitude, shifter), shifter), wasm_v128_xor(x, magnitude));
	}
	return x;
}

/* The codes of 16 quotients, none of them NaN; and 16 codes as numbers. */
typedef v128_t bq_codes_of(const v128_t quotient[4]);
typedef void bq_numbers_of(v128_t codes, v128_t out[4]);

/* One cell, at least 16 wide. Inlined with its function argument, as the others here. The last codes of a row overlap: same bytes
 * again. */
static inline __attribute__((always_inline)) void bq_encode_cell(
	bq_codes_of *codes_of, const struct bq_cells *cell, float divisor, const float *x, uint8_t *codes)
{
	const v128_t scale = wasm_f32x4_splat(divisor);
	const uint32_t work = cell->work;
	const size_t last = cell->cols - 16;

	for (size_t row = 0; row < cell->nrows; row++, x += cell->stride, codes += cell->line_nbytes) {
		BQ_ROLLED
		for (size_t i = 0; i < last + 16; i += 16) {
			const size_t at = i < last ? i : last;
			v128_t quotient[4];

			for (int k = 0; k < 4; k++)
				quotient[k] = bq_round_quotient(work, wasm_f32x4_div(wasm_v128_load(x + at + 4 * k), scale));
			wasm_v128_store(codes + at, codes_of(quotient));
		}
	}
}

static inline __attribute__((always_inline)) uint32_t bq_encode_bytes_simd128(bq_codes_of *codes_of, bq_encode_cells *scalar, float highest,
	const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	for (size_t begin = 0; begin < cells->cols; begin += cells->group, scales += bq_dtype(cells->scale)->nbytes) {
		const struct bq_cells cell = bq_cell_at(cells, begin);
		const float largest = bq_largest_of_cell_simd128(&cell, x + begin);

		if (cell.cols < 16 || !isfinite(largest))
			scalar(&cell, x + begin, codes + begin, scales);
		else
			bq_encode_cell(codes_of, &cell, bq_store_scale(cells, largest, highest, scales), x + begin, codes + begin);
	}
	return 0;
}

static inline __attribute__((always_inline)) void bq_decode_cell(
	bq_numbers_of *numbers_of, const struct bq_cells *cell, float factor, const uint8_t *codes, float *out)
{
	const v128_t scale = wasm_f32x4_splat(factor);
	const uint32_t dtype = cell->scale;
	const size_t last = cell->cols - 16;

	for (size_t row = 0; row < cell->nrows; row++, out += cell->stride, codes += cell->line_nbytes) {
		BQ_ROLLED
		for (size_t i = 0; i < last + 16; i += 16) {
			const size_t at = i < last ? i : last;
			v128_t value[4];

			numbers_of(wasm_v128_load(codes + at), value);
			for (int k = 0; k < 4; k++) {
				const v128_t product = wasm_f32x4_mul(value[k], scale);
				const v128_t canonical = wasm_v128_bitselect(product, bq_u32x4_splat(BQ_F32_NAN), wasm_f32x4_eq(product, product));

				wasm_v128_store(out + at + 4 * k, bq_f32x4_round_to(dtype, canonical));
			}
		}
	}
}

static inline __attribute__((always_inline)) void bq_decode_bytes_simd128(bq_numbers_of *numbers_of, bq_decode_cells *scalar,
	const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	for (size_t begin = 0; begin < cells->cols; begin += cells->group, scales += bq_dtype(cells->scale)->nbytes) {
		const struct bq_cells cell = bq_cell_at(cells, begin);
		float scale;

		bq_kernels_scalar.to_f32[cell.scale](scales, 1, &scale);
		if (cell.cols < 16)
			scalar(&cell, codes + begin, scales, out + begin);
		else
			bq_decode_cell(numbers_of, &cell, scale, codes + begin, out + begin);
	}
}

/* Quotients of powers of two are exact where they are not subnormal, and what is has the code of 0: rounding them to a dtype is
 * rounding off the least. Below this a negative one is not -0: half the dtype's least number is, to even. */
static inline float bq_negative_below(uint32_t work)
{
	return work == BQ_BF16 ? -0x1p-134f : work == BQ_F16 ? -0x1p-25f : 0;
}

/* 16 codes of quotients, which may be infinite. Below 2 a code counts halves, below 4 ones from 2 on, then twos from 4 on: it
 * is the least of the three counts. Adding 1.5 * 2^23 rounds to an integer, half to even, and leaves it in the low bits. */
static inline v128_t bq_u8x16_e2m1(const v128_t quotient[4], v128_t negative_below)
{
	const v128_t zero = bq_f32x4_splat(0x1.8p23f), two = bq_f32x4_splat(0x1.8p23f + 2), four = bq_f32x4_splat(0x1.8p23f + 4);
	const v128_t half = bq_f32x4_splat(0.5f);
	v128_t code[4], negative[4];

	for (int k = 0; k < 4; k++) {
		const v128_t magnitude = bq_f32x4_magnitude(quotient[k]);
		const v128_t halves = wasm_f32x4_add(wasm_f32x4_add(magnitude, magnitude), zero);
		const v128_t ones = wasm_f32x4_add(magnitude, two);
		const v128_t twos = wasm_f32x4_add(wasm_f32x4_mul(magnitude, half), four);

		code[k] = wasm_i32x4_sub(wasm_i32x4_min(wasm_i32x4_min(halves, ones), twos), zero);
		negative[k] = wasm_f32x4_lt(quotient[k], negative_below);
	}

	const v128_t signs = wasm_i8x16_narrow_i16x8(
		wasm_i16x8_narrow_i32x4(negative[0], negative[1]), wasm_i16x8_narrow_i32x4(negative[2], negative[3]));

	return wasm_v128_or(wasm_u8x16_min(bq_u8x16_from_i32(code), bq_u8x16_splat(7)), wasm_v128_and(signs, bq_u8x16_splat(8)));
}

/* What 16 codes of E2M1 are under a finite scale: bytes 2 and 3 of float32, which is bfloat16. */
struct bq_e2m1_values {
	v128_t byte2, byte3;
};

static inline struct bq_e2m1_values bq_e2m1_values_of(v128_t scale)
{
	const v128_t low = bq_f32x4_round_bf16(wasm_f32x4_mul(wasm_f32x4_make(0, 0.5f, 1, 1.5f), scale));
	const v128_t high = bq_f32x4_round_bf16(wasm_f32x4_mul(wasm_f32x4_make(2, 3, 4, 6), scale));
	const v128_t byte3 = wasm_i8x16_shuffle(low, high, 3, 7, 11, 15, 19, 23, 27, 31, 3, 7, 11, 15, 19, 23, 27, 31);

	return (struct bq_e2m1_values){
		wasm_i8x16_shuffle(low, high, 2, 6, 10, 14, 18, 22, 26, 30, 2, 6, 10, 14, 18, 22, 26, 30),
		wasm_v128_xor(byte3, wasm_i64x2_make(0, (int64_t)0x8080808080808080)),
	};
}

/* 16 values of 8 bytes, in the low half of a vector. */
static inline void bq_store_e2m1(const struct bq_e2m1_values *values, v128_t bytes, float *out)
{
	const v128_t low = bq_low_nibbles(bytes), high = bq_high_nibbles(bytes);
	const v128_t code = wasm_i8x16_shuffle(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	v128_t value[4];

	bq_f32x16_from_upper(wasm_i8x16_swizzle(values->byte2, code), wasm_i8x16_swizzle(values->byte3, code), value);
	for (int k = 0; k < 4; k++)
		wasm_v128_store(out + 4 * k, value[k]);
}

#endif
