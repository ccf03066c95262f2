/* SPDX-License-Identifier: MIT
 * pack_blocks.c - codes and parameters of a row into the block structs of layouts.c, whose functions are the way back.
 */
#include "pack_blocks.h"

#include <string.h>

#include "scalar/ggml_block32.h"
#include "scalar/ggml_iq4.h"
#include "scalar/ggml_k16.h"
#include "scalar/ggml_k32.h"
#include "scalar/ggml_ternary.h"

/* Codes with less than 128 added to each, eight at a time: nothing is carried from one to the next. */
static void add_to_codes(const uint8_t *codes, unsigned count, unsigned plus, uint8_t *out)
{
	const uint64_t low = 0x7F7F7F7F7F7F7F7Fu, each = plus * 0x0101010101010101u;

	for (unsigned i = 0; i < count; i += 8) {
		uint64_t eight;

		memcpy(&eight, codes + i, 8);
		eight = ((eight & low) + each) ^ (eight & ~low);
		memcpy(out + i, &eight, 8);
	}
}

void bq_pack_q8_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++, out += 34) {
		memcpy(out, row->scale[0] + 2 * b, 2);
		memcpy(out + 2, row->codes + 32 * b, 32);
	}
}

static void pack_block32(const struct bq_row_parts *row, size_t nblocks, int bits, int has_min, uint8_t *out)
{
	uint8_t fields[32];

	for (size_t b = 0; b < nblocks; b++) {
		add_to_codes(row->codes + 32 * b, 32, has_min ? 0 : 1u << (bits - 1), fields);
		memcpy(out, row->scale[0] + 2 * b, 2);
		out += 2;
		if (has_min) {
			bq_store16(out, bq_load16(row->min[0] + 2 * b) ^ 0x8000);
			out += 2;
		}
		out = bq_store_codes(fields, bits, out);
	}
}

void bq_pack_q4_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_block32(row, nblocks, 4, 0, out);
}

void bq_pack_q5_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_block32(row, nblocks, 5, 0, out);
}

void bq_pack_q4_1(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_block32(row, nblocks, 4, 1, out);
}

void bq_pack_q5_1(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_block32(row, nblocks, 5, 1, out);
}

static void pack_k32(const struct bq_row_parts *row, size_t nblocks, int bits, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++, out += BQ_K32_NBYTES(bits)) {
		memcpy(out, row->scale[1] + 2 * b, 2);
		memcpy(out + 2, row->min[1] + 2 * b, 2);
		bq_pack_scales_and_mins(row->scale[0] + 8 * b, row->min[0] + 8 * b, out + 4);
		bq_pack_codes_k32(bits, row->codes + 256 * b, out + 16);
	}
}

void bq_pack_q4_k(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_k32(row, nblocks, 4, out);
}

void bq_pack_q5_k(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_k32(row, nblocks, 5, out);
}

void bq_pack_q2_k(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++, out += 84) {
		for (size_t j = 0; j < 16; j++)
			out[j] = (uint8_t)(row->scale[0][16 * b + j] | row->min[0][16 * b + j] << 4);
		bq_pack_pairs(row->codes + 256 * b, out + 16);
		memcpy(out + 80, row->scale[1] + 2 * b, 2);
		memcpy(out + 82, row->min[1] + 2 * b, 2);
	}
}

void bq_pack_q3_k(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	uint8_t codes[256], scales[16];

	for (size_t b = 0; b < nblocks; b++, out += 110) {
		memset(out, 0, 32);
		add_to_codes(row->codes + 256 * b, 256, 4, codes);
		for (size_t i = 0; i < 256; i++)
			out[i % 32] |= (uint8_t)((codes[i] >> 2 & 1) << i / 32);
		add_to_codes(row->scale[0] + 16 * b, 16, 32, scales);
		bq_pack_pairs(codes, out + 32);
		bq_pack_scales_of_q3_k(scales, out + 96);
		memcpy(out + 108, row->scale[1] + 2 * b, 2);
	}
}

void bq_pack_q6_k(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	uint8_t codes[256], upper[256];

	for (size_t b = 0; b < nblocks; b++, out += 210) {
		add_to_codes(row->codes + 256 * b, 256, 32, codes);
		for (size_t i = 0; i < 256; i++)
			upper[i] = codes[i] >> 4;
		for (size_t i = 0; i < 128; i++) {
			const uint8_t *low = codes + i / 64 * 128 + i % 64;

			out[i] = (uint8_t)((low[0] & 15) | (low[64] & 15) << 4);
		}
		bq_pack_pairs(upper, out + 128);
		memcpy(out + 192, row->scale[0] + 16 * b, 16);
		memcpy(out + 208, row->scale[1] + 2 * b, 2);
	}
}

void bq_pack_q2_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++, out += 18) {
		memcpy(out, row->scale[0] + 2 * b, 2);
		memset(out + 2, 0, 16);
		for (unsigned i = 0; i < 64; i++)
			out[2 + i / 4] |= (uint8_t)((row->codes[64 * b + i] + 1) << i % 4 * 2);
	}
}

/* tq1_0 and tq2_0: the codes with 1 added, then the scale. */
static void pack_tq(const struct bq_row_parts *row, size_t nblocks, int trits, uint8_t *out)
{
	uint8_t codes[256];

	for (size_t b = 0; b < nblocks; b++) {
		add_to_codes(row->codes + 256 * b, 256, 1, codes);
		if (trits)
			bq_pack_trits(codes, out);
		else
			bq_pack_pairs(codes, out);
		out += trits ? 52 : 64;
		memcpy(out, row->scale[0] + 2 * b, 2);
		out += 2;
	}
}

void bq_pack_tq1_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_tq(row, nblocks, 1, out);
}

void bq_pack_tq2_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_tq(row, nblocks, 0, out);
}

/* E2M1 codes without -0, which none of these formats has, eight at a time. 7 added to a magnitude reaches the sign's place unless it
 * is 0. */
static void without_negative_zero(const uint8_t *codes, unsigned count, uint8_t *out)
{
	const uint64_t magnitude = 0x0707070707070707u, sign = 0x0808080808080808u;

	for (unsigned i = 0; i < count; i += 8) {
		uint64_t eight;

		memcpy(&eight, codes + i, 8);
		eight &= magnitude | (((eight & magnitude) + magnitude) & sign);
		memcpy(out + i, &eight, 8);
	}
}

void bq_pack_mxfp4(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	uint8_t codes[32];

	for (size_t b = 0; b < nblocks; b++) {
		*out = row->scale[0][b];
		without_negative_zero(row->codes + 32 * b, 32, codes);
		out = bq_store_codes(codes, 4, out + 1);
	}
}

void bq_pack_nvfp4(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	uint8_t codes[64];

	for (size_t b = 0; b < nblocks; b++, out += 36) {
		memcpy(out, row->scale[0] + 4 * b, 4);
		without_negative_zero(row->codes + 64 * b, 64, codes);
		for (unsigned i = 0; i < 32; i++) {
			const uint8_t *low = codes + i / 8 * 16 + i % 8;

			out[4 + i] = (uint8_t)(low[0] | low[8] << 4);
		}
	}
}

void bq_pack_iq4_nl(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++) {
		memcpy(out, row->scale[0] + 2 * b, 2);
		out = bq_store_codes(row->codes + 32 * b, 4, out + 2);
	}
}

void bq_pack_iq4_xs(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	uint8_t scales[8];

	for (size_t b = 0; b < nblocks; b++) {
		memcpy(out, row->scale[1] + 2 * b, 2);
		add_to_codes(row->scale[0] + 8 * b, 8, 32, scales);
		bq_pack_scales_of_iq4_xs(scales, out + 2);
		out += 8;
		for (size_t j = 0; j < 8; j++)
			out = bq_store_codes(row->codes + 256 * b + 32 * j, 4, out);
	}
}
