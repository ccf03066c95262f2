/* SPDX-License-Identifier: MIT
 * codebook.h - values that are entries of a table.
 */
#ifndef BQ_CODEBOOK_H
#define BQ_CODEBOOK_H

#include "blockquant.h"

/* The table of plan->scheme.value, one of the known ones or given, into the plan. */
enum bq_status bq_prepare_codebook(struct bq_plan *plan, const float *given);

#endif
