/* SPDX-License-Identifier: MIT
 * test_rounding.c - ties and ends of every rule, code by code; simd128 gives the bytes of scalar on arrays of any length.
 */
#include "test_stages.h"

enum { COPIES = 37 }; /* two steps of a vector kernel, and a tail */

struct rounding {
	float quotient;
	int even, away, field; /* codes of 4 bits; field: code + 8 is the truncated field */
};

static const struct rounding roundings[] = {
	{ 0.5f, 0, 1, 1 },
	{ 1.5f, 2, 2, 2 },
	{ 2.5f, 2, 3, 3 },
	{ -0.5f, 0, -1, 0 },
	{ -1.5f, -2, -2, -1 },
	{ -2.5f, -2, -3, -2 },
	{ 0x1.fffffep-2f, 0, 0, 1 }, /* below a half, but 8.5 more is 9 in float32 */
	{ -0x1.fffffep-2f, 0, 0, 0 },
	{ 0x1.000002p-1f, 1, 1, 1 },
	{ 0, 0, 0, 0 },
	{ -0.0f, 0, 0, 0 },
	{ 6.5f, 6, 7, 7 },
	{ 7.49f, 7, 7, 7 },
	{ 7.5f, 7, 7, 7 },
	{ 7.6f, 7, 7, 7 },
	{ -7.5f, -8, -8, -7 },
	{ -8.5f, -8, -8, -8 },
	{ -8.6f, -8, -8, -8 },
	{ -9.5f, -8, -8, -8 },
	{ 100, 7, 7, 7 },
	{ -100, -8, -8, -8 },
	{ 2147483520.0f, 7, 7, 7 }, /* the largest float that an int32 holds */
	{ 2147483648.0f, 7, 0, -8 },
	{ -2147483648.0f, -8, -8, -8 },
	{ -2147483904.0f, -8, 0, -8 },
	{ 1e10f, 7, 0, -8 },
	{ -1e10f, -8, 0, -8 },
	{ INFINITY, 7, 0, -8 },
	{ -INFINITY, -8, 0, -8 },
	{ NAN, 0, 0, -8 },
};

static void ties_and_ends_round_as_each_reference_does(void)
{
	static const float one = 1;

	for (size_t r = 0; r < sizeof roundings / sizeof *roundings; r++)
		for (uint32_t round = BQ_HALF_EVEN; round <= BQ_FIELD_HALF_UP; round++)
			for (uint32_t quotient = BQ_DIVIDE; quotient <= BQ_RECIPROCAL; quotient++) {
				const struct bq_quantizer q = { .value = BQ_I4, .scale = &one, .code_min = -8, .code_max = 7, .quotient = quotient, .round = round,
					.work = BQ_F32 };
				const struct rounding *each = &roundings[r];
				const int expected = round == BQ_HALF_EVEN ? each->even : round == BQ_HALF_AWAY ? each->away : each->field;
				float x[COPIES];
				uint8_t codes[COPIES];

				for (int i = 0; i < COPIES; i++)
					x[i] = each->quotient;
				bq_kernels(kernels)->encode(&q, x, COPIES, COPIES, codes);
				for (int i = 0; i < COPIES; i++)
					CHECK((int8_t)codes[i] == expected, "kernels %u, %.9g, rounding %u, copy %d: got %d, expected %d", kernels,
						each->quotient, round, i, (int8_t)codes[i], expected);
			}
}

/* Value and scale in bfloat16; in float32 the codes would be -1 5 3 -5. */
static void bfloat16_quotients_are_rounded_twice(void)
{
	static const float pairs[4][2] = { { -1.578125f, 1.0546875f }, { 4.78125f, .87109375f }, { 3.03125f, 1.2109375f },
		{ -2.875f, .5234375f } };
	static const int expected[2][4] = { { -2, 6, 2, -6 }, { -1, 5, 3, -5 } };

	for (int c = 0; c < 8; c++) {
		const float *pair = pairs[c % 4];
		const struct bq_quantizer q = { .value = BQ_I4, .scale = pair + 1, .code_min = -8, .code_max = 7, .quotient = BQ_DIVIDE,
			.round = BQ_HALF_EVEN, .work = c < 4 ? BQ_BF16 : BQ_F32 };
		float x[COPIES];
		uint8_t codes[COPIES];

		for (int i = 0; i < COPIES; i++)
			x[i] = pair[0];
		bq_kernels(kernels)->encode(&q, x, COPIES, COPIES, codes);
		for (int i = 0; i < COPIES; i++)
			CHECK((int8_t)codes[i] == expected[c / 4][c % 4], "kernels %u, %g / %g, copy %d: got %d", kernels, pair[0], pair[1], i,
				(int8_t)codes[i]);
	}
}

/* Ties go to the even code; beyond the ends, the ends; a negative that rounds to 0 keeps its sign, -0 does not. */
static void e2m1_ties_go_to_even(void)
{
	static const float x[24] = { .25f, .3f, .6f, .75f, .9f, 1.25f, 1.3f, 1.75f, 1.8f, 2.5f, 2.7f, 3.5f, 4.5f, 5, 7, 5.1f, INFINITY,
		-.25f, -.75f, -5, -7, -INFINITY, -0.0f, NAN };
	static const uint8_t expected[24] = { 0, 1, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 6, 7, 7, 7, 8, 10, 14, 15, 15, 0, 7 };
	static const float one = 1;
	const struct bq_quantizer q = { .value = BQ_F4E2M1, .scale = &one, .code_min = -6, .code_max = 6, .work = BQ_F32, .drop_negative_zero = 1 };
	uint8_t codes[24];

	bq_kernels(kernels)->encode(&q, x, 24, 24, codes);
	for (int i = 0; i < 24; i++)
		CHECK(codes[i] == expected[i], "kernels %u, %g: got %u, expected %u", kernels, x[i], codes[i], expected[i]);
}

/* The first of equals, NaN over all, +0 for zeros. */
static void the_extreme_is_the_first_of_the_largest(void)
{
	float x[COPIES];
	float extreme;

	for (size_t count = 1; count <= COPIES; count++)
		for (size_t at = 0; at < count; at++)
			for (int sign = 0; sign < 2; sign++) {
				for (size_t i = 0; i < count; i++)
					x[i] = (i + sign) % 2 ? 1.5f : -1.5f;
				for (size_t i = 0; i < at; i++)
					x[i] = i % 2 ? -0.5f : 0.5f;
				extreme = 0;
				bq_kernels(kernels)->extreme(x, count, count, &extreme);
				CHECK(extreme == x[at], "kernels %u, %zu values from %zu: %g", kernels, count, at, extreme);
				x[at] = -INFINITY;
				x[0] = at ? NAN : x[0];
				extreme = 0;
				bq_kernels(kernels)->extreme(x, count, count, &extreme);
				CHECK(at ? bq_bits(extreme) == BQ_F32_NAN : extreme == -INFINITY, "kernels %u, %zu values: %g", kernels, count, extreme);
			}
	for (size_t i = 0; i < COPIES; i++)
		x[i] = -0.0f;
	extreme = 0;
	bq_kernels(kernels)->extreme(x, COPIES, COPIES, &extreme);
	CHECK(bq_bits(extreme) == 0, "kernels %u: zeros have %08x", kernels, (unsigned)bq_bits(extreme));
}

/* ---- rows of kernels ---- */

static float any_float(uint32_t *state)
{
	const uint32_t kind = test_next(state) >> 28;
	const float half = (float)(int)((test_next(state) >> 24) % 64) / 2 - 16;

	if (kind == 0)
		return bq_float(test_next(state) ^ test_next(state) >> 16);
	if (kind == 1)
		return test_next(state) >> 31 ? INFINITY : -INFINITY;
	if (kind == 2)
		return bq_float(0x7FC00000 | test_next(state));
	return kind < 8 ? half : 10 * test_normal(state);
}

struct arrays {
	size_t count, group, ncells;
	float *x, *scale, *zero, *min;
	uint8_t *codes;
};

/* Exact buffers, at odd places: a float more than a vector's alignment. */
static struct arrays any_arrays(size_t count, size_t group, uint32_t *state)
{
	struct arrays a = { .count = count, .group = group, .ncells = (count + group - 1) / group };

	a.x = test_buffer((count + 1) * sizeof(float), 0);
	a.codes = test_buffer(count + 1, 0);
	a.scale = test_buffer(a.ncells * sizeof(float), 0);
	a.zero = test_buffer(a.ncells * sizeof(float), 0);
	a.min = test_buffer(a.ncells * sizeof(float), 0);
	for (size_t i = 0; i < count; i++) {
		a.x[i + 1] = any_float(state);
		a.codes[i + 1] = (uint8_t)(test_next(state) >> 24);
	}
	for (size_t i = 0; i < a.ncells; i++) {
		a.scale[i] = test_next(state) >> 29 ? test_next(state) >> 30 ? fabsf(test_normal(state)) : 1 : any_float(state);
		a.zero[i] = (float)(int)(test_next(state) >> 28) - 8;
		a.min[i] = test_normal(state);
	}
	return a;
}

static void discard_arrays(struct arrays *a)
{
	free(a->x);
	free(a->codes);
	free(a->scale);
	free(a->zero);
	free(a->min);
}

static void check_encoders(const struct arrays *a, const struct bq_quantizer *q)
{
	uint8_t *codes[2];

	for (uint32_t id = 0; id < 2; id++) {
		codes[id] = guarded(a->count);
		bq_kernels(id)->encode(q, a->x + 1, a->count, a->group, codes[id]);
	}
	for (size_t i = 0; i < a->count; i++)
		if (codes[0][i] != codes[1][i]) {
			CHECK(0, "value dtype %u, rounding %u, quotient %u, work %u, %zu of %zu in groups of %zu: %.9g / %.9g: %02x, not %02x", q->value,
				q->round, q->quotient, q->work, i, a->count, a->group, a->x[i + 1], a->scale[i / a->group], codes[1][i], codes[0][i]);
			break;
		}
	release(codes[0], a->count, "codes");
	release(codes[1], a->count, "codes");
}

static void check_decoders(const struct arrays *a, const struct bq_dequantizer *d)
{
	float *values[2];

	for (uint32_t id = 0; id < 2; id++) {
		values[id] = guarded(a->count * sizeof(float));
		bq_kernels(id)->decode(d, a->codes + 1, a->count, a->group, values[id]);
	}
	for (size_t i = 0; i < a->count; i++)
		if (bq_bits(values[0][i]) != bq_bits(values[1][i])) {
			CHECK(0, "value dtype %u, work %u, result %u, %zu of %zu in groups of %zu: code %02x: %.9g, not %.9g", d->value, d->work,
				d->result, i, a->count, a->group, a->codes[i + 1], values[1][i], values[0][i]);
			break;
		}
	release(values[0], a->count * sizeof(float), "values");
	release(values[1], a->count * sizeof(float), "values");
}

static void check_ranges(const struct arrays *a, int skip_nan)
{
	float lo[2][128] = { { 0 } }, hi[2][128] = { { 0 } }, extreme[2][128] = { { 0 } };

	for (uint32_t id = 0; id < 2; id++) {
		bq_kernels(id)->range(a->x + 1, a->count, a->group, skip_nan, lo[id], hi[id]);
		bq_kernels(id)->extreme(a->x + 1, a->count, a->group, extreme[id]);
	}
	CHECK(!memcmp(lo[0], lo[1], sizeof lo[0]) && !memcmp(hi[0], hi[1], sizeof hi[0]), "ranges of %zu in groups of %zu", a->count,
		a->group);
	CHECK(!memcmp(extreme[0], extreme[1], sizeof extreme[0]), "extremes of %zu in groups of %zu", a->count, a->group);
}

static void simd128_gives_the_bytes_of_scalar(void)
{
	static const uint32_t works[] = { BQ_F32, BQ_F16, BQ_BF16 }, floats[] = { BQ_F8E4M3, BQ_F8E5M2, BQ_F4E2M1, BQ_F6E2M3 };
	static float table[256], small_table[256], table_end[40]; /* 0 for codes that are none */
	static uint8_t table_code[40];
	uint32_t state = 77;

	for (uint32_t i = 0; i < 40; i++) {
		table_end[i] = 0.3f * (float)i - 2;
		table_code[i] = (uint8_t)(i * 7 % 40);
		table[i] = test_normal(&state);
		small_table[i % 16] = table[i];
	}
	for (size_t count = 0; count <= 100; count++)
		for (size_t group = 1; group <= 101; group += group < 20 ? 3 : 16) {
			struct arrays a = any_arrays(count, group, &state);

			for (uint32_t choice = 0; choice < 36; choice++) {
				const uint32_t bits = 1 + choice % 8, value = floats[choice / 9];
				struct bq_quantizer q = { .value = BQ_I1 + bits - 1, .scale = a.scale, .zero = choice % 4 == 3 ? a.zero : NULL,
					.code_min = -(float)(1 << (bits - 1)), .code_max = (float)(1 << (bits - 1)) - 1, .quotient = choice / 9 % 2,
					.round = choice % 3, .work = works[choice / 3 % 3], .drop_negative_zero = choice / 18,
					.min = choice % 4 == 2 ? a.min : NULL, .zero_after = choice / 12 % 2 };
				struct bq_dequantizer d = { .value = choice % 2 ? BQ_I8 : BQ_U8, .scale = a.scale, .zero = choice % 4 == 3 ? a.zero : NULL,
					.min = choice % 4 == 2 ? a.min : NULL, .work = works[choice % 3], .result = works[choice / 3 % 3] };

				check_encoders(&a, &q);
				check_decoders(&a, &d);
				q.zero = q.min = NULL;
				q.nan_code = choice % 5 == 4 ? 0x7E : 0;
				q.value = d.value = value;
				q.code_min = bq_dtype(value)->min;
				q.code_max = bq_dtype(value)->max;
				q.work = works[choice % 3];
				check_encoders(&a, &q);
				check_decoders(&a, &d);
				q.nan_code = 0;
				q.value = d.value = BQ_CODEBOOK;
				q.codebook_end = table_end;
				q.codebook_code = table_code;
				q.ncodebook = d.ncodebook = choice % 4 ? 2 + choice % 15 : 40;
				d.codebook = choice % 4 ? small_table : table;
				check_encoders(&a, &q);
				check_decoders(&a, &d);
				q.value = BQ_F4E2M1;
				q.ncodebook = 0;
				q.quotient = BQ_PRODUCTS;
				check_encoders(&a, &q);
				if (test_failures > 20)
					break;
			}
			check_ranges(&a, 0);
			check_ranges(&a, 1);
			discard_arrays(&a);
		}
}

int main(void)
{
	EACH_ROW_OF_KERNELS {
		ties_and_ends_round_as_each_reference_does();
		bfloat16_quotients_are_rounded_twice();
		e2m1_ties_go_to_even();
		the_extreme_is_the_first_of_the_largest();
	}
	if (!bq_kernels(BQ_SIMD128))
		return test_skipped("test_rounding", "no simd128 kernels here (SIMDe)");
	simd128_gives_the_bytes_of_scalar();
	return test_done("test_rounding");
}
