/* SPDX-License-Identifier: MIT
 * check.c - the rules of docs/schemes.md: which ones a scheme breaks, alone or with a shape.
 */
#include "check.h"

#include <string.h>

#include "dtype.h"
#include "geometry.h"

void bq_found(struct bq_problems *problems, enum bq_status status, enum bq_field field)
{
	for (uint32_t i = 0; i < problems->count; i++)
		if (problems->list[i].status == status && problems->list[i].field == field)
			return;
	if (problems->count < BQ_MAX_PROBLEMS)
		problems->list[problems->count++] = (struct bq_problem){ status, field };
}

static int is_float(uint32_t dtype)
{
	return bq_dtype(dtype)->kind == BQ_KIND_FLOAT;
}

static void check_value(const struct bq_scheme *scheme, struct bq_problems *problems)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value);
	int is_code = bq_is_integer(scheme->value) || value->kind == BQ_KIND_TABLE ||
		(value->kind == BQ_KIND_FLOAT && value->bits <= 8 && value->min < 0);

	EXPECT(is_code, BQ_BAD_VALUE, BQ_FIELD_VALUE);
	EXPECT(!scheme->narrow || (scheme->narrow == 1 && value->kind == BQ_KIND_SIGNED && value->bits > 1), BQ_BAD_VALUE, BQ_FIELD_VALUE);
	EXPECT(!scheme->codebook || scheme->value == BQ_CODEBOOK, BQ_BAD_CODEBOOK, BQ_FIELD_VALUE);
}

static int is_calibration(const struct bq_scheme *scheme)
{
	const double argument = scheme->calibration_argument;

	switch (scheme->calibration) {
	case BQ_MINMAX:
	case BQ_SEARCH:
	case BQ_ABSMEAN:
		return argument == 0;
	case BQ_PERCENTILE:
		return argument > 50 && argument <= 100;
	case BQ_MSE:
		return argument > 0 && argument <= 1;
	default:
		return 0;
	}
}

/* Whether `outer` is made of whole blocks of `inner` on every axis, or covers it. */
static int nests(const struct bq_plan *plan, const struct bq_level *inner, const struct bq_level *outer)
{
	for (uint32_t axis = 0; axis < plan->rank && outer->rank; axis++) {
		const uint64_t large = bq_edge(plan, outer, axis);

		if (large < plan->dims[axis] && large % bq_edge(plan, inner, axis))
			return 0;
	}
	return inner->rank || !outer->rank;
}

/* first: the field of the innermost. */
static void check_levels(const struct bq_plan *plan, const struct bq_level *level, uint32_t count, enum bq_field first,
	struct bq_problems *problems)
{
	for (uint32_t i = 0; i < count; i++) {
		const int inner_code = i + 1 < count && bq_is_integer(level[i].dtype) && bq_dtype(level[i].dtype)->max > 0;
		const int is_scale = is_float(level[i].dtype) || level[i].dtype == BQ_E8M0;
		int is_edge = level[i].rank <= plan->rank;

		for (uint32_t k = 0; k < level[i].rank && is_edge; k++)
			is_edge = level[i].edge[k] < (1u << 31);
		EXPECT((is_scale && bq_dtype(level[i].dtype)->bits >= 8) || inner_code, BQ_BAD_LEVEL_DTYPE, first + i);
		EXPECT(is_edge && (!i || nests(plan, &level[i - 1], &level[i])), BQ_BAD_BLOCK, first + i);
	}
}

static int same_blocks(const struct bq_level *a, const struct bq_level *b)
{
	return a->rank == b->rank && !memcmp(a->edge, b->edge, a->rank * sizeof(a->edge[0]));
}

/* A block struct has room for what its preset stores: those values under those levels. */
static int fits_blocks(const struct bq_scheme *scheme)
{
	const struct bq_preset *preset;

	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++) {
		const struct bq_scheme *blocks = &preset->scheme;

		if (blocks->layout == scheme->layout)
			return scheme->value == blocks->value && scheme->zero == blocks->zero && scheme->nscales == blocks->nscales &&
				scheme->nmins == blocks->nmins && !memcmp(scheme->scale, blocks->scale, sizeof(scheme->scale)) &&
				!memcmp(scheme->min, blocks->min, sizeof(scheme->min));
	}
	return 0;
}

/* Ranges that are not symmetric about 0, or are widened to be: zero points and mins. */
static void check_offset(const struct bq_scheme *scheme, const struct bq_rules *rules, struct bq_problems *problems)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value), *zero = bq_dtype(scheme->zero);
	const uint32_t field = scheme->zero ? BQ_FIELD_ZERO : BQ_FIELD_MIN0;

	EXPECT(scheme->symmetric <= 1 && (!scheme->symmetric || scheme->zero || scheme->nmins), BQ_BAD_ZERO, BQ_FIELD_SYMMETRIC);
	if (!scheme->zero && !scheme->nmins)
		return;
	EXPECT(!(scheme->zero && scheme->nmins), BQ_BAD_ZERO, field);
	/* The distance of two codes of E5M2 is more than float16 holds. */
	if (value->kind == BQ_KIND_FLOAT)
		EXPECT(scheme->value == BQ_F8E4M3 && scheme->zero == scheme->value && !scheme->symmetric && !rules->zero_after, BQ_BAD_ZERO,
			field);
	else
		EXPECT(bq_is_integer(scheme->value) && (!scheme->zero || (zero->kind == value->kind && zero->bits >= value->bits)), BQ_BAD_ZERO, field);
	if (scheme->calibration == BQ_SEARCH)
		return;
	EXPECT(rules->extent == BQ_ABSOLUTE && (rules->outer == BQ_OUTER_FACTOR || scheme->nscales == 1), BQ_BAD_RULES, field);
	EXPECT(scheme->scale[0].dtype != BQ_E8M0 || rules->power == BQ_POWER_ABOVE ||
			(rules->power == BQ_POWER_BELOW && scheme->symmetric),
		BQ_BAD_RULES, BQ_FIELD_SCALE0);
}

/* A scale of the sign of the block's extreme value needs dtypes that have one. */
static void check_signed(const struct bq_scheme *scheme, const struct bq_rules *rules, struct bq_problems *problems)
{
	EXPECT(rules->extent != BQ_SIGNED || bq_dtype(scheme->scale[0].dtype)->min < 0, BQ_BAD_RULES, BQ_FIELD_SCALE0);
	EXPECT(rules->extent != BQ_SIGNED || scheme->scale[0].rank, BQ_BAD_RULES, BQ_FIELD_SCALE0);
}

/* What a multiplier scales must be a float scale under one tensor-wide float32. */
static void check_multiplier(const struct bq_scheme *scheme, const struct bq_rules *rules, struct bq_problems *problems)
{
	if (scheme->nscales == 1 || rules->outer != BQ_OUTER_MULTIPLIER)
		return;
	EXPECT(is_float(scheme->scale[0].dtype) && scheme->scale[0].rank, BQ_BAD_RULES, BQ_FIELD_SCALE0);
	EXPECT(!scheme->scale[1].rank && scheme->scale[1].dtype == BQ_F32, BQ_BAD_RULES, BQ_FIELD_SCALE1);
	EXPECT(scheme->nscales == 2, BQ_BAD_RULES, BQ_FIELD_SCALE2);
	EXPECT(bq_dtype(scheme->value)->max > 0 || scheme->codebook, BQ_BAD_RULES, BQ_FIELD_VALUE);
}

/* Whether the rules say how every parameter is made. */
static void check_parameters(const struct bq_scheme *scheme, const struct bq_rules *rules, struct bq_problems *problems)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value);
	const int is_sided = scheme->zero || scheme->nmins, is_power = scheme->scale[0].dtype == BQ_E8M0 && rules->power != BQ_POWER_ABOVE;
	const int is_span = rules->divisor == BQ_HALF_SPAN || rules->divisor == BQ_SPAN;

	if (scheme->calibration == BQ_SEARCH)
		return; /* the fused kernel's affair */
	/* Odd codes only a search makes. */
	EXPECT(!rules->odd_eighths || scheme->nscales == 1, BQ_BAD_RULES, BQ_FIELD_SCALES);
	check_signed(scheme, rules, problems);
	check_multiplier(scheme, rules, problems);
	/* A symmetric scale needs codes on both sides of 0, and signed extents and truncated fields an integer. */
	EXPECT(is_sided || value->kind != BQ_KIND_UNSIGNED, BQ_BAD_RULES, BQ_FIELD_VALUE);
	EXPECT(value->kind != BQ_KIND_FLOAT || (rules->round == BQ_HALF_EVEN && rules->extent == BQ_ABSOLUTE), BQ_BAD_RULES, BQ_FIELD_VALUE);
	EXPECT(rules->quotient != BQ_PRODUCTS || scheme->value == BQ_F4E2M1, BQ_BAD_RULES, BQ_FIELD_VALUE);
	/* A power made of the largest magnitude stands alone. */
	EXPECT(!is_power || scheme->nscales == 1, BQ_BAD_RULES, BQ_FIELD_SCALE0);
	EXPECT(!is_power || rules->power != BQ_POWER_CARRIED || rules->power_carry[scheme->value], BQ_BAD_RULES, BQ_FIELD_SCALE0);
	/* The highest code of i1 is 0: nothing can be divided by it. */
	EXPECT(value->max > 0 || scheme->codebook || is_sided || is_span, BQ_BAD_RULES, BQ_FIELD_VALUE);
}

/* Whether the layout has a place for everything that is stored. A zero point that is packed down the rows needs rows. */
static void check_layout(const struct bq_plan *plan, uint32_t rank, const struct bq_layout *layout, struct bq_problems *problems)
{
	const struct bq_scheme *scheme = &plan->scheme;
	const struct bq_dtype_info *value = bq_dtype(scheme->value);
	const int is_signed = value->kind == BQ_KIND_SIGNED, is_table = value->kind == BQ_KIND_TABLE;
	const uint32_t bits = plan->value_bits;

	/* One array of codes, scales and a tensor-wide one; whole codes in every word. */
	EXPECT(!layout->serial || (!scheme->zero && !scheme->nmins && 32 % bits == 0), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(!layout->serial || scheme->nscales == 1 || (scheme->nscales == 2 && !scheme->scale[1].rank), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(layout->open_packing ? scheme->pack_into <= BQ_INTO_WORDS : scheme->pack_into == BQ_INTO_BYTES, BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(scheme->pack_axis < rank && (scheme->pack_into != BQ_INTO_BYTES || !scheme->pack_axis), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(layout->packing != BQ_NIBBLES || (!is_signed && (bits == 4 || (is_table && bits < 4))), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(layout->packing != BQ_SIXES || (!is_signed && (bits == 6 || (is_table && bits < 6))), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(layout->packing != BQ_WORDS || is_table || bq_is_integer(scheme->value), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(!layout->block_values || fits_blocks(scheme), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	if (bq_packs_zeros(layout, scheme))
		EXPECT(rank >= 2 && bq_dtype(scheme->zero)->bits == value->bits, BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
}

void bq_check_scheme(const struct bq_plan *plan, uint32_t rank, const struct bq_rules *rules, const struct bq_layout *layout,
	struct bq_problems *problems)
{
	const struct bq_scheme *scheme = &plan->scheme;
	const int has_levels = scheme->nscales >= 1 && scheme->nscales <= BQ_MAX_LEVELS;

	check_value(scheme, problems);
	EXPECT(is_calibration(scheme), BQ_BAD_CALIBRATION, BQ_FIELD_CALIBRATION);
	EXPECT(has_levels, BQ_BAD_LEVELS, BQ_FIELD_SCALES);
	EXPECT(scheme->nmins == 0 || scheme->nmins == scheme->nscales, BQ_BAD_LEVELS, BQ_FIELD_MINS);
	if (!has_levels)
		return;
	check_levels(plan, scheme->scale, scheme->nscales, BQ_FIELD_SCALE0, problems);
	check_levels(plan, scheme->min, scheme->nmins, BQ_FIELD_MIN0, problems);
	for (uint32_t i = 0; i < scheme->nmins; i++)
		EXPECT(same_blocks(&scheme->min[i], &scheme->scale[i]), BQ_BAD_LEVELS, BQ_FIELD_MIN0 + i);
	/* How fields go together is judged where each is right by itself. */
	if (problems->count)
		return;
	check_offset(scheme, rules, problems);
	check_parameters(scheme, rules, problems);
	check_layout(plan, rank, layout, problems);
}

int bq_is_fused(const struct bq_scheme *scheme)
{
	const struct bq_preset *preset;

	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++)
		if (!memcmp(&preset->scheme, scheme, sizeof(*scheme)))
			return 1;
	return 0;
}

void bq_check_rows(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_layout *layout, struct bq_problems *problems)
{
	const struct bq_scheme *scheme = &plan->scheme;

	for (uint32_t i = 0; i < scheme->nscales; i++) {
		uint64_t edge = bq_edge(plan, &scheme->scale[i], plan->rank - 1);

		if (rules->whole_groups && scheme->scale[i].rank == 1)
			EXPECT(edge <= plan->cols && plan->cols % edge == 0, BQ_RAGGED, BQ_FIELD_SCALE0 + i);
	}
	EXPECT(!layout->block_values || plan->cols % layout->block_values == 0, BQ_RAGGED, BQ_FIELD_LAYOUT);
	EXPECT(layout->packing != BQ_NIBBLES || plan->cols % 2 == 0, BQ_ODD, BQ_FIELD_LAYOUT);
	EXPECT(layout->packing != BQ_SIXES || plan->cols % 4 == 0, BQ_ODD, BQ_FIELD_LAYOUT);
}
