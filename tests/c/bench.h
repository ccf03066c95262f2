/* SPDX-License-Identifier: MIT
 * bench.h - what the benches share: their input, a plan with its buffers, one run of an operation, and how a run is timed.
 */
#ifndef BQ_BENCH_H
#define BQ_BENCH_H

#include <time.h>

#include "blockquant.h"
#include "test.h"

#define ROWS 64
#define COLS 1024
#define COUNT (ROWS * COLS)
#define SECONDS 0.2 /* of an operation, for all that take turns at it */
#define LEAST_ROUNDS 3
#define SECONDS_PER_ROUND 0.0005

enum op { ENCODE, ENCODE_WEIGHTED, DECODE, NOPS };

static const char *const op_names[NOPS] = { "encode", "encode+imatrix", "decode" };

static float weights[COUNT], values[COUNT], importance[COLS];

/* Whether a preset is asked for: any is by no parts of names. */
static inline int is_chosen(const char *name, int nparts, char **parts)
{
	for (int i = 0; i < nparts; i++)
		if (strstr(name, parts[i]))
			return 1;
	return nparts == 0;
}

/* Gaussian weights, in L2 with what becomes of them. */
static inline void make_input(void)
{
	uint32_t state = 1;

	for (int i = 0; i < COUNT; i++)
		weights[i] = 0.02f * test_normal(&state);
	for (int i = 0; i < COLS; i++)
		importance[i] = 0.5f + (float)(test_next(&state) >> 16) / 65536;
}

struct subject {
	struct bq_plan plan;
	struct bq_band band;
	struct bq_tensor_range range;
	struct bq_report report;
	void *planes[BQ_MAX_PLANES];
	void *workspace, *tables;
};

static inline void prepare(struct subject *s, const struct bq_scheme *scheme, uint32_t kernels)
{
	const uint64_t dims[2] = { ROWS, COLS };

	memset(s, 0, sizeof(*s));
	if (bq_plan(scheme, NULL, BQ_F32, kernels, 2, dims, &s->plan))
		abort();
	bq_band(&s->plan, 0, UINT32_MAX, &s->band);
	for (uint32_t i = 0; i < s->plan.nplanes; i++)
		s->planes[i] = test_buffer(s->band.plane_nbytes[i], 0);
	s->workspace = test_buffer(s->plan.workspace_nbytes, 0);
	s->tables = test_buffer(s->plan.tables_nbytes, 0);
	bq_prepare(&s->plan, s->tables);
	if (s->plan.passes == 2)
		bq_range(&s->plan, &s->band, weights, NULL, 0, NULL, NULL, 0, s->workspace, &s->range, &s->report);
}

static inline void run(struct subject *s, enum op op)
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
		s->plan.passes == 2 ? &range : NULL, NULL, NULL, NULL, 0, s->tables, s->planes, s->workspace, &s->report);
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is measured takes turns in rounds. */
#define ROUNDS \
	for (double first_ = now(), round_ = 0; round_ < LEAST_ROUNDS || now() - first_ < SECONDS; round_++)

/* Seconds of one run: the mean of as many as fill a round. The fastest of many short rounds counts: what interrupts a program
 * only ever adds time. */
#define MEASURE(best, statement) \
	do { \
		double begin_ = now(), elapsed_; \
		int runs_ = 0; \
\
		do { \
			statement; \
			runs_++; \
		} while ((elapsed_ = now() - begin_) < SECONDS_PER_ROUND); \
		(best) = (best) == 0 || elapsed_ / runs_ < (best) ? elapsed_ / runs_ : (best); \
	} while (0)

#endif
