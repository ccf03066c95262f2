/* SPDX-License-Identifier: MIT
 * ggml_mxfp4.c - ggml's mxfp4: an E8M0 scale, 16 bytes of two E2M1 codes; value j in the low half of byte j, value j + 16 in
 * the high half. A block that is not finite gets the scale NaN and the codes 0.
 *
 *     byte  0  E8M0 scale
 *           1  16 bytes, 2 codes a byte: value j in the low, value j + 16 in the high half of byte j
 */
#include "kernels.h"
#include "ggml_e2m1.h"

#define VALUES 32
#define NBYTES 17
#define NAN_CODE 255

/* The largest value is 4 to 8 steps of E2M1, doubled ones: 2 more. Below 2^-125 this wraps, as ggml's does; it would be
 * correct to take the least exponent. */
static uint8_t scale_code_of(float largest, int correct)
{
	const int code = bq_floor_log2f(largest) - 2 + 127;

	return (uint8_t)(correct && code < 0 ? 0 : code);
}

/* Half the scale: 2^(code - 128). */
static float step_of(uint8_t scale_code)
{
	return bq_float(scale_code < 2 ? 0x00200000u << scale_code : (scale_code - 1u) << 23);
}

void bq_encode_mxfp4_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)importance;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES) {
		const float largest = bq_largest_magnitude(VALUES, x);

		if (!bq_all_finite(VALUES, x)) {
			memset(out, 0, NBYTES);
			out[0] = NAN_CODE;
			continue;
		}
		out[0] = largest > 0.0f ? scale_code_of(largest, (int)context->correct) : 0;

		const float step = step_of(out[0]);

		for (int i = 0; i < VALUES / 2; i++)
			out[1 + i] = (uint8_t)(bq_nearest_e2m1(x[i], step) | bq_nearest_e2m1(x[i + VALUES / 2], step) << 4);
	}
}

void bq_decode_mxfp4_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES) {
		const float step = step_of(in[0]);

		for (int i = 0; i < VALUES / 2; i++) {
			out[i] = (float)bq_doubled_e2m1(in[1 + i] & 15) * step;
			out[i + VALUES / 2] = (float)bq_doubled_e2m1(in[1 + i] >> 4) * step;
		}
	}
}
