/* SPDX-License-Identifier: MIT
 * ggml_iq.c - from fields to values, 16 at a time.
 */
#include "ggml_iq.h"

/* The grid's values of two groups of 8, or of four of 4. */
static v128_t load_points(int coords, const uint8_t *points, const uint16_t *point)
{
	v128_t values;

	if (coords == 8) {
		values = wasm_v128_load64_zero(points + 8 * point[0]);
		return wasm_v128_load64_lane(points + 8 * point[1], values, 1);
	}
	values = wasm_v128_load32_zero(points + 4 * point[0]);
	values = wasm_v128_load32_lane(points + 4 * point[1], values, 1);
	values = wasm_v128_load32_lane(points + 4 * point[2], values, 2);
	return wasm_v128_load32_lane(points + 4 * point[3], values, 3);
}

/* 16 codes plus 128. */
static v128_t load_codes(const struct bq_iq_format *format, const uint8_t *points, const struct bq_iq_block *block, int first)
{
	static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
	static const uint8_t lanes[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 };
	const v128_t codes = load_points(format->coords, points, block->point + first / format->coords);
	const v128_t pair = wasm_v128_load16_splat(block->signs + first / 8);
	const v128_t signs = wasm_i8x16_swizzle(pair, wasm_v128_load(lanes)), one = bq_u8x16_splat(1);

	if (format->shifted) /* 128 + code + 1 - 2 * signs */
		return wasm_i8x16_sub(wasm_i8x16_add(codes, bq_u8x16_splat(129)), wasm_i8x16_add(signs, signs));

	const v128_t below = wasm_u8x16_ge(wasm_v128_and(signs, wasm_v128_load(bits)), one);

	return wasm_i8x16_add(wasm_i8x16_sub(wasm_v128_xor(codes, below), below), bq_u8x16_splat(128));
}

static void decode_block(const struct bq_iq_format *format, const uint8_t *points, const struct bq_iq_block *block, float *out)
{
	const float outer = bq_f32_from_f16(block->outer);

	if (outer != outer) {
		for (int i = 0; i < BQ_IQ_VALUES; i++)
			out[i] = bq_float(BQ_F32_NAN);
		return;
	}
	BQ_ROLLED
	for (int first = 0; first < BQ_IQ_VALUES; first += 16) {
		const v128_t scale =
			wasm_f32x4_splat(outer * bq_iq_scale(block->scale[first / format->sub_values]));
		v128_t codes[4];

		bq_f32x16_from_bytes(load_codes(format, points, block, first), -128, codes);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(out + first + 4 * k, wasm_f32x4_mul(scale, codes[k]));
	}
}

void bq_iq_decode_simd128(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, float *out)
{
	uint8_t points[8 * BQ_IQ_MAX_POINTS];
	struct bq_iq_block fields;

	bq_iq_spread(format->grid, format->values, points);
	for (size_t block = 0; block < nblocks; block++, in += format->nbytes, out += BQ_IQ_VALUES) {
		format->unpack(in, &fields);
		decode_block(format, points, &fields, out);
	}
}
