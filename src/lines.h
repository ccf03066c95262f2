/* SPDX-License-Identifier: MIT
 * lines.h - codes of a line (a row, or what stands along another axis) to bits and back; a unit stored with two axes
 * exchanged.
 */
#ifndef BQ_LINES_H
#define BQ_LINES_H

#include "kernels.h"
#include "layouts.h"

/* How the codes of a line are packed: as the layout says, or where it leaves that open, as the scheme does. */
uint32_t bq_packing(const struct bq_scheme *scheme, const struct bq_layout *layout);

/* Bytes of a line of count codes of that many bits; bits_each: of one code in a long line. */
uint64_t bq_line_nbytes(uint32_t packing, uint32_t bits, uint64_t count);
uint32_t bq_line_bits_each(uint32_t packing, uint32_t bits);

/* Codes of the plan's values stand one a byte, integers with their sign. */
void bq_pack_line(const struct bq_plan *plan, const uint8_t *codes, size_t count, uint8_t *out);
void bq_unpack_line(const struct bq_plan *plan, const uint8_t *in, size_t count, uint8_t *codes);

/* Whether units are stored with the axis that codes are packed along in the place of the last one, and that in its. */
static inline int bq_exchanged(const struct bq_plan *plan)
{
	return plan->packed_axis != plan->rank - 1;
}

/* All codes of a unit, row after row, to its stored lines and back; line: scratch for the codes of one. */
void bq_pack_unit(const struct bq_plan *plan, const uint8_t *codes, uint32_t nrows, uint8_t *line, uint8_t *out);
void bq_unpack_unit(const struct bq_plan *plan, const uint8_t *in, uint32_t nrows, uint8_t *line, uint8_t *codes);

/* A unit's cells of a level, in the order of the grid, to that in which they are stored; back 1: the way back. */
void bq_exchange_cells(const struct bq_plan *plan, const struct bq_level *level, uint32_t ncells, uint32_t nbytes, const uint8_t *in,
	uint8_t *out, int back);

#endif
