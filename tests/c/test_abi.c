/* SPDX-License-Identifier: MIT
 * test_abi.c - prints where the header's structs have their fields and what its enums are called, for
 * tests/js/abi.test.js to compare with js/core/abi.js.
 */
#include <stddef.h>

#include "blockquant.h"
#include "dtype.h"
#include "test.h"

static int first_field;

#define BEGIN(type) printf("{\"struct\":\"%s\",\"size\":%zu,\"offsets\":{", #type, sizeof(struct type)), first_field = 1
#define FIELD(type, name) printf("%s\"%s\":%zu", first_field ? "" : ",", #name, offsetof(struct type, name)), first_field = 0
#define END() printf("}}\n")

static void print_structs(void)
{
	BEGIN(bq_level), FIELD(bq_level, dtype), FIELD(bq_level, rank), FIELD(bq_level, edge), END();
	BEGIN(bq_scheme), FIELD(bq_scheme, value), FIELD(bq_scheme, narrow), FIELD(bq_scheme, codebook), FIELD(bq_scheme, nscales), FIELD(bq_scheme, scale),
		FIELD(bq_scheme, zero), FIELD(bq_scheme, symmetric), FIELD(bq_scheme, nmins), FIELD(bq_scheme, min),
		FIELD(bq_scheme, calibration), FIELD(bq_scheme, calibration_argument), FIELD(bq_scheme, rules),
		FIELD(bq_scheme, layout), FIELD(bq_scheme, pack_into), FIELD(bq_scheme, pack_axis), FIELD(bq_scheme, fused), FIELD(bq_scheme, act_mode), FIELD(bq_scheme, act), FIELD(bq_scheme, act_scale), END();
	BEGIN(bq_plane), FIELD(bq_plane, role), FIELD(bq_plane, dtype), FIELD(bq_plane, rank), FIELD(bq_plane, step_nbytes),
		FIELD(bq_plane, item_nbytes), FIELD(bq_plane, nbytes), FIELD(bq_plane, dims), END();
	BEGIN(bq_plan), FIELD(bq_plan, scheme), FIELD(bq_plan, input), FIELD(bq_plan, kernels), FIELD(bq_plan, passes), FIELD(bq_plan, nplanes),
		FIELD(bq_plan, rank), FIELD(bq_plan, first_axis), FIELD(bq_plan, unit_height), FIELD(bq_plan, unit_rows), FIELD(bq_plan, step_rows),
		FIELD(bq_plan, cols), FIELD(bq_plan, group), FIELD(bq_plan, cells_per_unit), FIELD(bq_plan, packed_axis), FIELD(bq_plan, line_nbytes),
		FIELD(bq_plan, workspace_nbytes), FIELD(bq_plan, tensor_level), FIELD(bq_plan, value_bits), FIELD(bq_plan, tables_nbytes),
		FIELD(bq_plan, takes_importance), FIELD(bq_plan, needs_importance), FIELD(bq_plan, ncodebook),
		FIELD(bq_plan, parameter_work), FIELD(bq_plan, encode_work), FIELD(bq_plan, decode_work), FIELD(bq_plan, result),
		FIELD(bq_plan, dims), FIELD(bq_plan, nvalues), FIELD(bq_plan, nbytes), FIELD(bq_plan, nitems), FIELD(bq_plan, rows_per_item),
		FIELD(bq_plan, steps_per_item), FIELD(bq_plan, plane),
		FIELD(bq_plan, codebook), FIELD(bq_plan, codebook_end), FIELD(bq_plan, codebook_code), END();
	BEGIN(bq_band), FIELD(bq_band, first_step), FIELD(bq_band, nsteps), FIELD(bq_band, value_offset), FIELD(bq_band, nvalues),
		FIELD(bq_band, cell_offset), FIELD(bq_band, ncells), FIELD(bq_band, plane_offset), FIELD(bq_band, plane_nbytes), END();
	BEGIN(bq_problem), FIELD(bq_problem, status), FIELD(bq_problem, field), END();
	BEGIN(bq_tensor_range), FIELD(bq_tensor_range, lo), FIELD(bq_tensor_range, hi), FIELD(bq_tensor_range, scale),
		FIELD(bq_tensor_range, min), FIELD(bq_tensor_range, sum), FIELD(bq_tensor_range, seen), END();
	BEGIN(bq_report), FIELD(bq_report, fused_values), FIELD(bq_report, generic_values), FIELD(bq_report, overflow_blocks),
		FIELD(bq_report, heavy_blocks), FIELD(bq_report, nonfinite_values), FIELD(bq_report, first_nonfinite), END();
}

/* The kind and width of every dtype, which JavaScript's names must agree with. */
static void print_dtypes(void)
{
	for (uint32_t i = 0; i < BQ_NDTYPES; i++) {
		const struct bq_dtype_info *info = bq_dtype(i);

		printf("{\"dtype\":%u,\"kind\":%u,\"bits\":%u,\"nbytes\":%u}\n", i, info->kind, info->bits, info->nbytes);
	}
}

int main(void)
{
	print_structs();
	print_dtypes();
	printf("{\"counts\":{\"dtypes\":%d,\"rules\":%d,\"layouts\":%d,\"kernels\":%d,\"statuses\":%d,\"roles\":%d,\"levels\":%d,"
	       "\"rank\":%d,\"planes\":%d,\"fields\":%d,\"problems\":%d}}\n",
		BQ_NDTYPES, BQ_NRULES, BQ_NLAYOUTS, BQ_NKERNELS, BQ_NSTATUS, BQ_ROLE_BLOCKS + 1, BQ_MAX_LEVELS, BQ_MAX_RANK, BQ_MAX_PLANES, BQ_NFIELDS,
		BQ_MAX_PROBLEMS);
	return 0;
}
