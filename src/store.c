/* SPDX-License-Identifier: MIT
 * store.c - the codes and parameters of a unit to where they are stored, and back: rows of packed codes or of blocks that
 * hold all, units with two axes exchanged, zero points packed down the rows.
 */
#include "store.h"

#include <string.h>

#include "dtype.h"
#include "lines.h"
#include "number.h"

struct bq_store bq_store_of(const struct bq_plan *plan, const struct bq_band *band, void *const *planes, void *workspace)
{
	struct bq_store store = {
		.plan = plan, .layout = bq_layout(plan->scheme.layout), .band = band, .planes = planes,
		.zeros = bq_find_plane(plan, BQ_ROLE_ZERO),
	};

	bq_workspace(plan, workspace, &store.workspace);
	return store;
}

/* count codes of a level, between those of all the band and those of a unit. */
static void copy(void *all, uint64_t first, uint32_t count, uint32_t dtype, uint8_t *unit, int back)
{
	const size_t nbytes = bq_dtype(dtype)->nbytes;
	uint8_t *here = (uint8_t *)all + first * nbytes;

	memcpy(back ? here : unit, back ? unit : here, count * nbytes);
}

void bq_copy_codes(const struct bq_plan *plan, const struct bq_unit *unit, uint32_t first_level, void *const *parts,
	const struct bq_codes *codes, int back)
{
	const struct bq_scheme *scheme = &plan->scheme;

	for (uint32_t i = first_level; i < scheme->nscales; i++) {
		copy(parts[BQ_ROLE_SCALE0 + i], unit->cell[i], unit->ncells[i], scheme->scale[i].dtype, codes->scale[i], back);
		if (scheme->nmins)
			copy(parts[BQ_ROLE_MIN0 + i], unit->cell[i], unit->ncells[i], scheme->min[i].dtype, codes->min[i], back);
	}
	if (scheme->zero && !first_level)
		copy(parts[BQ_ROLE_ZERO], unit->cell[0], unit->ncells[0], scheme->zero, codes->zero, back);
}

void bq_store_shape(const struct bq_store *store)
{
	const struct bq_plan *plan = store->plan;
	const int shape = bq_find_plane(plan, BQ_ROLE_SHAPE);

	for (uint32_t i = 0; shape >= 0 && i < plan->plane[shape].dims[0]; i++)
		bq_store64((uint8_t *)store->planes[shape] + 8 * i, plan->dims[plan->rank - plan->plane[shape].dims[0] + i]);
}

uint8_t *bq_row_codes(const struct bq_store *store, uint32_t row)
{
	return store->workspace.codes + (bq_exchanged(store->plan) ? (size_t)row * store->plan->cols : 0);
}

static struct bq_row_parts parts_of(const struct bq_workspace *w)
{
	const struct bq_row_parts parts = {
		.codes = w->codes,
		.scale = { w->scale_codes[0], w->scale_codes[1], w->scale_codes[2] },
		.min = { w->min_codes[0], w->min_codes[1], w->min_codes[2] },
	};

	return parts;
}

static uint8_t *row_bytes(const struct bq_store *store, uint64_t row)
{
	return (uint8_t *)store->planes[0] + row * store->plan->line_nbytes;
}

void bq_store_row(const struct bq_store *store, const struct bq_unit *unit, uint32_t row)
{
	const struct bq_plan *plan = store->plan;
	uint8_t *out = row_bytes(store, unit->first_row + row);

	if (store->layout->block_values) {
		const struct bq_row_parts parts = parts_of(&store->workspace);

		bq_pack_blocks(store->layout, &parts, plan->cols / store->layout->block_values, out);
	} else if (!bq_exchanged(plan)) {
		bq_pack_line(plan, bq_row_codes(store, row), plan->cols, out);
	}
}

void bq_load_row(const struct bq_store *store, const struct bq_unit *unit, uint32_t row)
{
	if (!store->layout->block_values && !bq_exchanged(store->plan))
		bq_unpack_line(store->plan, row_bytes(store, unit->first_row + row), store->plan->cols, bq_row_codes(store, row));
}

/* The stored bytes of a unit whose lines are no rows. */
static uint8_t *unit_bytes(const struct bq_store *store, const struct bq_unit *unit)
{
	const struct bq_plan *plan = store->plan;

	return (uint8_t *)store->planes[0] + unit->first_row * plan->cols / plan->dims[plan->packed_axis] * plan->line_nbytes;
}

/* The block scales of such a unit between the workspace, in the order of the grid, and their planes. */
static void exchange_scales(const struct bq_store *store, const struct bq_unit *unit, int back)
{
	const struct bq_scheme *scheme = &store->plan->scheme;

	for (uint32_t i = 0; i < scheme->nscales; i++) {
		const uint32_t nbytes = bq_dtype(scheme->scale[i].dtype)->nbytes;
		uint8_t *stored = (uint8_t *)store->planes[bq_find_plane(store->plan, BQ_ROLE_SCALE0 + i)] + unit->cell[i] * nbytes;
		uint8_t *grid = store->workspace.scale_codes[i];

		if (scheme->scale[i].rank)
			bq_exchange_cells(store->plan, &scheme->scale[i], unit->ncells[i], nbytes, back ? stored : grid, back ? grid : stored, back);
	}
}

/* The zero points of a step, whose last unit is this: bytes as they are, or one bit stream of words for each column of cells. */
static void store_zeros(const struct bq_store *store, const struct bq_unit *last)
{
	const struct bq_plan *plan = store->plan;
	const struct bq_plane *plane = &plan->plane[store->zeros];
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	const uint32_t cells = plan->cells_per_unit, nunits = last->index + 1;
	const uint8_t *zeros = store->workspace.zeros;
	uint8_t *out = (uint8_t *)store->planes[store->zeros] +
		(bq_step_offset(plan, last->step, plane->item_nbytes, plane->step_nbytes) - store->band->plane_offset[store->zeros]);
	uint8_t column[32], words[32];
	size_t nwords = (nunits * zero->bits + 31) / 32;

	if (!bq_packs_zeros(store->layout, &plan->scheme)) {
		memcpy(out, zeros, last->ncells[0]); /* a step is one unit */
		return;
	}
	for (uint32_t c = 0; c < cells; c++) {
		for (uint32_t unit = 0; unit < nunits; unit++)
			column[unit] = zeros[unit * cells + c];
		bq_kernels(plan->kernels)->pack_words(column, nunits, zero->bits, (unsigned)-zero->min, words);
		for (size_t word = 0; word < nwords; word++)
			memcpy(out + 4 * (word * cells + c), words + 4 * word, 4);
	}
}

/* The zero points of a step, whose first unit is this, into workspace.zeros, one byte each. */
static void load_zeros(const struct bq_store *store, const struct bq_unit *first)
{
	const struct bq_plan *plan = store->plan;
	const struct bq_plane *plane = &plan->plane[store->zeros];
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	const uint32_t cells = plan->cells_per_unit, nunits = bq_units_of_step(plan, first->step);
	const uint8_t *in = (const uint8_t *)store->planes[store->zeros] +
		(bq_step_offset(plan, first->step, plane->item_nbytes, plane->step_nbytes) - store->band->plane_offset[store->zeros]);
	uint8_t *zeros = store->workspace.zeros, column[32], words[32];
	size_t nwords = (nunits * zero->bits + 31) / 32;

	if (!bq_packs_zeros(store->layout, &plan->scheme)) {
		memcpy(zeros, in, first->ncells[0]); /* a step is one unit */
		return;
	}
	for (uint32_t c = 0; c < cells; c++) {
		for (size_t word = 0; word < nwords; word++)
			memcpy(words + 4 * word, in + 4 * (word * cells + c), 4);
		bq_kernels(plan->kernels)->unpack_words(words, nunits, zero->bits, (unsigned)-zero->min, column);
		for (uint32_t unit = 0; unit < nunits; unit++)
			zeros[unit * cells + c] = column[unit];
	}
}

void bq_store_unit(const struct bq_store *store, const struct bq_unit *unit)
{
	if (bq_exchanged(store->plan)) {
		bq_pack_unit(store->plan, store->workspace.codes, unit->nrows, store->workspace.line, unit_bytes(store, unit));
		exchange_scales(store, unit, 0);
	}
	if (store->zeros >= 0 && unit->ends_step)
		store_zeros(store, unit);
}

void bq_load_unit(const struct bq_store *store, const struct bq_unit *unit)
{
	if (store->zeros >= 0 && !unit->index)
		load_zeros(store, unit);
	/* Blocks hold their parameters, and a unit of them is one row. */
	if (store->layout->block_values) {
		const struct bq_row_parts parts = parts_of(&store->workspace);

		bq_unpack_blocks(store->layout, row_bytes(store, unit->first_row), store->plan->cols / store->layout->block_values, &parts);
	} else if (bq_exchanged(store->plan)) {
		bq_unpack_unit(store->plan, unit_bytes(store, unit), unit->nrows, store->workspace.line, store->workspace.codes);
		exchange_scales(store, unit, 1);
	}
}
