/* SPDX-License-Identifier: MIT
 * ggml_search.c - what ggml's searches for scales begin with, four blocks in lanes.
 */
#include "ggml_search.h"

v128_t bq_first_largest_in(size_t count, const float *x, const struct bq_extremes extremes[4])
{
	const struct bq_extremes of_four = bq_extremes_of_four(extremes);
	const v128_t most = of_four.positive, least = of_four.negative;
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

struct bq_ranges bq_finite_ranges_of_four(const float *x)
{
	v128_t least[4], high[4];
	struct bq_ranges ranges;

	BQ_ROLLED
	for (int block = 0; block < 4; block++, x += 32) {
		least[block] = high[block] = wasm_v128_load(x);
		BQ_ROLLED
		for (int i = 4; i < 32; i += 4) {
			least[block] = wasm_f32x4_pmin(least[block], wasm_v128_load(x + i));
			high[block] = wasm_f32x4_pmax(high[block], wasm_v128_load(x + i));
		}
	}
	bq_transpose(least);
	bq_transpose(high);
	ranges.least = wasm_f32x4_pmin(wasm_f32x4_pmin(least[0], least[1]), wasm_f32x4_pmin(least[2], least[3]));
	ranges.high = wasm_f32x4_pmax(wasm_f32x4_pmax(high[0], high[1]), wasm_f32x4_pmax(high[2], high[3]));
	return ranges;
}

v128_t bq_sums_of_squares(const float *const x[4])
{
	v128_t sum = wasm_f32x4_splat(0.0f);

	BQ_ROLLED
	for (int i = 0; i < 256; i += 4) {
		v128_t value[4];

		for (int k = 0; k < 4; k++)
			value[k] = wasm_v128_load(x[k] + i);
		bq_transpose(value);
		for (int k = 0; k < 4; k++)
			sum = wasm_f32x4_add(sum, wasm_f32x4_mul(value[k], value[k]));
	}
	return sum;
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
