/* SPDX-License-Identifier: MIT
 * pack_blocks.h - one function for each block struct: nblocks of a row.
 */
#ifndef BQ_PACK_BLOCKS_H
#define BQ_PACK_BLOCKS_H

#include "layouts.h"

typedef void bq_pack_blocks(const struct bq_row_parts *row, size_t nblocks, uint8_t *out);

bq_pack_blocks bq_pack_q8_0, bq_pack_q4_0, bq_pack_q5_0, bq_pack_q4_1, bq_pack_q5_1, bq_pack_q4_k,
	bq_pack_q5_k, bq_pack_q2_k, bq_pack_q3_k, bq_pack_q6_k, bq_pack_q2_0, bq_pack_tq1_0,
	bq_pack_tq2_0, bq_pack_mxfp4, bq_pack_nvfp4, bq_pack_iq4_nl, bq_pack_iq4_xs;

#endif
