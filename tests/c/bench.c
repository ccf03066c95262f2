/* SPDX-License-Identifier: MIT
 * bench.c - how fast each preset is: every kernel row of this build in turn, on the same gaussian weights in L2.
 *
 * One line of JSON for each preset, operation and row; scripts/bench.mjs runs the wasm and the native build and prints
 * them side by side. Rows take turns within a measurement.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "bench.h"
#include "kernels.h"

static const char *const row_names[BQ_NKERNELS] = { "scalar", "simd128" };

static void bench(const char *name, const struct bq_scheme *scheme, const char *path, int has_weighted)
{
	struct subject subjects[BQ_NKERNELS];

	for (uint32_t k = 0; k < BQ_NKERNELS; k++)
		if (bq_kernel_rows() >> k & 1)
			prepare(&subjects[k], scheme, k);
	for (int op = 0; op < NOPS; op++) {
		double best[BQ_NKERNELS] = { 0 };

		if (op == ENCODE_WEIGHTED ? !has_weighted : op == ENCODE && subjects[BQ_SCALAR].plan.needs_importance)
			continue;
		ROUNDS
			for (uint32_t k = 0; k < BQ_NKERNELS; k++)
				if (bq_kernel_rows() >> k & 1)
					MEASURE(best[k], run(&subjects[k], op));
		for (uint32_t k = 0; k < BQ_NKERNELS; k++)
			if (bq_kernel_rows() >> k & 1)
				printf("{\"preset\":\"%s\",\"path\":\"%s\",\"op\":\"%s\",\"kernels\":\"%s\",\"melems\":%.1f}\n", name, path, op_names[op],
					row_names[k], COUNT / best[k] / 1e6);
	}
}

static void bench_copy(void)
{
	double best = 0;

	ROUNDS
		MEASURE(best, memcpy(values, weights, sizeof(weights)); __asm__ volatile("" : : "g"(values) : "memory"));
	printf("{\"preset\":\"memcpy\",\"path\":\"\",\"op\":\"copy\",\"kernels\":\"memcpy\",\"melems\":%.1f}\n", COUNT / best / 1e6);
}

int main(int argc, char **argv)
{
	const struct bq_preset *preset;

	make_input();
	bench_copy();
	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++) {
		struct bq_scheme scheme = preset->scheme;

		if (!is_chosen(preset->name, argc - 1, argv + 1))
			continue;
		if (scheme.fused)
			bench(preset->name, &scheme, "fused", bq_kernels(BQ_SCALAR)->fused[scheme.fused].weighting != BQ_UNWEIGHTED);
		scheme.fused = BQ_GENERIC;
		if (scheme.calibration == BQ_MINMAX)
			bench(preset->name, &scheme, "generic", 0);
	}
	return 0;
}
