/* SPDX-License-Identifier: MIT
 * ideal.c - ranges -> the parameters that a block would have if its dtypes could hold any number.
 */
#include "ideal.h"

#include <math.h>
#include <string.h>

#include "dtype.h"
#include "number.h"

static float magnitude(float x)
{
	return bq_float(bq_bits(x) & 0x7FFFFFFF);
}

/* The larger of two magnitudes; NaN is the largest. */
static float larger(float a, float b)
{
	return bq_bits(a) < bq_bits(b) ? b : a;
}

float bq_largest(float lo, float hi)
{
	return hi < -lo ? -lo : hi; /* +0 for a block of zeros */
}

void bq_code_range(const struct bq_plan *plan, float *min, float *max)
{
	const struct bq_dtype_info *value = bq_dtype(plan->scheme.value);

	*min = value->min + (float)plan->scheme.narrow;
	*max = value->max;
	if (value->kind != BQ_KIND_TABLE)
		return;
	*max = 0;
	for (uint32_t i = 0; i < plan->ncodebook; i++)
		*max = larger(*max, magnitude(plan->codebook[i]));
	*min = -*max;
}

/* Exponents of the powers of two that are made of a block's largest magnitude, as E8M0 has them; highest: that of the highest
 * code. */
static uint8_t power_below(int32_t highest, float amax)
{
	const int32_t exponent = (int32_t)(bq_bits(amax) >> 23) - highest;

	return (uint8_t)(exponent < 1 ? 1 : exponent);
}

/* It would be correct to take the least one where this wraps. */
static uint8_t power_of_logarithm(uint32_t correct, int32_t highest, float amax)
{
	int32_t exponent;

	if (!isfinite(amax))
		return 255;
	exponent = amax > 0 ? bq_floor_log2f(amax) + 127 - highest : 0;
	return (uint8_t)(correct && exponent < 0 ? 0 : exponent);
}

/* Largest magnitudes become scales. */
static void ideal_powers(const struct bq_encoder *encoder, float code_max, uint32_t count, float *scale)
{
	const struct bq_rules *rules = encoder->rules;
	const unsigned carry = rules->power_carry[encoder->plan->scheme.value];
	const int32_t highest = (int32_t)(bq_bits(code_max) >> 23) - 127;

	for (uint32_t c = 0; c < count; c++) {
		const uint8_t code = rules->power == BQ_POWER_CARRIED ? bq_carried_exponent(encoder->work, carry, highest, scale[c])
			: rules->power == BQ_POWER_BELOW          ? power_below(highest, scale[c])
													  : power_of_logarithm(encoder->correct, highest, scale[c]);

		scale[c] = bq_f32_from_e8m0(code);
		/* A power that the quotients' dtype cannot hold becomes 1, as any zero scale becomes its epsilon. */
		if (rules->work == BQ_WORK_ALL && bq_round_to(encoder->work, scale[c]) == 0)
			scale[c] = 1;
	}
}

/* Parameters that are rounded to the working dtype. */
static void round_all(const struct bq_encoder *encoder, uint32_t count, float *x)
{
	uint16_t codes[64];

	for (uint32_t first = 0; first < count && encoder->work != BQ_F32; first += 64) {
		const uint32_t here = count - first < 64 ? count - first : 64;

		encoder->kernels->from_f32[encoder->work](x + first, here, codes);
		encoder->kernels->to_f32[encoder->work](codes, here, x + first);
	}
}

/* The ideal scales of ranges; lo, hi: widened to be symmetric, where the scheme says so. */
static void ideal_scales(const struct bq_encoder *encoder, float min, float max, uint32_t count, float *lo, float *hi, float *scale)
{
	const struct bq_rules *rules = encoder->rules;
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	const int is_power = scheme->scale[0].dtype == BQ_E8M0 && rules->power != BQ_POWER_ABOVE, is_signed = rules->extent == BQ_SIGNED;
	const int is_sided = scheme->zero || scheme->nmins, is_span = is_sided && !scheme->symmetric && !is_power;
	const float factor = rules->divisor == BQ_SPAN && !is_power ? 2 : 1;
	const float least = is_signed ? -INFINITY : rules->least_scale;
	float divisor = rules->divisor == BQ_CODE_MIN ? min : max;

	if (is_span || rules->divisor == BQ_SPAN)
		divisor = max - min;
	else if (is_sided || rules->divisor == BQ_HALF_SPAN)
		divisor = (max - min) / 2;
	for (uint32_t c = 0; c < count; c++) {
		const float amax = is_signed ? lo[c] : bq_largest(lo[c], hi[c]);

		scale[c] = is_span ? hi[c] - lo[c] : factor * amax;
		if (scheme->symmetric && !is_power) {
			lo[c] = -amax;
			hi[c] = amax;
		}
	}
	if (is_power) {
		ideal_powers(encoder, max, count, scale);
		return;
	}
	round_all(encoder, count, scale);
	for (uint32_t c = 0; c < count; c++)
		scale[c] /= divisor;
	round_all(encoder, count, scale);
	for (uint32_t c = 0; c < count; c++)
		scale[c] = scale[c] < least ? least : bq_canonical(scale[c]);
}

float bq_zero_point(const struct bq_encoder *encoder, float min, float max, float lo, float scale)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	const struct bq_dtype_info *zero = bq_dtype(scheme->zero);
	float point = bq_round_to(encoder->work, lo / scale);

	if (encoder->rules->zero_after)
		point = rintf(point);
	point = bq_clamp_f32(bq_round_to(encoder->work, min - point), min, max);
	point = bq_is_integer(scheme->zero) ? rintf(point) : point;
	if (scheme->symmetric)
		point = truncf((max + min + 1) / 2);
	point = bq_clamp_f32(point, zero->min, zero->max);
	return point != point ? 0 : point; /* 0 / 0, a block of zeros */
}

void bq_ideal(const struct bq_encoder *encoder, uint32_t first, uint32_t ncells, const struct bq_workspace *w)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	float min, max;

	bq_code_range(encoder->plan, &min, &max);
	ideal_scales(encoder, min, max, ncells, w->lo + first, w->hi + first, w->scale[0] + first);
	for (uint32_t c = first; c < first + ncells && scheme->zero; c++)
		w->zero[c] = bq_zero_point(encoder, min, max, w->lo[c], w->scale[0][c]);
	for (uint32_t c = first; c < first + ncells && scheme->nmins; c++) {
		w->min[0][c] = bq_canonical(-w->lo[c]);
		w->zero[c] = min;
	}
}

float bq_top_code(uint32_t dtype)
{
	const struct bq_dtype_info *info = bq_dtype(dtype);

	return info->exponent == 127 ? 1 : info->max;
}

float bq_ideal_parent(const struct bq_encoder *encoder, uint32_t child_dtype, float largest_child)
{
	const float parent = largest_child / bq_top_code(child_dtype);

	return parent < encoder->rules->least_parent ? encoder->rules->least_parent : parent;
}

static void ideal_parents(const struct bq_encoder *encoder, const struct bq_unit *unit, uint32_t nlevels, const struct bq_level *level,
	float *const *value)
{
	for (uint32_t i = 1; i < nlevels; i++) {
		const uint32_t nchildren = unit->ncells[i - 1];
		float *parent = value[i];

		memset(parent, 0, unit->ncells[i] * sizeof(float));
		for (uint32_t c = 0, end; c < nchildren; c = end) {
			const uint64_t p = bq_outer_cell(encoder->plan, &level[i - 1], &level[i], c, nchildren, &end);
			float largest = parent[p];

			for (uint32_t child = c; child < end; child++)
				largest = larger(largest, magnitude(value[i - 1][child]));
			parent[p] = largest;
		}
		for (uint32_t p = 0; p < unit->ncells[i]; p++)
			parent[p] = bq_ideal_parent(encoder, level[i - 1].dtype, parent[p]);
	}
}

void bq_ideal_parents(const struct bq_encoder *encoder, const struct bq_unit *unit, uint32_t nlevels, const struct bq_workspace *w)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;

	ideal_parents(encoder, unit, nlevels, scheme->scale, w->scale);
	if (scheme->nmins)
		ideal_parents(encoder, unit, nlevels, scheme->min, w->min);
}

void bq_merge_ideal(const struct bq_encoder *encoder, const struct bq_unit *unit, const struct bq_workspace *w, struct bq_tensor_range *range)
{
	const uint32_t inner = encoder->plan->tensor_level - 1;

	for (uint32_t c = 0; c < unit->ncells[inner]; c++) {
		range->scale = larger(range->scale, magnitude(w->scale[inner][c]));
		if (encoder->plan->scheme.nmins)
			range->min = larger(range->min, magnitude(w->min[inner][c]));
	}
	for (uint32_t c = 0; c < unit->ncells[0]; c++) {
		const int has_nan = w->lo[c] != w->lo[c];

		range->lo = has_nan || w->lo[c] < range->lo ? w->lo[c] : range->lo;
		range->hi = has_nan || w->hi[c] > range->hi ? w->hi[c] : range->hi;
	}
}

