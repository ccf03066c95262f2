/* SPDX-License-Identifier: MIT
 * ggml_search.c - what ggml's searches for scales begin with, four blocks in lanes.
 */
#include "ggml_search.h"

v128_t bq_first_largest_of_four(size_t count, const float *x)
{
	v128_t positive[4], negative[4];

	for (int block = 0; block < 4; block++) {
		const float *values = x + count * (size_t)block;
		v128_t most = wasm_v128_load(values);
		v128_t least = most;

		/* As integers: the signed maximum is the largest positive value, the unsigned one the negative value of the
		 * largest magnitude, and NaN is above infinity. Where there is no such value, either is of the other sign. */
		for (size_t i = 4; i < count; i += 4) {
			const v128_t next = wasm_v128_load(values + i);

			most = wasm_i32x4_max(most, next);
			least = wasm_u32x4_max(least, next);
		}
		positive[block] = most;
		negative[block] = least;
	}
	bq_transpose(positive);
	bq_transpose(negative);

	const v128_t most =
		wasm_i32x4_max(wasm_i32x4_max(positive[0], positive[1]), wasm_i32x4_max(positive[2], positive[3]));
	const v128_t least =
		wasm_u32x4_max(wasm_u32x4_max(negative[0], negative[1]), wasm_u32x4_max(negative[2], negative[3]));
	const v128_t most_magnitude = bq_f32x4_magnitude(most);
	const v128_t least_magnitude = bq_f32x4_magnitude(least);
	const v128_t largest = wasm_v128_bitselect(most, least, wasm_i32x4_gt(most_magnitude, least_magnitude));
	const v128_t tie = wasm_v128_andnot(wasm_i32x4_eq(most_magnitude, least_magnitude), wasm_i32x4_eq(most, least));

	/* All zero is +0, also if all are -0. (A NaN is not changed: only zeros are masked.) */
	v128_t result = wasm_v128_and(largest, wasm_i32x4_ne(bq_f32x4_magnitude(largest), wasm_i32x4_splat(0)));

	if (wasm_v128_any_true(tie)) {
		/* Both signs reach the largest magnitude. */
		float first[4];

		wasm_v128_store(first, result);
		for (int block = 0; block < 4; block++)
			if (wasm_i32x4_bitmask(tie) >> block & 1)
				first[block] = bq_first_largest(count, x + count * (size_t)block);
		result = wasm_v128_load(first);
	}
	return result;
}

/* Value i of blocks 0 to 3, and of 4 to 7, into x and, as it is, importance into weight. */
void bq_fill_pair_lanes(size_t count, const float *x, const float *importance, struct bq_pair_lanes *lanes)
{
	for (size_t g = 0; g < 2; g++) {
		BQ_ROLLED
		for (size_t i = 0; i < count; i += 4) {
			v128_t row[4];

			for (size_t k = 0; k < 4; k++)
				row[k] = wasm_v128_load(x + (4 * g + k) * count + i);
			bq_transpose(row);
			for (size_t k = 0; k < 4; k++)
				lanes[i + k].x[g] = row[k];
			if (!importance)
				continue;
			for (size_t k = 0; k < 4; k++)
				row[k] = wasm_v128_load(importance + (4 * g + k) * count + i);
			bq_transpose(row);
			for (size_t k = 0; k < 4; k++)
				lanes[i + k].weight[g] = row[k];
		}
	}
}

void bq_weigh_pair_lanes(size_t count, float sigma, struct bq_pair_lanes *lanes)
{
	const v128_t sigmas = wasm_f32x4_splat(sigma);

	BQ_ROLLED
	for (size_t i = 0; i < count; i++)
		for (int g = 0; g < 2; g++)
			lanes[i].weight[g] = wasm_f32x4_mul(lanes[i].weight[g],
				wasm_f32x4_sqrt(wasm_f32x4_add(sigmas, wasm_f32x4_mul(lanes[i].x[g], lanes[i].x[g]))));
}

int bq_all_finite_simd128(size_t count, const float *x)
{
	const v128_t mask = bq_u32x4_splat(0x7FFFFFFF);
	v128_t most = wasm_i32x4_splat(0);

	BQ_ROLLED
	for (size_t i = 0; i < count; i += 4)
		most = wasm_i32x4_max(most, wasm_v128_and(wasm_v128_load(x + i), mask));
	return !wasm_v128_any_true(bq_f32x4_nonfinite(most));
}
