/* SPDX-License-Identifier: MIT
 * ggml_iq.h - what ggml's IQ types of 1 to 3 bits share: groups of 8 or 4 values are points of a grid, with signs (iq2, iq3)
 * or a shift (iq1) beside them, under sub-blocks' scales of 3 or 4 bits and an f16 one of 256 values.
 *
 * Each type packs and unpacks the same fields in its own way; everything else is done on the fields.
 */
#ifndef BQ_GGML_IQ_H
#define BQ_GGML_IQ_H

#include "kernels.h"
#include "ggml_iq_grid.h"
#include "ggml_search.h"

#define BQ_IQ_VALUES 256

/* One block, unpacked. */
struct bq_iq_block {
	uint16_t outer;     /* f16 */
	uint8_t scale[16];  /* codes of the sub-blocks' scales */
	uint16_t point[64]; /* of each group */
	uint8_t signs[32];  /* of each 8 values: bit i is set where value i is below 0; iq1: 1 for a shift down, 0 for up */
	uint16_t skipped;   /* when encoding: bit j is set where sub-block j is all zeros */
};

typedef void bq_iq_unpack(const uint8_t *in, struct bq_iq_block *block);

bq_iq_unpack bq_unpack_iq2_xxs, bq_unpack_iq2_xs, bq_unpack_iq2_s, bq_unpack_iq3_xxs, bq_unpack_iq3_s, bq_unpack_iq1_s,
	bq_unpack_iq1_m;

/* iq1_m's outer scale, whose bits stand above those of the other scales. */
uint16_t bq_outer_of_iq1_m(const uint8_t *in);

/* How fields become values: code * ((2 * scale + 1) / 8 * outer), where iq2's and iq3's codes are the grid's values with signs,
 * and iq1's are the grid's with the shift, 1, added or taken away. Products are exact up to the last, so that they are ggml's,
 * which brackets them in other ways. */
struct bq_iq_format {
	const struct bq_iq_grid *grid;
	bq_iq_unpack *unpack;
	size_t nbytes;
	int coords, sub_values; /* values of a group, of a sub-block */
	int shifted;            /* iq1 */
	uint8_t values[8];      /* of the grid's levels; iq1: two's complement */
};

/* The reference's tables, iq3_xxs times 2, iq3_s and iq1 times 8. */
#define BQ_IQ2_VALUES { 8, 25, 43 }
#define BQ_IQ3_XXS_VALUES { 8, 24, 40, 56, 72, 88, 104, 124 }
#define BQ_IQ3_S_VALUES { 8, 24, 40, 56, 72, 88, 104, 120 }
#define BQ_IQ1_VALUES { 248, 0, 8 }

extern const struct bq_iq_format bq_iq2_xxs_format, bq_iq2_xs_format, bq_iq2_s_format, bq_iq3_xxs_format, bq_iq3_s_format,
	bq_iq1_s_format, bq_iq1_m_format;

/* 256 codes. points: those of bq_iq_spread with the format's values. */
void bq_iq_codes(const struct bq_iq_format *format, const struct bq_iq_block *block, const uint8_t *points, int8_t *codes);

/* What a sub-block's scale code stands for, to be multiplied by outer. */
static inline float bq_iq_scale(unsigned code)
{
	return (float)(2 * code + 1) * 0.125f;
}

void bq_iq_decode(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, float *out);

/* Sign masks of which the eighth bit follows from the others: the number of bits is even. */
static inline uint8_t bq_iq_even_signs(unsigned seven)
{
	unsigned parity = seven;

	parity ^= parity >> 4;
	parity ^= parity >> 2;
	parity ^= parity >> 1;
	return (uint8_t)(seven | (parity & 1) << 7);
}

/* Finds the fields of 256 finite values. Returns 0 if there are none: values are so large that sums and distances overflow
 * (the reference aborts or stores whatever comes). */
typedef int bq_iq_search(const float *x, const float *importance, const void *tables, struct bq_iq_block *block);
typedef void bq_iq_pack(const struct bq_iq_block *block, int correct, uint8_t *out);

/* A block that is not finite, or for which nothing is found, has the outer scale NaN and else zeros. */
void bq_iq_encode(size_t nbytes, bq_iq_search *search, bq_iq_pack *pack, const float *x, const float *importance,
	const struct bq_context *context, size_t nblocks, uint8_t *out);

/* The point of the list at which the sum over a group's values of cost[i * levels + level] is least, the first of equals;
 * -1 if all are infinite or NaN. A sum runs from the first value to the last. */
static inline int bq_iq_nearest(int coords, int levels, const struct bq_iq_tables *tables, int32_t place, const float *cost)
{
	const uint16_t *list = tables->words + ~place;
	float least = 0x1.fffffep127f;
	int nearest = -1;

	for (int k = 1; k <= list[0]; k++) {
		const uint8_t *level = tables->points + coords * list[k];
		float sum = 0.0f;

		for (int i = 0; i < coords; i++)
			sum += cost[i * levels + level[i]];
		if (sum < least) {
			least = sum;
			nearest = list[k];
		}
	}
	return nearest;
}

/* The codes, which are top at most, of sub-blocks' scales: outer * (2 * code + 1) is nearest. */
static inline uint8_t bq_iq_scale_code(float inverse, float scale, int top)
{
	return (uint8_t)bq_clamp(bq_round_by_magic(0.5f * (inverse * scale - 1.0f)), 0, top);
}

#endif
