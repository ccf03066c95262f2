/* SPDX-License-Identifier: MIT
 * test.h - what every C test needs: checks that print what they saw, one small generator, buffers that end at their last byte.
 */
#ifndef BQ_TEST_H
#define BQ_TEST_H

#undef NDEBUG
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_failures;

#define CHECK(condition, ...) \
	do { \
		if (!(condition)) { \
			test_failures++; \
			printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
			printf(__VA_ARGS__); \
			printf("\n"); \
		} \
	} while (0)

/* Numerical Recipes' 32-bit generator: the upper bits are used. */
static inline uint32_t test_next(uint32_t *state)
{
	return *state = *state * 1664525u + 1013904223u;
}

/* Roughly normal, mean 0, deviation 1. */
static inline float test_normal(uint32_t *state)
{
	int32_t sum = -131070;

	for (int i = 0; i < 4; i++)
		sum += (int32_t)(test_next(state) >> 16);
	return (float)sum * (1.0f / 37837.0f);
}

/* A buffer of exactly nbytes from the allocator, so that AddressSanitizer sees the first byte past it; never null. */
static inline void *test_buffer(size_t nbytes, int fill)
{
	void *buffer = malloc(nbytes ? nbytes : 1);

	if (!buffer)
		abort();
	memset(buffer, fill, nbytes);
	return buffer;
}

static inline int test_done(const char *name)
{
	printf("%s: %s (%d failures)\n", name, test_failures ? "FAILED" : "ok", test_failures);
	return test_failures != 0;
}

/* Where this build cannot run all of a test: 77 is CTest's word for skipped. Failures count. */
static inline int test_skipped(const char *name, const char *lack)
{
	printf("%s: SKIPPED: %s\n", name, lack);
	return test_failures ? test_done(name) : 77;
}

#endif
