/* SPDX-License-Identifier: MIT
 * kernels.c - the simd128 row of the kernel table.
 */
#include "kernels.h"
#include "ggml_iq_grid.h"

#define ISA simd128
#include "kernels_table.h"
