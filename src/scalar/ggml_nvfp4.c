/* SPDX-License-Identifier: MIT
 * ggml_nvfp4.c - ggml's nvfp4: four E4M3 scales without a sign, for 16 values each 8 bytes of two E2M1 codes; value j in the
 * low half of byte j, value j + 8 in the high half. NaN gets the code 0, and so does all beside an infinity.
 *
 *     byte  0  4 scales of E4M3 without a sign, each for 16 values
 *           4  32 bytes, 8 for 16 values: value j in the low, value j + 8 in the high half of byte j
 */
#include "kernels.h"
#include "ggml_e2m1.h"

#define VALUES 64
#define NBYTES 36
#define SUB_BLOCKS 4
#define SUB_VALUES 16

static void encode_sub_block(const float *x, uint8_t *scale_code, uint8_t *out)
{
	float largest = 0.0f;

	for (int i = 0; i < SUB_VALUES; i++)
		if (fabsf(x[i]) > largest)
			largest = fabsf(x[i]);
	*scale_code = bq_ggml_ue4m3_from_f32(largest / 6.0f);

	const float step = bq_f32_from_ggml_ue4m3(*scale_code);

	for (int i = 0; i < SUB_VALUES / 2; i++)
		out[i] = (uint8_t)(bq_nearest_e2m1(x[i], step) | bq_nearest_e2m1(x[i + SUB_VALUES / 2], step) << 4);
}

void bq_encode_nvfp4_scalar(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out)
{
	(void)importance;
	(void)context;
	for (size_t block = 0; block < nblocks; block++, x += VALUES, out += NBYTES)
		for (int s = 0; s < SUB_BLOCKS; s++)
			encode_sub_block(x + s * SUB_VALUES, out + s, out + SUB_BLOCKS + s * SUB_VALUES / 2);
}

void bq_decode_nvfp4_scalar(const uint8_t *in, size_t nblocks, float *out)
{
	for (size_t block = 0; block < nblocks; block++, in += NBYTES, out += VALUES)
		for (int s = 0; s < SUB_BLOCKS; s++) {
			const float step = bq_f32_from_ggml_ue4m3(in[s]);
			const uint8_t *codes = in + SUB_BLOCKS + s * SUB_VALUES / 2;

			for (int i = 0; i < SUB_VALUES / 2; i++) {
				out[s * SUB_VALUES + i] = (float)bq_doubled_e2m1(codes[i] & 15) * step;
				out[s * SUB_VALUES + SUB_VALUES / 2 + i] = (float)bq_doubled_e2m1(codes[i] >> 4) * step;
			}
		}
}
