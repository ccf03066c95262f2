/* SPDX-License-Identifier: MIT
 * check.h - the rules that a scheme must keep. Each function returns BQ_OK or the first one that is broken.
 */
#ifndef BQ_CHECK_H
#define BQ_CHECK_H

#include "layouts.h"
#include "rules.h"

#define REQUIRE(condition, status) \
	do { \
		if (!(condition)) \
			return status; \
	} while (0)

/* A fused kernel does the schemes of its presets, to the letter. scheme: as the caller gave it. */
enum bq_status bq_check_fused(const struct bq_scheme *scheme);

/* The scheme on a tensor of the plan's rank and sizes. */
enum bq_status bq_check_scheme(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_layout *layout);

/* Rows against blocks and bytes. */
enum bq_status bq_check_rows(const struct bq_plan *plan, const struct bq_rules *rules, const struct bq_layout *layout);

#endif
