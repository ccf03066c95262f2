/* SPDX-License-Identifier: MIT
 * ggml_q3_k.c - q3_K: the searches with sub-blocks in lanes; with importance four super-blocks at a time, since their scales
 * are searched in lanes too.
 */
#include "kernels.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 110
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define LEVELS 4
#define SCALE_LEVELS 32

/* Where the fields of a block begin. */
#define CODES 32
#define SCALES 96
#define OUTER 108

/* The codes of the search without importance, for a sub-block whose scale became 0. */
static v128_t codes_by_turns(const float *x)
{
	uint8_t codes[SUB_VALUES];

	bq_search_by_turns(x, codes);
	return wasm_v128_load(codes);
}

/* found: null without importance. out: its outer scale is there. */
static void store_block(
	const float *x, const uint8_t scales[SUB_BLOCKS], const struct bq_k16_found *found, uint8_t *out)
{
	const float outer = bq_f32_from_f16(bq_load16(out + OUTER));
	v128_t third_bits[2] = { wasm_i32x4_splat(0), wasm_i32x4_splat(0) };

	for (int half = 0; half < 2; half++) {
		v128_t codes[8];

		BQ_ROLLED
		for (int k = 0; k < 8; k++) {
			const int j = 8 * half + k;
			const float *values = x + j * SUB_VALUES;
			const float scale = outer * (float)(scales[j] - SCALE_LEVELS);

			if (scale != 0.0f)
				codes[k] = bq_signed_codes_of_quotients(LEVELS, values, scale);
			else if (found)
				codes[k] = bq_signed_codes_of_search(LEVELS, values, found->inverse[j], found->tiny[j]);
			else
				codes[k] = codes_by_turns(values);
		}
		for (int k = 0; k < 8; k++) {
			const v128_t third = wasm_u16x8_shr(wasm_v128_and(codes[k], bq_u8x16_splat(4)), 2);

			third_bits[k % 2] = wasm_v128_or(third_bits[k % 2], wasm_i16x8_shl(third, (unsigned)(4 * half + k / 2)));
		}
		bq_pack_pairs_of_half(codes, out + CODES + 32 * half);
	}
	wasm_v128_store(out, third_bits[0]);
	wasm_v128_store(out + 16, third_bits[1]);
	bq_pack_scales_of_q3_k(scales, out + SCALES);
}

static void encode_block(const float *x, uint8_t *out)
{
	float scale[SUB_BLOCKS];
	uint8_t scales[SUB_BLOCKS];

	if (!bq_search_by_turns_simd128(x, scale)) {
		bq_encode_q3_k_scalar(x, NULL, NULL, 1, out);
		return;
	}
	bq_store16(out + OUTER, bq_ggml_scale_code(bq_scale_of_q3_k(scale, scales)));
	store_block(x, scales, NULL, out);
}

/* The scales of four super-blocks' scales. Returns the lanes to be redone. */
static unsigned scale_four(const struct bq_k16_found found[4], uint8_t scales[4][SUB_BLOCKS], uint32_t outer[4])
{
	struct bq_signed_lanes lanes[SUB_BLOCKS];
	v128_t inverse, unsure;

	for (int j = 0; j < SUB_BLOCKS; j += 4) {
		v128_t scale[4], weight[4];

		for (int s = 0; s < 4; s++) {
			scale[s] = wasm_v128_load(found[s].scale + j);
			weight[s] = wasm_v128_load(found[s].sum_weight + j);
		}
		bq_transpose(scale);
		bq_transpose(weight);
		for (int k = 0; k < 4; k++) {
			lanes[j + k].x = scale[k];
			lanes[j + k].weight = weight[k];
			lanes[j + k].product = wasm_f32x4_mul(weight[k], scale[k]);
		}
	}

	const v128_t largest = bq_first_largest_of_lanes(SUB_BLOCKS, lanes);
	const v128_t tiny = wasm_f32x4_lt(bq_f32x4_magnitude(largest), wasm_f32x4_splat(BQ_SEARCH_TINY));
	const v128_t scale = bq_search_signed_scale_simd128(SUB_BLOCKS, lanes, largest, SCALE_LEVELS, &inverse, &unsure);
	float inverses[4];
	uint32_t tinies[4];

	wasm_v128_store(inverses, inverse);
	wasm_v128_store(tinies, tiny);
	wasm_v128_store(outer, bq_ggml_scale_codes(wasm_v128_andnot(scale, tiny)));
	for (int s = 0; s < 4; s++)
		wasm_v128_store(
			scales[s], bq_signed_codes_of_search(SCALE_LEVELS, found[s].scale, inverses[s], tinies[s]));
	return (unsigned)wasm_i32x4_bitmask(wasm_v128_andnot(unsure, tiny));
}

static void encode_four_weighted(const float *const x[4], const float *const importance[4], uint8_t *const out[4])
{
	struct bq_k16_found found[4];
	uint8_t scales[4][SUB_BLOCKS];
	float sigma[4];
	uint32_t outer[4];
	unsigned unsure = 0;

	wasm_v128_store(sigma,
		wasm_f32x4_mul(
			wasm_f32x4_mul(wasm_f32x4_splat(2.0f), bq_sums_of_squares(x)), wasm_f32x4_splat(1.0f / VALUES)));
	for (int s = 0; s < 4; s++)
		if (!bq_search_k16(LEVELS, x[s], importance[s], &sigma[s], &found[s]) ||
			!bq_all_finite_simd128(VALUES, importance[s]))
			unsure |= 1u << s;
	unsure |= scale_four(found, scales, outer);
	for (int s = 0; s < 4; s++) {
		if (unsure >> s & 1) {
			bq_encode_q3_k_scalar(x[s], importance[s], NULL, 1, out[s]);
			continue;
		}
		bq_store16(out[s] + OUTER, (uint16_t)outer[s]);
		store_block(x[s], scales[s], &found[s], out[s]);
	}
}

void bq_encode_q3_k_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	for (size_t block = 0; block < nblocks && !importance; block++)
		encode_block(x + block * VALUES, out + block * NBYTES);
	for (size_t block = 0; block < nblocks && importance; block += 4) {
		const struct bq_super_blocks four = bq_four_super_blocks(x, importance, block, nblocks, NBYTES, out);

		encode_four_weighted(four.x, four.importance, four.out);
	}
}

void bq_decode_q3_k_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const uint16_t outer_code = bq_load16(in + OUTER);
		const float outer = bq_f32_from_f16(outer_code);
		uint8_t scales[SUB_BLOCKS];
		float scale[SUB_BLOCKS];
		v128_t scale_code[4];

		if ((outer_code & 0x7C00) == 0x7C00) {
			bq_decode_q3_k_scalar(in, 1, out);
			continue;
		}
		bq_unpack_scales_of_q3_k(in + SCALES, scales);
		bq_f32x16_from_bytes(wasm_v128_load(scales), -SCALE_LEVELS, scale_code);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(scale + 4 * k, wasm_f32x4_mul(wasm_f32x4_splat(outer), scale_code[k]));

		BQ_ROLLED
		for (int j = 0; j < SUB_BLOCKS; j++) {
			const v128_t pairs = wasm_v128_load(in + CODES + 32 * (j / 8) + 16 * (j % 2));
			const v128_t third_bits = wasm_u16x8_shr(wasm_v128_load(in + 16 * (j % 2)), (unsigned)(j / 2));
			const v128_t third = wasm_v128_and(wasm_i16x8_shl(third_bits, 2), bq_u8x16_splat(4));
			const v128_t factor = wasm_v128_load32_splat(scale + j);
			v128_t code[4];

			bq_f32x16_from_bytes(wasm_v128_or(bq_pairs_of_group(pairs, j % 8 / 2), third), -LEVELS, code);
			for (int k = 0; k < 4; k++)
				wasm_v128_store(out + j * SUB_VALUES + 4 * k, wasm_f32x4_mul(code[k], factor));
		}
	}
}
