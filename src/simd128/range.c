/* SPDX-License-Identifier: MIT
 * range.c - the range of each group of a row, simd128.
 */
#include "number.h"

/* The least of the four lanes. */
static v128_t least_lane(v128_t v)
{
	v = wasm_f32x4_pmin(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
	return wasm_f32x4_pmin(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
}

static v128_t most_lane(v128_t v)
{
	v = wasm_f32x4_pmax(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
	return wasm_f32x4_pmax(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
}

/* Merges whole vectors into lo, hi; NaN changes nothing. Returns whether there is one. */
static int range_of_vectors(const float *x, size_t count, float *lo, float *hi)
{
	v128_t least = wasm_v128_load32_splat(lo), most = wasm_v128_load32_splat(hi), nan = wasm_i32x4_splat(0);

	BQ_ROLLED
	for (size_t i = 0; i < count; i += 4) {
		const v128_t v = wasm_v128_load(x + i);

		least = wasm_f32x4_pmin(least, v);
		most = wasm_f32x4_pmax(most, v);
		nan = wasm_v128_or(nan, wasm_f32x4_ne(v, v));
	}
	*lo = wasm_f32x4_extract_lane(least_lane(least), 0);
	*hi = wasm_f32x4_extract_lane(most_lane(most), 0);
	return wasm_v128_any_true(nan);
}

void bq_range_simd128(const float *x, size_t count, size_t group, int skip_nan, float *lo, float *hi)
{
	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t here = count - begin < group ? count - begin : group, whole = here & ~(size_t)3;

		if (range_of_vectors(x + begin, whole, &lo[cell], &hi[cell]) && !skip_nan)
			lo[cell] = hi[cell] = bq_float(BQ_F32_NAN);
		if (whole < here)
			bq_range_scalar(x + begin + whole, here - whole, here, skip_nan, &lo[cell], &hi[cell]);
	}
}

/* The largest of the four lanes. */
static v128_t largest_lane_signed(v128_t v)
{
	v = wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
	return wasm_i32x4_max(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
}

static v128_t largest_lane_unsigned(v128_t v)
{
	v = wasm_u32x4_max(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
	return wasm_u32x4_max(v, wasm_i32x4_shuffle(v, v, 1, 0, 3, 2));
}

/* As integers the signed maximum is the largest positive value, the unsigned one the negative value of the largest
 * magnitude; where there is no such value, either is of the other sign. Only if both reach the same magnitude does it matter
 * which comes first: then scalar looks at the vectors too. */
void bq_extreme_simd128(const float *x, size_t count, size_t group, float *extreme)
{
	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		const float *values = x + begin;
		size_t here = count - begin < group ? count - begin : group, done = here & ~(size_t)3;
		v128_t most = wasm_i32x4_splat(0), least = most;
		uint32_t found, negative;

		BQ_ROLLED
		for (size_t i = 0; i < done; i += 4) {
			const v128_t v = wasm_v128_load(values + i);

			most = wasm_i32x4_max(most, v);
			least = wasm_u32x4_max(least, v);
		}
		found = (uint32_t)wasm_i32x4_extract_lane(largest_lane_signed(most), 0);
		negative = (uint32_t)wasm_i32x4_extract_lane(largest_lane_unsigned(least), 0);
		if (found == (negative & 0x7FFFFFFF) && found != negative)
			done = 0;
		else if (found < (negative & 0x7FFFFFFF))
			found = negative;
		if (done && (found & 0x7FFFFFFF) > (bq_bits(extreme[cell]) & 0x7FFFFFFF))
			extreme[cell] = bq_float((found & 0x7FFFFFFF) > BQ_F32_INFINITY ? BQ_F32_NAN : found);
		if (done < here)
			bq_extreme_scalar(values + done, here - done, here, &extreme[cell]);
	}
}
