/* SPDX-License-Identifier: MIT
 * layouts.c - the table of layouts, and the way into and out of blocks.
 */
#include "layouts.h"

#include <string.h>

#include "scalar/ggml_block32.h"
#include "scalar/ggml_e2m1.h"
#include "scalar/ggml_iq.h"
#include "scalar/ggml_iq4.h"
#include "scalar/ggml_k16.h"
#include "scalar/ggml_k32.h"
#include "scalar/ggml_ternary.h"

/* Codes of one row into its blocks, one code a byte, and back; out, in: what they become in the first block, nbytes before that in
 * the second. */
static void pack_bytes(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 32, out += nbytes)
		memcpy(out, codes, 32);
}

static void unpack_bytes(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 32, in += nbytes)
		memcpy(codes, in, 32);
}

static void pack_fours(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 32, out += nbytes)
		bq_store_codes(codes, 4, out);
}

static void unpack_fours(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 32, in += nbytes)
		bq_load_codes(in, 4, codes);
}

static void pack_fives(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 32, out += nbytes)
		bq_store_codes(codes, 5, out);
}

static void unpack_fives(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 32, in += nbytes)
		bq_load_codes(in, 5, codes);
}

/* E2M1 codes without -0, which no block has, eight at a time. 7 added to a magnitude reaches the sign's place unless it is 0. */
static inline void drop_negative_zeros(const uint8_t *codes, size_t count, uint8_t *out)
{
	const uint64_t magnitude = 0x0707070707070707u, sign = 0x0808080808080808u;

	for (size_t i = 0; i < count; i += 8) {
		uint64_t eight;

		memcpy(&eight, codes + i, 8);
		eight &= magnitude | (((eight & magnitude) + magnitude) & sign);
		memcpy(out + i, &eight, 8);
	}
}

static void pack_mxfp4(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	uint8_t some[32];

	for (; nblocks; nblocks--, codes += 32, out += nbytes) {
		drop_negative_zeros(codes, 32, some);
		bq_store_codes(some, 4, out + 1);
	}
}

/* The exponent 255, which only tiny values get, is a number here: 2^128, which doubled codes make of 2^127 (2 and more overflow
 * with either). */
static void unpack_mxfp4(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	static const uint8_t doubled[8] = { 0, 2, 4, 5, 6, 7, 6, 7 };

	for (; nblocks; nblocks--, codes += 32, in += nbytes) {
		bq_load_codes(in + 1, 4, codes);
		drop_negative_zeros(codes, 32, codes);
		for (int i = 0; i < 32 && in[0] == 255; i++)
			codes[i] = (uint8_t)((codes[i] & 8) | doubled[codes[i] & 7]);
	}
}

static void pack_scales_of_mxfp4(const uint8_t *scales, const uint8_t *mins, size_t nblocks, size_t nbytes, uint8_t *out)
{
	(void)mins;
	for (size_t b = 0; b < nblocks; b++)
		out[b * nbytes] = scales[b];
}

static void unpack_scales_of_mxfp4(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *scales, uint8_t *mins)
{
	(void)mins;
	for (size_t b = 0; b < nblocks; b++)
		scales[b] = in[b * nbytes] < 255 ? in[b * nbytes] : 254;
}

static void pack_nvfp4(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	uint8_t some[64];

	for (; nblocks; nblocks--, codes += 64, out += nbytes) {
		drop_negative_zeros(codes, 64, some);
		for (unsigned i = 0; i < 32; i++) {
			const uint8_t *low = some + i / 8 * 16 + i % 8;

			out[i] = (uint8_t)(low[0] | low[8] << 4);
		}
	}
}

static void unpack_nvfp4(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 64, in += nbytes) {
		for (unsigned i = 0; i < 64; i++)
			codes[i] = in[i / 16 * 8 + i % 8] >> (i % 16 < 8 ? 0 : 4) & 15;
		drop_negative_zeros(codes, 64, codes);
	}
}

static void pack_q4_k(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes)
		bq_pack_codes_k32(4, codes, out);
}

static void unpack_q4_k(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes)
		bq_unpack_codes_k32(4, in, codes);
}

static void pack_q5_k(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes)
		bq_pack_codes_k32(5, codes, out);
}

static void unpack_q5_k(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes)
		bq_unpack_codes_k32(5, in, codes);
}

static void pack_scales_of_k32(const uint8_t *scales, const uint8_t *mins, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, scales += 8, mins += 8, out += nbytes)
		bq_pack_scales_and_mins(scales, mins, out);
}

static void unpack_scales_of_k32(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *scales, uint8_t *mins)
{
	for (; nblocks; nblocks--, scales += 8, mins += 8, in += nbytes)
		bq_unpack_scales_and_mins(in, scales, mins);
}

static void pack_pairs(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes)
		bq_pack_pairs(codes, out);
}

static void unpack_pairs(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes)
		bq_unpack_pairs(in, codes);
}

/* 16 bytes of scales (low half) and mins. */
static void pack_scales_of_q2_k(const uint8_t *scales, const uint8_t *mins, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, scales += 16, mins += 16, out += nbytes)
		for (int j = 0; j < 16; j++)
			out[j] = (uint8_t)(scales[j] | mins[j] << 4);
}

static void unpack_scales_of_q2_k(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *scales, uint8_t *mins)
{
	for (; nblocks; nblocks--, scales += 16, mins += 16, in += nbytes)
		for (int j = 0; j < 16; j++) {
			scales[j] = in[j] & 15;
			mins[j] = in[j] >> 4;
		}
}

static void pack_q3_k(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes) {
		bq_pack_bit_plane(codes, 2, out);
		bq_pack_pairs(codes, out + 32);
	}
}

static void unpack_q3_k(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes) {
		bq_unpack_pairs(in + 32, codes);
		bq_unpack_bit_plane(in, 2, codes);
	}
}

static void pack_scales_of_q3_k(const uint8_t *scales, const uint8_t *mins, size_t nblocks, size_t nbytes, uint8_t *out)
{
	(void)mins;
	for (; nblocks; nblocks--, scales += 16, out += nbytes)
		bq_pack_scales_of_q3_k(scales, out);
}

static void unpack_scales_of_q3_k(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *scales, uint8_t *mins)
{
	(void)mins;
	for (; nblocks; nblocks--, scales += 16, in += nbytes)
		bq_unpack_scales_of_q3_k(in, scales);
}

static void pack_q6_k(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes)
		bq_pack_codes_of_q6_k(codes, out);
}

static void unpack_q6_k(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes)
		bq_unpack_codes_of_q6_k(in, codes);
}

static void pack_iq4_xs(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes)
		for (int j = 0; j < 8; j++)
			bq_store_codes(codes + 32 * j, 4, out + 16 * j);
}

static void unpack_iq4_xs(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes)
		for (int j = 0; j < 8; j++)
			bq_load_codes(in + 16 * j, 4, codes + 32 * j);
}

static void pack_scales_of_iq4_xs(const uint8_t *scales, const uint8_t *mins, size_t nblocks, size_t nbytes, uint8_t *out)
{
	(void)mins;
	for (; nblocks; nblocks--, scales += 8, out += nbytes)
		bq_pack_scales_of_iq4_xs(scales, out);
}

static void unpack_scales_of_iq4_xs(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *scales, uint8_t *mins)
{
	(void)mins;
	for (; nblocks; nblocks--, scales += 8, in += nbytes)
		bq_unpack_scales_of_iq4_xs(in, scales);
}

static void pack_tq1_0(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 256, out += nbytes)
		bq_pack_trits(codes, out);
}

static void unpack_tq1_0(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 256, in += nbytes)
		bq_unpack_trits(in, codes);
}

static void pack_q2_0(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out)
{
	for (; nblocks; nblocks--, codes += 64, out += nbytes) {
		memset(out, 0, 16);
		for (int i = 0; i < 64; i++)
			out[i / 4] |= (uint8_t)(codes[i] << i % 4 * 2);
	}
}

static void unpack_q2_0(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 64, in += nbytes)
		for (int i = 0; i < 64; i++)
			codes[i] = in[i / 4] >> i % 4 * 2 & 3;
}

/* -1 or 1. */
static void unpack_q1_0(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes)
{
	for (; nblocks; nblocks--, codes += 128, in += nbytes)
		for (int i = 0; i < 128; i++)
			codes[i] = (uint8_t)((in[i / 8] >> i % 8 & 1) * 2 - 1);
}

/* Formats of blocks: values and bytes of one, its f16 fields and where they begin. */
#define BLOCK(values, nbytes, nhalves, at) \
	.block_values = values, .block_nbytes = nbytes, .halves = nhalves, .halves_at = at
#define CODES(at, plus, pack, unpack) .codes_at = at, .codes_plus = plus, .pack_codes = pack, .unpack_codes = unpack
#define SCALES(count, at, plus, pack, unpack) \
	.nscales = count, .scales_at = at, .scales_plus = plus, .pack_scales = pack, .unpack_scales = unpack

static const struct bq_layout rows[BQ_NLAYOUTS] = {
	[BQ_LAYOUT_PLANES] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_PACK_QUANTIZED] = { .packing = BQ_WORDS, .zeros_by_row = 1, .shape = 1 },
	[BQ_LAYOUT_INT_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_FLOAT_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_NAIVE_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_MXFP8_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_NVFP4_PACK_QUANTIZED] = { .packing = BQ_NIBBLES },
	[BQ_LAYOUT_MXFP4_PACK_QUANTIZED] = { .packing = BQ_NIBBLES },
	[BQ_LAYOUT_MXFP6_PACK_QUANTIZED] = { .packing = BQ_SIXES },
	[BQ_LAYOUT_BURN_QUANTIZED_BYTES] = { .packing = BQ_BYTES, .open_packing = 1, .serial = 1 },
	[BQ_LAYOUT_GGML_Q8_0] = { BLOCK(32, 34, 1, 0), CODES(2, 0, pack_bytes, unpack_bytes) },
	[BQ_LAYOUT_GGML_Q4_0] = { BLOCK(32, 18, 1, 0), CODES(2, 8, pack_fours, unpack_fours) },
	[BQ_LAYOUT_GGML_Q5_0] = { BLOCK(32, 22, 1, 0), CODES(2, 16, pack_fives, unpack_fives) },
	[BQ_LAYOUT_GGML_Q4_K] = { BLOCK(256, 144, 2, 0), CODES(16, 0, pack_q4_k, unpack_q4_k), SCALES(8, 4, 0, pack_scales_of_k32, unpack_scales_of_k32) },
	[BQ_LAYOUT_GGML_Q4_1] = { BLOCK(32, 20, 2, 0), CODES(4, 0, pack_fours, unpack_fours), .min_flip = 0x8000 },
	[BQ_LAYOUT_GGML_Q5_1] = { BLOCK(32, 24, 2, 0), CODES(4, 0, pack_fives, unpack_fives), .min_flip = 0x8000 },
	[BQ_LAYOUT_GGML_Q6_K] = { BLOCK(256, 210, 1, 208), CODES(0, 32, pack_q6_k, unpack_q6_k), SCALES(16, 192, 0, NULL, NULL) },
	[BQ_LAYOUT_GGML_Q5_K] = { BLOCK(256, 176, 2, 0), CODES(16, 0, pack_q5_k, unpack_q5_k), SCALES(8, 4, 0, pack_scales_of_k32, unpack_scales_of_k32) },
	[BQ_LAYOUT_GGML_Q2_K] = { BLOCK(256, 84, 2, 80), CODES(16, 0, pack_pairs, unpack_pairs), SCALES(16, 0, 0, pack_scales_of_q2_k, unpack_scales_of_q2_k) },
	[BQ_LAYOUT_GGML_Q3_K] = { BLOCK(256, 110, 1, 108), CODES(0, 4, pack_q3_k, unpack_q3_k), SCALES(16, 96, 32, pack_scales_of_q3_k, unpack_scales_of_q3_k) },
	[BQ_LAYOUT_GGML_Q1_0] = { BLOCK(128, 18, 1, 0), CODES(2, 0, NULL, unpack_q1_0) },
	[BQ_LAYOUT_GGML_Q2_0] = { BLOCK(64, 18, 1, 0), CODES(2, 1, pack_q2_0, unpack_q2_0) },
	[BQ_LAYOUT_GGML_TQ1_0] = { BLOCK(256, 54, 1, 52), CODES(0, 1, pack_tq1_0, unpack_tq1_0) },
	[BQ_LAYOUT_GGML_TQ2_0] = { BLOCK(256, 66, 1, 64), CODES(0, 1, pack_pairs, unpack_pairs) },
	[BQ_LAYOUT_GGML_MXFP4] = { BLOCK(32, 17, 0, 0), CODES(0, 0, pack_mxfp4, unpack_mxfp4), SCALES(1, 0, 0, pack_scales_of_mxfp4, unpack_scales_of_mxfp4) },
	[BQ_LAYOUT_GGML_NVFP4] = { BLOCK(64, 36, 0, 0), CODES(4, 0, pack_nvfp4, unpack_nvfp4), SCALES(4, 0, 0, NULL, NULL) },
	[BQ_LAYOUT_GGML_IQ4_NL] = { BLOCK(32, 18, 1, 0), CODES(2, 0, pack_fours, unpack_fours) },
	[BQ_LAYOUT_GGML_IQ4_XS] = { BLOCK(256, 136, 1, 0), CODES(8, 0, pack_iq4_xs, unpack_iq4_xs), SCALES(8, 2, 32, pack_scales_of_iq4_xs, unpack_scales_of_iq4_xs) },
	[BQ_LAYOUT_GGML_IQ2_XXS] = { BLOCK(256, 66, 1, 0), .points = &bq_iq2_xxs_format },
	[BQ_LAYOUT_GGML_IQ2_XS] = { BLOCK(256, 74, 1, 0), .points = &bq_iq2_xs_format },
	[BQ_LAYOUT_GGML_IQ2_S] = { BLOCK(256, 82, 1, 0), .points = &bq_iq2_s_format },
	[BQ_LAYOUT_GGML_IQ3_XXS] = { BLOCK(256, 98, 1, 0), .points = &bq_iq3_xxs_format },
	[BQ_LAYOUT_GGML_IQ3_S] = { BLOCK(256, 110, 1, 0), .points = &bq_iq3_s_format },
	[BQ_LAYOUT_GGML_IQ1_S] = { BLOCK(256, 50, 1, 0), .points = &bq_iq1_s_format },
	[BQ_LAYOUT_GGML_IQ1_M] = { BLOCK(256, 56, 0, 0), .scattered_half = bq_outer_of_iq1_m, .points = &bq_iq1_m_format },
};

const struct bq_layout *bq_layout(uint32_t id)
{
	return id < BQ_NLAYOUTS ? &rows[id] : NULL;
}

/* Adds the same to each number, eight at a time: without their highest bits nothing is carried from one to the next. count: a
 * multiple of 8, or no matter if nothing is added. */
static void add(uint8_t addend, size_t count, uint8_t *numbers)
{
	const uint64_t low = 0x7F7F7F7F7F7F7F7Fu, addends = addend * 0x0101010101010101u;

	for (size_t i = 0; i < count && addend; i += 8) {
		uint64_t eight;

		memcpy(&eight, numbers + i, 8);
		eight = ((eight & low) + (addends & low)) ^ ((eight ^ addends) & ~low);
		memcpy(numbers + i, &eight, 8);
	}
}

/* One f16 field of each block. flip: bits that are stored the other way. */
static void pack_halves(const uint8_t *halves, size_t nblocks, uint16_t flip, size_t nbytes, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++)
		bq_store16(out + b * nbytes, bq_load16(halves + 2 * b) ^ flip);
}

static void unpack_halves(const uint8_t *in, size_t nblocks, uint16_t flip, size_t nbytes, uint8_t *halves)
{
	for (size_t b = 0; b < nblocks; b++)
		bq_store16(halves + 2 * b, bq_load16(in + b * nbytes) ^ flip);
}

/* count bytes of each block. */
static void copy_bytes(const uint8_t *in, size_t in_stride, size_t count, size_t nblocks, uint8_t *out, size_t out_stride)
{
	for (; nblocks && count; nblocks--, in += in_stride, out += out_stride)
		memcpy(out, in, count);
}

/* Part by part over the whole row: a call for each block would cost a fifth of the time of q4_0. */
void bq_pack_blocks(const struct bq_layout *layout, const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	const size_t nbytes = layout->block_nbytes, nscales = layout->nscales, outer = nscales ? 1 : 0;

	if (layout->halves)
		pack_halves(row->scale[outer], nblocks, 0, nbytes, out + layout->halves_at);
	if (layout->halves == 2)
		pack_halves(row->min[outer], nblocks, layout->min_flip, nbytes, out + layout->halves_at + 2);
	add(layout->scales_plus, nscales * nblocks, row->scale[0]);
	if (layout->pack_scales)
		layout->pack_scales(row->scale[0], row->min[0], nblocks, nbytes, out + layout->scales_at);
	else
		copy_bytes(row->scale[0], nscales, nscales, nblocks, out + layout->scales_at, nbytes);
	add(layout->codes_plus, layout->block_values * nblocks, row->codes);
	layout->pack_codes(row->codes, nblocks, nbytes, out + layout->codes_at);
}

/* Points of grids as their coordinates. */
static void unpack_points(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	const size_t sub_blocks = BQ_IQ_VALUES / (size_t)format->sub_values;
	uint8_t points[8 * BQ_IQ_MAX_POINTS];
	struct bq_iq_block fields;

	bq_iq_spread(format->grid, format->values, points);
	for (size_t b = 0; b < nblocks; b++, in += format->nbytes) {
		format->unpack(in, &fields);
		bq_iq_codes(format, &fields, points, (int8_t *)row->codes + BQ_IQ_VALUES * b);
		bq_store16(row->scale[1] + 2 * b, fields.outer);
		for (size_t j = 0; j < sub_blocks; j++)
			row->scale[0][sub_blocks * b + j] = fields.scale[j];
	}
}

void bq_unpack_blocks(const struct bq_layout *layout, const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	const size_t nbytes = layout->block_nbytes, nscales = layout->nscales, outer = nscales ? 1 : 0;

	if (layout->points) {
		unpack_points(layout->points, in, nblocks, row);
		return;
	}
	if (layout->halves)
		unpack_halves(in + layout->halves_at, nblocks, 0, nbytes, row->scale[outer]);
	if (layout->halves == 2)
		unpack_halves(in + layout->halves_at + 2, nblocks, layout->min_flip, nbytes, row->min[outer]);
	if (layout->unpack_scales)
		layout->unpack_scales(in + layout->scales_at, nblocks, nbytes, row->scale[0], row->min[0]);
	else
		copy_bytes(in + layout->scales_at, nbytes, nscales, nblocks, row->scale[0], nscales);
	add((uint8_t)-layout->scales_plus, nscales * nblocks, row->scale[0]);
	layout->unpack_codes(in + layout->codes_at, nblocks, nbytes, row->codes);
	add((uint8_t)-layout->codes_plus, layout->block_values * nblocks, row->codes);
}
