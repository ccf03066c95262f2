/* SPDX-License-Identifier: MIT
 * layouts.h - where the bits of codes and parameters go.
 */
#ifndef BQ_LAYOUTS_H
#define BQ_LAYOUTS_H

#include "blockquant.h"

/* Codes one a byte; in 32-bit words, offset binary; two in a byte; four of 6 bits in three; one in a byte without its sign's
 * copies; in 32-bit words, two's complement. */
enum bq_packing { BQ_BYTES, BQ_WORDS, BQ_NIBBLES, BQ_SIXES, BQ_ALONE, BQ_FIELDS };

/* One row of codes and its parameters, before packing and after unpacking: codes one a byte, parameters tight in their
 * level's dtype. */
struct bq_row_parts {
	uint8_t *codes;
	uint8_t *scale[BQ_MAX_LEVELS];
	uint8_t *min[BQ_MAX_LEVELS];
};

struct bq_iq_format;

struct bq_layout {
	uint32_t packing;       /* of the values plane */
	uint32_t open_packing;  /* 1: the scheme may say another */
	uint32_t serial;        /* 1: all planes stand in one array, one after the other, and there are codes and scales alone */
	uint32_t zeros_by_row;  /* 1: zero points of blocks within a row are packed into 32-bit words down the rows; else one a byte */
	uint32_t shape;         /* 1: a plane of the original shape, as int64 */
	/* Formats that interleave everything in blocks of one row: values and bytes of a block, its f16 fields (side by side,
	 * the first at halves_at), which are the outermost scale and min. 0 values: a planar layout. */
	uint32_t block_values, block_nbytes, halves, halves_at;
	uint16_t (*scattered_half)(const uint8_t *block); /* null, or one f16 field whose bits are not side by side */
	uint32_t min_flip; /* 0x8000: the stored min is added, and has the other sign */
	/* Where the codes of a block begin, what is added to each before it is packed, and the way in (null: only a fused kernel
	 * writes blocks) and out. */
	uint32_t codes_at;
	uint8_t codes_plus;
	void (*pack_codes)(const uint8_t *codes, size_t nblocks, size_t nbytes, uint8_t *out);
	void (*unpack_codes)(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *codes);
	/* The same of a block's innermost scales, if they are not f16, and of mins beside them. Null: they are bytes. */
	uint32_t nscales, scales_at;
	uint8_t scales_plus;
	void (*pack_scales)(const uint8_t *scales, const uint8_t *mins, size_t nblocks, size_t nbytes, uint8_t *out);
	void (*unpack_scales)(const uint8_t *in, size_t nblocks, size_t nbytes, uint8_t *scales, uint8_t *mins);
	const struct bq_iq_format *points; /* null, or what says all of this of a format with a grid of points */
};

/* All blocks of a row. What is packed is not left as it was. */
void bq_pack_blocks(const struct bq_layout *layout, const struct bq_row_parts *row, size_t nblocks, uint8_t *out);
void bq_unpack_blocks(const struct bq_layout *layout, const uint8_t *in, size_t nblocks, const struct bq_row_parts *row);

/* Row id of the table, or null. */
const struct bq_layout *bq_layout(uint32_t id);

/* Whether a scheme's zero points are packed. */
static inline int bq_packs_zeros(const struct bq_layout *layout, const struct bq_scheme *scheme)
{
	return layout->zeros_by_row && scheme->zero && scheme->scale[0].rank == 1;
}

#endif
