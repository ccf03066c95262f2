/* SPDX-License-Identifier: MIT
 * repack.c - codes and parameters out of the bytes of a layout, and into them: no weights, no arithmetic.
 */
#include <string.h>

#include "store.h"

/* The rows of a unit among all codes of the band. */
static uint8_t *unit_values(const struct bq_plan *plan, const struct bq_unit *unit, void *const *parts)
{
	return (uint8_t *)parts[BQ_ROLE_VALUES] + unit->first_row * plan->cols;
}

void bq_unpack(const struct bq_plan *plan, const struct bq_band *band, const void *const *planes, void *const *parts, void *workspace)
{
	const struct bq_store store = bq_store_of(plan, band, (void *const *)planes, workspace); /* only read */
	struct bq_codes codes;
	struct bq_unit unit;

	bq_first_unit(plan, band, &unit);
	do {
		bq_load_unit(&store, &unit);
		bq_find_codes(plan, planes, &unit, &store.workspace, &codes);
		bq_copy_codes(plan, &unit, 0, parts, &codes, 1);
		for (uint32_t row = 0; row < unit.nrows; row++) {
			bq_load_row(&store, &unit, row);
			memcpy(unit_values(plan, &unit, parts) + (size_t)row * plan->cols, bq_row_codes(&store, row), plan->cols);
		}
	} while (bq_next_unit(plan, band, &unit));
}

enum bq_status bq_pack(const struct bq_plan *plan, const struct bq_band *band, const void *const *parts, void *const *planes, void *workspace)
{
	const struct bq_store store = bq_store_of(plan, band, planes, workspace);
	void *const *from = (void *const *)parts; /* only read */
	struct bq_codes codes;
	struct bq_unit unit;

	if (store.layout->block_values && !store.layout->pack_codes)
		return BQ_NEEDS_KERNEL;
	bq_first_unit(plan, band, &unit);
	do {
		bq_find_codes(plan, (const void *const *)planes, &unit, &store.workspace, &codes);
		bq_copy_codes(plan, &unit, 0, from, &codes, 0);
		for (uint32_t row = 0; row < unit.nrows; row++) {
			memcpy(bq_row_codes(&store, row), unit_values(plan, &unit, from) + (size_t)row * plan->cols, plan->cols);
			bq_store_row(&store, &unit, row);
		}
		bq_store_unit(&store, &unit);
	} while (bq_next_unit(plan, band, &unit));
	bq_store_shape(&store);
	return BQ_OK;
}
