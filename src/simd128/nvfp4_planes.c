/* SPDX-License-Identifier: MIT
 * nvfp4_planes.c - E2M1 codes in pairs, E4M3 scales per 16 that are multiplied by the tensor's, simd128: the scales of four
 * cells are found in lanes.
 */
#include "planes.h"

#define GROUP 16
#define FOUR (4 * GROUP)

static struct bq_cells part_of(const struct bq_cells *cells, size_t cols)
{
	struct bq_cells part = *cells;

	part.cols = cols;
	return part;
}

static inline v128_t codes_of(const float *x, float divisor)
{
	const v128_t by = wasm_f32x4_splat(divisor);
	v128_t quotient[4];

	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_div(wasm_v128_load(x + 4 * k), by);
	return bq_u8x16_e2m1(quotient, wasm_f32x4_splat(0));
}

static void encode_four(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	const v128_t largest = bq_largest_magnitudes_of_four(GROUP, x);
	const v128_t outer = wasm_v128_load32_splat(&cells->outer);
	const v128_t ideal = bq_f32x4_round_to(cells->work, wasm_f32x4_div(largest, wasm_f32x4_splat(6)));
	const v128_t bounded = wasm_f32x4_pmin(wasm_f32x4_mul(outer, ideal), wasm_f32x4_splat(448));
	const v128_t nearest = bq_u32x4_nearest_code(bounded, 3, 7);
	const v128_t code = wasm_v128_or(nearest, wasm_v128_and(wasm_i32x4_eq(nearest, wasm_i32x4_splat(0)), wasm_i32x4_splat(0x20)));
	const v128_t bytes = wasm_i16x8_narrow_i32x4(code, code);
	float divisor[4];

	if (wasm_v128_any_true(bq_f32x4_nonfinite(largest))) {
		const struct bq_cells four = part_of(cells, FOUR);

		bq_encode_nvfp4_planes_scalar(&four, x, codes, scales);
		return;
	}
	wasm_v128_store32_lane(scales, wasm_u8x16_narrow_i16x8(bytes, bytes), 0);
	wasm_v128_store(divisor, wasm_f32x4_div(bq_f32x4_code_magnitude(code, 3, 7), outer));

	BQ_ROLLED
	for (int pair = 0; pair < 4; pair += 2, x += 2 * GROUP, codes += GROUP)
		wasm_v128_store(codes, bq_nibbles(codes_of(x, divisor[pair]), codes_of(x + GROUP, divisor[pair + 1])));
}

uint32_t bq_encode_nvfp4_planes_simd128(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	if (cells->cols < FOUR)
		return bq_encode_nvfp4_planes_scalar(cells, x, codes, scales);
	for (size_t i = 0; i < cells->cols; i += FOUR) {
		const size_t first = i < cells->cols - FOUR ? i : cells->cols - FOUR; /* the last four overlap: same bytes again */

		encode_four(cells, x + first, codes + first / 2, scales + first / GROUP);
	}
	return 0;
}

static void decode_four(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	const v128_t code = wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(scales)));
	const v128_t scale = wasm_f32x4_div(bq_f32x4_from_f8e4m3(code), wasm_v128_load32_splat(&cells->outer));
	float factor[4];

	if (wasm_v128_any_true(bq_f32x4_nonfinite(scale))) {
		const struct bq_cells four = part_of(cells, FOUR);

		bq_decode_nvfp4_planes_scalar(&four, codes, scales, out);
		return;
	}
	wasm_v128_store(factor, scale);
	BQ_ROLLED
	for (int k = 0; k < 4; k++) {
		const struct bq_e2m1_values values = bq_e2m1_values_of(wasm_v128_load32_splat(factor + k));

		bq_store_e2m1(&values, wasm_v128_load64_zero(codes + k * GROUP / 2), out + k * GROUP);
	}
}

void bq_decode_nvfp4_planes_simd128(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	if (cells->cols < FOUR) {
		bq_decode_nvfp4_planes_scalar(cells, codes, scales, out);
		return;
	}
	for (size_t i = 0; i < cells->cols; i += FOUR) {
		const size_t first = i < cells->cols - FOUR ? i : cells->cols - FOUR;

		decode_four(cells, codes + first / 2, scales + first / GROUP, out + first);
	}
}
