/* SPDX-License-Identifier: MIT
 * layouts.c - the table of layouts, and the block structs of those that interleave.
 */
#include "layouts.h"

#include <string.h>

#include "scalar/ggml_block32.h"

static void pack_q8_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++, out += 34) {
		memcpy(out, row->scale[0] + 2 * b, 2);
		memcpy(out + 2, row->codes + 32 * b, 32);
	}
}

static void unpack_q8_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 34) {
		memcpy(row->scale[0] + 2 * b, in, 2);
		memcpy(row->codes + 32 * b, in + 2, 32);
	}
}

/* q4_0, q5_0, q4_1, q5_1: scale, (min,) (fifth bits,) then value j in the low and value j + 16 in the high half of byte j.
 * A min is stored with the other sign, since it is added. */
static void pack_block32(const struct bq_row_parts *row, size_t nblocks, int bits, uint8_t *out)
{
	const int half = 1 << (bits - 1);
	uint8_t fields[32];

	for (size_t b = 0; b < nblocks; b++) {
		for (unsigned i = 0; i < 32; i++)
			fields[i] = (uint8_t)((row->codes[32 * b + i] + half) & (2 * half - 1));
		memcpy(out, row->scale[0] + 2 * b, 2);
		out = bq_store_codes(fields, bits, out + 2);
	}
}

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

static void pack_q4_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_block32(row, nblocks, 4, out);
}

static void unpack_q4_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_block32(in, nblocks, 4, 0, row);
}

static void pack_q5_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_block32(row, nblocks, 5, out);
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

static void unpack_q4_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 144) {
		memcpy(row->scale[1] + 2 * b, in, 2);
		memcpy(row->min[1] + 2 * b, in + 2, 2);
		bq_unpack_scales_and_mins(in + 4, row->scale[0] + 8 * b, row->min[0] + 8 * b);
		for (unsigned i = 0; i < 128; i++) {
			uint8_t *codes = row->codes + 256 * b + 64 * (i / 32) + i % 32;

			codes[0] = in[16 + i] & 15;
			codes[32] = in[16 + i] >> 4;
		}
	}
}

/* q6_k: 128 values take 64 bytes of low halves and 32 of high bits: value k has the low half of byte k % 64, or the high one
 * from k = 64 on, and two bits of byte k % 32. */
static void unpack_q6_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 210) {
		memcpy(row->scale[0] + 16 * b, in + 192, 16);
		memcpy(row->scale[1] + 2 * b, in + 208, 2);
		for (unsigned i = 0; i < 256; i++) {
			const unsigned half = i / 128, k = i % 128;
			const int low = in[64 * half + k % 64] >> (k < 64 ? 0 : 4) & 15;
			const int high = in[128 + 32 * half + k % 32] >> 2 * (k / 32) & 3;

			row->codes[256 * b + i] = (uint8_t)((low | high << 4) - 32);
		}
	}
}

/* Formats of blocks: values and bytes of one, its f16 fields and where they begin. */
#define BLOCK(values, nbytes, nhalves, at) .block_values = values, .block_nbytes = nbytes, .halves = nhalves, .halves_at = at

static const struct bq_layout rows[BQ_NLAYOUTS] = {
	[BQ_LAYOUT_PLANES] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_PACK_QUANTIZED] = { .packing = BQ_WORDS, .zeros_by_row = 1, .shape = 1 },
	[BQ_LAYOUT_INT_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_FLOAT_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_NAIVE_QUANTIZED] = { .packing = BQ_BYTES },
	[BQ_LAYOUT_MXFP8_QUANTIZED] = { .packing = BQ_BYTES, .result = BQ_BF16 },
	[BQ_LAYOUT_NVFP4_PACK_QUANTIZED] = { .packing = BQ_NIBBLES, .result = BQ_BF16 },
	[BQ_LAYOUT_MXFP4_PACK_QUANTIZED] = { .packing = BQ_NIBBLES, .result = BQ_BF16 },
	[BQ_LAYOUT_MXFP6_PACK_QUANTIZED] = { .packing = BQ_SIXES, .result = BQ_BF16 },
	[BQ_LAYOUT_GGML_Q8_0] = { BLOCK(32, 34, 1, 0), .pack = pack_q8_0, .unpack = unpack_q8_0 },
	[BQ_LAYOUT_GGML_Q4_0] = { BLOCK(32, 18, 1, 0), .pack = pack_q4_0, .unpack = unpack_q4_0 },
	[BQ_LAYOUT_GGML_Q5_0] = { BLOCK(32, 22, 1, 0), .pack = pack_q5_0, .unpack = unpack_q5_0 },
	[BQ_LAYOUT_GGML_Q4_K] = { BLOCK(256, 144, 2, 0), .unpack = unpack_q4_k },
	[BQ_LAYOUT_GGML_Q4_1] = { BLOCK(32, 20, 2, 0), .unpack = unpack_q4_1 },
	[BQ_LAYOUT_GGML_Q5_1] = { BLOCK(32, 24, 2, 0), .unpack = unpack_q5_1 },
	[BQ_LAYOUT_GGML_Q6_K] = { BLOCK(256, 210, 1, 208), .unpack = unpack_q6_k },
};

const struct bq_layout *bq_layout(uint32_t id)
{
	return id < BQ_NLAYOUTS ? &rows[id] : NULL;
}
