/* SPDX-License-Identifier: MIT
 * ggml_nvfp4.c - ggml's nvfp4, block by block: its four scales are found in lanes.
 */
#include "kernels.h"
#include "ggml_e2m1.h"

#define VALUES 64
#define NBYTES 36
#define SUB_BLOCKS 4
#define SUB_VALUES 16

/* 16 codes: how many of the bounds between the doubled values are below the magnitude. The bounds are exact, and so are the
 * distances that the reference compares where they are about equal. */
static inline v128_t codes_of(const float *x, v128_t step)
{
	static const float bounds[7] = { 0.5f, 1.5f, 2.5f, 3.5f, 5.0f, 7.0f, 10.0f };
	const v128_t mask = bq_u32x4_splat(0x7FFFFFFF);
	v128_t bound[7], value[4], code[4];

	for (int b = 0; b < 7; b++)
		bound[b] = wasm_f32x4_mul(step, bq_f32x4_splat(bounds[b]));
	for (int k = 0; k < 4; k++) {
		value[k] = wasm_v128_load(x + 4 * k);
		code[k] = wasm_i32x4_splat(0);

		const v128_t magnitude = wasm_v128_and(value[k], mask);

		for (int b = 0; b < 7; b++)
			code[k] = wasm_i32x4_sub(code[k], wasm_i32x4_gt(magnitude, bound[b]));
	}
	return bq_sign_codes(bq_u8x16_from_i32(code), value);
}

static void encode_block(const float *x, uint8_t *out)
{
	const v128_t largest = bq_largest_magnitudes_of_four(SUB_VALUES, x);
	const v128_t code = bq_u32x4_ggml_ue4m3_from_f32(wasm_f32x4_div(largest, wasm_f32x4_splat(6.0f)));
	const v128_t step = wasm_f32x4_mul(bq_f32x4_code_magnitude(code, 3, 7), wasm_f32x4_splat(0.5f));
	const v128_t none = wasm_f32x4_eq(step, wasm_f32x4_splat(0.0f));
	/* Values of 100000 steps and more: the reference's distances round to the same, and its first code wins. */
	const v128_t far = wasm_f32x4_gt(largest, wasm_f32x4_mul(step, wasm_f32x4_splat(1e5f)));
	float steps[SUB_BLOCKS];

	if (wasm_v128_any_true(wasm_v128_or(wasm_v128_andnot(far, none), bq_f32x4_nonfinite(largest)))) {
		bq_encode_nvfp4_scalar(x, NULL, NULL, 1, out);
		return;
	}
	/* Nothing is above infinity. */
	wasm_v128_store(steps, wasm_v128_bitselect(bq_u32x4_splat(BQ_F32_INFINITY), step, none));

	const v128_t codes = wasm_i16x8_narrow_i32x4(code, code);

	wasm_v128_store32_lane(out, wasm_u8x16_narrow_i16x8(codes, codes), 0);
	BQ_ROLLED
	for (int s = 0; s < SUB_BLOCKS; s++) {
		const v128_t sub = codes_of(x + s * SUB_VALUES, wasm_v128_load32_splat(steps + s));

		wasm_v128_store64_lane(
			out + SUB_BLOCKS + s * SUB_VALUES / 2, bq_join_nibbles(sub, wasm_i64x2_shuffle(sub, sub, 1, 1)), 0);
	}
}

void bq_encode_nvfp4_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++)
		encode_block(x + block * VALUES, out + block * NBYTES);
}

void bq_decode_nvfp4_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const v128_t scales = wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(in)));
		const v128_t magnitude = bq_f32x4_code_magnitude(wasm_v128_and(scales, bq_u32x4_splat(0x7F)), 3, 7);
		const v128_t none = wasm_i32x4_eq(scales, bq_u32x4_splat(0x7F));
		float steps[SUB_BLOCKS];

		wasm_v128_store(steps, wasm_v128_andnot(wasm_f32x4_mul(magnitude, bq_f32x4_splat(0.5f)), none));
		/* Of two sub-blocks the lower halves of bytes, then the upper. */
		BQ_ROLLED
		for (int s = 0; s < SUB_BLOCKS; s += 2) {
			const v128_t first = wasm_v128_load32_splat(steps + s), second = wasm_v128_load32_splat(steps + s + 1);
			const v128_t bytes = wasm_v128_load(in + SUB_BLOCKS + s * SUB_VALUES / 2);
			float *const values = out + s * SUB_VALUES;
			v128_t low[4], high[4];

			bq_f32x16_from_e2m1(bq_low_nibbles(bytes), low);
			bq_f32x16_from_e2m1(bq_high_nibbles(bytes), high);
			for (int k = 0; k < 2; k++) {
				wasm_v128_store(values + 4 * k, wasm_f32x4_mul(low[k], first));
				wasm_v128_store(values + 8 + 4 * k, wasm_f32x4_mul(high[k], first));
				wasm_v128_store(values + 16 + 4 * k, wasm_f32x4_mul(low[2 + k], second));
				wasm_v128_store(values + 24 + 4 * k, wasm_f32x4_mul(high[2 + k], second));
			}
		}
	}
}
