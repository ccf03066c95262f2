/* SPDX-License-Identifier: MIT
 * nvfp4_planes.c - E2M1 codes in pairs, E4M3 scales per 16 that are multiplied by the tensor's.
 *
 * The tensor's float32 makes the quotient float32, whatever the weights are; only the ideal scale is rounded to their dtype.
 */
#include "planes.h"

#define GROUP 16
#define LEAST_CODE 0x20 /* a scale of 0 becomes E4M3's epsilon, 0.125 */

/* What the values are divided by. It is always a number of E4M3: 448 stands for what is beyond. */
static float store_scale(const struct bq_cells *cells, float largest, uint8_t *stored)
{
	const float ideal = bq_round_to(cells->work, largest / 6);
	const uint8_t code = bq_f8e4m3_from_f32(bq_canonical(bq_clamp_f32(cells->outer * ideal, 0, 448)));

	*stored = code ? code : LEAST_CODE;
	return bq_f32_from_f8e4m3(*stored) / cells->outer;
}

uint32_t bq_encode_nvfp4_planes_scalar(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	for (size_t i = 0; i < cells->cols; i += GROUP)
		bq_encode_pairs(store_scale(cells, bq_largest_magnitude(GROUP, x + i), scales + i / GROUP), BQ_F32, x + i, GROUP, codes + i / 2);
	return 0;
}

void bq_decode_nvfp4_planes_scalar(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	for (size_t i = 0; i < cells->cols; i += GROUP)
		bq_decode_pairs(bq_f32_from_f8e4m3(scales[i / GROUP]) / cells->outer, codes + i / 2, GROUP, out + i);
}
