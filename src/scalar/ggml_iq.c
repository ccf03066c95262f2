/* SPDX-License-Identifier: MIT
 * ggml_iq.c - from fields to values, the loops over blocks that ggml's IQ types share, and the two searches.
 */
#include "ggml_iq1.h"
#include "ggml_iq_search.h"

#define GROUP 8 /* values that share a byte of signs */

/* coords and shifted are constants, so that compilers make vectors. */
static inline void codes_of(
	const struct bq_iq_block *block, const uint8_t *points, size_t coords, int shifted, int8_t *restrict codes)
{
	/* Up and down, as vectors: a compiler would make one of a number, byte by byte. */
	static const int8_t shift[2][GROUP] = { { 1, 1, 1, 1, 1, 1, 1, 1 }, { -1, -1, -1, -1, -1, -1, -1, -1 } };

	for (size_t i = 0; i < BQ_IQ_VALUES; i += coords) {
		const uint8_t *point = points + coords * block->point[i / coords];
		const int signs = block->signs[i / GROUP] >> i % GROUP;

		for (size_t k = 0; k < coords; k++) {
			const int code = (int8_t)point[k];

			if (shifted)
				codes[i + k] = (int8_t)(code + shift[signs][k]);
			else
				codes[i + k] = (int8_t)(signs >> k & 1 ? -code : code);
		}
	}
}

void bq_iq_codes(const struct bq_iq_format *format, const struct bq_iq_block *block, const uint8_t *points, int8_t *codes)
{
	if (format->shifted)
		codes_of(block, points, 8, 1, codes);
	else if (format->coords == 8)
		codes_of(block, points, 8, 0, codes);
	else
		codes_of(block, points, 4, 0, codes);
}

void bq_iq_decode(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, float *out)
{
	uint8_t points[8 * BQ_IQ_MAX_POINTS];
	int8_t codes[BQ_IQ_VALUES];
	struct bq_iq_block fields;

	bq_iq_spread(format->grid, format->values, points);
	for (size_t block = 0; block < nblocks; block++, in += format->nbytes, out += BQ_IQ_VALUES) {
		format->unpack(in, &fields);
		bq_iq_codes(format, &fields, points, codes);

		const float outer = bq_f32_from_f16(fields.outer);

		for (int j = 0, first = 0; first < BQ_IQ_VALUES; j++) {
			const float scale = outer * bq_iq_scale(fields.scale[j]);

			for (const int end = first + format->sub_values; first < end; first += 16)
				for (int i = first; i < first + 16; i++) /* a number that compilers know */
					out[i] = scale * (float)codes[i];
		}
		bq_settle_nans(outer, BQ_IQ_VALUES, out);
	}
}

void bq_iq_encode(size_t nbytes, bq_iq_search *search, bq_iq_pack *pack, const float *x, const float *importance,
	const struct bq_context *context, size_t nblocks, uint8_t *out)
{
	for (size_t block = 0; block < nblocks; block++, x += BQ_IQ_VALUES, out += nbytes) {
		const float *weights = importance ? importance + block * BQ_IQ_VALUES : NULL;
		const int finite =
			bq_all_finite(BQ_IQ_VALUES, x) && (!weights || bq_all_finite(BQ_IQ_VALUES, weights));
		struct bq_iq_block fields = { 0 };

		if (!finite || !search(x, weights, context->tables, &fields))
			fields = (struct bq_iq_block){ .outer = 0x7E00 };
		pack(&fields, (int)context->correct, out);
	}
}

int bq_iq2_search(const struct bq_iq_rule *rule, const float *x, const float *importance, const void *tables,
	struct bq_iq_block *block)
{
	return bq_iq_search_block(rule, 8, 3, x, importance, tables, block);
}

int bq_iq3_search(const struct bq_iq_rule *rule, const float *x, const float *importance, const void *tables,
	struct bq_iq_block *block)
{
	return bq_iq_search_block(rule, 4, 8, x, importance, tables, block);
}

void bq_iq1_sort(int count, const float *x, uint8_t *order)
{
	for (int i = 0; i < count; i++) {
		int at = i;

		for (; at > 0 && x[order[at - 1]] > x[i]; at--)
			order[at] = order[at - 1];
		order[at] = (uint8_t)i;
	}
}

void bq_iq1_cut_levels(int count, const uint8_t *order, struct bq_iq1_cut *cut, uint8_t *level)
{
	const int turned = cut->scale < 0.0f;

	for (int j = 0; j < count; j++) {
		const int l = j < cut->first ? 0 : j < cut->second ? 1 : 2;

		level[order[j]] = (uint8_t)(turned ? 2 - l : l);
	}
	if (turned) {
		cut->scale = -cut->scale;
		cut->shifts ^= (1 << count / 8) - 1;
	}
}

int bq_iq1_to_grid(int count, const struct bq_iq_tables *tables, const float *x, const float *weight, const uint8_t *down,
	const uint8_t *level, float *scale, uint16_t *point)
{
	int off = 0;
	float product = 0.0f, square = 0.0f;

	for (int g = 0; g < count / 8; g++) {
		int32_t place = 0;
		float cost[8 * 3];

		for (int i = 7; i >= 0; i--)
			place = place * 3 + level[8 * g + i];
		place = tables->place[place];
		if (place < 0) {
			off = 1;
			for (int i = 0; i < 8; i++)
				for (int l = 0; l < 3; l++) {
					const float t = *scale * bq_iq1_levels[down[g]][l] - x[8 * g + i];

					cost[3 * i + l] = (weight[8 * g + i] * t) * t;
				}
			place = bq_iq_nearest(8, 3, tables, place, cost);
			if (place < 0)
				return 0;
		}
		point[g] = (uint16_t)place;
	}
	if (!off)
		return 1;
	for (int i = 0; i < count; i++) {
		const float q = bq_iq1_levels[down[i / 8]][tables->points[8 * point[i / 8] + i % 8]];

		product += (weight[i] * q) * x[i];
		square += (weight[i] * q) * q;
	}
	if (product > 0.0f && square > 0.0f)
		*scale = product / square;
	return 1;
}
