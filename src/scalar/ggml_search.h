/* SPDX-License-Identifier: MIT
 * ggml_search.h - what ggml's formats share: its rounding, its largest value, its packed scales and its searches for scales.
 *
 * ggml takes a scale that fits the values well, not the one that just reaches the largest: it tries a few near that one and
 * keeps the least weighted squared error. Every sum runs from the first value to the last and every product is bracketed as
 * written, so that the bytes are ggml's (ggml-quants.c).
 */
#ifndef BQ_GGML_SEARCH_H
#define BQ_GGML_SEARCH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "number.h"
#include "values.h"

#define BQ_SEARCH_MAX_COUNT 32 /* values in the longest block that is searched */

/* Below this all values of a block are taken for zero (ggml's GROUP_MAX_EPS). */
#define BQ_SEARCH_TINY 1e-15f

/* The nearest integer, ties to even. 12582912 is 1.5 * 2^23: added to |x| < 2^22 it leaves the integer in the low bits.
 * Beyond that the result is what ggml's own use of the trick gives, since tiny scales rely on it: NaN 0, infinity -2^22. */
static inline int32_t bq_round_by_magic(float x)
{
	return (int32_t)(bq_bits(x + 12582912.0f) & 0x7FFFFF) - 0x400000;
}

static inline int32_t bq_clamp(int32_t code, int32_t lowest, int32_t highest)
{
	if (code > highest)
		code = highest;
	return code < lowest ? lowest : code;
}

/* The scale as it is stored. A NaN loses its sign, which differs between machines. */
static inline uint16_t bq_ggml_scale_code(float scale)
{
	return scale != scale ? 0x7E00 : bq_f16_from_f32(scale);
}

/* Decoded values. field: one of a block's f16 fields, or a sum or difference of them. If it is not finite some of the values
 * may be NaNs: these are made the same one everywhere. */
static inline void bq_settle_nans(float field, size_t count, float *out)
{
	if (fabsf(field) < bq_float(BQ_F32_INFINITY))
		return;
	for (size_t i = 0; i < count; i++)
		out[i] = out[i] != out[i] ? bq_float(BQ_F32_NAN) : out[i];
}

/* A plane of 32 bytes with one more bit for each of 256 codes: byte l has those of codes l, l + 32 .. l + 224, from bit 0 up.
 * shift: which bit of a code it is. */
static inline void bq_pack_bit_plane(const uint8_t codes[256], int shift, uint8_t out[32])
{
	memset(out, 0, 32);
	for (int j = 0; j < 8; j++)
		for (int l = 0; l < 32; l++)
			out[l] |= (uint8_t)((codes[32 * j + l] >> shift & 1) << j);
}

static inline void bq_unpack_bit_plane(const uint8_t in[32], int shift, uint8_t codes[256])
{
	for (int j = 0; j < 8; j++)
		for (int l = 0; l < 32; l++)
			codes[32 * j + l] |= (uint8_t)((in[l] >> j & 1) << shift);
}

/* A block with values or weights that are not finite: nhalves NaNs at halves_at, zeros. The reference leaves it to chance:
 * NaNs would survive or not, depending on where they stand. */
void bq_store_nonfinite_block(size_t nbytes, size_t halves_at, size_t nhalves, uint8_t *out);

/* The value of the largest magnitude, the first of equals; +0 if all are zero, a NaN if there is one. */
float bq_first_largest(size_t count, const float *x);

/* The same, but NaNs, which the searches give for extreme values, are passed over. */
static inline float bq_largest_number(size_t count, const float *x)
{
	float largest = 0.0f;

	for (size_t i = 0; i < count; i++)
		if (fabsf(x[i]) > fabsf(largest))
			largest = x[i];
	return largest;
}

#define BQ_SUPER_BLOCK 256

/* Super-blocks one after the other, by encode; one with values or weights that are not finite as bq_store_nonfinite_block
 * has it. importance: null, or one weight per value. */
static inline void bq_encode_super_blocks(void (*encode)(const float *x, const float *importance, uint8_t *out), size_t nbytes,
	size_t halves_at, size_t nhalves, const float *x, const float *importance, size_t nblocks, uint8_t *out)
{
	for (size_t block = 0; block < nblocks; block++, out += nbytes) {
		const float *values = x + block * BQ_SUPER_BLOCK;
		const float *weights = importance ? importance + block * BQ_SUPER_BLOCK : NULL;

		if (bq_all_finite(BQ_SUPER_BLOCK, values) && (!weights || bq_all_finite(BQ_SUPER_BLOCK, weights)))
			encode(values, weights, out);
		else
			bq_store_nonfinite_block(nbytes, halves_at, nhalves, out);
	}
}

/* weight = importance * sqrt(sigma + x * x). Returns the sum of the weights. */
float bq_weigh(size_t count, const float *x, const float *importance, float sigma, float *weight);

/* Search A (make_qx_quants): a scale of either sign for the codes -levels .. levels - 1, stored with levels added.
 * weight: null for x * x. Codes are 0 and the scale is 0 if all values are tiny; NaN if one is not finite. */
float bq_search_signed_scale(size_t count, int levels, const float *x, const float *weight, uint8_t *codes);

/* The same where the caller says which value gets the lowest code. */
float bq_search_signed_scale_from(
	float largest, size_t count, int levels, const float *x, const float *weight, uint8_t *codes);

/* Search B (make_q3_quants): as A with weights x * x and codes -4 .. 3, stored with 4 added, but there is one candidate,
 * whose codes are then changed in turn while that makes the fit better. x: finite. */
float bq_search_by_turns(const float x[16], uint8_t codes[16]);

/* The candidates of search C: top code + first + step * k, for k = 0 .. last, over the range of the values. */
struct bq_search_steps {
	float first, step;
	int last;
	int absolute; /* the error is |difference|, not its square */
};

extern const struct bq_search_steps bq_search_steps_q2_k, bq_search_steps_q4_k, bq_search_steps_q5_k; /* plain */
extern const struct bq_search_steps bq_search_steps_weighted; /* all formats with importance */

/* Search C (make_qkx2_quants, make_qkx3_quants): value = scale * code - min with codes 0 .. top and min >= 0. */
float bq_search_scale_and_min(size_t count, int top, const float *x, const float *weight,
	const struct bq_search_steps *steps, uint8_t *codes, float *min);

/* Search D (make_qp_quants): a scale for values that are not negative, codes 0 .. top. A negative value's code wraps. */
float bq_search_positive_scale(size_t count, int top, const float *x, const float *weight, uint8_t *codes);

/* No search: the largest value gets the code top, the others accordingly. A negative value's code wraps, and is cut to
 * limit. */
float bq_scale_of_largest(size_t count, int top, uint8_t limit, const float *x, uint8_t *codes);

/* Eight scales and eight mins of 6 bits in 12 bytes, as q4_K and q5_K have them. */
void bq_pack_scales_and_mins(const uint8_t *scales, const uint8_t *mins, uint8_t *out);
void bq_unpack_scales_and_mins(const uint8_t *in, uint8_t *scales, uint8_t *mins);

#endif
