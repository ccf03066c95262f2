/* SPDX-License-Identifier: MIT
 * kernels.c - the scalar row of the kernel table.
 */
#include "kernels.h"
#include "ggml_iq_grid.h"

#define ISA scalar
#include "kernels_table.h"
