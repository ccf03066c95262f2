/* SPDX-License-Identifier: MIT
 * planes.h - what the fused kernels of planar formats share: scales in the weights' dtype, codes under a scale and back.
 */
#ifndef BQ_PLANES_H
#define BQ_PLANES_H

#include "dtype.h"
#include "kernels.h"
#include "values.h"

/* A NaN if there is one. */
static inline float bq_largest_of_cell(const struct bq_cells *cells, const float *x)
{
	float largest = 0;

	for (size_t row = 0; row < cells->nrows; row++) {
		const float here = bq_largest_magnitude(cells->cols, x + row * cells->stride);

		largest = bq_bits(here) > bq_bits(largest) ? here : largest;
	}
	return largest;
}

/* The scale of a cell as it is stored: its largest magnitude divided by the highest code. It is finite where the magnitude is,
 * since every dtype of weights holds a part of each of its numbers. */
static inline float bq_store_scale(const struct bq_cells *cells, float largest, float highest, uint8_t *stored)
{
	const struct bq_dtype_info *info = bq_dtype(cells->scale);
	float scale = bq_round_to(cells->work, largest / highest);

	if (cells->scale != cells->work)
		scale = bq_clamp_f32(scale, info->min, info->max);
	scale = bq_canonical(bq_round_to(cells->scale, scale));
	scale = scale == 0 ? info->epsilon : scale;
	bq_kernels_scalar.from_f32[cells->scale](&scale, 1, stored);
	return scale;
}

/* Codes of a value dtype under one scale, one a byte. */
static inline void bq_encode_under(uint32_t value, float scale, uint32_t work, const float *x, size_t count, uint8_t *codes)
{
	const struct bq_dtype_info *info = bq_dtype(value);
	const struct bq_quantizer quantizer = {
		.value = value, .scale = &scale, .code_min = info->min, .code_max = info->max, .quotient = BQ_DIVIDE,
		.round = BQ_HALF_EVEN, .work = work, .drop_negative_zero = 1,
	};

	bq_encode_scalar(&quantizer, x, count, count, codes);
}

static inline void bq_decode_under(uint32_t value, float scale, uint32_t result, const uint8_t *codes, size_t count, float *out)
{
	const struct bq_dequantizer dequantizer = { .value = value, .scale = &scale, .work = BQ_F32, .result = result };

	bq_decode_scalar(&dequantizer, codes, count, count, out);
}

/* The one that begins in a column. */
static inline struct bq_cells bq_cell_at(const struct bq_cells *cells, size_t begin)
{
	struct bq_cells cell = *cells;

	cell.cols = cells->cols - begin < cells->group ? cells->cols - begin : cells->group;
	return cell;
}

/* Cells of codes one a byte, with scales in the weights' dtype. */
static inline uint32_t bq_encode_bytes(uint32_t value, float highest, const struct bq_cells *cells, const float *x, uint8_t *codes,
	uint8_t *scales)
{
	for (size_t begin = 0; begin < cells->cols; begin += cells->group, scales += bq_dtype(cells->scale)->nbytes) {
		const struct bq_cells cell = bq_cell_at(cells, begin);
		const float scale = bq_store_scale(cells, bq_largest_of_cell(&cell, x + begin), highest, scales);

		for (size_t row = 0; row < cell.nrows; row++)
			bq_encode_under(
				value, scale, cell.work, x + row * cell.stride + begin, cell.cols, codes + row * cell.line_nbytes + begin);
	}
	return 0;
}

static inline void bq_decode_bytes(uint32_t value, const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	for (size_t begin = 0; begin < cells->cols; begin += cells->group, scales += bq_dtype(cells->scale)->nbytes) {
		const struct bq_cells cell = bq_cell_at(cells, begin);
		float scale;

		bq_kernels_scalar.to_f32[cell.scale](scales, 1, &scale);
		for (size_t row = 0; row < cell.nrows; row++)
			bq_decode_under(
				value, scale, cell.scale, codes + row * cell.line_nbytes + begin, cell.cols, out + row * cell.stride + begin);
	}
}

/* A cell of at most 32 codes of E2M1, two a byte. */
static inline void bq_encode_pairs(float scale, uint32_t work, const float *x, size_t count, uint8_t *out)
{
	uint8_t codes[32];

	bq_encode_under(BQ_F4E2M1, scale, work, x, count, codes);
	bq_pack_nibbles_scalar(codes, count, out);
}

/* Who decodes does not know what the weights were: the values are bfloat16. */
static inline void bq_decode_pairs(float scale, const uint8_t *in, size_t count, float *out)
{
	uint8_t codes[32];

	bq_unpack_nibbles_scalar(in, count, codes);
	bq_decode_under(BQ_F4E2M1, scale, BQ_BF16, codes, count, out);
}

#endif
