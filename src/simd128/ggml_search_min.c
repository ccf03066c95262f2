/* SPDX-License-Identifier: MIT
 * ggml_search_min.c - ggml's search for a scale and a min, eight blocks in the lanes of two vectors, two times.
 *
 * Loops stay rolled and go along one array of structs: unrolled they spill, and separate arrays cost an address each
 * (measured under V8: 179 Melem/s rolled, 142 unrolled by four).
 */
#include "ggml_search.h"

struct fit_sums {
	v128_t code[2], square[2], product[2];
};

/* The codes of a candidate and the sums for the least squares. */
static inline void add_codes(const struct bq_pairs *pairs, const v128_t inverse[2], const v128_t low[2], int clamp_low,
	int clamp_high, v128_t top, struct fit_sums *sums)
{
	const v128_t inverse0 = inverse[0], inverse1 = inverse[1], low0 = low[0], low1 = low[1];
	v128_t code0 = wasm_f32x4_splat(0.0f), code1 = code0, square0 = code0, square1 = code0, product0 = code0,
		   product1 = code0;

	BQ_ROLLED
	for (struct bq_pair_lanes *lane = pairs->lanes; lane != pairs->end; lane++) {
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

/* absolute: of the differences, not of their squares. */
static inline void sum_errors(
	const struct bq_pairs *pairs, int absolute, const v128_t scale[2], const v128_t low[2], v128_t error[2])
{
	const v128_t scale0 = scale[0], scale1 = scale[1], low0 = low[0], low1 = low[1];
	v128_t error0 = wasm_f32x4_splat(0.0f), error1 = error0;

	BQ_ROLLED
	for (const struct bq_pair_lanes *lane = pairs->lanes; lane != pairs->end; lane++) {
		const v128_t difference0 =
			wasm_f32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(scale0, lane->code[0]), low0), lane->x[0]);
		const v128_t difference1 =
			wasm_f32x4_sub(wasm_f32x4_add(wasm_f32x4_mul(scale1, lane->code[1]), low1), lane->x[1]);
		const v128_t size0 = absolute ? wasm_f32x4_abs(difference0) : wasm_f32x4_mul(difference0, difference0);
		const v128_t size1 = absolute ? wasm_f32x4_abs(difference1) : wasm_f32x4_mul(difference1, difference1);

		error0 = wasm_f32x4_add(error0, wasm_f32x4_mul(lane->weight[0], size0));
		error1 = wasm_f32x4_add(error1, wasm_f32x4_mul(lane->weight[1], size1));
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

static inline void begin_fit(
	const struct bq_pairs *pairs, int absolute, v128_t top, struct fit *fit, v128_t sum_weight[2])
{
	const struct bq_pair_lanes *const first = pairs->lanes;
	const v128_t zero = wasm_f32x4_splat(0.0f);

	for (int g = 0; g < 2; g++) {
		v128_t least = first->x[g], high = least, sum = first->weight[g], sum_x = wasm_f32x4_mul(sum, least);

		BQ_ROLLED
		for (const struct bq_pair_lanes *lane = first + 1; lane != pairs->end; lane++) {
			const v128_t x = lane->x[g], weight = lane->weight[g];

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
	add_codes(pairs, fit->inverse, fit->low, 0, 0, top, &unused);
	sum_errors(pairs, absolute, fit->scale, fit->low, fit->error);
}

/* Codes and sums of the candidate whose largest code is about reach. */
static inline void try_codes(
	const struct bq_pairs *pairs, v128_t reach, int clamp_high, v128_t top, struct fit *fit, struct fit_sums *sums)
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
			add_codes(pairs, fit->inverse, fit->low, 1, 1, top, sums);
		else
			add_codes(pairs, fit->inverse, fit->low, 1, 0, top, sums);
	} else {
		if (clamp_high)
			add_codes(pairs, fit->inverse, fit->low, 0, 1, top, sums);
		else
			add_codes(pairs, fit->inverse, fit->low, 0, 0, top, sums);
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

static inline void accept_fit(const struct bq_pairs *pairs, int absolute, struct fit *fit)
{
	v128_t error[2];

	sum_errors(pairs, absolute, fit->candidate_scale, fit->candidate_low, error);
	for (int g = 0; g < 2; g++) {
		const v128_t better = wasm_v128_and(wasm_f32x4_lt(error[g], fit->error[g]), fit->valid[g]);

		fit->error[g] = wasm_v128_bitselect(error[g], fit->error[g], better);
		fit->scale[g] = wasm_v128_bitselect(fit->candidate_scale[g], fit->scale[g], better);
		fit->best_inverse[g] = wasm_v128_bitselect(fit->inverse[g], fit->best_inverse[g], better);
		fit->best_start[g] = wasm_v128_bitselect(fit->low[g], fit->best_start[g], better);
		fit->low[g] = wasm_v128_bitselect(fit->candidate_low[g], fit->low[g], better);
	}
}

static inline void search(const struct bq_pairs pairs[2], int absolute, float top, const struct bq_search_steps *steps,
	struct bq_scales_and_mins found[2])
{
	const v128_t highest = bq_f32x4_splat(top);
	struct fit fit[2];
	struct fit_sums sums[2];

	for (int s = 0; s < 2; s++)
		begin_fit(&pairs[s], absolute, highest, &fit[s], found[s].sum_weight);

	for (int k = 0; k <= steps->last; k++) {
		const float shift = steps->first + steps->step * (float)k;
		const v128_t reach = wasm_f32x4_splat(shift + top);
		const int clamp_high = shift > 0.49f; /* else the largest quotient rounds to top at most */

		BQ_ROLLED
		for (int s = 0; s < 2; s++)
			try_codes(&pairs[s], reach, clamp_high, highest, &fit[s], &sums[s]);
		solve(&sums[0], found[0].sum_weight, &fit[0]);
		solve(&sums[1], found[1].sum_weight, &fit[1]);
		BQ_ROLLED
		for (int s = 0; s < 2; s++)
			accept_fit(&pairs[s], absolute, &fit[s]);
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

void bq_search_scale_and_min_simd128(const struct bq_pairs pairs[2], float top, const struct bq_search_steps *steps,
	struct bq_scales_and_mins found[2])
{
	if (steps->absolute)
		search(pairs, 1, top, steps, found);
	else
		search(pairs, 0, top, steps, found);
}
