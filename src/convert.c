/* SPDX-License-Identifier: MIT
 * convert.c - numbers between float32 and another float dtype: arrays to nearest, a scale upwards.
 */
#include "kernels.h"
#include "number.h"

int bq_convert(uint32_t kernels, uint32_t from, uint32_t to, size_t count, const void *in, void *out)
{
	const struct bq_kernels *row = bq_kernels(kernels);

	if (!row || from >= BQ_NDTYPES || to >= BQ_NDTYPES)
		return 1;
	if (to == BQ_F32 && row->to_f32[from]) {
		row->to_f32[from](in, count, out);
		return 0;
	}
	if (from == BQ_F32 && row->from_f32[to]) {
		row->from_f32[to](in, count, out);
		return 0;
	}
	return 1;
}

float bq_round_up(uint32_t dtype, float x)
{
	float y;

	if (x != x)
		return bq_float(BQ_F32_NAN);
	switch (dtype) {
	case BQ_F16:
		if (x >= 65504.0f)
			return 65504.0f;
		y = bq_f32_from_f16(bq_f16_from_f32(x));
		return y < x ? bq_f32_from_f16((uint16_t)(bq_f16_from_f32(x) + 1)) : y;
	case BQ_BF16:
		if (x >= bq_float(0x7F7F0000))
			return bq_float(0x7F7F0000);
		y = bq_f32_from_bf16(bq_bf16_from_f32(x));
		return y < x ? bq_f32_from_bf16((uint16_t)(bq_bf16_from_f32(x) + 1)) : y;
	case BQ_F8E4M3:
	case BQ_UE4M3:
		if (x >= 448.0f)
			return 448.0f;
		y = bq_f32_from_ue4m3(bq_ue4m3_from_f32(x));
		return y < x ? bq_f32_from_ue4m3((uint8_t)(bq_ue4m3_from_f32(x) + 1)) : y;
	case BQ_E8M0:
		if (x >= 0x1p127f)
			return 0x1p127f;
		y = bq_f32_from_e8m0(bq_e8m0_from_f32(x));
		return y < x ? bq_f32_from_e8m0((uint8_t)(bq_e8m0_from_f32(x) + 1)) : y;
	default:
		return x;
	}
}
