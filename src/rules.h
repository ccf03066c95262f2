/* SPDX-License-Identifier: MIT
 * rules.h - a reference's arithmetic as data. Stages read these fields and never ask whose they are.
 */
#ifndef BQ_RULES_H
#define BQ_RULES_H

#include "kernels.h"

enum bq_extent { BQ_ABSOLUTE, BQ_SIGNED };
enum bq_divisor { BQ_HALF_SPAN, BQ_CODE_MAX, BQ_CODE_MIN };
enum bq_against { BQ_STORED, BQ_IDEAL };
enum bq_zero_scale { BQ_EPSILON, BQ_ZERO_FACTOR };
enum bq_outer { BQ_OUTER_FACTOR, BQ_OUTER_MULTIPLIER };

struct bq_rules {
	/* A symmetric scale is made from BQ_ABSOLUTE: the largest magnitude of the block; BQ_SIGNED: the value that has it,
	 * sign and all, the first of equals. */
	uint32_t extent;
	/* ... and divided by BQ_HALF_SPAN: (code_max - code_min) / 2; BQ_CODE_MAX; BQ_CODE_MIN. */
	uint32_t divisor;
	uint32_t quotient; /* enum bq_quotient: x / scale, or x * (1 / scale) */
	uint32_t round;    /* enum bq_round */
	/* 1: every operation is rounded to the weights' dtype, unless a float32 operand promotes it; 0: all is float32. */
	uint32_t work_input;
	uint32_t against; /* codes are made with the scale as BQ_STORED, or before it was rounded to its dtype: BQ_IDEAL */
	/* A scale of 0 becomes BQ_EPSILON: the epsilon of its dtype; BQ_ZERO_FACTOR: it stays, and the reciprocal is 0. */
	uint32_t zero_scale;
	uint32_t saturate; /* 1: a scale beyond the range of a dtype narrower than the arithmetic's becomes the largest; 0: infinite */
	/* How an E8M0 scale is made for values of a dtype: the largest magnitude's exponent, one more where its significand is
	 * at least 2 - 2^-carry, less the exponent of the highest code. 0: these rules make no such scale. */
	uint8_t exponent_carry[BQ_NDTYPES];
	/* What an outer level does to the inner scale: BQ_OUTER_FACTOR: scale = outer * code; BQ_OUTER_MULTIPLIER:
	 * outer = code_max * scale_max / amax of the tensor, and scale = code / outer. */
	uint32_t outer;
	uint8_t drop_negative_zero[BQ_NDTYPES]; /* struct bq_quantizer, by the dtype of the values */
	uint32_t whole_groups;       /* 1: a block with an edge along the last axis alone must divide it */
};

/* Row id of the table, or null. */
const struct bq_rules *bq_rules(uint32_t id);

#endif
