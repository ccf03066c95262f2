/* SPDX-License-Identifier: MIT
 * ggml_iq1_m.c - iq1_m: scalar/ggml_iq1_m.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq1_m)
