/* SPDX-License-Identifier: MIT
 * ggml_iq3_xxs.c - iq3_xxs: scalar/ggml_iq3_xxs.c's search, and decoding in vectors.
 */
#include "ggml_iq.h"

BQ_IQ_KERNELS(iq3_xxs)
