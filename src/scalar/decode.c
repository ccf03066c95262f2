/* SPDX-License-Identifier: MIT
 * decode.c - codes to values with one scale (and zero point or min) a group, scalar.
 */
#include "dtype.h"
#include "kernels.h"
#include "number.h"

static float value_of(const struct bq_dequantizer *d, float code, size_t cell)
{
	float v = code;

	if (d->zero)
		v = bq_round_to(d->work, v - d->zero[cell]);
	v = bq_round_to(d->work, v * d->scale[cell]);
	if (d->min)
		v = v - d->min[cell];
	v = v != v ? bq_float(BQ_F32_NAN) : v;
	return bq_round_to(d->result, v);
}

static float widen(const struct bq_dequantizer *d, int is_signed, uint8_t code)
{
	if (d->codebook)
		return d->codebook[code];
	switch (d->value) {
	case BQ_F8E4M3:
		return bq_f32_from_f8e4m3(code);
	case BQ_F8E5M2:
		return bq_f32_from_f8e5m2(code);
	case BQ_F4E2M1:
		return bq_f32_from_f4e2m1(code);
	case BQ_F6E2M3:
		return bq_f32_from_f6e2m3(code);
	default:
		return is_signed ? (float)(int8_t)code : (float)code;
	}
}

void bq_decode_scalar(const struct bq_dequantizer *d, const uint8_t *codes, size_t count, size_t group, float *out)
{
	const int is_signed = bq_dtype(d->value)->kind == BQ_KIND_SIGNED;

	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t end = count - begin < group ? count : begin + group;

		for (size_t i = begin; i < end; i++)
			out[i] = value_of(d, widen(d, is_signed, codes[i]), cell);
	}
}
