/* SPDX-License-Identifier: MIT
 * layouts.c - the table of layouts, and the block structs of those that interleave.
 */
#include "layouts.h"

#include <string.h>

#include "pack_blocks.h"
#include "scalar/ggml_block32.h"
#include "scalar/ggml_e2m1.h"
#include "scalar/ggml_iq.h"
#include "scalar/ggml_iq4.h"
#include "scalar/ggml_k16.h"
#include "scalar/ggml_k32.h"
#include "scalar/ggml_ternary.h"

static void unpack_q8_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 34) {
		memcpy(row->scale[0] + 2 * b, in, 2);
		memcpy(row->codes + 32 * b, in + 2, 32);
	}
}

/* q4_0, q5_0, q4_1, q5_1: scale, (min,) (fifth bits,) then value j in the low and value j + 16 in the high half of byte j.
 * A min is stored with the other sign, since it is added. */
static void unpack_block32(const uint8_t *in, size_t nblocks, int bits, int has_min, const struct bq_row_parts *row)
{
	const int half = has_min ? 0 : 1 << (bits - 1);

	for (size_t b = 0; b < nblocks; b++) {
		uint8_t *codes = row->codes + 32 * b;

		memcpy(row->scale[0] + 2 * b, in, 2);
		in += 2;
		if (has_min) {
			bq_store16(row->min[0] + 2 * b, bq_load16(in) ^ 0x8000);
			in += 2;
		}
		in = bq_load_codes(in, bits, codes);
		for (unsigned i = 0; i < 32; i++)
			codes[i] = (uint8_t)(codes[i] - half);
	}
}

static void unpack_q4_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_block32(in, nblocks, 4, 0, row);
}

static void unpack_q5_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_block32(in, nblocks, 5, 0, row);
}

static void unpack_q4_1(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_block32(in, nblocks, 4, 1, row);
}

static void unpack_q5_1(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_block32(in, nblocks, 5, 1, row);
}

static void unpack_k32(const uint8_t *in, size_t nblocks, int bits, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += BQ_K32_NBYTES(bits)) {
		memcpy(row->scale[1] + 2 * b, in, 2);
		memcpy(row->min[1] + 2 * b, in + 2, 2);
		bq_unpack_scales_and_mins(in + 4, row->scale[0] + 8 * b, row->min[0] + 8 * b);
		bq_unpack_codes_k32(bits, in + 16, row->codes + 256 * b);
	}
}

static void unpack_q4_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_k32(in, nblocks, 4, row);
}

static void unpack_q5_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_k32(in, nblocks, 5, row);
}

/* 16 bytes of scales (low half) and mins, a plane of pairs, outer scale, outer min. */
static void unpack_q2_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 84) {
		memcpy(row->scale[1] + 2 * b, in + 80, 2);
		memcpy(row->min[1] + 2 * b, in + 82, 2);
		for (size_t j = 0; j < 16; j++) {
			row->scale[0][16 * b + j] = in[j] & 15;
			row->min[0][16 * b + j] = in[j] >> 4;
		}
		bq_unpack_pairs(in + 16, row->codes + 256 * b);
	}
}

/* 32 bytes of third bits (byte l: of the values l, l + 32, ...), a plane of pairs, 12 bytes of scales, outer scale. */
static void unpack_q3_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 110) {
		memcpy(row->scale[1] + 2 * b, in + 108, 2);
		bq_unpack_scales_of_q3_k(in + 96, row->scale[0] + 16 * b);
		for (size_t j = 0; j < 16; j++)
			row->scale[0][16 * b + j] = (uint8_t)(row->scale[0][16 * b + j] - 32);
		bq_unpack_pairs(in + 32, row->codes + 256 * b);
		bq_unpack_bit_plane(in, 2, row->codes + 256 * b);
		for (size_t i = 256 * b; i < 256 * (b + 1); i++)
			row->codes[i] = (uint8_t)(row->codes[i] - 4);
	}
}

/* 128 bytes of low halves (of value k of 128 in byte k % 64), a plane of pairs above them, 16 scales, outer scale. */
static void unpack_q6_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 210) {
		memcpy(row->scale[0] + 16 * b, in + 192, 16);
		memcpy(row->scale[1] + 2 * b, in + 208, 2);
		bq_unpack_codes_of_q6_k(in, row->codes + 256 * b);
		for (size_t i = 256 * b; i < 256 * (b + 1); i++)
			row->codes[i] = (uint8_t)(row->codes[i] - 32);
	}
}

/* -1 or 1. */
static void unpack_q1_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 18) {
		memcpy(row->scale[0] + 2 * b, in, 2);
		for (unsigned i = 0; i < 128; i++)
			row->codes[128 * b + i] = (uint8_t)((in[2 + i / 8] >> i % 8 & 1) * 2 - 1);
	}
}

static void unpack_q2_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 18) {
		memcpy(row->scale[0] + 2 * b, in, 2);
		for (unsigned i = 0; i < 64; i++)
			row->codes[64 * b + i] = (uint8_t)((in[2 + i / 4] >> i % 4 * 2 & 3) - 1);
	}
}

static void unpack_tq1_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 54) {
		memcpy(row->scale[0] + 2 * b, in + 52, 2);
		bq_unpack_trits(in, row->codes + 256 * b);
		for (size_t i = 256 * b; i < 256 * (b + 1); i++)
			row->codes[i]--;
	}
}

static void unpack_tq2_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 66) {
		memcpy(row->scale[0] + 2 * b, in + 64, 2);
		bq_unpack_pairs(in, row->codes + 256 * b);
		for (size_t i = 256 * b; i < 256 * (b + 1); i++)
			row->codes[i]--;
	}
}

/* There is no -0. The exponent 255, which only tiny values get, is a number here: 2^128, which doubled codes make of 2^127
 * (2 and more overflow with either). */
static void unpack_mxfp4(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	static const uint8_t doubled[8] = { 0, 2, 4, 5, 6, 7, 6, 7 };

	for (size_t b = 0; b < nblocks; b++, in += 17) {
		uint8_t *codes = row->codes + 32 * b;

		row->scale[0][b] = in[0] == 255 ? 254 : in[0];
		bq_load_codes(in + 1, 4, codes);
		for (unsigned i = 0; i < 32; i++) {
			codes[i] = codes[i] == 8 ? 0 : codes[i];
			if (in[0] == 255)
				codes[i] = (uint8_t)((codes[i] & 8) | doubled[codes[i] & 7]);
		}
	}
}

static void unpack_nvfp4(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 36) {
		memcpy(row->scale[0] + 4 * b, in, 4);
		for (unsigned i = 0; i < 64; i++) {
			const uint8_t byte = in[4 + i / 16 * 8 + i % 8];
			const uint8_t code = i % 16 < 8 ? byte & 15 : byte >> 4;

			row->codes[64 * b + i] = code == 8 ? 0 : code; /* there is no -0 */
		}
	}
}

static void unpack_iq4_nl(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 18) {
		memcpy(row->scale[0] + 2 * b, in, 2);
		bq_load_codes(in + 2, 4, row->codes + 32 * b);
	}
}

static void unpack_iq4_xs(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 136) {
		memcpy(row->scale[1] + 2 * b, in, 2);
		bq_unpack_scales_of_iq4_xs(in + 2, row->scale[0] + 8 * b);
		for (size_t j = 0; j < 8; j++) {
			row->scale[0][8 * b + j] = (uint8_t)(row->scale[0][8 * b + j] - 32);
			bq_load_codes(in + 8 + 16 * j, 4, row->codes + 256 * b + 32 * j);
		}
	}
}

/* Points of grids as their coordinates. */
static void unpack_iq(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
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

#define UNPACK_IQ(type) \
	static void unpack_##type(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row) \
	{ \
		unpack_iq(&bq_##type##_format, in, nblocks, row); \
	}

UNPACK_IQ(iq2_xxs)
UNPACK_IQ(iq2_xs)
UNPACK_IQ(iq2_s)
UNPACK_IQ(iq3_xxs)
UNPACK_IQ(iq3_s)
UNPACK_IQ(iq1_s)
UNPACK_IQ(iq1_m)

/* Formats of blocks: values and bytes of one, its f16 fields and where they begin. */
#define BLOCK(values, nbytes, nhalves, at) \
	.block_values = values, .block_nbytes = nbytes, .halves = nhalves, .halves_at = at

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
	[BQ_LAYOUT_GGML_Q8_0] = { BLOCK(32, 34, 1, 0), .pack = bq_pack_q8_0, .unpack = unpack_q8_0 },
	[BQ_LAYOUT_GGML_Q4_0] = { BLOCK(32, 18, 1, 0), .pack = bq_pack_q4_0, .unpack = unpack_q4_0 },
	[BQ_LAYOUT_GGML_Q5_0] = { BLOCK(32, 22, 1, 0), .pack = bq_pack_q5_0, .unpack = unpack_q5_0 },
	[BQ_LAYOUT_GGML_Q4_K] = { BLOCK(256, 144, 2, 0), .pack = bq_pack_q4_k, .unpack = unpack_q4_k },
	[BQ_LAYOUT_GGML_Q4_1] = { BLOCK(32, 20, 2, 0), .pack = bq_pack_q4_1, .unpack = unpack_q4_1 },
	[BQ_LAYOUT_GGML_Q5_1] = { BLOCK(32, 24, 2, 0), .pack = bq_pack_q5_1, .unpack = unpack_q5_1 },
	[BQ_LAYOUT_GGML_Q6_K] = { BLOCK(256, 210, 1, 208), .pack = bq_pack_q6_k, .unpack = unpack_q6_k },
	[BQ_LAYOUT_GGML_Q5_K] = { BLOCK(256, 176, 2, 0), .pack = bq_pack_q5_k, .unpack = unpack_q5_k },
	[BQ_LAYOUT_GGML_Q2_K] = { BLOCK(256, 84, 2, 80), .pack = bq_pack_q2_k, .unpack = unpack_q2_k },
	[BQ_LAYOUT_GGML_Q3_K] = { BLOCK(256, 110, 1, 108), .pack = bq_pack_q3_k, .unpack = unpack_q3_k },
	[BQ_LAYOUT_GGML_Q1_0] = { BLOCK(128, 18, 1, 0), .unpack = unpack_q1_0 },
	[BQ_LAYOUT_GGML_Q2_0] = { BLOCK(64, 18, 1, 0), .pack = bq_pack_q2_0, .unpack = unpack_q2_0 },
	[BQ_LAYOUT_GGML_TQ1_0] = { BLOCK(256, 54, 1, 52), .pack = bq_pack_tq1_0, .unpack = unpack_tq1_0 },
	[BQ_LAYOUT_GGML_TQ2_0] = { BLOCK(256, 66, 1, 64), .pack = bq_pack_tq2_0, .unpack = unpack_tq2_0 },
	[BQ_LAYOUT_GGML_MXFP4] = { BLOCK(32, 17, 0, 0), .pack = bq_pack_mxfp4, .unpack = unpack_mxfp4 },
	[BQ_LAYOUT_GGML_NVFP4] = { BLOCK(64, 36, 0, 0), .pack = bq_pack_nvfp4, .unpack = unpack_nvfp4 },
	[BQ_LAYOUT_GGML_IQ4_NL] = { BLOCK(32, 18, 1, 0), .pack = bq_pack_iq4_nl, .unpack = unpack_iq4_nl },
	[BQ_LAYOUT_GGML_IQ4_XS] = { BLOCK(256, 136, 1, 0), .pack = bq_pack_iq4_xs, .unpack = unpack_iq4_xs },
	[BQ_LAYOUT_GGML_IQ2_XXS] = { BLOCK(256, 66, 1, 0), .unpack = unpack_iq2_xxs },
	[BQ_LAYOUT_GGML_IQ2_XS] = { BLOCK(256, 74, 1, 0), .unpack = unpack_iq2_xs },
	[BQ_LAYOUT_GGML_IQ2_S] = { BLOCK(256, 82, 1, 0), .unpack = unpack_iq2_s },
	[BQ_LAYOUT_GGML_IQ3_XXS] = { BLOCK(256, 98, 1, 0), .unpack = unpack_iq3_xxs },
	[BQ_LAYOUT_GGML_IQ3_S] = { BLOCK(256, 110, 1, 0), .unpack = unpack_iq3_s },
	[BQ_LAYOUT_GGML_IQ1_S] = { BLOCK(256, 50, 1, 0), .unpack = unpack_iq1_s },
	[BQ_LAYOUT_GGML_IQ1_M] = { BLOCK(256, 56, 0, 0), .scattered_half = bq_outer_of_iq1_m, .unpack = unpack_iq1_m },
};

const struct bq_layout *bq_layout(uint32_t id)
{
	return id < BQ_NLAYOUTS ? &rows[id] : NULL;
}
