/* SPDX-License-Identifier: MIT
 * ggml_q2_k.c - q2_K: the searches with sub-blocks in lanes, a super-block at a time (two in search D).
 */
#include "kernels.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 84
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define TOP 3
#define TOP_SCALE 15

/* Where the fields of a block begin. */
#define CODES 16
#define OUTER 80
#define OUTER_MIN 82

static void weigh_plain(struct bq_pair_lanes lanes[SUB_VALUES])
{
	BQ_ROLLED
	for (int i = 0; i < SUB_VALUES; i++)
		for (int g = 0; g < 2; g++)
			lanes[i].weight[g] = wasm_f32x4_abs(lanes[i].x[g]);
}

/* found: of sub-blocks 0 to 7, and of 8 to 15. */
static void search(const float *x, const float *importance, float sigma, struct bq_scales_and_mins found[2])
{
	struct bq_pair_lanes lanes[2][SUB_VALUES];
	struct bq_pairs pairs[2];

	for (int s = 0; s < 2; s++) {
		const int first = s * 8 * SUB_VALUES;

		pairs[s].lanes = lanes[s];
		pairs[s].end = lanes[s] + SUB_VALUES;
		bq_fill_pair_lanes(SUB_VALUES, x + first, importance ? importance + first : NULL, lanes[s]);
		if (importance)
			bq_weigh_pair_lanes(SUB_VALUES, sigma, lanes[s]);
		else
			weigh_plain(lanes[s]);
	}
	bq_search_scale_and_min_simd128(
		pairs, TOP, importance ? &bq_search_steps_weighted : &bq_search_steps_q2_k, found);
}

static void store_scales(const uint8_t *scales, const uint8_t *mins, uint8_t *out)
{
	for (int j = 0; j < SUB_BLOCKS; j++)
		out[j] = (uint8_t)(scales[j] | mins[j] << 4);
}

static void scale_plain(const struct bq_scales_and_mins found[2], uint8_t *out)
{
	float scale[SUB_BLOCKS], min[SUB_BLOCKS];
	uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];

	for (int k = 0; k < 4; k++) {
		wasm_v128_store(scale + 4 * k, found[k / 2].scale[k % 2]);
		wasm_v128_store(min + 4 * k, found[k / 2].min[k % 2]);
	}
	bq_store16(out + OUTER, bq_ggml_scale_code(bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, 255, scale, scales)));
	bq_store16(out + OUTER_MIN, bq_ggml_scale_code(bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, 255, min, mins)));
	store_scales(scales, mins, out);
}

/* Two super-blocks. Lanes of the search: scales and mins of the first, then of the second. */
static void scale_weighted(struct bq_scales_and_mins found[2][2], uint8_t *const out[2])
{
	v128_t x[SUB_BLOCKS], weight[SUB_BLOCKS], codes[SUB_BLOCKS], unsure;
	uint32_t outer[4];

	for (int k = 0; k < 4; k++)
		bq_fill_positive_lanes(&found[0][k / 2], &found[1][k / 2], k % 2, x + 4 * k, weight + 4 * k);

	const v128_t scale = bq_search_positive_scale_simd128(SUB_BLOCKS, x, weight, TOP_SCALE, codes, &unsure);
	const unsigned unsure_lanes = (unsigned)wasm_i32x4_bitmask(unsure);

	wasm_v128_store(outer, bq_ggml_scale_codes(scale));
	for (int k = 0; k < 4; k++)
		bq_transpose(codes + 4 * k);
	for (int s = 0; s < 2; s++) {
		uint8_t bytes[2][SUB_BLOCKS];

		for (int which = 0; which < 2; which++) {
			v128_t code[4];

			for (int k = 0; k < 4; k++)
				code[k] = bq_i32x4_rounded(codes[4 * k + 2 * s + which], 0);
			wasm_v128_store(bytes[which], bq_u8x16_from_i32(code));
			bq_store16(out[s] + OUTER + 2 * which, (uint16_t)outer[2 * s + which]);
		}
		store_scales(bytes[0], bytes[1], out[s]);
		found[s][0].unsure |= (unsure_lanes >> 2 * s & 3) != 0;
	}
}

/* 16 codes for the scale and min as stored; those of the search where the scale became 0. */
static inline v128_t codes_of(const float *x, float scale, float min, float inverse, float low)
{
	v128_t quotient[4];

	if (scale == 0.0f)
		return bq_codes_with_low(TOP, x, wasm_f32x4_splat(inverse), wasm_f32x4_splat(low));
	for (int k = 0; k < 4; k++)
		quotient[k] = wasm_f32x4_div(
			wasm_f32x4_add(wasm_v128_load(x + 4 * k), wasm_f32x4_splat(min)), wasm_f32x4_splat(scale));
	return bq_rounded_codes(0, TOP, quotient);
}

/* out: the scales are in it. */
static void encode_codes(const float *x, const struct bq_scales_and_mins found[2], uint8_t *out)
{
	const float outer_scale = bq_f32_from_f16(bq_load16(out + OUTER));
	const float outer_min = bq_f32_from_f16(bq_load16(out + OUTER_MIN));
	float inverse[SUB_BLOCKS], low[SUB_BLOCKS];

	for (int k = 0; k < 4; k++) {
		wasm_v128_store(inverse + 4 * k, found[k / 2].inverse[k % 2]);
		wasm_v128_store(low + 4 * k, found[k / 2].low[k % 2]);
	}
	for (int half = 0; half < 2; half++) {
		v128_t codes[8];

		BQ_ROLLED
		for (int k = 0; k < 8; k++) {
			const int j = 8 * half + k;

			codes[k] = codes_of(x + j * SUB_VALUES, outer_scale * (float)(out[j] & 15),
				outer_min * (float)(out[j] >> 4), inverse[j], low[j]);
		}
		bq_pack_pairs_of_half(codes, out + CODES + 32 * half);
	}
}

static void encode_two(
	const float *const x[2], const float *const importance[2], const float sigma[2], uint8_t *const out[2])
{
	struct bq_scales_and_mins found[2][2];

	for (int s = 0; s < 2; s++)
		search(x[s], importance[s], sigma[s], found[s]);
	if (importance[0]) {
		scale_weighted(found, out);
	} else {
		scale_plain(found[0], out[0]);
		scale_plain(found[1], out[1]);
	}
	for (int s = 0; s < 2; s++) {
		if (found[s][0].unsure || found[s][1].unsure)
			bq_encode_q2_k_scalar(x[s], importance[s], NULL, 1, out[s]);
		else
			encode_codes(x[s], found[s], out[s]);
	}
}

void bq_encode_q2_k_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	for (size_t block = 0; block < nblocks; block += 4) {
		const struct bq_super_blocks four = bq_four_super_blocks(x, importance, block, nblocks, NBYTES, out);
		float sigma[4] = { 0.0f, 0.0f, 0.0f, 0.0f };

		if (importance)
			wasm_v128_store(sigma, wasm_f32x4_mul(bq_sums_of_squares(four.x), wasm_f32x4_splat(1.0f / VALUES)));
		BQ_ROLLED
		for (size_t k = 0; k < 4 && block + k < nblocks; k += 2)
			encode_two(four.x + k, four.importance + k, sigma + k, four.out + k);
	}
}

void bq_decode_q2_k_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const uint32_t outer = bq_load32(in + OUTER);
		const v128_t bytes = wasm_v128_load(in);
		v128_t scale_code[4], min_code[4];
		float scale[SUB_BLOCKS], min[SUB_BLOCKS];

		if ((outer & 0x7C00) == 0x7C00 || (outer & 0x7C000000) == 0x7C000000) {
			bq_decode_q2_k_scalar(in, 1, out);
			continue;
		}

		const v128_t outer_scale = wasm_f32x4_splat(bq_f32_from_f16((uint16_t)outer));
		const v128_t outer_min = wasm_f32x4_splat(bq_f32_from_f16((uint16_t)(outer >> 16)));

		bq_f32x16_from_bytes(bq_low_nibbles(bytes), 0, scale_code);
		bq_f32x16_from_bytes(bq_high_nibbles(bytes), 0, min_code);
		for (int k = 0; k < 4; k++) {
			wasm_v128_store(scale + 4 * k, wasm_f32x4_mul(outer_scale, scale_code[k]));
			wasm_v128_store(min + 4 * k, wasm_f32x4_mul(outer_min, min_code[k]));
		}

		BQ_ROLLED
		for (int j = 0; j < SUB_BLOCKS; j++) {
			const v128_t pairs = wasm_v128_load(in + CODES + 32 * (j / 8) + 16 * (j % 2));
			const v128_t factor = wasm_v128_load32_splat(scale + j), less = wasm_v128_load32_splat(min + j);
			v128_t code[4];

			bq_f32x16_from_bytes(bq_pairs_of_group(pairs, j % 8 / 2), 0, code);
			for (int k = 0; k < 4; k++)
				wasm_v128_store(out + j * SUB_VALUES + 4 * k, wasm_f32x4_sub(wasm_f32x4_mul(code[k], factor), less));
		}
	}
}
