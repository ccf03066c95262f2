/* SPDX-License-Identifier: MIT
 * bench.c - how fast each preset is: every kernel row of this build in turn, on the same gaussian weights in L2.
 *
 * One line of JSON for each preset, operation and row; scripts/bench.mjs runs the wasm and the native build and prints
 * them side by side. Rows take turns within a measurement, and the fastest of many rounds counts: what interrupts a
 * program only ever adds time.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <time.h>

#include "blockquant.h"
#include "test.h"

#define ROWS 64
#define COLS 1024
#define COUNT (ROWS * COLS)
#define ROUNDS 12
#define SECONDS_PER_ROUND 0.02

enum op { ENCODE, ENCODE_WEIGHTED, DECODE, NOPS };

static const char *const op_names[NOPS] = { "encode", "encode+imatrix", "decode" };
static const char *const row_names[BQ_NKERNELS] = { "scalar", "simd128" };

struct subject {
	struct bq_plan plan;
	struct bq_band band;
	struct bq_tensor_range range;
	struct bq_report report;
	void *planes[BQ_MAX_PLANES];
	void *workspace;
};

static float weights[COUNT], values[COUNT], importance[COLS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void prepare(struct subject *s, const struct bq_scheme *scheme, uint32_t kernels)
{
	const uint64_t dims[2] = { ROWS, COLS };

	memset(s, 0, sizeof(*s));
	if (bq_plan(scheme, NULL, BQ_F32, kernels, 2, dims, &s->plan))
		abort();
	bq_band(&s->plan, 0, UINT32_MAX, &s->band);
	for (uint32_t i = 0; i < s->plan.nplanes; i++)
		s->planes[i] = test_buffer(s->band.plane_nbytes[i], 0);
	s->workspace = test_buffer(s->plan.workspace_nbytes, 0);
	if (s->plan.passes == 2)
		bq_range(&s->plan, &s->band, weights, NULL, 0, NULL, NULL, 0, s->workspace, &s->range, &s->report);
}

static void run(struct subject *s, enum op op)
{
	struct bq_tensor_range range = { 0 };

	if (op == DECODE) {
		bq_decode(&s->plan, &s->band, (const void *const *)s->planes, 0, values, s->workspace, &s->report);
		return;
	}
	/* The first pass is part of what a user waits for. */
	if (s->plan.passes == 2)
		bq_range(&s->plan, &s->band, weights, NULL, 0, NULL, NULL, 0, s->workspace, &range, &s->report);
	bq_encode(&s->plan, &s->band, weights, op == ENCODE_WEIGHTED ? importance : NULL, 1,
		s->plan.passes == 2 ? &range : NULL, NULL, NULL, NULL, 0, s->planes,
		s->workspace, &s->report);
}

/* Seconds of one run: the mean of as many as fill a round. */
static double measure(struct subject *s, enum op op)
{
	double begin = now(), elapsed;
	int runs = 0;

	do {
		run(s, op);
		runs++;
	} while ((elapsed = now() - begin) < SECONDS_PER_ROUND);
	return elapsed / runs;
}

static void bench(const char *name, const struct bq_scheme *scheme, const char *path, int has_weighted)
{
	struct subject subjects[BQ_NKERNELS];

	for (uint32_t k = 0; k < BQ_NKERNELS; k++)
		if (bq_kernel_rows() >> k & 1)
			prepare(&subjects[k], scheme, k);
	for (int op = 0; op < NOPS; op++) {
		double best[BQ_NKERNELS];

		if (op == ENCODE_WEIGHTED && !has_weighted)
			continue;
		for (int round = 0; round < ROUNDS; round++)
			for (uint32_t k = 0; k < BQ_NKERNELS; k++) {
				double seconds = bq_kernel_rows() >> k & 1 ? measure(&subjects[k], op) : 0;

				best[k] = !round || seconds < best[k] ? seconds : best[k];
			}
		for (uint32_t k = 0; k < BQ_NKERNELS; k++)
			if (bq_kernel_rows() >> k & 1)
				printf("{\"preset\":\"%s\",\"path\":\"%s\",\"op\":\"%s\",\"kernels\":\"%s\",\"melems\":%.1f}\n", name, path, op_names[op],
					row_names[k], COUNT / best[k] / 1e6);
	}
}

static void bench_copy(void)
{
	double best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double begin = now(), seconds;
		int runs = 0;

		do {
			memcpy(values, weights, sizeof(weights));
			__asm__ volatile("" : : "g"(values) : "memory");
			runs++;
		} while ((seconds = now() - begin) < SECONDS_PER_ROUND);
		seconds /= runs;
		best = !round || seconds < best ? seconds : best;
	}
	printf("{\"preset\":\"memcpy\",\"path\":\"\",\"op\":\"copy\",\"kernels\":\"memcpy\",\"melems\":%.1f}\n", COUNT / best / 1e6);
}

int main(int argc, char **argv)
{
	const struct bq_preset *preset;
	uint32_t state = 1;

	for (int i = 0; i < COUNT; i++)
		weights[i] = 0.02f * test_normal(&state);
	for (int i = 0; i < COLS; i++)
		importance[i] = 0.5f + (float)(test_next(&state) >> 16) / 65536;
	bench_copy();
	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++) {
		struct bq_scheme scheme = preset->scheme;

		if (argc > 1 && !strstr(preset->name, argv[1]))
			continue;
		if (scheme.fused)
			bench(preset->name, &scheme, "fused", 1);
		scheme.fused = BQ_GENERIC;
		if (scheme.calibration == BQ_MINMAX)
			bench(preset->name, &scheme, "generic", 0);
	}
	return 0;
}
