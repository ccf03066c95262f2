/* SPDX-License-Identifier: MIT
 * encode.c - values to codes with one scale (and zero point) a group, scalar.
 */
#include <math.h>

#include "dtype.h"
#include "kernels.h"
#include "number.h"

static float quotient(const struct bq_quantizer *q, float x, size_t cell)
{
	float v = q->min ? bq_round_to(q->work, x + q->min[cell]) : x;

	v = q->quotient == BQ_DIVIDE ? v / q->scale[cell] : v * q->scale[cell];
	v = bq_round_to(q->work, v);
	return q->zero && !q->zero_after ? bq_round_to(q->work, v + q->zero[cell]) : v;
}

static int fits_int32(float v)
{
	return v >= -2147483648.0f && v < 2147483648.0f;
}

/* after: what is added once v is rounded. */
static uint8_t integer(const struct bq_quantizer *q, float v, float after)
{
	switch (q->round) {
	case BQ_HALF_EVEN:
		v = bq_clamp_f32(rintf(v) + after, q->code_min, q->code_max);
		return v != v ? 0 : (uint8_t)(int32_t)v;
	case BQ_HALF_AWAY:
		return fits_int32(v) ? (uint8_t)(int32_t)bq_clamp_f32(roundf(v) + after, q->code_min, q->code_max) : 0;
	default: /* BQ_FIELD_HALF_UP: one addition, then truncation, as in (int8_t)(x + 8.5f) */
		v = v + (0.5f - q->code_min);
		v = fits_int32(v) ? truncf(bq_clamp_f32(v, 0, q->code_max - q->code_min)) : 0;
		return (uint8_t)(int32_t)(v + q->code_min);
	}
}

static uint8_t minifloat(const struct bq_quantizer *q, float v, size_t cell)
{
	v = bq_canonical(bq_clamp_f32(v, q->code_min, q->code_max));
	if (v == 0 && bq_drops_negative_zero(q, cell))
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

/* The nearest entry of the table, the lower of two. */
static uint8_t entry(const struct bq_quantizer *q, float v)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i + 1 < q->ncodebook; i++)
		found += v > q->codebook_end[i];
	return q->codebook_code[found];
}

/* The E2M1 code whose product with the scale is nearest, the first of equals. */
static uint8_t nearest_product(const struct bq_quantizer *q, float x, size_t cell)
{
	unsigned best = 0;
	float least = fabsf(bq_f32_from_f4e2m1(0) * q->scale[cell] - x);

	for (unsigned code = 1; code < 16; code++) {
		const float distance = fabsf(bq_f32_from_f4e2m1((uint8_t)code) * q->scale[cell] - x);

		if (distance < least) {
			least = distance;
			best = code;
		}
	}
	return (uint8_t)best;
}

static uint8_t code_of(const struct bq_quantizer *q, int is_integer, float x, size_t cell)
{
	float v;

	if (q->quotient == BQ_PRODUCTS)
		return nearest_product(q, x, cell);
	v = quotient(q, x, cell);
	if (v != v && q->nan_code)
		return (uint8_t)(x != x ? q->nan_code : q->nan_code | 0x80);
	if (is_integer)
		return integer(q, v, q->zero && q->zero_after ? q->zero[cell] : 0);
	return q->ncodebook ? entry(q, v) : minifloat(q, v, cell);
}

void bq_encode_scalar(const struct bq_quantizer *q, const float *x, size_t count, size_t group, uint8_t *codes)
{
	const int is_integer = bq_is_integer(q->value);

	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t end = count - begin < group ? count : begin + group;

		for (size_t i = begin; i < end; i++)
			codes[i] = code_of(q, is_integer, x[i], cell);
	}
}
