/* SPDX-License-Identifier: MIT
 * sum.c - an exact sum in limbs of 32 bits, and its mean.
 */
#include "sum.h"

#include <math.h>

#include "number.h"

/* Sums of so many shifted significands, below 2^32 each, fit 64 bits. */
#define MOST_WITHOUT_CARRY (1u << 31)

void bq_add_magnitudes(const float *x, size_t count, uint32_t sum[BQ_SUM_LIMBS])
{
	for (size_t at = 0; at < count; at += MOST_WITHOUT_CARRY) {
		const size_t here = count - at < MOST_WITHOUT_CARRY ? count - at : MOST_WITHOUT_CARRY;
		uint64_t wide[BQ_SUM_LIMBS] = { 0 }, carry = 0;

		for (size_t i = at; i < at + here; i++) {
			const uint32_t bits = bq_bits(x[i]) & 0x7FFFFFFF;
			const uint32_t exponent = bits >> 23, shift = exponent ? exponent - 1 : 0;
			const uint64_t significand = (bits & 0x7FFFFF) | (exponent ? 0x800000u : 0);

			if (bits >= BQ_F32_INFINITY)
				continue;
			wide[shift / 32] += (uint32_t)(significand << shift % 32);
			wide[shift / 32 + 1] += significand << shift % 32 >> 32;
		}
		for (uint32_t i = 0; i < BQ_SUM_LIMBS; i++) {
			carry += wide[i] + sum[i];
			sum[i] = (uint32_t)carry;
			carry >>= 32;
		}
	}
}

/* Long division, bit by bit. The quotient's first 25 bits are kept, with the lowest of them standing for all below. */
float bq_mean(const uint32_t sum[BQ_SUM_LIMBS], uint64_t count)
{
	uint64_t rest = 0;
	uint32_t quotient = 0, sticky = 0, half;
	int dropped = 0;

	for (uint32_t bit = 32 * BQ_SUM_LIMBS; bit-- > 0;) {
		uint32_t digit;

		rest = rest << 1 | (sum[bit / 32] >> bit % 32 & 1);
		digit = rest >= count;
		rest -= digit ? count : 0;
		if (quotient >> 24) {
			sticky |= digit;
			dropped++;
		} else {
			quotient = quotient << 1 | digit;
		}
	}
	if (!(quotient >> 24)) {
		/* Less than 25 bits: what is below 2^-149 decides. */
		half = 2 * rest >= count;
		sticky = 2 * rest != count && half;
		quotient = quotient << 1 | half;
		dropped--;
	} else {
		sticky |= rest != 0;
	}
	half = quotient & 1;
	quotient >>= 1;
	quotient += half && (sticky || (quotient & 1));
	return ldexpf((float)quotient, dropped + 1 - 149);
}
