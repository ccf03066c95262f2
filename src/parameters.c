/* SPDX-License-Identifier: MIT
 * parameters.c - ranges -> ideal parameters -> codes -> the parameters that a decoder will see.
 *
 * A level's parameters are values to the level around it: parents are made of the ideal children, innermost first; then each
 * is stored and decoded, outermost first, and the next is made against what it decodes to. The order of operations is that
 * of struct bq_rules; with some, each result is rounded to the weights' dtype before it is used.
 */
#include "parameters.h"

#include <math.h>
#include <string.h>

#include "codes.h"
#include "dtype.h"
#include "lines.h"
#include "number.h"

/* Scales or mins of a unit. */
struct grid {
	const struct bq_level *level;
	float *const *value;   /* ideal, then decoded */
	uint8_t *const *codes;
};

static struct grid scales_of(const struct bq_plan *plan, const struct bq_workspace *w, const struct bq_codes *codes)
{
	const struct grid grid = { plan->scheme.scale, w->scale, codes ? codes->scale : NULL };

	return grid;
}

static struct grid mins_of(const struct bq_plan *plan, const struct bq_workspace *w, const struct bq_codes *codes)
{
	const struct grid grid = { plan->scheme.min, w->min, codes ? codes->min : NULL };

	return grid;
}

static uint8_t *find_level(const struct bq_plan *plan, const void *const *planes, uint32_t role, const struct bq_level *level,
	uint64_t first_cell, uint8_t *workspace_codes)
{
	const int plane = bq_find_plane(plan, role);

	if (plane < 0 || (level->rank && bq_exchanged(plan)))
		return workspace_codes;
	return (uint8_t *)(uintptr_t)planes[plane] + (level->rank ? first_cell * bq_dtype(level->dtype)->nbytes : 0);
}

void bq_find_codes(const struct bq_plan *plan, const void *const *planes, const struct bq_unit *unit, const struct bq_workspace *w,
	struct bq_codes *codes)
{
	const struct bq_scheme *scheme = &plan->scheme;

	for (uint32_t i = 0; i < scheme->nscales; i++) {
		codes->scale[i] = find_level(plan, planes, BQ_ROLE_SCALE0 + i, &scheme->scale[i], unit->cell[i], w->scale_codes[i]);
		codes->min[i] = find_level(plan, planes, BQ_ROLE_MIN0 + i, &scheme->min[i], unit->cell[i], w->min_codes[i]);
	}
	codes->zero = w->zeros + (scheme->scale[0].rank ? (size_t)unit->index * plan->cells_per_unit : 0);
}

/* A scale that is not finite is an overflow only if the weights were. */
static int finite_range(const struct bq_workspace *w, uint32_t cell)
{
	return isfinite(w->lo[cell]) && isfinite(w->hi[cell]);
}

/* Codes as numbers, where a NaN is one as the rules say. */
static void decode_codes(const struct bq_rules *rules, const struct bq_kernels *kernels, uint32_t dtype, const uint8_t *codes, size_t count,
	float *out)
{
	bq_widen(kernels, dtype, codes, count, out);
	for (size_t i = 0; i < count && rules->zero_nan; i++)
		out[i] = out[i] != out[i] ? 0 : out[i];
}

/* Whether a dtype's own conversion is not what rounds: integers, which only another level makes, and rounding up. */
static int rounds_alone(const struct bq_encoder *encoder, uint32_t dtype)
{
	return bq_is_integer(dtype) || dtype == BQ_E8M0 || (encoder->rules->parameter_round == BQ_UP && dtype != BQ_F32);
}

static void round_integers(const struct bq_rules *rules, const struct bq_dtype_info *info, uint32_t count, const float *x, float *rounded,
	uint8_t *codes)
{
	for (uint32_t i = 0; i < count; i++) {
		const float whole = bq_clamp_f32(rules->parameter_round == BQ_UP ? ceilf(x[i]) : rintf(x[i]), info->min, info->max);

		rounded[i] = whole != whole ? 0 : whole;
		codes[i] = (uint8_t)(int32_t)rounded[i];
	}
}

/* What is beyond the dtype becomes its largest. */
static void round_up(const struct bq_encoder *encoder, uint32_t dtype, uint32_t count, const float *x, float *rounded, uint8_t *codes)
{
	const struct bq_dtype_info *info = bq_dtype(dtype);
	int any = 0;

	for (uint32_t i = 0; i < count; i++)
		rounded[i] = x[i] > info->max ? info->max : x[i];
	encoder->kernels->from_f32[dtype](rounded, count, codes);
	decode_codes(encoder->rules, encoder->kernels, dtype, codes, count, rounded);
	for (uint32_t i = 0; i < count; i++) {
		if (!(rounded[i] < x[i]) || rounded[i] == info->max)
			continue;
		/* The next code is the next number: none is negative here. */
		if (info->nbytes == 1)
			codes[i]++;
		else
			bq_store16(codes + 2 * i, (uint16_t)(bq_load16(codes + 2 * i) + 1));
		any = 1;
	}
	if (any)
		decode_codes(encoder->rules, encoder->kernels, dtype, codes, count, rounded);
}

/* Whether what is beyond a dtype becomes its largest before it is rounded. */
static int saturates_first(const struct bq_encoder *encoder, uint32_t dtype)
{
	return encoder->rules->saturate && dtype != encoder->work;
}

/* x: to be rounded; rounded: what the codes decode to. */
static void round_parameters(const struct bq_encoder *encoder, uint32_t dtype, uint32_t count, const float *x, float *rounded, uint8_t *codes)
{
	const struct bq_dtype_info *info = bq_dtype(dtype);

	if (bq_is_integer(dtype)) {
		round_integers(encoder->rules, info, count, x, rounded, codes);
	} else if (rounds_alone(encoder, dtype)) {
		round_up(encoder, dtype, count, x, rounded, codes);
	} else {
		for (uint32_t i = 0; i < count; i++)
			rounded[i] = saturates_first(encoder, dtype) ? bq_canonical(bq_clamp_f32(x[i], info->min, info->max)) : x[i];
		encoder->kernels->from_f32[dtype](rounded, count, codes);
		decode_codes(encoder->rules, encoder->kernels, dtype, codes, count, rounded);
	}
}

/* What a scale is replaced by when its dtype made 0 of it, or when it is not finite; 0: it stays. */
static float replacement(const struct bq_rules *rules, const struct bq_dtype_info *info, float scale)
{
	if (rules->zero_scale == BQ_EPSILON && scale == 0)
		return info->epsilon;
	return rules->zero_scale == BQ_LEAST && (scale == 0 || !isfinite(scale)) ? 0x1p-126f : 0;
}

/* Counts what a dtype cannot hold of count cells from `first` on, and replaces what no scale should be. x: before they were rounded;
 * saturates: whether those above the dtype's largest count. */
static uint32_t mend(const struct bq_encoder *encoder, const struct bq_workspace *ranges, int is_scale, int saturates, uint32_t dtype,
	uint32_t first, uint32_t count, float *x, float *rounded, uint8_t *codes)
{
	const struct bq_dtype_info *info = bq_dtype(dtype);
	uint32_t overflows = 0;

	for (uint32_t i = 0; i < count; i++) {
		/* An infinite parent makes finite children of ideals that are not. */
		const int is_hidden = ranges && encoder->plan->scheme.nscales > 1 && !isfinite(ranges->ideal[first + i]);
		const int lost = !isfinite(rounded[i]) || (saturates && x[i] > info->max) || is_hidden;
		/* NaN that the parent brought: that of other weights. */
		const int inherited = x[i] != x[i] && ranges && isfinite(ranges->ideal[first + i]);

		overflows += lost && !inherited && (ranges ? finite_range(ranges, first + i) : isfinite(x[i]));
		x[i] = is_scale ? replacement(encoder->rules, info, rounded[i]) : 0;
		if (x[i] != 0)
			round_parameters(encoder, dtype, 1, &x[i], &rounded[i], codes + (size_t)i * info->nbytes);
	}
	return overflows;
}

/* How much too large a child of a parent that was rounded down can be: an eighth, of E5M2's two bits. */
#define PARENT_ERROR 1.125f

/* Rounds values to their dtype; returns how many it cannot hold. ranges: the workspace, for innermost levels, where an
 * infinite ideal of finite weights counts. is_scale: 0 is no value that a scale should have; has_parent: some level is around
 * this one. */
static uint32_t store(const struct bq_encoder *encoder, const struct bq_workspace *ranges, int is_scale, int has_parent, uint32_t dtype,
	uint32_t count, float *value, uint8_t *codes)
{
	const struct bq_dtype_info *info = bq_dtype(dtype);
	/* These become their largest number without a word; under a parent, which is made for it, by a rounding error only. */
	const int saturates = !has_parent && (info->min >= 0 || rounds_alone(encoder, dtype) || saturates_first(encoder, dtype));
	uint32_t overflows = 0;
	float x[64];

	for (uint32_t first = 0; first < count; first += 64, codes += 64 * info->nbytes) {
		const uint32_t here = count - first < 64 ? count - first : 64;
		float *rounded = value + first;
		int any = 0;

		for (uint32_t i = 0; i < here; i++) {
			const int is_error = has_parent && rounded[i] > info->max && rounded[i] / PARENT_ERROR <= info->max;

			x[i] = is_error ? info->max : bq_canonical(rounded[i]);
		}
		round_parameters(encoder, dtype, here, x, rounded, codes);
		/* Mostly there is none: 0, infinite or NaN. */
		for (uint32_t i = 0; i < here; i++)
			any |= (bq_bits(rounded[i]) & 0x7FFFFFFF) - 1 >= BQ_F32_INFINITY - 1 || (saturates && x[i] > info->max);
		if (any)
			overflows += mend(encoder, ranges, is_scale, saturates, dtype, first, here, x, rounded, codes);
	}
	return overflows;
}

/* The decoded parameter around a cell of level i, of the levels below nlevels; top: that around all of them. *end: up to where
 * it is around those that follow too. */
static float parent_of(const struct bq_plan *plan, const struct grid *grid, const struct bq_unit *unit, uint32_t i, uint32_t nlevels, float top,
	uint32_t cell, uint32_t *end)
{
	*end = unit->ncells[i];
	return i + 1 < nlevels ? grid->value[i + 1][bq_outer_cell(plan, &grid->level[i], &grid->level[i + 1], cell, *end, end)] : top;
}

/* Codes become numbers; returns how many are finite, like what is around them, but no longer with it. */
static uint32_t join_level(const struct bq_plan *plan, const struct grid *grid, const struct bq_unit *unit, uint32_t i, uint32_t nlevels,
	float top)
{
	const int multiplied = bq_rules(plan->scheme.rules)->outer == BQ_OUTER_MULTIPLIER;
	float *value = grid->value[i];
	uint32_t lost = 0;

	for (uint32_t c = 0, end; c < unit->ncells[i]; c = end) {
		const float parent = parent_of(plan, grid, unit, i, nlevels, top, c, &end);
		const int is_number = isfinite(parent) && parent != 0;

		for (uint32_t child = c; child < end && parent != 1; child++) {
			const float code = value[child];

			value[child] = multiplied ? code / parent : parent * code;
			lost += is_number && isfinite(code) && !isfinite(value[child]);
		}
	}
	return lost;
}

/* The way back, to what a level's codes are made of. */
static void part_level(const struct bq_encoder *encoder, const struct grid *grid, const struct bq_unit *unit, uint32_t i, uint32_t nlevels,
	float top)
{
	const int multiplied = encoder->rules->outer == BQ_OUTER_MULTIPLIER;
	float *value = grid->value[i];

	for (uint32_t c = 0, end; c < unit->ncells[i]; c = end) {
		const float parent = parent_of(encoder->plan, grid, unit, i, nlevels, top, c, &end);

		for (uint32_t child = c; child < end && parent != 1; child++)
			value[child] = multiplied ? parent * value[child] : parent == 0 ? 0 : value[child] / parent;
	}
}

/* Levels from..nlevels - 1, outermost first: ideal values become decoded ones. */
static uint32_t store_levels(const struct bq_encoder *encoder, const struct grid *grid, const struct bq_unit *unit, uint32_t from,
	uint32_t nlevels, const struct bq_top *top, const struct bq_workspace *w, int is_scale)
{
	const struct bq_plan *plan = encoder->plan;
	uint32_t overflows = 0;

	for (uint32_t i = nlevels; i-- > from;) {
		part_level(encoder, grid, unit, i, nlevels, top->divisor);
		overflows += store(encoder, i ? NULL : w, is_scale, i + 1 < plan->scheme.nscales, grid->level[i].dtype, unit->ncells[i], grid->value[i],
			grid->codes[i]);
		overflows += join_level(plan, grid, unit, i, nlevels, top->decoded);
	}
	return overflows;
}

uint32_t bq_make_parameters(const struct bq_encoder *encoder, const struct bq_unit *unit, const struct bq_workspace *w,
	const struct bq_codes *codes)
{
	const struct bq_plan *plan = encoder->plan;
	const struct bq_scheme *scheme = &plan->scheme;
	const struct grid scales = scales_of(plan, w, codes), mins = mins_of(plan, w, codes);
	const uint32_t nlevels = plan->tensor_level ? plan->tensor_level : scheme->nscales, ncells = unit->ncells[0];
	uint32_t overflows;
	float min, max;

	bq_ideal(encoder, 0, ncells, w);
	bq_ideal_parents(encoder, unit, nlevels, w);
	memcpy(w->ideal, w->scale[0], ncells * sizeof(float));
	overflows = store_levels(encoder, &scales, unit, 0, nlevels, &encoder->top_scale, w, 1);
	if (scheme->nmins)
		overflows += store_levels(encoder, &mins, unit, 0, nlevels, &encoder->top_min, w, 0);
	/* One that should not be 0 and is, since the product of its levels is too small for more than zeros. */
	for (uint32_t c = 0; encoder->rules->zero_scale == BQ_LEAST && c < ncells; c++)
		overflows += w->scale[0][c] == 0 && w->lo[c] < w->hi[c] && finite_range(w, c);
	bq_code_range(plan, &min, &max);
	for (uint32_t c = 0; scheme->zero && encoder->rules->zero_after && c < ncells; c++)
		w->zero[c] = w->scale[0][c] > 0 ? bq_zero_point(encoder, min, max, w->lo[c], w->scale[0][c]) : w->zero[c];
	if (scheme->zero)
		round_parameters(encoder, scheme->zero, ncells, w->zero, w->zero, codes->zero);
	bq_divisors(encoder->rules, ncells, encoder->rules->against == BQ_IDEAL ? w->ideal : w->scale[0], w->scale[0]);
	return overflows;
}

/* compressed-tensors, generate_gparam: everything in the weights' dtype, the result kept as float32; what that dtype cannot
 * hold becomes 1. */
static uint32_t make_multiplier(struct bq_encoder *encoder, const struct bq_tensor_range *range, const struct bq_codes *codes)
{
	const struct bq_scheme *scheme = &encoder->plan->scheme;
	const float amax = bq_largest(range->lo, range->hi);
	float multiplier, code_min, code_max;
	uint32_t overflow;

	bq_code_range(encoder->plan, &code_min, &code_max);
	/* torch divides a number by a tensor through the reciprocal, rounded. */
	multiplier = bq_round_to(encoder->work, 1 / amax);
	multiplier = bq_round_to(encoder->work, multiplier * (code_max * bq_top_code(scheme->scale[0].dtype)));
	overflow = amax > 0 && isfinite(amax) && !isfinite(multiplier);
	multiplier = isfinite(multiplier) ? multiplier : 1;
	encoder->top_scale.decoded = encoder->top_scale.divisor = multiplier;
	encoder->kernels->from_f32[scheme->scale[1].dtype](&multiplier, 1, codes->scale[1]);
	return overflow;
}

/* One grid of bq_make_top. */
static uint32_t store_top(const struct bq_encoder *encoder, const struct grid *grid, float largest_child, const struct bq_workspace *w,
	int is_scale, struct bq_top *top)
{
	const struct bq_unit one = { .ncells = { 1, 1, 1 } };
	const uint32_t from = encoder->plan->tensor_level, to = encoder->plan->scheme.nscales;
	const struct bq_top none = { 1, 1 };
	uint32_t overflows;
	float ideal;

	for (uint32_t i = from; i < to; i++) {
		grid->value[i][0] = bq_ideal_parent(encoder, grid->level[i - 1].dtype, largest_child);
		largest_child = grid->value[i][0];
	}
	ideal = grid->value[from][0];
	overflows = store_levels(encoder, grid, &one, from, to, &none, w, is_scale);
	top->decoded = grid->value[from][0];
	top->divisor = isfinite(ideal) ? top->decoded : ideal;
	return overflows;
}

uint32_t bq_make_top(struct bq_encoder *encoder, const struct bq_tensor_range *range, const struct bq_workspace *w, const struct bq_codes *codes)
{
	const struct bq_plan *plan = encoder->plan;
	const struct grid scales = scales_of(plan, w, codes), mins = mins_of(plan, w, codes);
	const struct bq_unit one = { .ncells = { 1, 1, 1 } };
	uint32_t overflows;

	if (!plan->tensor_level)
		return bq_make_parameters(encoder, &one, w, codes);
	if (encoder->rules->outer == BQ_OUTER_MULTIPLIER)
		return make_multiplier(encoder, range, codes);
	overflows = store_top(encoder, &scales, range->scale, w, 1, &encoder->top_scale);
	if (plan->scheme.nmins)
		overflows += store_top(encoder, &mins, range->min, w, 0, &encoder->top_min);
	return overflows;
}

/* What the tensor-wide levels of a grid decode to, together. */
static struct bq_top decode_top(const struct bq_plan *plan, const struct grid *grid)
{
	float decoded = 1, value;

	for (uint32_t i = plan->scheme.nscales; i-- > plan->tensor_level;) {
		decode_codes(bq_rules(plan->scheme.rules), bq_kernels(plan->kernels), grid->level[i].dtype, grid->codes[i], 1, &value);
		decoded *= value;
	}
	return (struct bq_top){ decoded, decoded };
}

void bq_take_top(struct bq_encoder *encoder, const struct bq_workspace *w, const struct bq_codes *codes)
{
	const struct bq_plan *plan = encoder->plan;
	const struct grid scales = scales_of(plan, w, codes), mins = mins_of(plan, w, codes);

	encoder->top_scale = decode_top(plan, &scales);
	if (plan->scheme.nmins)
		encoder->top_min = decode_top(plan, &mins);
}

void bq_widen(const struct bq_kernels *kernels, uint32_t dtype, const uint8_t *codes, size_t count, float *out)
{
	const float unit = bq_dtype(dtype)->unit;

	if (kernels->to_f32[dtype]) {
		kernels->to_f32[dtype](codes, count, out);
		for (size_t i = 0; i < count && unit != 1; i++)
			out[i] *= unit;
		return;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = bq_dtype(dtype)->kind == BQ_KIND_SIGNED ? (float)(int8_t)codes[i] : (float)codes[i];
}

static void decode_levels(const struct bq_plan *plan, const struct grid *grid, const struct bq_unit *unit)
{
	const uint32_t nlevels = plan->scheme.nscales;

	for (uint32_t i = nlevels; i-- > 0;) {
		decode_codes(bq_rules(plan->scheme.rules), bq_kernels(plan->kernels), grid->level[i].dtype, grid->codes[i], unit->ncells[i], grid->value[i]);
		for (uint32_t c = 0; c < unit->ncells[i] && i + 1 < nlevels && bq_rules(plan->scheme.rules)->odd_eighths; c++)
			grid->value[i][c] = (2 * grid->value[i][c] + 1) / 8;
		if (i + 1 < nlevels)
			join_level(plan, grid, unit, i, nlevels, 1);
	}
}

void bq_decode_parameters(const struct bq_plan *plan, const struct bq_unit *unit, const struct bq_workspace *w, const struct bq_codes *codes)
{
	const struct grid scales = scales_of(plan, w, codes), mins = mins_of(plan, w, codes);
	float min, max;

	decode_levels(plan, &scales, unit);
	if (plan->scheme.zero)
		bq_widen(bq_kernels(plan->kernels), plan->scheme.zero, codes->zero, unit->ncells[0], w->zero);
	if (!plan->scheme.nmins)
		return;
	decode_levels(plan, &mins, unit);
	/* A code counts from the lowest. */
	bq_code_range(plan, &min, &max);
	for (uint32_t c = 0; c < unit->ncells[0]; c++)
		w->zero[c] = min;
}

void bq_take_parameters(const struct bq_encoder *encoder, const struct bq_unit *unit, const struct bq_workspace *w, const struct bq_codes *codes)
{
	bq_decode_parameters(encoder->plan, unit, w, codes);
	bq_divisors(encoder->rules, unit->ncells[0], w->scale[0], w->scale[0]);
}
