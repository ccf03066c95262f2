/* SPDX-License-Identifier: MIT
 * plan.c - a scheme and a shape become sizes, or the rules of docs/schemes.md that are broken.
 */
#include <string.h>

#include "check.h"
#include "codebook.h"
#include "dtype.h"
#include "geometry.h"
#include "ggml_iq_grid.h"
#include "lines.h"
#include "workspace.h"

#define MAX_VALUES (1ull << 53) /* so that JavaScript's numbers hold every size */
#define MAX_STEP (1ull << 30)   /* bytes of one step, so that a band's buffers fit wasm32 */

/* Zero points that are packed down the rows fill whole words every 32 rows, whatever their width. */
#define WORD_ROWS 32

/* The shape, its units and steps. Vectors become one row. Returns whether all of it fits. */
static int lay_out(struct bq_plan *plan, const struct bq_layout *layout, struct bq_problems *problems)
{
	const struct bq_scheme *scheme = &plan->scheme;
	uint64_t units_per_item, step_units = 1, unit_rows = 1;
	uint32_t rows_axis = plan->rank - 2;

	/* All of the tensor, if its values must stand side by side: choose_tensor_level. */
	plan->first_axis = bq_is_one_unit(scheme) ? 0 : rows_axis;
	for (uint32_t i = 0; i < scheme->nscales; i++)
		for (uint32_t axis = 0; axis < plan->first_axis && scheme->scale[i].rank; axis++)
			if (bq_edge(plan, &scheme->scale[i], axis) != 1)
				plan->first_axis = axis;
	/* Axes that are exchanged are so within a unit. */
	if (plan->packed_axis < plan->first_axis)
		plan->first_axis = plan->packed_axis;
	plan->unit_height = 1;
	if (bq_exchanged(plan) && plan->first_axis == plan->packed_axis) {
		EXPECT(plan->dims[plan->packed_axis] < MAX_STEP / 4, BQ_TOO_BIG, BQ_FIELD_SHAPE);
		plan->unit_height = (uint32_t)plan->dims[plan->packed_axis];
	}
	for (uint32_t i = 0; i < scheme->nscales; i++) {
		uint64_t edge = scheme->scale[i].rank || bq_is_one_unit(scheme) ? bq_edge(plan, &scheme->scale[i], plan->first_axis) : 1;

		if (edge > plan->dims[plan->first_axis])
			edge = plan->dims[plan->first_axis];
		EXPECT(edge < (1ull << 31), BQ_TOO_BIG, BQ_FIELD_SCALE0 + i);
		if (edge > plan->unit_height)
			plan->unit_height = (uint32_t)edge;
	}
	if (problems->count)
		return 0;
	for (uint32_t axis = plan->first_axis + 1; axis < plan->rank - 1; axis++)
		unit_rows *= plan->dims[axis];
	plan->nitems = 1;
	for (uint32_t axis = 0; axis < plan->first_axis; axis++)
		plan->nitems *= plan->dims[axis];
	plan->rows_per_item = unit_rows * plan->dims[plan->first_axis];
	unit_rows *= plan->unit_height;
	units_per_item = bq_ceil_div(plan->dims[plan->first_axis], plan->unit_height);

	if (bq_packs_zeros(layout, scheme)) {
		EXPECT(unit_rows == 1, BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
		step_units = units_per_item < WORD_ROWS ? units_per_item : WORD_ROWS;
	}
	plan->steps_per_item = bq_ceil_div(units_per_item, step_units);
	EXPECT(plan->dims[plan->rank - 1] < MAX_STEP / 4, BQ_TOO_BIG, BQ_FIELD_SHAPE);
	EXPECT(unit_rows * step_units < MAX_STEP / 4 / plan->dims[plan->rank - 1] + 1, BQ_TOO_BIG, BQ_FIELD_SCALES);
	if (problems->count)
		return 0;
	plan->cols = (uint32_t)plan->dims[plan->rank - 1];
	plan->unit_rows = (uint32_t)unit_rows;
	plan->step_rows = (uint32_t)(unit_rows * step_units);
	plan->group = (uint32_t)bq_edge(plan, &scheme->scale[0], plan->rank - 1);
	if (plan->group > plan->cols)
		plan->group = plan->cols;
	plan->cells_per_unit = (uint32_t)bq_unit_cells(plan, &scheme->scale[0]);
	return 1;
}

static struct bq_plane *add_plane(struct bq_plan *plan, uint32_t role, uint32_t dtype, uint32_t rank)
{
	struct bq_plane *plane = &plan->plane[plan->nplanes++];

	plane->role = role;
	plane->dtype = dtype;
	plane->rank = rank;
	return plane;
}

/* The order in which axes are stored. */
static void exchange_last(const struct bq_plan *plan, struct bq_plane *plane, uint32_t first)
{
	const uint32_t axis = plan->packed_axis - first, last = plane->rank - 1;
	const uint64_t dim = plane->dims[axis];

	plane->dims[axis] = plane->dims[last];
	plane->dims[last] = dim;
}

static void add_values(struct bq_plan *plan, const struct bq_layout *layout, uint32_t user_rank)
{
	uint32_t first = plan->rank - user_rank, dtype = plan->scheme.value;
	const uint32_t packing = bq_packing(&plan->scheme, layout);
	uint64_t length = plan->dims[plan->packed_axis];
	struct bq_plane *plane;

	plan->line_nbytes = (uint32_t)bq_line_nbytes(packing, plan->value_bits, length);
	if (layout->block_values) {
		dtype = BQ_U8;
		plan->line_nbytes = plan->cols / layout->block_values * layout->block_nbytes;
	} else if (packing == BQ_WORDS || packing == BQ_FIELDS) {
		dtype = BQ_I32;
	} else if (packing != BQ_BYTES) {
		dtype = BQ_U8;
	} else if (bq_is_integer(dtype)) {
		dtype = bq_dtype(dtype)->kind == BQ_KIND_SIGNED ? BQ_I8 : BQ_U8;
	}
	plane = add_plane(plan, layout->block_values ? BQ_ROLE_BLOCKS : BQ_ROLE_VALUES, dtype, user_rank);
	for (uint32_t i = 0; i < user_rank; i++)
		plane->dims[i] = plan->dims[first + i];
	exchange_last(plan, plane, first);
	plane->dims[user_rank - 1] = plan->line_nbytes / bq_dtype(dtype)->nbytes;
	plane->step_nbytes = (uint32_t)((uint64_t)plan->step_rows * plan->cols / length * plan->line_nbytes);
	plane->item_nbytes = plan->rows_per_item * plan->cols / length * plan->line_nbytes;
	plane->nbytes = plane->item_nbytes * plan->nitems;
}

/* A parameter grid with one number a cell. */
static struct bq_plane *add_grid(struct bq_plan *plan, uint32_t role, const struct bq_level *level, uint32_t dtype, uint32_t user_rank)
{
	uint32_t first = plan->rank - user_rank, nbytes = bq_dtype(dtype)->nbytes;
	struct bq_plane *plane = add_plane(plan, role, dtype, level->rank ? user_rank : 1);
	uint64_t per_unit = bq_unit_cells(plan, level), cells = 1;

	plane->dims[0] = 1;
	for (uint32_t i = 0; i < user_rank && level->rank; i++) {
		plane->dims[i] = bq_ceil_div(plan->dims[first + i], bq_edge(plan, level, first + i));
		cells *= plane->dims[i];
	}
	plane->nbytes = cells * nbytes;
	if (level->rank) {
		exchange_last(plan, plane, first);
		plane->item_nbytes = plane->nbytes / plan->nitems;
		plane->step_nbytes = (uint32_t)(per_unit * (plan->step_rows / plan->unit_rows) * nbytes);
	}
	return plane;
}

static void add_zeros(struct bq_plan *plan, const struct bq_layout *layout, uint32_t user_rank)
{
	const struct bq_dtype_info *zero = bq_dtype(plan->scheme.zero);
	uint32_t bytes = zero->kind == BQ_KIND_SIGNED ? BQ_I8 : zero->kind == BQ_KIND_UNSIGNED ? BQ_U8 : plan->scheme.zero;
	struct bq_plane *plane = add_grid(plan, BQ_ROLE_ZERO, &plan->scheme.scale[0], bytes, user_rank);
	uint64_t words;

	if (!bq_packs_zeros(layout, &plan->scheme))
		return;
	words = bq_ceil_div(plan->rows_per_item * zero->bits, 32);
	plane->dtype = BQ_I32;
	plane->dims[user_rank - 2] = words;
	plane->item_nbytes = words * plan->cells_per_unit * 4;
	plane->step_nbytes = (uint32_t)(plan->steps_per_item == 1 ? plane->item_nbytes : plan->cells_per_unit * zero->bits * (WORD_ROWS / 8));
	plane->nbytes = plane->item_nbytes * plan->nitems;
}

static void add_planes(struct bq_plan *plan, const struct bq_layout *layout, uint32_t user_rank)
{
	const struct bq_scheme *scheme = &plan->scheme;

	add_values(plan, layout, user_rank);
	if (!layout->block_values) {
		for (uint32_t i = 0; i < scheme->nscales; i++)
			add_grid(plan, BQ_ROLE_SCALE0 + i, &scheme->scale[i], scheme->scale[i].dtype, user_rank);
		if (scheme->zero)
			add_zeros(plan, layout, user_rank);
		for (uint32_t i = 0; i < scheme->nmins; i++)
			add_grid(plan, BQ_ROLE_MIN0 + i, &scheme->min[i], scheme->min[i].dtype, user_rank);
	}
	if (layout->shape) {
		struct bq_plane *plane = add_plane(plan, BQ_ROLE_SHAPE, BQ_I64, 1);

		plane->dims[0] = user_rank;
		plane->nbytes = 8 * user_rank;
	}
	for (uint32_t i = 0; i < plan->nplanes; i++)
		plan->nbytes += plan->plane[i].nbytes;
}

/* Dtypes that the rules' arithmetic is rounded to. A float32 scale level promotes the quotient and the product to float32;
 * scales narrower than the weights' dtype (E4M3, E8M0) are widened to it, but a decoder, which does not know the weights,
 * widens them to bfloat16. */
static void choose_work(struct bq_plan *plan, const struct bq_rules *rules)
{
	const struct bq_scheme *scheme = &plan->scheme;
	uint32_t scale = scheme->scale[0].dtype, decoder;
	int wide = scale == BQ_F16 || scale == BQ_BF16 || scale == BQ_F32;

	plan->parameter_work = rules->work == BQ_WORK_F32 ? BQ_F32 : plan->input;
	plan->encode_work = plan->decode_work = BQ_F32;
	decoder = wide ? scale : BQ_BF16;
	if (rules->work == BQ_WORK_ALL && scheme->nscales == 1) {
		plan->encode_work = !wide || scale == plan->input ? plan->input : BQ_F32;
		plan->decode_work = decoder;
	}
	plan->result = rules->work == BQ_WORK_ALL ? decoder : BQ_F32;
}

void bq_prepare(const struct bq_plan *plan, void *tables)
{
	const struct bq_iq_grid *grid = bq_kernels(plan->kernels)->fused[plan->scheme.fused].grid;

	if (grid)
		bq_iq_make_tables(grid, tables);
}

/* The first level that covers the tensor, from what a first pass gathers. Where one block is all of the tensor and its values
 * must stand side by side, they are one unit, and there is no such level. */
static void choose_tensor_level(struct bq_plan *plan)
{
	const struct bq_scheme *scheme = &plan->scheme;

	plan->tensor_level = 0;
	while (plan->tensor_level < scheme->nscales && scheme->scale[plan->tensor_level].rank)
		plan->tensor_level++;
	if (scheme->calibration == BQ_SEARCH || bq_is_one_unit(scheme))
		plan->tensor_level = scheme->nscales;
	plan->passes = plan->tensor_level < scheme->nscales ? 2 : 1;
}

/* The shape, padded to two axes. Returns whether it is one. */
static int take_shape(struct bq_plan *plan, uint32_t rank, const uint64_t *dims, struct bq_problems *problems)
{
	plan->rank = rank < 2 ? 2 : rank;
	plan->dims[0] = 1;
	memcpy(plan->dims + plan->rank - rank, dims, rank * sizeof(dims[0]));
	plan->nvalues = 1;
	for (uint32_t i = 0; i < plan->rank; i++) {
		const int fits = !plan->dims[i] || plan->dims[i] <= MAX_VALUES / plan->nvalues;

		EXPECT(plan->dims[i] > 0, BQ_EMPTY, BQ_FIELD_SHAPE);
		EXPECT(fits, BQ_BAD_SHAPE, BQ_FIELD_SHAPE);
		if (!plan->dims[i] || !fits)
			return 0;
		plan->nvalues *= plan->dims[i];
	}
	return 1;
}

/* Whether the numbers of the struct are within the tables and arrays that they index. */
static int is_readable(const struct bq_scheme *scheme, struct bq_problems *problems)
{
	EXPECT(bq_rules(scheme->rules), BQ_BAD_RULES, BQ_FIELD_RULES);
	EXPECT(bq_layout(scheme->layout), BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
	EXPECT(scheme->fused == BQ_GENERIC || bq_is_fused(scheme), BQ_BAD_FUSED, BQ_FIELD_RULES);
	EXPECT(scheme->nscales <= BQ_MAX_LEVELS, BQ_BAD_LEVELS, BQ_FIELD_SCALES);
	EXPECT(scheme->nmins <= BQ_MAX_LEVELS, BQ_BAD_LEVELS, BQ_FIELD_MINS);
	for (uint32_t i = 0; i < BQ_MAX_LEVELS; i++) {
		EXPECT(scheme->scale[i].rank <= BQ_MAX_RANK, BQ_BAD_BLOCK, BQ_FIELD_SCALE0 + i);
		EXPECT(scheme->min[i].rank <= BQ_MAX_RANK, BQ_BAD_BLOCK, BQ_FIELD_MIN0 + i);
	}
	return !problems->count;
}

/* plan->scheme, on a shape that is right. */
static void plan_scheme(struct bq_plan *plan, const float *codebook, uint32_t rank, struct bq_problems *problems)
{
	struct bq_scheme *scheme = &plan->scheme;
	const struct bq_rules *rules = bq_rules(scheme->rules);
	const struct bq_layout *layout = bq_layout(scheme->layout);
	const struct bq_fused *fused = &bq_kernels(plan->kernels)->fused[scheme->fused];
	uint64_t workspace;

	plan->packed_axis = plan->rank - 1 - (scheme->pack_axis < rank ? scheme->pack_axis : 0);
	for (uint32_t i = 0; i < BQ_MAX_LEVELS; i++) {
		/* Who reads a single array must know what is in it. */
		EXPECT(!layout->serial || scheme->scale[i].dtype != BQ_INPUT, BQ_BAD_LAYOUT, BQ_FIELD_LAYOUT);
		if (scheme->scale[i].dtype == BQ_INPUT)
			scheme->scale[i].dtype = plan->input;
		if (scheme->min[i].dtype == BQ_INPUT)
			scheme->min[i].dtype = plan->input;
	}
	plan->value_bits = bq_dtype(scheme->value)->bits;
	if (bq_dtype(scheme->value)->kind == BQ_KIND_TABLE)
		EXPECT(!bq_prepare_codebook(plan, codebook), BQ_BAD_CODEBOOK, BQ_FIELD_VALUE);
	bq_check_scheme(plan, rank, rules, layout, problems);
	if (problems->count || !lay_out(plan, layout, problems))
		return;
	bq_check_rows(plan, rules, layout, problems);
	if (problems->count)
		return;
	add_planes(plan, layout, rank);
	choose_work(plan, rules);
	choose_tensor_level(plan);
	plan->tables_nbytes = fused->grid ? bq_iq_tables_nbytes(fused->grid) : 0;
	plan->takes_importance = fused->encode || scheme->calibration == BQ_MSE;
	plan->needs_importance = fused->weighting == BQ_WEIGHTED_ALWAYS;
	workspace = bq_workspace(plan, NULL, NULL);
	EXPECT(workspace < 2 * MAX_STEP, BQ_TOO_BIG, BQ_FIELD_SCALES);
	plan->workspace_nbytes = (uint32_t)workspace;
}

static void make_plan(const struct bq_scheme *scheme, const float *codebook, uint32_t input, uint32_t kernels, uint32_t rank,
	const uint64_t *dims, struct bq_plan *plan, struct bq_problems *problems)
{
	memset(plan, 0, sizeof(*plan));
	problems->count = 0;
	EXPECT(bq_kernels(kernels), BQ_BAD_KERNELS, BQ_FIELD_NONE);
	EXPECT(input == BQ_F32 || input == BQ_F16 || input == BQ_BF16, BQ_BAD_DTYPE, BQ_FIELD_NONE);
	EXPECT(rank >= 1 && rank <= BQ_MAX_RANK, BQ_BAD_SHAPE, BQ_FIELD_SHAPE);
	if (!is_readable(scheme, problems))
		return;
	plan->scheme = *scheme;
	plan->input = input;
	plan->kernels = kernels;
	if (take_shape(plan, rank, dims, problems))
		plan_scheme(plan, codebook, rank, problems);
}

enum bq_status bq_plan(const struct bq_scheme *scheme, const float *codebook, uint32_t input, uint32_t kernels, uint32_t rank,
	const uint64_t *dims, struct bq_plan *plan)
{
	struct bq_problems problems;

	make_plan(scheme, codebook, input, kernels, rank, dims, plan, &problems);
	return problems.count ? problems.list[0].status : BQ_OK;
}

uint32_t bq_check(const struct bq_scheme *scheme, const float *codebook, uint32_t input, uint32_t rank, const uint64_t *dims,
	struct bq_problem problem[BQ_MAX_PROBLEMS])
{
	struct bq_problems problems;
	struct bq_plan plan;

	make_plan(scheme, codebook, input, BQ_SCALAR, rank, dims, &plan, &problems);
	memcpy(problem, problems.list, problems.count * sizeof(*problem));
	return problems.count;
}
