/* SPDX-License-Identifier: MIT
 * ggml_search.c - ggml's searches for scales, four blocks in lanes. scalar/ggml_search.c is what they mean.
 *
 * Loops stay rolled and go along one array of structs: unrolled they spill, and separate arrays cost an address each
 * (measured under V8: 179 Melem/s rolled, 142 unrolled by four).
 */
#include "ggml_search.h"

v128_t bq_first_largest_of_four(const float *x)
{
	v128_t positive[4], negative[4];

	for (int block = 0; block < 4; block++) {
		const float *values = x + 32 * block;
		v128_t most = wasm_v128_load(values);
		v128_t least = most;

		/* As integers: the signed maximum is the largest positive value, the unsigned one the negative value of the
		 * largest magnitude, and NaN is above infinity. Where there is no such value, either is of the other sign. */
		for (int i = 4; i < 32; i += 4) {
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
				first[block] = bq_first_largest(32, x + 32 * block);
		result = wasm_v128_load(first);
	}
	return result;
}

struct fit_sums {
	v128_t code[2], square[2], product[2];
};

/* The codes of a candidate and the sums for the least squares. */
static inline void add_codes(struct bq_pair_lanes *lanes, const v128_t inverse[2], const v128_t low[2], int clamp_low,
	int clamp_high, v128_t top, struct fit_sums *sums)
{
	const v128_t inverse0 = inverse[0], inverse1 = inverse[1], low0 = low[0], low1 = low[1];
	v128_t code0 = wasm_f32x4_splat(0.0f), code1 = code0, square0 = code0, square1 = code0, product0 = code0,
		   product1 = code0;

	BQ_ROLLED
	for (struct bq_pair_lanes *lane = lanes; lane != lanes + 32; lane++) {
		v128_t code = wasm_f32x4_nearest(wasm_f32x4_mul(inverse0, wasm_f32x4_sub(lane->x[0], low0)));

		if (clamp_high)
			code = wasm_f32x4_pmin(code, top);
		if (clamp_low)
			code = wasm_f32x4_pmax(code, wasm_f32x4_splat(0.0f));
		lane->code[0] = code;

		v128_t weighted = wasm_f32x4_mul(lane->weight[0], code);

		code0 = wasm_f32x4_add(code0, weighted);
		square0 = wasm_f32x4_add(square0, wasm_f32x4_mul(weighted, code));
		product0 = wasm_f32x4_add(product0, wasm_f32x4_mul(weighted, lane->x[0]));

		code = wasm_f32x4_nearest(wasm_f32x4_mul(inverse1, wasm_f32x4_sub(lane->x[1], low1)));
		if (clamp_high)
			code = wasm_f32x4_pmin(code, top);
		if (clamp_low)
			code = wasm_f32x4_pmax(code, wasm_f32x4_splat(0.0f));
		lane->code[1] = code;
		weighted = wasm_f32x4_mul(lane->weight[1], code);
		code1 = wasm_f32x4_add(code1, weighted);
		square1 = wasm_f32x4_add(square1, wasm_f32x4_mul(weighted, code));
		product1 = wasm_f32x4_add(product1, wasm_f32x4_mul(weighted, lane->x[1]));
	}
	sums->code[0] = code0;
	sums->code[1] = code1;
	sums->square[0] = square0;
	sums->square[1] = square1;
	sums->product[0] = product0;
	sums->product[1] = product1;
}

static inline void sum_errors(
	const struct bq_pair_lanes *lanes, const v128_t scale[2], const v128_t low[2], v128_t error[2])
{
	const v128_t scale0 = scale[0], scale1 = scale[1], low0 = low[0], low1 = low[1];
	v128_t error0 = wasm_f32x4_splat(0.0f), error1 = error0;

	BQ_ROLLED
	for (const struct bq_pair_lanes *lane = lanes; lane != lanes + 32; lane++) {
		const v128_t difference0 =
			wasm_f32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(scale0, lane->code[0]), low0), lane->x[0]);
		const v128_t difference1 =
			wasm_f32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(scale1, lane->code[1]), low1), lane->x[1]);

		error0 = wasm_f32x4_add(error0, wasm_f32x4_mul(lane->weight[0], wasm_f32x4_mul(difference0, difference0)));
		error1 = wasm_f32x4_add(error1, wasm_f32x4_mul(lane->weight[1], wasm_f32x4_mul(difference1, difference1)));
	}
	error[0] = error0;
	error[1] = error1;
}

/* Where search C stands in eight sub-blocks. */
struct fit {
	v128_t least[2], high[2], min_range[2];
	v128_t constant[2]; /* all ones: the sub-block has one value only, negative or zero */
	v128_t trusted[2];
	v128_t sum_x[2], error[2];
	v128_t scale[2], low[2];               /* the best so far */
	v128_t best_inverse[2], best_start[2]; /* and what its codes were made with */
	v128_t inverse[2];                     /* of the candidate */
	v128_t candidate_scale[2], candidate_low[2], valid[2];
};

static void begin_fit(struct bq_pair_lanes *lanes, v128_t top, struct fit *fit, v128_t sum_weight[2])
{
	const v128_t zero = wasm_f32x4_splat(0.0f);

	for (int g = 0; g < 2; g++) {
		v128_t least = lanes[0].x[g], high = least, sum = lanes[0].weight[g], sum_x = wasm_f32x4_mul(sum, least);

		BQ_ROLLED
		for (int i = 1; i < 32; i++) {
			const v128_t x = lanes[i].x[g], weight = lanes[i].weight[g];

			least = wasm_f32x4_pmin(least, x);
			high = wasm_f32x4_pmax(high, x);
			sum = wasm_f32x4_add(sum, weight);
			sum_x = wasm_f32x4_add(sum_x, wasm_f32x4_mul(weight, x));
		}
		sum_weight[g] = sum;
		fit->sum_x[g] = sum_x;
		fit->least[g] = least;
		fit->high[g] = high;
		fit->low[g] = wasm_f32x4_pmin(least, zero);

		const v128_t range = wasm_f32x4_sub(high, fit->low[g]);

		/* Ranges from which no quotient below leaves |x| < 2^22: the range never gets smaller than a 1024th of the first
		 * one (try_fit), so that none exceeds (top + 1) * 2049. A NaN or infinity in x or in a weight is in their sum. */
		fit->constant[g] = wasm_f32x4_eq(high, fit->low[g]);
		fit->trusted[g] = wasm_v128_and(wasm_v128_and(wasm_f32x4_ge(range, wasm_f32x4_splat(1e-30f)),
											wasm_f32x4_le(range, wasm_f32x4_splat(1e30f))),
			wasm_v128_not(bq_f32x4_nonfinite(sum)));
		fit->trusted[g] = wasm_v128_or(fit->trusted[g], wasm_v128_andnot(fit->constant[g], bq_f32x4_nonfinite(sum)));
		fit->min_range[g] = wasm_f32x4_mul(range, wasm_f32x4_splat(1.0f / 1024.0f));
		fit->inverse[g] = wasm_f32x4_div(top, range);
		fit->scale[g] = wasm_f32x4_div(wasm_f32x4_splat(1.0f), fit->inverse[g]);
		fit->best_inverse[g] = fit->inverse[g];
		fit->best_start[g] = fit->low[g];
	}

	struct fit_sums unused;

	/* From the least value to the largest: no code needs clamping. */
	add_codes(lanes, fit->inverse, fit->low, 0, 0, top, &unused);
	sum_errors(lanes, fit->scale, fit->low, fit->error);
}

/* Codes and sums of the candidate whose largest code is about reach. */
static inline void try_codes(
	struct bq_pair_lanes *lanes, v128_t reach, int clamp_high, v128_t top, struct fit *fit, struct fit_sums *sums)
{
	v128_t negative = wasm_f32x4_splat(0.0f);

	for (int g = 0; g < 2; g++) {
		const v128_t range = wasm_f32x4_sub(fit->high[g], fit->low[g]);

		fit->trusted[g] = wasm_v128_and(fit->trusted[g],
			wasm_v128_or(fit->constant[g],
				wasm_v128_and(wasm_f32x4_ge(range, fit->min_range[g]), wasm_f32x4_le(range, wasm_f32x4_splat(1e35f)))));
		fit->inverse[g] = wasm_f32x4_div(reach, range);
		negative = wasm_v128_or(negative,
			wasm_f32x4_lt(
				wasm_f32x4_mul(fit->inverse[g], wasm_f32x4_sub(fit->least[g], fit->low[g])), wasm_f32x4_splat(-0.49f)));
	}
	/* Rounding is monotone, so if the least value's quotient does not round below 0, none does: true in 80 % of steps. */
	if (wasm_v128_any_true(negative)) {
		if (clamp_high)
			add_codes(lanes, fit->inverse, fit->low, 1, 1, top, sums);
		else
			add_codes(lanes, fit->inverse, fit->low, 1, 0, top, sums);
	} else {
		if (clamp_high)
			add_codes(lanes, fit->inverse, fit->low, 0, 1, top, sums);
		else
			add_codes(lanes, fit->inverse, fit->low, 0, 0, top, sums);
	}
}

static inline void solve(const struct fit_sums *sums, const v128_t sum_weight[2], struct fit *fit)
{
	for (int g = 0; g < 2; g++) {
		const v128_t determinant = wasm_f32x4_sub(
			wasm_f32x4_mul(sum_weight[g], sums->square[g]), wasm_f32x4_mul(sums->code[g], sums->code[g]));
		const v128_t scale = wasm_f32x4_div(wasm_f32x4_sub(wasm_f32x4_mul(sum_weight[g], sums->product[g]),
												wasm_f32x4_mul(fit->sum_x[g], sums->code[g])),
			determinant);
		const v128_t low = wasm_f32x4_div(wasm_f32x4_sub(wasm_f32x4_mul(sums->square[g], fit->sum_x[g]),
											  wasm_f32x4_mul(sums->code[g], sums->product[g])),
			determinant);
		const v128_t above = wasm_f32x4_gt(low, wasm_f32x4_splat(0.0f));

		fit->valid[g] = wasm_f32x4_gt(determinant, wasm_f32x4_splat(0.0f));
		fit->candidate_low[g] = wasm_v128_andnot(low, above);
		fit->candidate_scale[g] = wasm_v128_bitselect(wasm_f32x4_div(sums->product[g], sums->square[g]), scale, above);
	}
}

static inline void accept_fit(const struct bq_pair_lanes *lanes, struct fit *fit)
{
	v128_t error[2];

	sum_errors(lanes, fit->candidate_scale, fit->candidate_low, error);
	for (int g = 0; g < 2; g++) {
		const v128_t better = wasm_v128_and(wasm_f32x4_lt(error[g], fit->error[g]), fit->valid[g]);

		fit->error[g] = wasm_v128_bitselect(error[g], fit->error[g], better);
		fit->scale[g] = wasm_v128_bitselect(fit->candidate_scale[g], fit->scale[g], better);
		fit->best_inverse[g] = wasm_v128_bitselect(fit->inverse[g], fit->best_inverse[g], better);
		fit->best_start[g] = wasm_v128_bitselect(fit->low[g], fit->best_start[g], better);
		fit->low[g] = wasm_v128_bitselect(fit->candidate_low[g], fit->low[g], better);
	}
}

void bq_search_scale_and_min_simd128(struct bq_pair_lanes lanes[2][32], float top, const struct bq_search_steps *steps,
	struct bq_scales_and_mins found[2])
{
	const v128_t highest = bq_f32x4_splat(top);
	struct fit fit[2];
	struct fit_sums sums[2];

	for (int s = 0; s < 2; s++)
		begin_fit(lanes[s], highest, &fit[s], found[s].sum_weight);

	for (int k = 0; k <= steps->last; k++) {
		const float shift = steps->first + steps->step * (float)k;
		const v128_t reach = wasm_f32x4_splat(shift + top);
		const int clamp_high = shift > 0.49f; /* else the largest quotient rounds to top at most */

		BQ_ROLLED
		for (int s = 0; s < 2; s++)
			try_codes(lanes[s], reach, clamp_high, highest, &fit[s], &sums[s]);
		solve(&sums[0], found[0].sum_weight, &fit[0]);
		solve(&sums[1], found[1].sum_weight, &fit[1]);
		BQ_ROLLED
		for (int s = 0; s < 2; s++)
			accept_fit(lanes[s], &fit[s]);
	}

	for (int s = 0; s < 2; s++) {
		for (int g = 0; g < 2; g++) {
			/* One value only: scale 0, codes 0. */
			found[s].scale[g] = wasm_v128_andnot(fit[s].scale[g], fit[s].constant[g]);
			found[s].inverse[g] = wasm_v128_andnot(fit[s].best_inverse[g], fit[s].constant[g]);
			found[s].min[g] = wasm_f32x4_neg(fit[s].low[g]);
			found[s].low[g] = fit[s].best_start[g];
		}
		found[s].unsure = !wasm_i32x4_all_true(wasm_v128_and(fit[s].trusted[0], fit[s].trusted[1]));
	}
}

static inline v128_t weighted_error(const v128_t x[8], const v128_t weight[8], v128_t inverse, v128_t top)
{
	const v128_t scale = wasm_f32x4_div(wasm_f32x4_splat(1.0f), inverse);
	v128_t sum = wasm_f32x4_splat(0.0f);

	for (int i = 0; i < 8; i++) {
		const v128_t code = wasm_f32x4_pmin(wasm_f32x4_nearest(wasm_f32x4_mul(inverse, x[i])), top);
		const v128_t difference = wasm_f32x4_sub(x[i], wasm_f32x4_mul(scale, code));

		sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], difference), difference));
	}
	return sum;
}

v128_t bq_search_positive_scale_simd128(
	const v128_t x[8], const v128_t weight[8], float top, v128_t codes[8], v128_t *unsure)
{
	const v128_t zero = wasm_f32x4_splat(0.0f);
	const v128_t highest = wasm_f32x4_splat(top);
	v128_t largest = zero, negative = zero;

	for (int i = 0; i < 8; i++) {
		largest = wasm_f32x4_pmax(largest, x[i]);
		negative = wasm_v128_or(negative, wasm_f32x4_lt(x[i], zero));
	}

	const v128_t some = wasm_f32x4_ge(largest, wasm_f32x4_splat(BQ_SEARCH_TINY));
	v128_t doubt = wasm_v128_or(negative, wasm_f32x4_gt(largest, wasm_f32x4_splat(1e30f)));
	v128_t inverse = wasm_f32x4_div(highest, largest);
	v128_t error = weighted_error(x, weight, inverse, highest);

	BQ_ROLLED
	for (int k = -4; k <= 4; k++) {
		if (k == 0)
			continue;

		const v128_t candidate = wasm_f32x4_div(wasm_f32x4_splat(0.1f * (float)k + top), largest);
		const v128_t candidate_error = weighted_error(x, weight, candidate, highest);
		const v128_t better = wasm_f32x4_lt(candidate_error, error);

		error = wasm_v128_bitselect(candidate_error, error, better);
		inverse = wasm_v128_bitselect(candidate, inverse, better);
	}

	v128_t sum_product = zero, sum_square = zero;

	for (int i = 0; i < 8; i++) {
		codes[i] = wasm_f32x4_pmin(wasm_f32x4_nearest(wasm_f32x4_mul(inverse, x[i])), highest);
		sum_product = wasm_f32x4_add(sum_product, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], x[i]), codes[i]));
		sum_square = wasm_f32x4_add(sum_square, wasm_f32x4_mul(wasm_f32x4_mul(weight[i], codes[i]), codes[i]));
	}

	/* A lane without changes in a pass has none in the next either: it may go on with the others. */
	BQ_ROLLED
	for (int pass = 0; pass < 5; pass++) {
		v128_t changed = zero;

		BQ_ROLLED
		for (int i = 0; i < 8; i++) {
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

	for (int i = 0; i < 8; i++)
		codes[i] = wasm_v128_and(codes[i], some);
	*unsure = wasm_v128_and(doubt, wasm_v128_or(some, negative));
	return wasm_v128_and(wasm_v128_and(wasm_f32x4_div(sum_product, sum_square), wasm_f32x4_gt(sum_square, zero)), some);
}
