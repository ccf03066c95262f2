/* SPDX-License-Identifier: MIT
 * overflow.h - finite weights that blocks do not stand for.
 */
#ifndef BQ_OVERFLOW_H
#define BQ_OVERFLOW_H

#include "layouts.h"
#include "parameters.h"

/* Whether an f16 field of the blocks is infinite or NaN. */
int bq_any_overflow(const struct bq_layout *layout, const uint8_t *blocks, uint64_t nblocks);

/* Counts the blocks of finite weights that are lost: importance is too large for sums, or a weight for the scales. Mostly the
 * outermost scale, in f16, then is not finite. Where it follows from others, sums that overflowed can have made those 0 or NaN
 * and left it out; E4M3 saturates.
 * x: count weights of whole blocks, with the importance of each, or null; heaviest: at least the largest of these, or 0. */
void bq_count_lost(const struct bq_encoder *encoder, const struct bq_layout *layout, const float *x, const float *importance,
	float heaviest, size_t count, const uint8_t *blocks, struct bq_report *report);

#endif
