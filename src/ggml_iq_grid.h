/* SPDX-License-Identifier: MIT
 * ggml_iq_grid.h - the grids of ggml's IQ types: which combinations of levels a group of 8 or 4 values may have, and for
 * every other combination the points near it.
 *
 * A combination of levels l_i is the number sum l_i * levels^i; points are numbered in the order of their combinations.
 */
#ifndef BQ_GGML_IQ_GRID_H
#define BQ_GGML_IQ_GRID_H

#include <stddef.h>
#include <stdint.h>

struct bq_iq_grid {
	const uint8_t *members; /* bit c % 8 of byte c / 8: combination c is a point */
	uint16_t npoints;
	uint8_t coords, levels; /* values of a group, and levels that each may have */
	uint8_t shells;         /* how many different distances the neighbours of a combination have */
	uint32_t nwords;        /* of all lists of neighbours, their lengths among them; a test compares */
};

extern const struct bq_iq_grid bq_iq2_xxs_grid, bq_iq2_xs_grid, bq_iq2_s_grid, bq_iq3_xxs_grid, bq_iq3_s_grid, bq_iq1_grid;

#define BQ_IQ_MAX_POINTS 2048

/* Every point of the grid, coords bytes each: values[level]. */
void bq_iq_spread(const struct bq_iq_grid *grid, const uint8_t *values, uint8_t *points);

/* What an encoder looks things up in, parts of one buffer of bq_iq_tables_nbytes bytes, aligned to 16. */
struct bq_iq_tables {
	const int32_t *place;   /* of a combination: its point; below 0: not a point, ~place is where its list begins */
	const uint16_t *words;  /* lists: how many points, then these, the nearest first, of equals the first */
	const uint8_t *points;  /* levels */
};

uint32_t bq_iq_tables_nbytes(const struct bq_iq_grid *grid);
void bq_iq_make_tables(const struct bq_iq_grid *grid, void *buffer);
struct bq_iq_tables bq_iq_tables_in(const struct bq_iq_grid *grid, const void *buffer);

#endif
