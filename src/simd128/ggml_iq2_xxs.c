/* SPDX-License-Identifier: MIT
 * ggml_iq2_xxs.c - iq2_xxs: scalar/ggml_iq2_xxs.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq2_xxs)
