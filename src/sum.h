/* SPDX-License-Identifier: MIT
 * sum.h - sums of magnitudes without any rounding, so that their order does not matter.
 *
 * A sum is an integer of BQ_SUM_LIMBS * 32 bits in units of 2^-149, the least float32: 277 bits for one magnitude, 53 more
 * for as many as a tensor may have.
 */
#ifndef BQ_SUM_H
#define BQ_SUM_H

#include "blockquant.h"

/* Adds count magnitudes; what is not finite is left out. */
void bq_add_magnitudes(const float *x, size_t count, uint32_t sum[BQ_SUM_LIMBS]);

/* The sum divided by count, rounded once, to the nearest float32, half to even. */
float bq_mean(const uint32_t sum[BQ_SUM_LIMBS], uint64_t count);

#endif
