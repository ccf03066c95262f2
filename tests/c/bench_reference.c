/* SPDX-License-Identifier: MIT
 * bench_reference.c - LIBRARY [FILTER...]: our scalar kernels beside ggml's own functions, from a libggml-base.so, in turns on the
 * same input. Types are found by their names in both. One line of JSON for each type and operation; 1 if bytes differ.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, strcasecmp */
#include <dlfcn.h>
#include <strings.h>

#include "bench.h"

#define NTYPES 64 /* more than ggml has; it calls the others NONE */

typedef const char *type_name(int type);
typedef size_t quantize_chunk(
	int type, const float *x, void *out, int64_t first, int64_t nrows, int64_t row_length, const float *importance);
typedef void dequantize_row(const void *in, float *out, int64_t count);

struct reference {
	int type;
	quantize_chunk *quantize;
	dequantize_row *dequantize;
	void *bytes;
};

/* ISO C has no cast from dlsym's result to a function. */
static void find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
}

static int find_type(void *library, const char *name, struct reference *reference)
{
	type_name *ggml_type_name;
	char symbol[64];

	find(library, "ggml_type_name", &ggml_type_name);
	for (int type = 0; type < NTYPES; type++) {
		if (strcasecmp(ggml_type_name(type), name) != 0)
			continue;
		snprintf(symbol, sizeof(symbol), "dequantize_row_%s", ggml_type_name(type));
		reference->type = type;
		find(library, "ggml_quantize_chunk", &reference->quantize);
		find(library, symbol, &reference->dequantize);
		return reference->quantize && reference->dequantize;
	}
	return 0;
}

static void run_reference(const struct reference *reference, enum op op)
{
	if (op == DECODE)
		reference->dequantize(reference->bytes, values, COUNT);
	else
		reference->quantize(
			reference->type, weights, reference->bytes, 0, ROWS, COLS, op == ENCODE_WEIGHTED ? importance : NULL);
}

static int bench(const char *name, const struct bq_scheme *scheme, struct reference *reference)
{
	struct subject ours;
	int same = 1;

	prepare(&ours, scheme, BQ_SCALAR);
	reference->bytes = test_buffer(ours.band.plane_nbytes[0], 0);
	for (int op = 0; op < NOPS; op++) {
		double seconds[2] = { 0 };

		if (op == ENCODE && ours.plan.needs_importance)
			continue; /* the library aborts */

		ROUNDS {
			MEASURE(seconds[0], run(&ours, op));
			MEASURE(seconds[1], run_reference(reference, op));
		}
		same &= memcmp(ours.planes[0], reference->bytes, ours.band.plane_nbytes[0]) == 0;
		printf("{\"preset\":\"%s\",\"op\":\"%s\",\"ours\":%.1f,\"reference\":%.1f,\"same\":%d}\n", name, op_names[op],
			COUNT / seconds[0] / 1e6, COUNT / seconds[1] / 1e6, same);
	}
	return same;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
	const struct bq_preset *preset;
	int same = 1;

	if (!library) {
		fprintf(stderr, "bench_reference: %s\n", argc > 1 ? dlerror() : "usage: bench_reference LIBRARY [FILTER...]");
		return 2;
	}
	make_input();
	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++) {
		struct reference reference;

		if (preset->scheme.fused && is_chosen(preset->name, argc - 2, argv + 2) &&
			find_type(library, strchr(preset->name, ':') + 1, &reference))
			same &= bench(preset->name, &preset->scheme, &reference);
	}
	return !same;
}
