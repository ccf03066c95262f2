/* SPDX-License-Identifier: MIT
 * store.h - the codes and parameters of a unit to where they are stored, and back.
 */
#ifndef BQ_STORE_H
#define BQ_STORE_H

#include "parameters.h"

/* The stored form of a band, and the workspace in which a unit of it is taken apart. */
struct bq_store {
	const struct bq_plan *plan;
	const struct bq_layout *layout;
	const struct bq_band *band;
	void *const *planes;
	struct bq_workspace workspace;
	int zeros; /* index of a plane, or -1 */
};

struct bq_store bq_store_of(const struct bq_plan *plan, const struct bq_band *band, void *const *planes, void *workspace);

/* Copies a unit's parameters, of the levels from first_level on, from band-wide arrays by role, tight in their levels' dtypes, to
 * codes; back 1: the way back. */
void bq_copy_codes(const struct bq_plan *plan, const struct bq_unit *unit, uint32_t first_level, void *const *parts,
	const struct bq_codes *codes, int back);

/* Where the codes of row `row` of a unit stand, one a byte. */
uint8_t *bq_row_codes(const struct bq_store *store, uint32_t row);

/* Stores a row once its codes stand there, and what is left of a unit after its last row. */
void bq_store_row(const struct bq_store *store, const struct bq_unit *unit, uint32_t row);
void bq_store_unit(const struct bq_store *store, const struct bq_unit *unit);

/* Stores what says the shape, if anything does. */
void bq_store_shape(const struct bq_store *store);

/* The way back: what all rows of a unit need, then the codes of one. */
void bq_load_unit(const struct bq_store *store, const struct bq_unit *unit);
void bq_load_row(const struct bq_store *store, const struct bq_unit *unit, uint32_t row);

#endif
