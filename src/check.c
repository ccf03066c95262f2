/* SPDX-License-Identifier: MIT
 * check.c - the rules of docs/schemes.md: which one a scheme breaks, alone or with a shape.
 */
#include "check.h"

#include <string.h>

#include "dtype.h"
#include "geometry.h"

static int is_float(uint32_t dtype)
{
	return bq_dtype(dtype)->kind == BQ_KIND_FLOAT;
}

static enum bq_status check_value(const struct bq_scheme *scheme)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value);
	int is_code = bq_is_integer(scheme->value) || value->kind == BQ_KIND_TABLE ||
		(value->kind == BQ_KIND_FLOAT && value->bits <= 8 && value->min < 0);

	REQUIRE(is_code, BQ_BAD_VALUE);
	REQUIRE(!scheme->narrow || (scheme->narrow == 1 && value->kind == BQ_KIND_SIGNED && value->bits > 1), BQ_BAD_VALUE);
	REQUIRE(!scheme->codebook || scheme->value == BQ_CODEBOOK, BQ_BAD_CODEBOOK);
	return BQ_OK;
}

static enum bq_status check_calibration(const struct bq_scheme *scheme)
{
	const double argument = scheme->calibration_argument;

	switch (scheme->calibration) {
	case BQ_MINMAX:
	case BQ_SEARCH:
		REQUIRE(argument == 0, BQ_BAD_CALIBRATION);
		return BQ_OK;
	case BQ_PERCENTILE:
		REQUIRE(argument > 50 && argument <= 100, BQ_BAD_CALIBRATION);
		return BQ_BAD_CALIBRATION; /* TODO */
	case BQ_MSE:
		REQUIRE(argument > 0 && argument <= 1, BQ_BAD_CALIBRATION);
		return BQ_BAD_CALIBRATION; /* TODO */
	default:
		return BQ_BAD_CALIBRATION;
	}
}

/* Whether `outer` is made of whole blocks of `inner` on every axis. */
static int nests(const struct bq_plan *plan, const struct bq_level *inner, const struct bq_level *outer)
{
	for (uint32_t axis = 0; axis < plan->rank && outer->rank; axis++) {
		uint64_t small = bq_edge(plan, inner, axis), large = bq_edge(plan, outer, axis);

		if (large % small && large < plan->dims[axis])
			return 0;
		if (large < small)
			return 0;
	}
	return inner->rank || !outer->rank;
}

static enum bq_status check_levels(const struct bq_plan *plan, const struct bq_level *level, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		int inner_code = i + 1 < count && bq_is_integer(level[i].dtype);

		REQUIRE(level[i].rank <= plan->rank, BQ_BAD_BLOCK);
		REQUIRE(is_float(level[i].dtype) || level[i].dtype == BQ_E8M0 || inner_code, BQ_BAD_LEVEL_DTYPE);
		REQUIRE(bq_dtype(level[i].dtype)->bits >= 8 || inner_code, BQ_BAD_LEVEL_DTYPE);
		for (uint32_t k = 0; k < level[i].rank; k++)
			REQUIRE(level[i].edge[k] < (1u << 31), BQ_BAD_BLOCK);
		REQUIRE(!i || nests(plan, &level[i - 1], &level[i]), BQ_BAD_BLOCK);
	}
	return BQ_OK;
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
static enum bq_status check_offset(const struct bq_scheme *scheme, const struct bq_rules *rules)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value), *zero = bq_dtype(scheme->zero);

	REQUIRE(scheme->symmetric <= 1, BQ_BAD_ZERO);
	if (!scheme->zero && !scheme->nmins) {
		REQUIRE(!scheme->symmetric, BQ_BAD_ZERO);
		return BQ_OK;
	}
	REQUIRE(bq_is_integer(scheme->value) && !(scheme->zero && scheme->nmins), BQ_BAD_ZERO);
	REQUIRE(!scheme->zero || (zero->kind == value->kind && zero->bits >= value->bits), BQ_BAD_ZERO);
	if (scheme->calibration == BQ_SEARCH)
		return BQ_OK;
	REQUIRE(rules->extent == BQ_ABSOLUTE && (rules->outer == BQ_OUTER_FACTOR || scheme->nscales == 1), BQ_BAD_RULES);
	REQUIRE(scheme->scale[0].dtype != BQ_E8M0 || rules->power == BQ_POWER_ABOVE ||
			(rules->power == BQ_POWER_BELOW && scheme->symmetric),
		BQ_BAD_RULES);
	return BQ_OK;
}

/* A scale of the sign of the block's extreme value needs dtypes that have one. */
static enum bq_status check_signed(const struct bq_scheme *scheme, const struct bq_rules *rules)
{
	for (uint32_t i = 0; i < scheme->nscales && rules->extent == BQ_SIGNED; i++)
		REQUIRE(bq_dtype(scheme->scale[i].dtype)->min < 0 || i, BQ_BAD_RULES);
	REQUIRE(rules->extent != BQ_SIGNED || scheme->scale[0].rank, BQ_BAD_RULES);
	return BQ_OK;
}

/* What a multiplier scales must be a float scale under one tensor-wide float32. */
static enum bq_status check_multiplier(const struct bq_scheme *scheme, const struct bq_rules *rules)
{
	const int is_multiplied = scheme->nscales > 1 && rules->outer == BQ_OUTER_MULTIPLIER;

	REQUIRE(!is_multiplied || (scheme->nscales == 2 && !scheme->scale[1].rank && scheme->scale[1].dtype == BQ_F32), BQ_BAD_RULES);
	REQUIRE(!is_multiplied || (is_float(scheme->scale[0].dtype) && scheme->scale[0].rank), BQ_BAD_RULES);
	REQUIRE(!is_multiplied || bq_dtype(scheme->value)->max > 0, BQ_BAD_RULES);
	return BQ_OK;
}

/* Whether the rules say how every parameter is made. */
static enum bq_status check_parameters(const struct bq_scheme *scheme, const struct bq_rules *rules)
{
	const struct bq_dtype_info *value = bq_dtype(scheme->value);
	const int is_sided = scheme->zero || scheme->nmins, is_power = scheme->scale[0].dtype == BQ_E8M0 && rules->power != BQ_POWER_ABOVE;
	enum bq_status status = check_signed(scheme, rules);

	if (scheme->calibration == BQ_SEARCH)
		return BQ_OK; /* the fused kernel's affair */
	REQUIRE(!status, status);
	status = check_multiplier(scheme, rules);
	REQUIRE(!status, status);
	/* A symmetric scale needs codes on both sides of 0, and signed extents and truncated fields an integer. */
	REQUIRE(is_sided || value->kind != BQ_KIND_UNSIGNED, BQ_BAD_RULES);
	REQUIRE(value->kind != BQ_KIND_FLOAT || (rules->round == BQ_HALF_EVEN && rules->extent == BQ_ABSOLUTE), BQ_BAD_RULES);
	/* A power made of the largest magnitude stands alone. */
	REQUIRE(!is_power || scheme->nscales == 1, BQ_BAD_RULES);
	REQUIRE(!is_power || rules->power == BQ_POWER_BELOW || rules->power_carry[scheme->value], BQ_BAD_RULES);
	/* The highest code of i1 is 0: nothing can be divided by it. */
	REQUIRE(value->max > 0 || scheme->codebook || is_sided || rules->divisor == BQ_HALF_SPAN || rules->divisor == BQ_SPAN, BQ_BAD_RULES);
	return BQ_OK;
}

/* Whether the layout has a place for everything that is stored. */
static enum bq_status check_layout(const struct bq_plan *plan, const struct bq_layout *layout)
{
	const struct bq_scheme *scheme = &plan->scheme;
	const struct bq_dtype_info *value = bq_dtype(scheme->value);
	const int is_signed = value->kind == BQ_KIND_SIGNED, is_table = value->kind == BQ_KIND_TABLE;
	const uint32_t bits = plan->value_bits;

	REQUIRE(layout->packing != BQ_NIBBLES || (!is_signed && (bits == 4 || (is_table && bits < 4))), BQ_BAD_LAYOUT);
	REQUIRE(layout->packing != BQ_SIXES || (!is_signed && (bits == 6 || (is_table && bits < 6))), BQ_BAD_LAYOUT);
	REQUIRE(layout->packing != BQ_WORDS || is_table || bq_is_integer(scheme->value), BQ_BAD_LAYOUT);
	REQUIRE(!layout->block_values || fits_blocks(scheme), BQ_BAD_LAYOUT);
	if (layout->zeros_by_row && scheme->zero && scheme->scale[0].rank)
		REQUIRE(scheme->scale[0].rank == 1 && bq_dtype(scheme->zero)->bits == value->bits, BQ_BAD_LAYOUT);
	return BQ_OK;
}

enum bq_status bq_check_scheme(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_layout *layout)
{
	const struct bq_scheme *scheme = &plan->scheme;
	enum bq_status status = check_value(scheme);

	REQUIRE(!status, status);
	status = check_calibration(scheme);
	REQUIRE(!status, status);
	REQUIRE(scheme->nscales >= 1 && scheme->nscales <= BQ_MAX_LEVELS, BQ_BAD_LEVELS);
	REQUIRE(scheme->nmins == 0 || scheme->nmins == scheme->nscales, BQ_BAD_LEVELS);
	status = check_levels(plan, scheme->scale, scheme->nscales);
	REQUIRE(!status, status);
	status = check_levels(plan, scheme->min, scheme->nmins);
	REQUIRE(!status, status);
	for (uint32_t i = 0; i < scheme->nmins; i++)
		REQUIRE(same_blocks(&scheme->min[i], &scheme->scale[i]), BQ_BAD_LEVELS);
	status = check_offset(scheme, rules);
	REQUIRE(!status, status);
	status = check_parameters(scheme, rules);
	REQUIRE(!status, status);
	return check_layout(plan, layout);
}

/* A fused kernel does the schemes of its presets, to the letter. */
enum bq_status bq_check_fused(const struct bq_scheme *scheme)
{
	const struct bq_preset *preset;

	if (scheme->fused == BQ_GENERIC)
		return BQ_OK;
	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++)
		if (!memcmp(&preset->scheme, scheme, sizeof(*scheme)))
			return BQ_OK;
	return BQ_BAD_FUSED;
}

enum bq_status bq_check_rows(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_layout *layout)
{
	const struct bq_scheme *scheme = &plan->scheme;

	for (uint32_t i = 0; i < scheme->nscales; i++) {
		uint64_t edge = bq_edge(plan, &scheme->scale[i], plan->rank - 1);

		if (rules->whole_groups && scheme->scale[i].rank == 1)
			REQUIRE(edge <= plan->cols && plan->cols % edge == 0, BQ_RAGGED);
	}
	REQUIRE(!layout->block_values || plan->cols % layout->block_values == 0, BQ_RAGGED);
	REQUIRE(layout->packing != BQ_NIBBLES || plan->cols % 2 == 0, BQ_ODD);
	REQUIRE(layout->packing != BQ_SIXES || plan->cols % 4 == 0, BQ_ODD);
	return BQ_OK;
}
