/* SPDX-License-Identifier: MIT
 * layouts.c - the table of layouts, and the block structs of those that interleave.
 */
#include "layouts.h"

#include <string.h>

/* A signed code as an unsigned field of its width. */
static unsigned field(uint8_t code, unsigned half)
{
	return (unsigned)(code + half) & (2 * half - 1);
}

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

/* q4_0 and q5_0: scale, (fifth bits,) then value j in the low and value j + 16 in the high half of byte j. */
static void pack_halves(const struct bq_row_parts *row, size_t nblocks, unsigned half, uint8_t *out)
{
	for (size_t b = 0; b < nblocks; b++) {
		const uint8_t *codes = row->codes + 32 * b;
		uint32_t fifth = 0;

		memcpy(out, row->scale[0] + 2 * b, 2);
		out += 2;
		if (half == 16) {
			for (unsigned i = 0; i < 32; i++)
				fifth |= (uint32_t)(field(codes[i], half) >> 4) << i;
			for (unsigned i = 0; i < 4; i++)
				*out++ = (uint8_t)(fifth >> 8 * i);
		}
		for (unsigned j = 0; j < 16; j++)
			*out++ = (uint8_t)((field(codes[j], half) & 15) | (field(codes[j + 16], half) & 15) << 4);
	}
}

static void unpack_halves(const uint8_t *in, size_t nblocks, unsigned half, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++) {
		uint8_t *codes = row->codes + 32 * b;
		uint32_t fifth = 0;

		memcpy(row->scale[0] + 2 * b, in, 2);
		in += 2;
		if (half == 16) {
			for (unsigned i = 0; i < 4; i++)
				fifth |= (uint32_t)*in++ << 8 * i;
		}
		for (unsigned j = 0; j < 16; j++, in++) {
			codes[j] = (uint8_t)(((*in & 15) | (fifth >> j & 1) << 4) - half);
			codes[j + 16] = (uint8_t)((*in >> 4 | (fifth >> (j + 16) & 1) << 4) - half);
		}
	}
}

static void pack_q4_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_halves(row, nblocks, 8, out);
}

static void unpack_q4_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_halves(in, nblocks, 8, row);
}

static void pack_q5_0(const struct bq_row_parts *row, size_t nblocks, uint8_t *out)
{
	pack_halves(row, nblocks, 16, out);
}

static void unpack_q5_0(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	unpack_halves(in, nblocks, 16, row);
}

/* q4_k: 8 scales and 8 mins of 6 bits in 12 bytes. The first four of each have a byte of their own; the upper two bits of
 * those bytes hold the upper bits of the last four, whose lower four share bytes 8 to 11. */
static void unpack_q4_k(const uint8_t *in, size_t nblocks, const struct bq_row_parts *row)
{
	for (size_t b = 0; b < nblocks; b++, in += 144) {
		const uint8_t *packed = in + 4;

		memcpy(row->scale[1] + 2 * b, in, 2);
		memcpy(row->min[1] + 2 * b, in + 2, 2);
		for (unsigned j = 0; j < 4; j++) {
			row->scale[0][8 * b + j] = packed[j] & 63;
			row->min[0][8 * b + j] = packed[j + 4] & 63;
			row->scale[0][8 * b + j + 4] = (uint8_t)((packed[j + 8] & 15) | (packed[j] >> 6) << 4);
			row->min[0][8 * b + j + 4] = (uint8_t)(packed[j + 8] >> 4 | (packed[j + 4] >> 6) << 4);
		}
		for (unsigned i = 0; i < 128; i++) {
			uint8_t *codes = row->codes + 256 * b + 64 * (i / 32) + i % 32;

			codes[0] = in[16 + i] & 15;
			codes[32] = in[16 + i] >> 4;
		}
	}
}

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
	[BQ_LAYOUT_GGML_Q8_0] = { .block_values = 32, .block_nbytes = 34, .block_halves = 1, .pack = pack_q8_0, .unpack = unpack_q8_0 },
	[BQ_LAYOUT_GGML_Q4_0] = { .block_values = 32, .block_nbytes = 18, .block_halves = 1, .pack = pack_q4_0, .unpack = unpack_q4_0 },
	[BQ_LAYOUT_GGML_Q5_0] = { .block_values = 32, .block_nbytes = 22, .block_halves = 1, .pack = pack_q5_0, .unpack = unpack_q5_0 },
	[BQ_LAYOUT_GGML_Q4_K] = { .block_values = 256, .block_nbytes = 144, .block_halves = 2, .unpack = unpack_q4_k },
};

const struct bq_layout *bq_layout(uint32_t id)
{
	return id < BQ_NLAYOUTS ? &rows[id] : NULL;
}
