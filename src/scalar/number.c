/* SPDX-License-Identifier: MIT
 * number.c - arrays of numbers to and from float32, one at a time; which weights are not finite.
 */
#include <string.h>

#include "../kernels.h"
#include "../number.h"

void bq_f32_to_f32_scalar(const void *in, size_t count, float *out)
{
	if (count)
		memcpy(out, in, count * sizeof *out);
}

void bq_f32_from_f32_scalar(const float *in, size_t count, void *out)
{
	if (count)
		memcpy(out, in, count * sizeof *in);
}

void bq_f16_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint16_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_f16(codes[i]);
}

void bq_f16_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint16_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_f16_from_f32(in[i]);
}

void bq_bf16_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint16_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_bf16(codes[i]);
}

void bq_bf16_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint16_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_bf16_from_f32(in[i]);
}

void bq_f8e4m3_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_f8e4m3(codes[i]);
}

void bq_f8e4m3_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_f8e4m3_from_f32(in[i]);
}

void bq_f8e5m2_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_f8e5m2(codes[i]);
}

void bq_f8e5m2_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_f8e5m2_from_f32(in[i]);
}

void bq_f4e2m1_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_f4e2m1(codes[i]);
}

void bq_f4e2m1_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_f4e2m1_from_f32(in[i]);
}

void bq_f6e2m3_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_f6e2m3(codes[i]);
}

void bq_f6e2m3_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_f6e2m3_from_f32(in[i]);
}

void bq_e8m0_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_e8m0(codes[i]);
}

void bq_e8m0_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_e8m0_from_f32(in[i]);
}

void bq_ue4m3_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_ue4m3(codes[i]);
}

void bq_ue4m3_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_ue4m3_from_f32(in[i]);
}

void bq_ggml_ue4m3_to_f32_scalar(const void *in, size_t count, float *out)
{
	const uint8_t *codes = in;

	for (size_t i = 0; i < count; i++)
		out[i] = bq_f32_from_ggml_ue4m3(codes[i]);
}

void bq_ggml_ue4m3_from_f32_scalar(const float *in, size_t count, void *out)
{
	uint8_t *codes = out;

	for (size_t i = 0; i < count; i++)
		codes[i] = bq_ggml_ue4m3_from_f32(in[i]);
}

static int is_nonfinite(const void *in, uint32_t dtype, size_t index)
{
	if (dtype == BQ_F16)
		return (((const uint16_t *)in)[index] & 0x7C00) == 0x7C00;
	if (dtype == BQ_BF16)
		return (((const uint16_t *)in)[index] & 0x7F80) == 0x7F80;
	return (bq_bits(((const float *)in)[index]) & BQ_F32_INFINITY) == BQ_F32_INFINITY;
}

/* dtype is a constant where this is called, and there is no early end: compilers make vectors of the loop. */
static inline int any_nonfinite(const void *in, uint32_t dtype, size_t begin, size_t end)
{
	int any = 0;

	for (size_t i = begin; i < end; i++)
		any |= is_nonfinite(in, dtype, i);
	return any;
}

static int any_nonfinite_of(const void *in, uint32_t dtype, size_t begin, size_t end)
{
	if (dtype == BQ_F16)
		return any_nonfinite(in, BQ_F16, begin, end);
	if (dtype == BQ_BF16)
		return any_nonfinite(in, BQ_BF16, begin, end);
	return any_nonfinite(in, BQ_F32, begin, end);
}

size_t bq_count_nonfinite_scalar(const void *in, uint32_t dtype, size_t count, size_t *first)
{
	size_t found = 0;

	/* Nearly always there is none: parts without any are passed over. */
	for (size_t begin = 0, end; begin < count; begin = end) {
		end = count - begin < 1024 ? count : begin + 1024;
		if (!any_nonfinite_of(in, dtype, begin, end))
			continue;
		for (size_t i = begin; i < end; i++)
			if (is_nonfinite(in, dtype, i) && found++ == 0)
				*first = i;
	}
	return found;
}
