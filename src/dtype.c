/* SPDX-License-Identifier: MIT
 * dtype.c - the table of number formats.
 */
#include "dtype.h"

#define SIGNED(bits) { BQ_KIND_SIGNED, bits, 1, -(float)(1 << (bits - 1)), (float)(1 << (bits - 1)) - 1, 1, 1, 0 }
#define UNSIGNED(bits) { BQ_KIND_UNSIGNED, bits, 1, 0, (float)(1 << bits) - 1, 1, 1, 0 }

static const struct bq_dtype_info dtypes[BQ_NDTYPES] = {
	[BQ_F32] = { BQ_KIND_FLOAT, 32, 4, -0x1.fffffep127f, 0x1.fffffep127f, 1, 0x1p-23f, 127 },
	[BQ_F16] = { BQ_KIND_FLOAT, 16, 2, -65504, 65504, 1, 0x1p-10f, 15 },
	[BQ_BF16] = { BQ_KIND_FLOAT, 16, 2, -0x1.fep127f, 0x1.fep127f, 1, 0x1p-7f, 127 },
	[BQ_F8E4M3] = { BQ_KIND_FLOAT, 8, 1, -448, 448, 1, 0x1p-3f, 8 },
	[BQ_F8E5M2] = { BQ_KIND_FLOAT, 8, 1, -57344, 57344, 1, 0x1p-2f, 15 },
	[BQ_F4E2M1] = { BQ_KIND_FLOAT, 4, 1, -6, 6, 1, 0x1p-1f, 2 },
	[BQ_F6E2M3] = { BQ_KIND_FLOAT, 6, 1, -7.5f, 7.5f, 1, 0x1p-3f, 2 },
	[BQ_E8M0] = { BQ_KIND_EXPONENT, 8, 1, 0x1p-127f, 0x1p127f, 1, 1, 127 },
	[BQ_UE4M3] = { BQ_KIND_FLOAT, 8, 1, 0, 448, 1, 0x1p-3f, 8 },
	/* Decoding halves, since ggml doubles the E2M1 values that it scales. */
	[BQ_GGML_UE4M3] = { BQ_KIND_FLOAT, 8, 1, 0, 448, 2, 0x1p-3f, 8 },
	[BQ_NF4] = { BQ_KIND_TABLE, 4, 1, -1, 1, 1, 1, 0 },
	[BQ_IQ4_NL] = { BQ_KIND_TABLE, 4, 1, -127, 113, 1, 1, 0 },
	[BQ_CODEBOOK] = { BQ_KIND_TABLE, 8, 1, 0, 0, 1, 1, 0 },
	[BQ_I64] = { BQ_KIND_NONE, 64, 8, 0, 0, 1, 0, 0 },
	[BQ_I32] = { BQ_KIND_NONE, 32, 4, 0, 0, 1, 0, 0 },
	[BQ_I1] = SIGNED(1), SIGNED(2), SIGNED(3), SIGNED(4), SIGNED(5), SIGNED(6), SIGNED(7), SIGNED(8),
	[BQ_U1] = UNSIGNED(1), UNSIGNED(2), UNSIGNED(3), UNSIGNED(4), UNSIGNED(5), UNSIGNED(6), UNSIGNED(7), UNSIGNED(8),
};

const struct bq_dtype_info *bq_dtype(uint32_t dtype)
{
	return &dtypes[dtype < BQ_NDTYPES ? dtype : BQ_NONE];
}
