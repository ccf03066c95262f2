/* SPDX-License-Identifier: MIT
 * ggml_iq3_s.c - iq3_s: scalar/ggml_iq3_s.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq3_s)
