/* SPDX-License-Identifier: MIT
 * ggml_search_positive.c - ggml's search for a scale of values that are not negative, four times in lanes.
 */
#include "ggml_search.h"

static inline v128_t weighted_error(size_t count, const v128_t *x, const v128_t *weight, v128_t inverse, v128_t top)
{
	const v128_t scale = wasm_f32x4_div(wasm_f32x4_splat(1.0f), inverse);
	v128_t sum = wasm_f32x4_splat(0.0f);

	for (size_t i = 0; i < count; i++) {
		const v128_t code = wasm_f32x4_pmin(wasm_f32x4_nearest(wasm_f32x4_mul(inverse, x[i])), top);
		const v128_t difference = wasm_f32x4_sub(x[i], wasm_f32x4_mul(scale, code));

		sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], difference), difference));
	}
	return sum;
}

v128_t bq_search_positive_scale_simd128(
	size_t count, const v128_t *x, const v128_t *weight, float top, v128_t *codes, v128_t *unsure)
{
	const v128_t zero = wasm_f32x4_splat(0.0f);
	const v128_t highest = wasm_f32x4_splat(top);
	v128_t largest = zero, negative = zero;

	for (size_t i = 0; i < count; i++) {
		largest = wasm_f32x4_pmax(largest, x[i]);
		negative = wasm_v128_or(negative, wasm_f32x4_lt(x[i], zero));
	}

	const v128_t some = wasm_f32x4_ge(largest, wasm_f32x4_splat(BQ_SEARCH_TINY));
	v128_t doubt = wasm_v128_or(negative, wasm_f32x4_gt(largest, wasm_f32x4_splat(1e30f)));
	v128_t inverse = wasm_f32x4_div(highest, largest);
	v128_t error = weighted_error(count, x, weight, inverse, highest);

	BQ_ROLLED
	for (int k = -4; k <= 4; k++) {
		if (k == 0)
			continue;

		const v128_t candidate = wasm_f32x4_div(wasm_f32x4_splat(0.1f * (float)k + top), largest);
		const v128_t candidate_error = weighted_error(count, x, weight, candidate, highest);
		const v128_t better = wasm_f32x4_lt(candidate_error, error);

		error = wasm_v128_bitselect(candidate_error, error, better);
		inverse = wasm_v128_bitselect(candidate, inverse, better);
	}

	v128_t sum_product = zero, sum_square = zero;

	for (size_t i = 0; i < count; i++) {
		codes[i] = wasm_f32x4_pmin(wasm_f32x4_nearest(wasm_f32x4_mul(inverse, x[i])), highest);
		sum_product = wasm_f32x4_add(sum_product, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], x[i]), codes[i]));
		sum_square = wasm_f32x4_add(sum_square, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], codes[i]), codes[i]));
	}

	/* A lane without changes in a pass has none in the next either: it may go on with the others. */
	BQ_ROLLED
	for (int pass = 0; pass < 5; pass++) {
		v128_t changed = zero;

		BQ_ROLLED
		for (size_t i = 0; i < count; i++) {
			const v128_t weighted_x = wasm_f32x4_mul(weight[i], x[i]);
			v128_t product = wasm_f32x4_sub(sum_product, wasm_f32x4_mul(weighted_x, codes[i]));
			v128_t square = wasm_f32x4_sub(sum_square, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], codes[i]), codes[i]));
			const v128_t active = wasm_v128_and(wasm_f32x4_gt(product, zero), wasm_f32x4_gt(square, zero));
			const v128_t quotient = wasm_f32x4_div(wasm_f32x4_mul(x[i], square), product);
			const v128_t better = wasm_f32x4_pmin(wasm_f32x4_nearest(quotient), highest);

			doubt = wasm_v128_or(doubt, wasm_v128_andnot(active, wasm_f32x4_lt(quotient, wasm_f32x4_splat(4e6f))));
			product = wasm_f32x4_add(product, wasm_f32x4_mul(weighted_x, better));
			square = wasm_f32x4_add(square, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], better), better));

			const v128_t accepted = wasm_v128_and(wasm_v128_and(active, wasm_f32x4_ne(better, codes[i])),
				wasm_f32x4_gt(wasm_f32x4_mul(wasm_f32x4_mul(product, product), sum_square),
					wasm_f32x4_mul(wasm_f32x4_mul(sum_product, sum_product), square)));

			codes[i] = wasm_v128_bitselect(better, codes[i], accepted);
			sum_product = wasm_v128_bitselect(product, sum_product, accepted);
			sum_square = wasm_v128_bitselect(square, sum_square, accepted);
			changed = wasm_v128_or(changed, accepted);
		}
		if (!wasm_v128_any_true(changed))
			break;
	}

	for (size_t i = 0; i < count; i++)
		codes[i] = wasm_v128_and(codes[i], some);
	*unsure = wasm_v128_and(doubt, wasm_v128_or(some, negative));
	return wasm_v128_and(wasm_v128_and(wasm_f32x4_div(sum_product, sum_square), wasm_f32x4_gt(sum_square, zero)), some);
}
