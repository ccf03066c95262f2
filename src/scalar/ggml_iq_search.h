/* SPDX-License-Identifier: MIT
 * ggml_iq_search.h - the search of ggml's iq2 and iq3 types for the scale and the points of each sub-block.
 *
 * Magnitudes are rounded to odd multiples of a candidate scale; groups that are no point of the grid then take the
 * neighbouring point with the least weighted error. Of the candidates the one that fits best gives the scale, after which
 * groups are rounded once more. Inlined twice, so that the inner loops have fixed lengths.
 */
#ifndef BQ_GGML_IQ_SEARCH_H
#define BQ_GGML_IQ_SEARCH_H

#include <math.h>

#include "ggml_iq.h"

#define BQ_IQ_SUB_VALUES 32 /* at most */
#define BQ_IQ_GROUPS 8      /* of a sub-block, at most */

/* Which groups are rounded with the final scale: those that were off the grid; all, if one was; all. */
enum bq_iq_refine { BQ_IQ_REFINE_OFF, BQ_IQ_REFINE_ALL_IF_OFF, BQ_IQ_REFINE_ALL };

struct bq_iq_rule {
	const struct bq_iq_grid *grid;
	int sub_values;
	int even_signs;     /* 1: an odd number of signs is made even, at the value that matters least */
	float sigma;        /* sigma = this * mean square; weight = importance * sqrt(sigma + x * x) */
	float plain_sigma;  /* and without importance = this * sigma + x * x */
	float tiny;         /* a sub-block whose magnitudes are all below this is zeros */
	int start_positive; /* 1: the first scale is that of search D */
	int steps;          /* candidates: the largest magnitude is 5 or 15, the largest level's, plus step * k, k = -steps .. steps */
	float step;
	enum bq_iq_refine refine;
	int starts_off;     /* without any good candidate all groups count as off the grid, not as on it */
	float fudge;        /* what is stored of the outer scale */
	int clear;          /* 1: a block without scales has no points and signs either */
};

/* What a search goes by. coords and levels are the grid's: constants where this is inlined. */
struct bq_iq_work {
	const struct bq_iq_rule *rule;
	struct bq_iq_tables tables;
	int coords, levels;
};

/* A sub-block at work: magnitudes, roots of the weights, and the terms of the sums for each value and level. */
struct bq_iq_sub_block {
	float v[BQ_IQ_SUB_VALUES], root[BQ_IQ_SUB_VALUES];
	float product[BQ_IQ_SUB_VALUES * 8], square[BQ_IQ_SUB_VALUES * 8];
};

struct bq_iq_points {
	uint16_t point[BQ_IQ_GROUPS];
	unsigned off; /* bit g: the rounded levels of group g were off the grid */
};

/* Level l stands for 2 l + 1. */
static inline float bq_iq_odd(int level)
{
	return (float)(2 * level + 1);
}

/* Magnitudes of 8 values, and the bits of those below 0. With even signs one magnitude may become negative. */
static inline uint8_t bq_iq_take_signs(int even, const float *x, const float *weight, float *v)
{
	unsigned signs = 0, count = 0;
	int least = 0;

	for (int i = 0; i < 8; i++) {
		const unsigned below = x[i] < 0.0f;

		v[i] = below ? -x[i] : x[i];
		signs |= below << i;
		count += below;
		if ((weight[i] * x[i]) * x[i] < (weight[least] * x[least]) * x[least])
			least = i;
	}
	if (even && count % 2) {
		v[least] = -v[least];
		signs ^= 1u << least;
	}
	return (uint8_t)signs;
}

static inline void bq_iq_fill_terms(const struct bq_iq_work *work, const float *weight, struct bq_iq_sub_block *sub)
{
	for (int i = 0; i < work->rule->sub_values; i++) {
		sub->root[i] = sqrtf(weight[i]);
		for (int level = 0; level < work->levels; level++) {
			sub->product[i * work->levels + level] = (weight[i] * sub->v[i]) * bq_iq_odd(level);
			sub->square[i * work->levels + level] = (weight[i] * bq_iq_odd(level)) * bq_iq_odd(level);
		}
	}
}

/* The neighbour with the least sum of (root * t) * t where t = scale * (2 level + 1) - v. */
static inline int bq_iq_nearest_scaled(
	const struct bq_iq_work *work, int32_t place, const float *v, const float *root, float scale)
{
	float cost[8 * 8];

	for (int i = 0; i < work->coords; i++)
		for (int level = 0; level < work->levels; level++) {
			const float t = scale * bq_iq_odd(level) - v[i];

			cost[i * work->levels + level] = (root[i] * t) * t;
		}
	return bq_iq_nearest(work->coords, work->levels, &work->tables, place, cost);
}

/* Rounds the groups of the mask. Returns 0 if one has no neighbour at a finite distance. */
static inline int bq_iq_round(const struct bq_iq_work *work, const struct bq_iq_sub_block *sub, float inverse, float scale,
	unsigned mask, struct bq_iq_points *found)
{
	int32_t level[BQ_IQ_SUB_VALUES];

	for (int i = 0; i < work->rule->sub_values; i++)
		level[i] = bq_clamp(bq_round_by_magic(0.5f * (inverse * sub->v[i] - 1.0f)), 0, work->levels - 1);
	for (int g = 0; g < work->rule->sub_values / work->coords; g++) {
		const int first = g * work->coords;
		int32_t place = 0;

		if (!(mask >> g & 1))
			continue;
		for (int i = work->coords - 1; i >= 0; i--)
			place = place * work->levels + level[first + i];
		place = work->tables.place[place];
		if (place < 0) {
			found->off |= 1u << g;
			place = bq_iq_nearest_scaled(work, place, sub->v + first, sub->root + first, scale);
			if (place < 0)
				return 0;
		}
		found->point[g] = (uint16_t)place;
	}
	return 1;
}

/* Sums over a sub-block of weight * v * q and of weight * q * q. */
static inline float bq_iq_sums(const struct bq_iq_work *work, const struct bq_iq_sub_block *sub,
	const struct bq_iq_points *found, float *square)
{
	float product = 0.0f;

	*square = 0.0f;
	for (int g = 0, at = 0; g < work->rule->sub_values / work->coords; g++) {
		const uint8_t *level = work->tables.points + work->coords * found->point[g];

		for (int i = 0; i < work->coords; i++, at += work->levels) {
			product += sub->product[at + level[i]];
			*square += sub->square[at + level[i]];
		}
	}
	return product;
}

/* The scale that fits best, starting from one, and its points. divisor: the candidates' inverses are over this. */
static inline int bq_iq_search_scale(const struct bq_iq_work *work, const struct bq_iq_sub_block *sub, float divisor,
	float *scale, struct bq_iq_points *best)
{
	const unsigned all = (1u << work->rule->sub_values / work->coords) - 1;
	struct bq_iq_points candidate;
	float best_fit = 0.0f, product, square;

	*best = (struct bq_iq_points){ .off = work->rule->starts_off ? all : 0 };
	for (int k = -work->rule->steps; k <= work->rule->steps; k++) {
		const float inverse = (bq_iq_odd(work->levels - 1) + (float)k * work->rule->step) / divisor;

		candidate.off = 0;
		if (!bq_iq_round(work, sub, inverse, 1.0f / inverse, all, &candidate))
			return 0;
		product = bq_iq_sums(work, sub, &candidate, &square);
		if (square > 0.0f && product * product > best_fit * square) {
			*scale = product / square;
			best_fit = *scale * product;
			*best = candidate;
		}
	}

	const enum bq_iq_refine refine = work->rule->refine;
	const unsigned redo =
		refine == BQ_IQ_REFINE_ALL || (refine == BQ_IQ_REFINE_ALL_IF_OFF && best->off) ? all : best->off;

	if (!redo || !(*scale > 0.0f))
		return 1;
	if (!bq_iq_round(work, sub, 1.0f / *scale, *scale, redo, best))
		return 0;
	product = bq_iq_sums(work, sub, best, &square);
	if (square > 0.0f)
		*scale = product / square;
	return 1;
}

enum bq_iq_outcome { BQ_IQ_LOST, BQ_IQ_ZEROS, BQ_IQ_FOUND };

static inline enum bq_iq_outcome bq_iq_search_sub_block(const struct bq_iq_work *work, const float *x, const float *weight,
	float *scale, struct bq_iq_points *points, uint8_t signs[BQ_IQ_SUB_VALUES / 8])
{
	struct bq_iq_sub_block sub;
	uint8_t unused[BQ_IQ_SUB_VALUES];

	for (int i = 0; i < work->rule->sub_values; i += 8)
		signs[i / 8] = bq_iq_take_signs(work->rule->even_signs, x + i, weight + i, sub.v + i);

	float largest = sub.v[0];

	for (int i = 1; i < work->rule->sub_values; i++)
		if (sub.v[i] > largest)
			largest = sub.v[i];
	*scale = 0.0f;
	if (largest < work->rule->tiny)
		return BQ_IQ_ZEROS;
	if (work->rule->start_positive) {
		*scale = bq_search_positive_scale((size_t)work->rule->sub_values, work->levels + 1, sub.v, weight, unused);
		largest = *scale * (float)work->levels;
		if (largest <= 0.0f)
			return BQ_IQ_ZEROS;
	} else {
		*scale = largest / bq_iq_odd(work->levels - 1);
	}
	bq_iq_fill_terms(work, weight, &sub);
	if (!bq_iq_search_scale(work, &sub, largest, scale, points))
		return BQ_IQ_LOST;
	if (*scale < 0.0f) {
		*scale = -*scale;
		for (int i = 0; i < BQ_IQ_SUB_VALUES / 8; i++)
			signs[i] = (uint8_t)~signs[i];
	}
	return BQ_IQ_FOUND;
}

static inline void bq_iq_store_scales(const struct bq_iq_rule *rule, const float *scale, struct bq_iq_block *block)
{
	float largest = 0.0f;

	for (int j = 0; j < BQ_IQ_VALUES / rule->sub_values; j++)
		largest = largest > scale[j] ? largest : scale[j];
	if (largest == 0.0f) {
		if (rule->clear)
			*block = (struct bq_iq_block){ 0 };
		return;
	}

	const float outer = largest / 31.0f;

	block->outer = bq_ggml_scale_code(outer * rule->fudge);
	for (int j = 0; j < BQ_IQ_VALUES / rule->sub_values; j++)
		block->scale[j] = bq_iq_scale_code(1.0f / outer, scale[j], 15);
}

/* bq_iq_search by a rule. */
static inline int bq_iq_search_block(const struct bq_iq_rule *rule, int coords, int levels, const float *x,
	const float *importance, const void *tables, struct bq_iq_block *block)
{
	const struct bq_iq_work work = { rule, bq_iq_tables_in(rule->grid, tables), coords, levels };
	const float sum = bq_sum_of_squares(BQ_IQ_VALUES, x), sigma = rule->sigma * sum / BQ_IQ_VALUES;
	const int groups = rule->sub_values / coords;
	float scale[16], weight[BQ_IQ_SUB_VALUES];

	if (!isfinite(sigma))
		return 0;
	for (int j = 0; j < BQ_IQ_VALUES / rule->sub_values; j++) {
		const float *values = x + j * rule->sub_values;
		struct bq_iq_points points;
		uint8_t signs[BQ_IQ_SUB_VALUES / 8] = { 0 };

		for (int i = 0; i < rule->sub_values; i++)
			weight[i] = rule->plain_sigma * sigma + values[i] * values[i];
		if (importance)
			bq_weigh((size_t)rule->sub_values, values, importance + j * rule->sub_values, sigma, weight);

		const enum bq_iq_outcome outcome =
			bq_iq_search_sub_block(&work, values, weight, &scale[j], &points, signs);

		if (outcome == BQ_IQ_LOST)
			return 0;
		if (outcome == BQ_IQ_ZEROS) {
			block->skipped |= (uint16_t)(1u << j);
			continue;
		}
		memcpy(block->point + j * groups, points.point, sizeof(uint16_t) * (size_t)groups);
		memcpy(block->signs + j * rule->sub_values / 8, signs, (size_t)rule->sub_values / 8);
	}
	bq_iq_store_scales(rule, scale, block);
	return 1;
}

/* The two of these: of groups of eight values with three levels, and of four with eight. */
int bq_iq2_search(const struct bq_iq_rule *rule, const float *x, const float *importance, const void *tables,
	struct bq_iq_block *block);
int bq_iq3_search(const struct bq_iq_rule *rule, const float *x, const float *importance, const void *tables,
	struct bq_iq_block *block);

#endif
