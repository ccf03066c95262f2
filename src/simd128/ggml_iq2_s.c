/* SPDX-License-Identifier: MIT
 * ggml_iq2_s.c - iq2_s: scalar/ggml_iq2_s.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq2_s)
