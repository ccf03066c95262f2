/* SPDX-License-Identifier: MIT
 * ggml_iq.h - scalar/ggml_iq.h: decoding 16 values at a time. Encoding is the scalar kernels' for now.
 */
#ifndef BQ_SIMD128_GGML_IQ_H
#define BQ_SIMD128_GGML_IQ_H

#include "../scalar/ggml_iq.h"
#include "ggml_search.h"

void bq_iq_decode_simd128(const struct bq_iq_format *format, const uint8_t *in, size_t nblocks, float *out);

#endif
