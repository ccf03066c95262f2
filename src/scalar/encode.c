/* SPDX-License-Identifier: MIT
 * encode.c - values to codes with one scale (and zero point) a group, scalar.
 */
#include <math.h>

#include "dtype.h"
#include "kernels.h"
#include "number.h"

static float quotient(const struct bq_quantizer *q, float x, size_t cell)
{
	float v = q->quotient == BQ_DIVIDE ? x / q->scale[cell] : x * q->scale[cell];

	v = bq_round_to(q->work, v);
	return q->zero ? bq_round_to(q->work, v + q->zero[cell]) : v;
}

/* A NaN stays. */
static float clamp(float v, float min, float max)
{
	v = v < min ? min : v;
	return v > max ? max : v;
}

static int fits_int32(float v)
{
	return v >= -2147483648.0f && v < 2147483648.0f;
}

static uint8_t integer(const struct bq_quantizer *q, float v)
{
	switch (q->round) {
	case BQ_HALF_EVEN:
		v = clamp(v, q->code_min, q->code_max);
		return v != v ? 0 : (uint8_t)(int32_t)rintf(v);
	case BQ_HALF_AWAY:
		return fits_int32(v) ? (uint8_t)(int32_t)clamp(roundf(v), q->code_min, q->code_max) : 0;
	default: /* BQ_FIELD_HALF_UP: one addition, then truncation, as in (int8_t)(x + 8.5f) */
		v = v + (0.5f - q->code_min);
		v = fits_int32(v) ? truncf(clamp(v, 0, q->code_max - q->code_min)) : 0;
		return (uint8_t)(int32_t)(v + q->code_min);
	}
}

static uint8_t minifloat(const struct bq_quantizer *q, float v)
{
	v = v != v ? bq_float(BQ_F32_NAN) : v;
	v = clamp(v, q->code_min, q->code_max);
	if (v == 0 && q->drop_negative_zero)
		return 0;
	switch (q->value) {
	case BQ_F8E4M3:
		return bq_f8e4m3_from_f32(v);
	case BQ_F8E5M2:
		return bq_f8e5m2_from_f32(v);
	case BQ_F4E2M1:
		return bq_f4e2m1_from_f32(v);
	default:
		return bq_f6e2m3_from_f32(v);
	}
}

void bq_encode_scalar(const struct bq_quantizer *q, const float *x, size_t count, size_t group, uint8_t *codes)
{
	const int is_integer = bq_is_integer(q->value);

	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t end = count - begin < group ? count : begin + group;

		for (size_t i = begin; i < end; i++) {
			float v = quotient(q, x[i], cell);

			codes[i] = is_integer ? integer(q, v) : minifloat(q, v);
		}
	}
}
