/* SPDX-License-Identifier: MIT
 * dtype.h - what every stage asks of a number format.
 */
#ifndef BQ_DTYPE_H
#define BQ_DTYPE_H

#include "blockquant.h"

enum bq_kind { BQ_KIND_NONE, BQ_KIND_FLOAT, BQ_KIND_EXPONENT, BQ_KIND_SIGNED, BQ_KIND_UNSIGNED, BQ_KIND_TABLE };

struct bq_dtype_info {
	uint32_t kind;
	uint32_t bits;    /* of one code */
	uint32_t nbytes;  /* of one code that is not packed */
	float min, max;   /* finite range; of a table that is given, 0 */
	float unit;       /* of a parameter that is stored so: what the number 1 means */
	float epsilon;    /* distance from 1 to the next number; 1 for integers and exponents */
	int32_t exponent; /* floor(log2(max)), floats only */
};

/* Row dtype of the table; the row of BQ_NONE for what is no dtype. */
const struct bq_dtype_info *bq_dtype(uint32_t dtype);

static inline int bq_is_integer(uint32_t dtype)
{
	return bq_dtype(dtype)->kind == BQ_KIND_SIGNED || bq_dtype(dtype)->kind == BQ_KIND_UNSIGNED;
}

#endif
