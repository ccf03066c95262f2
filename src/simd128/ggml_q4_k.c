/* SPDX-License-Identifier: MIT
 * ggml_q4_k.c - q4_K: the searches with sub-blocks in lanes, two super-blocks at a time; the last rounding value by value.
 */
#include "kernels.h"
#include "ggml_search.h"

#define VALUES 256
#define NBYTES 144
#define SUB_BLOCKS 8
#define SUB_VALUES 32
#define TOP 15
#define TOP_SCALE 63

/* Sums of squares of four super-blocks, each in order. */
static v128_t sums_of_squares(const float *const x[4])
{
	v128_t sum = wasm_f32x4_splat(0.0f);

	BQ_ROLLED
	for (int i = 0; i < VALUES; i += 4) {
		v128_t value[4];

		for (int k = 0; k < 4; k++)
			value[k] = wasm_v128_load(x[k] + i);
		bq_transpose(value);
		for (int k = 0; k < 4; k++)
			sum = wasm_f32x4_add(sum, wasm_f32x4_mul(value[k], value[k]));
	}
	return sum;
}

static void weigh_plain(struct bq_pair_lanes lanes[SUB_VALUES])
{
	v128_t sum[2] = { wasm_f32x4_splat(0.0f), wasm_f32x4_splat(0.0f) };

	BQ_ROLLED
	for (int i = 0; i < SUB_VALUES; i++)
		for (int g = 0; g < 2; g++)
			sum[g] = wasm_f32x4_add(sum[g], wasm_f32x4_mul(lanes[i].x[g], lanes[i].x[g]));
	for (int g = 0; g < 2; g++)
		sum[g] = wasm_f32x4_sqrt(wasm_f32x4_mul(sum[g], wasm_f32x4_splat(1.0f / SUB_VALUES)));
	BQ_ROLLED
	for (int i = 0; i < SUB_VALUES; i++)
		for (int g = 0; g < 2; g++)
			lanes[i].weight[g] = wasm_f32x4_add(sum[g], wasm_f32x4_abs(lanes[i].x[g]));
}

/* 32 codes of a sub-block for the scale and min as stored. */
static inline void round_to_stored_scale(const float *x, float scale, float min, v128_t codes[2])
{
	const v128_t divisor = wasm_f32x4_splat(scale);
	const v128_t addend = wasm_f32x4_splat(min);

	for (int half = 0; half < 2; half++) {
		v128_t quotient[4];

		for (int k = 0; k < 4; k++)
			quotient[k] = wasm_f32x4_div(wasm_f32x4_add(wasm_v128_load(x + 16 * half + 4 * k), addend), divisor);
		codes[half] = bq_codes_up_to(TOP, quotient);
	}
}

/* The codes that the search had. */
static void keep_codes(const float *x, float inverse, float low, v128_t codes[2])
{
	for (int half = 0; half < 2; half++)
		codes[half] = bq_codes_with_low(TOP, x + 16 * half, wasm_f32x4_splat(inverse), wasm_f32x4_splat(low));
}

/* out: the scales are in it. */
static void encode_codes(const float *x, const struct bq_scales_and_mins *found, uint8_t *out)
{
	const float outer_scale = bq_f32_from_f16(bq_load16(out));
	const float outer_min = bq_f32_from_f16(bq_load16(out + 2));
	uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];
	float inverse[SUB_BLOCKS], low[SUB_BLOCKS];

	bq_unpack_scales_and_mins(out + 4, scales, mins);
	for (int g = 0; g < 2; g++) {
		wasm_v128_store(inverse + 4 * g, found->inverse[g]);
		wasm_v128_store(low + 4 * g, found->low[g]);
	}

	BQ_ROLLED
	for (int pair = 0; pair < SUB_BLOCKS / 2; pair++) {
		v128_t codes[2][2];

		for (int k = 0; k < 2; k++) {
			const int j = 2 * pair + k;
			const float scale = outer_scale * (float)scales[j];

			if (scale == 0.0f)
				keep_codes(x + j * SUB_VALUES, inverse[j], low[j], codes[k]);
			else
				round_to_stored_scale(x + j * SUB_VALUES, scale, outer_min * (float)mins[j], codes[k]);
		}
		for (int half = 0; half < 2; half++)
			wasm_v128_store(out + 16 + SUB_VALUES * pair + 16 * half, bq_join_nibbles(codes[0][half], codes[1][half]));
	}
}

static void scale_plain(const struct bq_scales_and_mins *found, uint8_t *out)
{
	float scale[SUB_BLOCKS], min[SUB_BLOCKS];
	uint8_t scales[SUB_BLOCKS], mins[SUB_BLOCKS];

	for (int g = 0; g < 2; g++) {
		wasm_v128_store(scale + 4 * g, found->scale[g]);
		wasm_v128_store(min + 4 * g, found->min[g]);
	}
	bq_store16(out, bq_ggml_scale_code(bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, scale, scales)));
	bq_store16(out + 2, bq_ggml_scale_code(bq_scale_of_largest(SUB_BLOCKS, TOP_SCALE, min, mins)));
	bq_pack_scales_and_mins(scales, mins, out + 4);
}

/* Lanes of the second search: scales and mins of the first super-block, then of the second. */
static void scale_weighted(struct bq_scales_and_mins found[2], uint8_t *const out[2])
{
	v128_t x[SUB_BLOCKS], weight[SUB_BLOCKS], codes[SUB_BLOCKS], unsure;
	uint32_t outer[4];

	for (int g = 0; g < 2; g++) {
		v128_t *const values = x + 4 * g, *const weights = weight + 4 * g;

		values[0] = found[0].scale[g];
		values[1] = found[0].min[g];
		values[2] = found[1].scale[g];
		values[3] = found[1].min[g];
		bq_transpose(values);
		weights[0] = weights[1] = found[0].sum_weight[g];
		weights[2] = weights[3] = found[1].sum_weight[g];
		bq_transpose(weights);
	}

	const v128_t scale = bq_search_positive_scale_simd128(SUB_BLOCKS, x, weight, TOP_SCALE, codes, &unsure);
	const unsigned unsure_lanes = (unsigned)wasm_i32x4_bitmask(unsure);

	wasm_v128_store(outer, bq_ggml_scale_codes(scale));
	bq_transpose(codes);
	bq_transpose(codes + 4);
	for (int s = 0; s < 2; s++) {
		uint8_t bytes[2][16];

		for (int k = 0; k < 2; k++) {
			const v128_t magic = wasm_f32x4_splat(12582912.0f);
			v128_t code[4];

			code[0] = code[2] = wasm_i32x4_sub(wasm_f32x4_add(codes[2 * s + k], magic), magic);
			code[1] = code[3] = wasm_i32x4_sub(wasm_f32x4_add(codes[4 + 2 * s + k], magic), magic);
			wasm_v128_store(bytes[k], bq_u8x16_from_i32(code));
			bq_store16(out[s] + 2 * k, (uint16_t)outer[2 * s + k]);
		}
		bq_pack_scales_and_mins(bytes[0], bytes[1], out[s] + 4);
		found[s].unsure |= (unsure_lanes >> 2 * s & 3) != 0;
	}
}

/* importance: null, or per super-block; sigma: its 2 * sum(x * x) / 256. */
static void encode_two(
	const float *const x[2], const float *const importance[2], const float sigma[2], uint8_t *const out[2])
{
	struct bq_pair_lanes lanes[2][SUB_VALUES];
	struct bq_pairs pairs[2];
	struct bq_scales_and_mins found[2];

	for (int s = 0; s < 2; s++) {
		pairs[s].lanes = lanes[s];
		pairs[s].end = lanes[s] + SUB_VALUES;
		bq_fill_pair_lanes(SUB_VALUES, x[s], importance[s], lanes[s]);
		if (importance[s])
			bq_weigh_pair_lanes(SUB_VALUES, sigma[s], lanes[s]);
		else
			weigh_plain(lanes[s]);
	}
	bq_search_scale_and_min_simd128(
		pairs, TOP, importance[0] ? &bq_search_steps_weighted : &bq_search_steps_q4_k, found);
	if (importance[0]) {
		scale_weighted(found, out);
	} else {
		scale_plain(&found[0], out[0]);
		scale_plain(&found[1], out[1]);
	}
	for (int s = 0; s < 2; s++) {
		if (found[s].unsure)
			bq_encode_q4_k_scalar(x[s], importance[s], 0.0f, 1, out[s]);
		else
			encode_codes(x[s], &found[s], out[s]);
	}
}

void bq_encode_q4_k_simd128(const float *x, const float *importance, float row_sigma, size_t nblocks, uint8_t *out)
{
	(void)row_sigma;
	for (size_t block = 0; block < nblocks; block += 4) {
		const float *values[4], *weights[4];
		uint8_t *bytes[4];
		float sigma[4] = { 0.0f, 0.0f, 0.0f, 0.0f };

		/* Past the end, the last super-block again: it gets the same bytes. */
		for (size_t k = 0; k < 4; k++) {
			const size_t at = block + k < nblocks ? block + k : nblocks - 1;

			values[k] = x + at * VALUES;
			weights[k] = importance ? importance + at * VALUES : NULL;
			bytes[k] = out + at * NBYTES;
		}
		if (importance)
			wasm_v128_store(sigma,
				wasm_f32x4_mul(
					wasm_f32x4_mul(wasm_f32x4_splat(2.0f), sums_of_squares(values)), wasm_f32x4_splat(1.0f / VALUES)));
		encode_two(values, weights, sigma, bytes);
		if (block + 2 < nblocks)
			encode_two(values + 2, weights + 2, sigma + 2, bytes + 2);
	}
}

void bq_decode_q4_k_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const uint32_t outer = bq_load32(in);

		if ((outer & 0x7C00) == 0x7C00 || (outer & 0x7C000000) == 0x7C000000) {
			bq_decode_q4_k_scalar(in, 1, out);
			continue;
		}

		const v128_t outer_scale = bq_f32x4_from_f16(wasm_i32x4_splat((int32_t)(outer & 0xFFFF)));
		const v128_t outer_min = bq_f32x4_from_f16(wasm_i32x4_splat((int32_t)(outer >> 16)));
		uint8_t codes[2 * SUB_BLOCKS];
		float scale[SUB_BLOCKS], min[SUB_BLOCKS];
		v128_t code[4];

		bq_unpack_scales_and_mins(in + 4, codes, codes + SUB_BLOCKS);
		bq_f32x16_from_bytes(wasm_v128_load(codes), 0, code);
		for (int g = 0; g < 2; g++) {
			wasm_v128_store(scale + 4 * g, wasm_f32x4_mul(outer_scale, code[g]));
			wasm_v128_store(min + 4 * g, wasm_f32x4_mul(outer_min, code[2 + g]));
		}

		BQ_ROLLED
		for (int j = 0; j < SUB_BLOCKS; j += 2) {
			const v128_t scale0 = wasm_v128_load32_splat(scale + j), scale1 = wasm_v128_load32_splat(scale + j + 1);
			const v128_t min0 = wasm_v128_load32_splat(min + j), min1 = wasm_v128_load32_splat(min + j + 1);
			float *const values = out + j * SUB_VALUES;

			for (int half = 0; half < 2; half++) {
				const v128_t bytes = wasm_v128_load(in + 16 + j * (SUB_VALUES / 2) + 16 * half);
				v128_t low[4], high[4];

				bq_f32x16_from_bytes(bq_low_nibbles(bytes), 0, low);
				bq_f32x16_from_bytes(bq_high_nibbles(bytes), 0, high);
				for (int k = 0; k < 4; k++) {
					wasm_v128_store(values + 16 * half + 4 * k, wasm_f32x4_sub(wasm_f32x4_mul(low[k], scale0), min0));
					wasm_v128_store(
						values + SUB_VALUES + 16 * half + 4 * k, wasm_f32x4_sub(wasm_f32x4_mul(high[k], scale1), min1));
				}
			}
		}
	}
}
