/* SPDX-License-Identifier: MIT
 * mxfp4_planes.c - E2M1 codes in pairs, E8M0 scales per 32, simd128: the scales of four cells are found in lanes.
 */
#include "planes.h"

#define GROUP 32
#define FOUR (4 * GROUP)

/* The scales' codes. Dividing by their powers is multiplying by 2^(127 - code), which float32 has. */
static v128_t scale_codes_of(uint32_t work, v128_t largest)
{
	const v128_t infinity = bq_u32x4_splat(BQ_F32_INFINITY);
	v128_t carried = wasm_i32x4_add(wasm_i32x4_min(largest, infinity), wasm_i32x4_splat(0x800000 >> 2));
	v128_t code;

	if (work == BQ_F16) {
		carried = wasm_i32x4_add(bq_u32x4_f16_from_f32(largest), wasm_i32x4_splat(0x400 >> 2));
		carried = bq_f32x4_from_f16(wasm_v128_and(carried, wasm_i32x4_splat(0x7C00)));
	}
	carried = wasm_v128_and(carried, infinity);
	code = wasm_i32x4_max(wasm_i32x4_sub(wasm_u32x4_shr(carried, 23), wasm_i32x4_splat(2)), wasm_i32x4_splat(0));
	/* Half of 2^-24, the least of float16, is 0 there: no magnitude gives what is between. */
	if (work == BQ_F16)
		code = wasm_v128_bitselect(wasm_i32x4_splat(127), code, wasm_i32x4_lt(code, wasm_i32x4_splat(127 - 24)));
	return wasm_v128_bitselect(wasm_i32x4_splat(255), code, wasm_i32x4_eq(carried, infinity));
}

static inline v128_t codes_of(const float *x, v128_t factor, v128_t negative_below)
{
	v128_t quotient[4];

	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_mul(wasm_v128_load(x + 4 * k), factor);
	return bq_u8x16_e2m1(quotient, negative_below);
}

/* Returns a bit for each cell of finite values whose scale is NaN. */
static unsigned encode_four(uint32_t work, const float *x, uint8_t *codes, uint8_t *scales)
{
	const v128_t largest = bq_largest_magnitudes_of_four(GROUP, x);
	const v128_t code = scale_codes_of(work, largest);
	const v128_t bytes = wasm_i16x8_narrow_i32x4(code, code);
	const v128_t nan = wasm_i32x4_eq(code, wasm_i32x4_splat(255));
	const v128_t negative_below = wasm_f32x4_splat(bq_negative_below(work));
	float factor[4];

	wasm_v128_store32_lane(scales, wasm_u8x16_narrow_i16x8(bytes, bytes), 0);
	wasm_v128_store(factor, wasm_i32x4_shl(wasm_i32x4_sub(wasm_i32x4_splat(254), code), 23));
	BQ_ROLLED
	for (int k = 0; k < 4; k++, x += GROUP, codes += GROUP / 2) {
		const v128_t by = wasm_v128_load32_splat(factor + k);

		wasm_v128_store(codes, bq_nibbles(codes_of(x, by, negative_below), codes_of(x + 16, by, negative_below)));
		/* A quotient that is NaN has the highest code. */
		if (scales[k] == 255)
			memset(codes, 0x77, GROUP / 2);
	}
	return (unsigned)wasm_i32x4_bitmask(wasm_v128_andnot(nan, bq_f32x4_nonfinite(largest)));
}

uint32_t bq_encode_mxfp4_planes_simd128(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	uint32_t overflows = 0;

	if (cells->cols < FOUR)
		return bq_encode_mxfp4_planes_scalar(cells, x, codes, scales);
	for (size_t i = 0; i < cells->cols; i += FOUR) {
		const size_t first = i < cells->cols - FOUR ? i : cells->cols - FOUR; /* the last four overlap: same bytes again */
		const unsigned found = encode_four(cells->work, x + first, codes + first / 2, scales + first / GROUP);

		overflows += (unsigned)__builtin_popcount(found >> (i - first) / GROUP);
	}
	return overflows;
}

void bq_decode_mxfp4_planes_simd128(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	for (size_t i = 0; i < cells->cols; i += GROUP, codes += GROUP / 2, scales++) {
		const struct bq_e2m1_values values = bq_e2m1_values_of(wasm_f32x4_splat(bq_f32_from_e8m0(*scales)));

		if (*scales == 255) {
			const struct bq_cells one = bq_cell_at(cells, i);

			bq_decode_mxfp4_planes_scalar(&one, codes, scales, out + i);
			continue;
		}
		bq_store_e2m1(&values, wasm_v128_load64_zero(codes), out + i);
		bq_store_e2m1(&values, wasm_v128_load64_zero(codes + 8), out + i + 16);
	}
}
