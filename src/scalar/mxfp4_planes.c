/* SPDX-License-Identifier: MIT
 * mxfp4_planes.c - E2M1 codes in pairs, E8M0 scales per 32: the power of two of the largest magnitude, carried.
 */
#include <math.h>

#include "planes.h"

#define GROUP 32
#define CARRY 2   /* a significand of 1.75 counts as 2 */
#define HIGHEST 2 /* the exponent of 6 */

/* 2^(code - 127); what float16 cannot hold is 1 there, and the codes are made with that. */
static uint8_t scale_code_of(const struct bq_cells *cells, float largest)
{
	const uint8_t code = bq_carried_exponent(cells->work, CARRY, HIGHEST, largest);

	return bq_round_to(cells->work, bq_f32_from_e8m0(code)) == 0 ? 127 : code;
}

uint32_t bq_encode_mxfp4_planes_scalar(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales)
{
	uint32_t overflows = 0;

	for (size_t i = 0; i < cells->cols; i += GROUP) {
		const float largest = bq_largest_magnitude(GROUP, x + i);
		const uint8_t code = scale_code_of(cells, largest);

		overflows += code == 255 && isfinite(largest);
		scales[i / GROUP] = code;
		bq_encode_pairs(bq_f32_from_e8m0(code), cells->work, x + i, GROUP, codes + i / 2);
	}
	return overflows;
}

void bq_decode_mxfp4_planes_scalar(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out)
{
	for (size_t i = 0; i < cells->cols; i += GROUP)
		bq_decode_pairs(bq_f32_from_e8m0(scales[i / GROUP]), codes + i / 2, GROUP, out + i);
}
