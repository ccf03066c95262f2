/* SPDX-License-Identifier: MIT
 * rules.h - a reference's arithmetic as data. Stages read these fields and never ask whose they are.
 */
#ifndef BQ_RULES_H
#define BQ_RULES_H

#include "kernels.h"

enum bq_extent { BQ_ABSOLUTE, BQ_SIGNED };
enum bq_divisor { BQ_HALF_SPAN, BQ_SPAN, BQ_CODE_MAX, BQ_CODE_MIN };
enum bq_work { BQ_WORK_F32, BQ_WORK_PARAMETERS, BQ_WORK_ALL };
enum bq_against { BQ_STORED, BQ_IDEAL };
enum bq_parameter_round { BQ_NEAREST, BQ_UP };
enum bq_zero_scale { BQ_EPSILON, BQ_ZERO_FACTOR, BQ_LEAST };
enum bq_power { BQ_POWER_ABOVE, BQ_POWER_CARRIED, BQ_POWER_BELOW, BQ_POWER_LOGARITHM };
enum bq_outer { BQ_OUTER_FACTOR, BQ_OUTER_MULTIPLIER };

struct bq_rules {
	/* A symmetric scale is made from BQ_ABSOLUTE: the largest magnitude of the block; BQ_SIGNED: the value that has it,
	 * sign and all, the first of equals. */
	uint32_t extent;
	/* ... and divided by BQ_HALF_SPAN: (code_max - code_min) / 2; BQ_CODE_MAX; BQ_CODE_MIN; BQ_SPAN: twice the magnitude is
	 * divided by code_max - code_min, which differs where it overflows. Beside a zero point or mins: always by a span. */
	uint32_t divisor;
	uint32_t quotient; /* enum bq_quotient: x / scale, x * (1 / scale), or none: the nearest product */
	uint32_t round;    /* enum bq_round */
	/* Operations that are rounded to the weights' dtype: none; those that make the parameters; BQ_WORK_ALL: those of the
	 * quotient as well, unless a float32 operand promotes it. The others are float32. */
	uint32_t work;
	uint32_t against; /* codes are made with the scale as BQ_STORED, or before it was rounded to its dtype: BQ_IDEAL */
	uint32_t parameter_round; /* to its dtype: to the nearest, or up, where what is beyond one narrower than float32 becomes its largest */
	/* The least ideal scale, and the least ideal parameter of an outer level. */
	float least_scale, least_parent;
	/* A stored scale of 0 becomes BQ_EPSILON: the epsilon of its dtype; BQ_ZERO_FACTOR: it stays, and the values' codes are
	 * those of 0; BQ_LEAST: 2^-126 rounded to its dtype, and one that is not finite does, too. */
	uint32_t zero_scale;
	uint32_t saturate; /* 1: a scale beyond the range of a dtype narrower than the arithmetic's becomes the largest; 0: infinite */
	/* An innermost E8M0 scale is BQ_POWER_ABOVE: the least power of two not below the ideal scale; BQ_POWER_CARRIED: the
	 * largest magnitude's exponent, one more where its significand is at least 2 - 2^-carry, less the exponent of the
	 * highest code (carry 0: these rules make no such scale); BQ_POWER_BELOW: the same without a carry, 2^-126 at least;
	 * BQ_POWER_LOGARITHM: the same with floor(log2f()) for an exponent, whose code wraps in its eight bits. */
	uint32_t power;
	uint8_t power_carry[BQ_NDTYPES]; /* by the dtype of the values */
	/* What an outer level does to the inner scale: BQ_OUTER_FACTOR: scale = outer * code; BQ_OUTER_MULTIPLIER:
	 * outer = code_max * scale_max / amax of the tensor, and scale = code / outer. */
	uint32_t outer;
	/* 1: code = round(x / scale) + zero, the zero point made of lo and the stored scale; 0: code = round(x / scale + zero),
	 * made of lo and the ideal one. */
	uint32_t zero_after;
	/* 1: the code c of a nested inner level stands for (2 c + 1) / 8. */
	uint32_t odd_eighths;
	uint8_t drop_negative_zero[BQ_NDTYPES]; /* struct bq_quantizer, by the dtype of the values */
	uint8_t nan_code[BQ_NDTYPES];           /* likewise */
	uint8_t skip_nan[BQ_NDTYPES]; /* 1: the range of a block is that of its numbers alone; by the dtype of the innermost scale */
	uint32_t zero_nan;           /* 1: a parameter of NaN decodes to 0 */
	uint32_t whole_groups;       /* 1: a block with an edge along the last axis alone must divide it */
};

/* Row id of the table, or null. */
const struct bq_rules *bq_rules(uint32_t id);

#endif
