/* SPDX-License-Identifier: MIT
 * ggml_iq.h - scalar/ggml_iq.h: decoding 16 values at a time, and the kernels of a type.
 */
#ifndef BQ_SIMD128_GGML_IQ_H
#define BQ_SIMD128_GGML_IQ_H

#include "../scalar/ggml_iq.h"
#include "ggml_search.h"

void bq_iq_decode_simd128(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, float *out);

/* A type's kernels: the scalar search stands in for one of its own. */
#define BQ_IQ_KERNELS(type) \
	void bq_encode_##type##_simd128(const float *x, const float *importance, const struct bq_context *context, size_t nblocks, \
		uint8_t *out) \
	{ \
		bq_encode_##type##_scalar(x, importance, context, nblocks, out); \
	} \
\
	void bq_decode_##type##_simd128(const uint8_t *in, size_t nblocks, float *out) \
	{ \
		bq_iq_decode_simd128(&bq_##type##_format, in, nblocks, out); \
	}

#endif
