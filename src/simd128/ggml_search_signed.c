/* SPDX-License-Identifier: MIT
 * ggml_search_signed.c - ggml's search for a scale of either sign, four blocks in lanes.
 */
#include "ggml_search.h"

void bq_fill_signed_lanes(
	size_t count, const float *x, const float *importance, const float *sigma, struct bq_signed_lanes *lanes)
{
	const v128_t sigmas = wasm_f32x4_splat(sigma ? *sigma : 0.0f);

	BQ_ROLLED
	for (size_t i = 0; i < count; i += 4) {
		v128_t value[4], weight[4];

		for (size_t block = 0; block < 4; block++) {
			value[block] = wasm_v128_load(x + count * block + i);
			weight[block] = wasm_f32x4_mul(value[block], value[block]);
			if (sigma)
				weight[block] = wasm_f32x4_sqrt(wasm_f32x4_add(sigmas, weight[block]));
			if (importance) {
				const v128_t own = wasm_v128_load(importance + count * block + i);

				weight[block] = sigma ? wasm_f32x4_mul(own, weight[block]) : own;
			}
		}
		bq_transpose(value);
		bq_transpose(weight);
		for (size_t k = 0; k < 4; k++) {
			lanes[i + k].x = value[k];
			lanes[i + k].weight = weight[k];
			lanes[i + k].product = wasm_f32x4_mul(weight[k], value[k]);
		}
	}
}

struct signed_sums {
	v128_t product, square;
};

/* The best so far of search A. */
struct signed_best {
	v128_t scale, score, inverse;
};

static inline void add_candidate(const struct bq_signed_lanes *lane, v128_t inverse, int clamp_low, int clamp_high,
	v128_t lowest, v128_t highest, struct signed_sums *sums)
{
	v128_t code = wasm_f32x4_nearest(wasm_f32x4_mul(inverse, lane->x));

	if (clamp_high)
		code = wasm_f32x4_pmin(code, highest);
	if (clamp_low)
		code = wasm_f32x4_pmax(code, lowest);
	sums->product = wasm_f32x4_add(sums->product, wasm_f32x4_mul(lane->product, code));
	sums->square = wasm_f32x4_add(sums->square, wasm_f32x4_mul(wasm_f32x4_mul(lane->weight, code), code));
}

static inline void accept_signed(const struct signed_sums *sums, v128_t inverse, struct signed_best *best)
{
	const v128_t better = wasm_v128_and(wasm_f32x4_gt(sums->square, wasm_f32x4_splat(0.0f)),
		wasm_f32x4_gt(wasm_f32x4_mul(sums->product, sums->product), wasm_f32x4_mul(best->score, sums->square)));

	/* Dividing only if a lane needs it gave 7 %. */
	if (wasm_v128_any_true(better)) {
		const v128_t scale = wasm_f32x4_div(sums->product, sums->square);

		best->scale = wasm_v128_bitselect(scale, best->scale, better);
		best->score = wasm_v128_bitselect(wasm_f32x4_mul(scale, sums->product), best->score, better);
		best->inverse = wasm_v128_bitselect(inverse, best->inverse, better);
	}
}

/* Candidates first, first + 1 and first + 2: three share the loads. */
static inline void try_three(const struct bq_signed_lanes *lanes, const struct bq_signed_lanes *end, v128_t largest,
	float levels, int first, int clamp_low, int clamp_high, v128_t lowest, v128_t highest, struct signed_best *best)
{
	v128_t inverse[3];
	struct signed_sums sums[3];

	for (int k = 0; k < 3; k++) {
		inverse[k] = wasm_f32x4_div(wasm_f32x4_splat(-(levels + 0.1f * (float)(first + k))), largest);
		sums[k].product = sums[k].square = wasm_f32x4_splat(0.0f);
	}
	BQ_ROLLED
	for (const struct bq_signed_lanes *lane = lanes; lane != end; lane++) {
		add_candidate(lane, inverse[0], clamp_low, clamp_high, lowest, highest, &sums[0]);
		add_candidate(lane, inverse[1], clamp_low, clamp_high, lowest, highest, &sums[1]);
		add_candidate(lane, inverse[2], clamp_low, clamp_high, lowest, highest, &sums[2]);
	}
	for (int k = 0; k < 3; k++)
		accept_signed(&sums[k], inverse[k], best);
}

v128_t bq_search_signed_scale_simd128(size_t count, const struct bq_signed_lanes *lanes, v128_t largest, float levels,
	v128_t *inverse, v128_t *unsure)
{
	const struct bq_signed_lanes *const end = lanes + count;
	const v128_t lowest = bq_f32x4_splat(-levels);
	const v128_t highest = bq_f32x4_splat(levels - 1.0f);
	const v128_t magnitude = bq_f32x4_magnitude(largest);
	struct signed_sums sums = { wasm_f32x4_splat(0.0f), wasm_f32x4_splat(0.0f) };
	struct signed_best best;

	/* Within these no code's quotient overflows; weights may be anything, as sums are compared as in scalar. */
	*unsure = wasm_v128_not(wasm_v128_and(
		wasm_f32x4_ge(magnitude, wasm_f32x4_splat(BQ_SEARCH_TINY)), wasm_f32x4_le(magnitude, wasm_f32x4_splat(1e30f))));

	best.inverse = wasm_f32x4_div(wasm_f32x4_splat(-levels), largest);
	BQ_ROLLED
	for (const struct bq_signed_lanes *lane = lanes; lane != end; lane++)
		add_candidate(lane, best.inverse, 0, 1, lowest, highest, &sums);
	best.scale =
		wasm_v128_and(wasm_f32x4_div(sums.product, sums.square), wasm_f32x4_ne(sums.square, wasm_f32x4_splat(0.0f)));
	best.score = wasm_f32x4_mul(best.scale, sums.product);

	/* Magnitudes of quotients reach levels + 0.1 k. So no code exceeds levels - 1 up to k = -6, nor is one below -levels up
	 * to k = 4; the half steps at k = -5 and k = 5 could go either way. k = 0 is done. */
	try_three(lanes, end, largest, levels, -9, 0, 0, lowest, highest, &best);
	BQ_ROLLED
	for (int k = -6; k <= 1; k += k == -3 ? 4 : 3)
		try_three(lanes, end, largest, levels, k, 0, 1, lowest, highest, &best);
	BQ_ROLLED
	for (int k = 4; k <= 7; k += 3)
		try_three(lanes, end, largest, levels, k, 1, 1, lowest, highest, &best);
	*inverse = best.inverse;
	return best.scale;
}
