/* SPDX-License-Identifier: MIT
 * check.h - the rules that a scheme must keep. Each function adds those that are broken.
 */
#ifndef BQ_CHECK_H
#define BQ_CHECK_H

#include "layouts.h"
#include "rules.h"

struct bq_problems {
	uint32_t count;
	struct bq_problem list[BQ_MAX_PROBLEMS];
};

/* Adds a problem, once. */
void bq_found(struct bq_problems *problems, enum bq_status status, enum bq_field field);

#define EXPECT(condition, status, field) \
	do { \
		if (!(condition)) \
			bq_found(problems, status, field); \
	} while (0)

/* Whether a fused kernel does the scheme: those of its presets, to the letter. scheme: as the caller gave it. */
int bq_is_fused(const struct bq_scheme *scheme);

/* The scheme on a tensor of the plan's sizes; rank: as it was given, 1 for a vector. */
void bq_check_scheme(const struct bq_plan *plan, uint32_t rank, const struct bq_rules *rules, const struct bq_layout *layout,
	struct bq_problems *problems);

/* Rows against blocks and bytes. */
void bq_check_rows(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_layout *layout, struct bq_problems *problems);

#endif
