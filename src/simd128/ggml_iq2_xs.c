/* SPDX-License-Identifier: MIT
 * ggml_iq2_xs.c - iq2_xs: scalar/ggml_iq2_xs.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq2_xs)
