/* SPDX-License-Identifier: MIT
 * ggml_iq1_s.c - iq1_s: scalar/ggml_iq1_s.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq1_s)
