/* SPDX-License-Identifier: MIT
 * ggml_ternary.h - scalar/ggml_ternary.h: the scales of four blocks in lanes, 16 codes at a time.
 */
#ifndef BQ_SIMD128_GGML_TERNARY_H
#define BQ_SIMD128_GGML_TERNARY_H

#include "../scalar/ggml_ternary.h"
#include "ggml_search.h"

/* Of four consecutive blocks. Bit by bit: redo: those that are not finite; beyond: those whose scale has an infinite inverse,
 * for which 0 stands here. */
struct bq_ternary_scales {
	uint32_t code[4];
	float inverse[4];
	unsigned redo, beyond;
};

static inline struct bq_ternary_scales bq_ternary_scales_of_four(size_t count, const float *x)
{
	const v128_t scale = bq_largest_magnitudes_of_four(count, x);
	const v128_t quotient = wasm_f32x4_div(wasm_f32x4_splat(1.0f), scale);
	const v128_t infinite = bq_f32x4_nonfinite(quotient);
	struct bq_ternary_scales scales;

	wasm_v128_store(scales.inverse, wasm_v128_andnot(quotient, infinite)); /* 0 of 0 */
	wasm_v128_store(scales.code, bq_u32x4_f16_from_f32(scale));
	scales.redo = (unsigned)wasm_i32x4_bitmask(bq_f32x4_nonfinite(scale));
	scales.beyond =
		(unsigned)wasm_i32x4_bitmask(wasm_v128_and(infinite, wasm_f32x4_ne(scale, wasm_f32x4_splat(0.0f))));
	return scales;
}

/* 16 codes with 1 added: no quotient reaches 1.5, so two comparisons round it. */
static inline v128_t bq_ternary_vector(const float *x, v128_t inverse)
{
	const v128_t half = bq_f32x4_splat(0.5f), minus_half = bq_f32x4_splat(-0.5f);
	v128_t code[4];

	for (int k = 0; k < 4; k++) {
		const v128_t quotient = wasm_f32x4_mul(wasm_v128_load(x + 4 * k), inverse);

		/* A comparison that holds is -1. */
		code[k] = wasm_i32x4_sub(wasm_f32x4_le(quotient, minus_half), wasm_f32x4_ge(quotient, half));
	}
	return wasm_i8x16_add(wasm_i8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4(code[0], code[1]),
							  wasm_i16x8_narrow_i32x4(code[2], code[3])),
		bq_u8x16_splat(1));
}

/* 16 values from codes with 1 added. */
static inline void bq_store_ternary_values(v128_t codes, v128_t scale, float *out)
{
	v128_t code[4];

	bq_f32x16_from_bytes(codes, -1, code);
	for (int k = 0; k < 4; k++)
		wasm_v128_store(out + 4 * k, wasm_f32x4_mul(code[k], scale));
}

#endif
