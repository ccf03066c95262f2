/* SPDX-License-Identifier: MIT
 * ggml_q6_k.c - q6_K: the search with four sub-blocks in lanes; the last rounding sub-block by sub-block.
 */
#include "kernels.h"
#include "ggml_k16.h"

#define VALUES 256
#define NBYTES 210
#define SUB_BLOCKS 16
#define SUB_VALUES 16
#define LEVELS 32

/* Where the fields of a block begin. */
#define HIGH 128
#define SCALES 192
#define OUTER 208

/* The codes of a sub-block for its scale as stored; those of the search where that is 0. */
static inline v128_t encode_codes(const float *x, float stored, float inverse, uint32_t tiny)
{
	return stored == 0.0f ? bq_signed_codes_of_search(LEVELS, x, inverse, tiny)
						  : bq_signed_codes_of_quotients(LEVELS, x, stored);
}

/* codes: of 128 values. */
static void pack_half(const v128_t codes[8], uint8_t *low, uint8_t *high)
{
	v128_t upper[8];

	for (int k = 0; k < 8; k++)
		upper[k] = wasm_u16x8_shr(wasm_v128_and(codes[k], bq_u8x16_splat(0x30)), 4);
	bq_pack_pairs_of_half(upper, high);
	for (int k = 0; k < 4; k++)
		wasm_v128_store(
			low + 16 * k, bq_join_nibbles(bq_low_nibbles(codes[k]), bq_low_nibbles(codes[k + 4])));
}

static void encode_block(const float *x, const float *importance, uint8_t *out)
{
	struct bq_k16_found found;

	if (!bq_search_k16(LEVELS, x, importance, NULL, &found) ||
		(importance && !bq_all_finite_simd128(VALUES, importance))) {
		bq_encode_q6_k_scalar(x, importance, NULL, 1, out);
		return;
	}

	const float largest = bq_largest_number(SUB_BLOCKS, found.scale);

	if (fabsf(largest) < BQ_SEARCH_TINY) {
		memset(out, 0, NBYTES);
		return;
	}

	const float inverse = -128.0f / largest;

	bq_store16(out + OUTER, bq_ggml_scale_code(1.0f / inverse));

	const float outer = bq_f32_from_f16(bq_load16(out + OUTER));

	for (int half = 0; half < 2; half++) {
		v128_t codes[8];

		BQ_ROLLED
		for (int k = 0; k < 8; k++) {
			const int j = 8 * half + k;
			const int32_t rounded = bq_round_by_magic(inverse * found.scale[j]);
			const int8_t code = (int8_t)(rounded < 127 ? rounded : 127);

			out[SCALES + j] = (uint8_t)code;
			codes[k] = encode_codes(x + j * SUB_VALUES, outer * (float)code, found.inverse[j], found.tiny[j]);
		}
		pack_half(codes, out + 64 * half, out + HIGH + 32 * half);
	}
}

void bq_encode_q6_k_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)context;
	for (size_t block = 0; block < nblocks; block++)
		encode_block(x + block * VALUES, importance ? importance + block * VALUES : NULL, out + block * NBYTES);
}

/* 32 values of a group: codes 0 to 63 in two vectors. */
static inline void decode_group(const v128_t codes[2], const float *scale, float *out)
{
	for (int side = 0; side < 2; side++) {
		const v128_t factor = wasm_v128_load32_splat(scale + side);
		v128_t code[4];

		bq_f32x16_from_bytes(codes[side], -LEVELS, code);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(out + 16 * side + 4 * k, wasm_f32x4_mul(code[k], factor));
	}
}

void bq_decode_q6_k_simd128(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const uint16_t outer_code = bq_load16(in + OUTER);
		float scale[SUB_BLOCKS];
		v128_t scale_code[4];

		if ((outer_code & 0x7C00) == 0x7C00) {
			bq_decode_q6_k_scalar(in, 1, out);
			continue;
		}

		const v128_t outer = wasm_f32x4_splat(bq_f32_from_f16(outer_code));

		bq_f32x16_from_bytes(wasm_v128_xor(wasm_v128_load(in + SCALES), bq_u8x16_splat(128)), -128, scale_code);
		for (int k = 0; k < 4; k++)
			wasm_v128_store(scale + 4 * k, wasm_f32x4_mul(outer, scale_code[k]));

		BQ_ROLLED
		for (int half = 0; half < 2; half++) {
			const uint8_t *low = in + 64 * half, *high = in + HIGH + 32 * half;
			const v128_t three = bq_u8x16_splat(0x30);
			v128_t codes[4][2];

			for (int side = 0; side < 2; side++) {
				const v128_t first = wasm_v128_load(low + 16 * side), second = wasm_v128_load(low + 32 + 16 * side);
				const v128_t bits = wasm_v128_load(high + 16 * side);

				codes[0][side] =
					wasm_v128_or(bq_low_nibbles(first), wasm_v128_and(wasm_i16x8_shl(bits, 4), three));
				codes[1][side] =
					wasm_v128_or(bq_low_nibbles(second), wasm_v128_and(wasm_i16x8_shl(bits, 2), three));
				codes[2][side] = wasm_v128_or(bq_high_nibbles(first), wasm_v128_and(bits, three));
				codes[3][side] =
					wasm_v128_or(bq_high_nibbles(second), wasm_v128_and(wasm_u16x8_shr(bits, 2), three));
			}
			for (int group = 0; group < 4; group++)
				decode_group(codes[group], scale + 8 * half + 2 * group, out + 128 * half + 32 * group);
		}
	}
}
