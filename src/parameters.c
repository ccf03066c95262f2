/* SPDX-License-Identifier: MIT
 * parameters.c - ranges -> ideal parameters -> codes -> the parameters that a decoder will see.
 *
 * The order of operations is that of struct bq_rules; each result is rounded to the working dtype before it is used.
 */
#include "parameters.h"

#include <math.h>
#include <string.h>

#include "dtype.h"
#include "geometry.h"
#include "number.h"

/* NaNs that come out of arithmetic have bits that differ between machines; ours are all this one. */
static float canonical(float x)
{
	return x != x ? bq_float(BQ_F32_NAN) : x;
}

static float clamp(float x, float min, float max)
{
	x = x < min ? min : x;
	return x > max ? max : x;
}

/* A scale that is not finite is an overflow only if the weights were. */
static int finite_range(const struct bq_workspace *w, uint32_t cell)
{
	return isfinite(w->lo[cell]) && isfinite(w->hi[cell]);
}

static void code_range(const struct bq_scheme *scheme, float *min, float *max)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value);

	*min = value->min + (float)scheme->narrow;
	*max = value->max;
}

static float divisor(const struct bq_encoder *encoder)
{
	float min, max;

	code_range(&encoder->plan->scheme, &min, &max);
	switch (encoder->rules->divisor) {
	case BQ_HALF_SPAN:
		return (max - min) / 2;
	case BQ_CODE_MIN:
		return min;
	default:
		return max;
	}
}

static float largest(float lo, float hi)
{
	return hi < -lo ? -lo : hi; /* +0 for a block of zeros */
}

/* compressed-tensors, generate_gparam: everything in the weights' dtype, the result kept as float32; what that dtype cannot
 * hold becomes 1. */
float bq_multiplier(const struct bq_encoder *encoder, const struct bq_tensor_range *range, uint64_t *overflows)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	float amax = largest(range->lo, range->hi), multiplier;

	if (encoder->rules->outer != BQ_OUTER_MULTIPLIER || scheme->nscales < 2)
		return 1;
	/* torch divides a number by a tensor through the reciprocal, rounded. */
	multiplier = bq_round_to(encoder->work, 1 / amax);
	multiplier = bq_round_to(encoder->work, multiplier * (bq_dtype(scheme->value)->max * bq_dtype(scheme->scale[0].dtype)->max));
	*overflows += amax > 0 && isfinite(amax) && !isfinite(multiplier);
	return isfinite(multiplier) ? multiplier : 1;
}

/* The E8M0 code of a block whose largest magnitude is amax, a number of the working dtype. The rounding is done on the bit
 * pattern of that dtype, so that float16's subnormals come out as the reference's. */
static uint8_t exponent_code(const struct bq_encoder *encoder, float amax)
{
	const unsigned carry = encoder->rules->exponent_carry[encoder->plan->scheme.value];
	uint32_t bits;
	int32_t exponent;

	if (encoder->work == BQ_F16) {
		uint16_t half = bq_f16_from_f32(amax);

		bits = bq_bits(bq_f32_from_f16((uint16_t)((half + (0x400u >> carry)) & 0x7C00)));
	} else {
		bits = (bq_bits(amax) + (0x800000u >> carry)) & 0x7F800000;
	}
	if (bits == BQ_F32_INFINITY || amax != amax)
		return 255;
	exponent = (int32_t)(bits >> 23) - bq_dtype(encoder->plan->scheme.value)->exponent;
	return (uint8_t)(bits == 0 || exponent < 0 ? 0 : exponent);
}

static uint32_t exponents(const struct bq_encoder *encoder, uint32_t ncells, const struct bq_workspace *w, uint8_t *scales)
{
	uint32_t overflows = 0;

	for (uint32_t c = 0; c < ncells; c++) {
		scales[c] = exponent_code(encoder, largest(w->lo[c], w->hi[c]));
		w->scale[c] = bq_round_to(encoder->work, bq_f32_from_e8m0(scales[c]));
		/* A power that the working dtype cannot hold becomes 1, as any zero scale becomes its epsilon. */
		if (w->scale[c] == 0) {
			w->scale[c] = 1;
			scales[c] = 127;
		}
		overflows += scales[c] == 255 && finite_range(w, c);
	}
	return overflows;
}

static void round_all(const struct bq_encoder *encoder, float *x, uint32_t count, void *scratch)
{
	if (encoder->work == BQ_F32)
		return;
	encoder->kernels->from_f32[encoder->work](x, count, scratch);
	encoder->kernels->to_f32[encoder->work](scratch, count, x);
}

/* scale = (hi - lo) / (code_max - code_min), zero = code_min - lo / scale: the zero point is made with the scale before it
 * is rounded to its dtype. */
static void affine(const struct bq_encoder *encoder, uint32_t ncells, const struct bq_workspace *w, uint8_t *zeros)
{
	const struct bq_dtype_info *zero = bq_dtype(encoder->plan->scheme.zero);
	const uint32_t work = encoder->work;
	float min, max;

	code_range(&encoder->plan->scheme, &min, &max);
	for (uint32_t c = 0; c < ncells; c++) {
		float scale = bq_round_to(work, bq_round_to(work, w->hi[c] - w->lo[c]) / (max - min));
		float point = bq_round_to(work, min - bq_round_to(work, w->lo[c] / scale));

		point = rintf(clamp(clamp(point, min, max), zero->min, zero->max));
		point = point != point ? 0 : point; /* 0 / 0, a block of zeros */
		zeros[c] = (uint8_t)(int32_t)point;
		w->zero[c] = point;
		w->scale[c] = scale;
	}
}

static void symmetric(const struct bq_encoder *encoder, uint32_t ncells, const struct bq_workspace *w)
{
	const float by = divisor(encoder);
	const int is_signed = encoder->rules->extent == BQ_SIGNED;

	for (uint32_t c = 0; c < ncells; c++)
		w->scale[c] = (is_signed ? w->lo[c] : largest(w->lo[c], w->hi[c])) / by;
	round_all(encoder, w->scale, ncells, w->level);
}

/* Rounds the ideal scales in workspace->scale to their dtype; workspace->level: what they became. */
static uint32_t store(const struct bq_encoder *encoder, uint32_t ncells, const struct bq_workspace *w, uint8_t *scales)
{
	const uint32_t dtype = encoder->plan->scheme.scale[0].dtype;
	const struct bq_dtype_info *info = bq_dtype(dtype);
	const int saturate = encoder->rules->saturate && dtype != encoder->work;
	uint32_t overflows = 0;

	for (uint32_t c = 0; c < ncells; c++) {
		w->scale[c] = canonical(w->scale[c]);
		if (saturate)
			w->scale[c] = clamp(w->scale[c], info->min, info->max);
	}
	encoder->kernels->from_f32[dtype](w->scale, ncells, scales);
	encoder->kernels->to_f32[dtype](scales, ncells, w->level);
	for (uint32_t c = 0; c < ncells; c++) {
		overflows += !isfinite(w->level[c]) && finite_range(w, c);
		if (w->level[c] == 0 && encoder->rules->zero_scale == BQ_EPSILON) {
			w->level[c] = info->epsilon;
			encoder->kernels->from_f32[dtype](&info->epsilon, 1, scales + (size_t)c * info->nbytes);
		}
	}
	return overflows;
}

uint32_t bq_make_parameters(const struct bq_encoder *encoder, uint32_t ncells, const struct bq_workspace *w, uint8_t *scales, uint8_t *zeros)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	const int multiplied = scheme->nscales > 1;
	uint32_t overflows;

	if (scheme->scale[0].dtype == BQ_E8M0) {
		overflows = exponents(encoder, ncells, w, scales);
	} else {
		if (scheme->zero)
			affine(encoder, ncells, w, zeros);
		else
			symmetric(encoder, ncells, w);
		for (uint32_t c = 0; c < ncells && multiplied; c++)
			w->scale[c] = encoder->multiplier * w->scale[c];
		overflows = store(encoder, ncells, w, scales);
		if (encoder->rules->against == BQ_STORED)
			memcpy(w->scale, w->level, ncells * sizeof(float));
	}
	for (uint32_t c = 0; c < ncells && multiplied; c++)
		w->scale[c] = w->scale[c] / encoder->multiplier;
	for (uint32_t c = 0; c < ncells && encoder->rules->quotient == BQ_RECIPROCAL; c++)
		w->scale[c] = w->scale[c] != 0 ? 1 / w->scale[c] : 0;
	return overflows;
}

void bq_widen(const struct bq_kernels *kernels, uint32_t dtype, const uint8_t *codes, size_t count, float *out)
{
	if (kernels->to_f32[dtype]) {
		kernels->to_f32[dtype](codes, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = bq_dtype(dtype)->kind == BQ_KIND_SIGNED ? (float)(int8_t)codes[i] : (float)codes[i];
}

/* Cell of `outer` that holds cell `cell` of `inner`, both counted within a unit. */
static uint64_t outer_cell(const struct bq_plan *plan, const struct bq_level *inner, const struct bq_level *outer, uint64_t cell)
{
	uint64_t found = 0, stride = 1;

	for (uint32_t axis = plan->rank - 1; outer->rank; axis--) {
		uint64_t extent = axis == plan->first_axis ? plan->unit_height : plan->dims[axis];
		uint64_t inner_edge = bq_edge(plan, inner, axis), outer_edge = bq_edge(plan, outer, axis);
		uint64_t count = bq_ceil_div(extent, inner_edge);

		found += cell % count * inner_edge / outer_edge * stride;
		if (axis == plan->first_axis)
			break;
		cell /= count;
		stride *= bq_ceil_div(extent, outer_edge);
	}
	return found;
}

void bq_join_levels(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_kernels *kernels, const struct bq_level *level,
	uint32_t nlevels, uint8_t *const *codes, uint32_t ncells, const struct bq_workspace *w, float *out)
{
	bq_widen(kernels, level[0].dtype, codes[0], ncells, out);
	for (uint32_t i = 1; i < nlevels; i++) {
		uint64_t outer_cells = bq_unit_cells(plan, &level[i]);

		bq_widen(kernels, level[i].dtype, codes[i], outer_cells, w->level);
		for (uint32_t c = 0; c < ncells; c++) {
			float outer = w->level[outer_cell(plan, &level[0], &level[i], c)];

			out[c] = rules->outer == BQ_OUTER_MULTIPLIER ? out[c] / outer : outer * out[c];
		}
	}
}
