/* SPDX-License-Identifier: MIT
 * ggml_search_turns.c - ggml's search where one code at a time is changed, four blocks of 16 in lanes.
 */
#include "ggml_search.h"

#define VALUES 16
#define LEVELS 4

struct turn_lanes {
	v128_t x, weight, product, code;
};

struct sums {
	v128_t product, square;
};

/* The sums of the first codes. The lanes are kept only if turns follow: 7 % of plain q3_K. */
static inline struct sums add_codes(
	const float *x, const uint8_t block[4], v128_t inverse, int keep, struct turn_lanes lanes[VALUES])
{
	const v128_t highest = bq_f32x4_splat(LEVELS - 1);
	struct sums sums = { wasm_f32x4_splat(0.0f), wasm_f32x4_splat(0.0f) };

	BQ_ROLLED
	for (int i = 0; i < VALUES; i += 4) {
		v128_t row[4];

		for (int k = 0; k < 4; k++)
			row[k] = wasm_v128_load(x + VALUES * block[k] + i);
		bq_transpose(row);
		for (int k = 0; k < 4; k++) {
			struct turn_lanes lane;

			lane.x = row[k];
			lane.weight = wasm_f32x4_mul(row[k], row[k]);
			lane.product = wasm_f32x4_mul(lane.weight, row[k]);
			/* No quotient's magnitude is above LEVELS. */
			lane.code = wasm_f32x4_pmin(wasm_f32x4_nearest(wasm_f32x4_mul(inverse, row[k])), highest);
			sums.product = wasm_f32x4_add(sums.product, wasm_f32x4_mul(lane.product, lane.code));
			sums.square = wasm_f32x4_add(sums.square, wasm_f32x4_mul(wasm_f32x4_mul(lane.weight, lane.code), lane.code));
			if (keep)
				lanes[i + k] = lane;
		}
	}
	return sums;
}

/* A value's share taken out of the sums. */
static inline struct sums sums_without(const struct turn_lanes *lane, const struct sums *sums)
{
	const v128_t code = lane->code;

	return (struct sums){ wasm_f32x4_sub(sums->product, wasm_f32x4_mul(lane->product, code)),
		wasm_f32x4_sub(sums->square, wasm_f32x4_mul(wasm_f32x4_mul(lane->weight, code), code)) };
}

/* Lanes whose code may change. Most stay: with product > 0, x * square / product rounds to the code if x * square is within
 * 0.499 product of code * product. That needs no division; 0.001 is far more than the rounding of these. Above 3.2 products
 * the highest code stays, whatever the quotient. */
static inline v128_t candidates_of(const struct turn_lanes *lane, const struct sums *sums)
{
	const struct sums others = sums_without(lane, sums);
	const v128_t scaled = wasm_f32x4_pmin(wasm_f32x4_mul(lane->x, others.square),
		wasm_f32x4_mul(others.product, bq_f32x4_splat(LEVELS - 1 + 0.2f)));
	const v128_t distance = bq_f32x4_magnitude(wasm_f32x4_sub(scaled, wasm_f32x4_mul(lane->code, others.product)));
	const v128_t stays = wasm_f32x4_lt(distance, wasm_f32x4_mul(others.product, bq_f32x4_splat(0.499f)));

	return wasm_v128_andnot(wasm_f32x4_gt(others.product, wasm_f32x4_splat(0.0f)), stays);
}

/* The code of one value, given all the others. Returns the lanes changed. */
static inline v128_t take_turn(struct turn_lanes *lane, v128_t candidates, struct sums *sums, v128_t *doubt)
{
	const struct sums others = sums_without(lane, sums);
	const v128_t quotient = wasm_f32x4_div(wasm_f32x4_mul(lane->x, others.square), others.product);
	const v128_t better = wasm_f32x4_pmax(
		wasm_f32x4_pmin(wasm_f32x4_nearest(quotient), wasm_f32x4_splat(LEVELS - 1)), wasm_f32x4_splat(-LEVELS));

	*doubt = wasm_v128_or(*doubt,
		wasm_v128_andnot(candidates, wasm_f32x4_lt(wasm_f32x4_abs(quotient), wasm_f32x4_splat(4e6f))));

	const v128_t product = wasm_f32x4_add(others.product, wasm_f32x4_mul(lane->product, better));
	const v128_t square =
		wasm_f32x4_add(others.square, wasm_f32x4_mul(wasm_f32x4_mul(lane->weight, better), better));
	const v128_t different = wasm_v128_and(candidates, wasm_f32x4_ne(better, lane->code));
	const v128_t fits = wasm_v128_and(wasm_f32x4_gt(square, wasm_f32x4_splat(0.0f)),
		wasm_f32x4_gt(wasm_f32x4_mul(wasm_f32x4_mul(product, product), sums->square),
			wasm_f32x4_mul(wasm_f32x4_mul(sums->product, sums->product), square)));
	const v128_t accepted = wasm_v128_and(different, fits);

	lane->code = wasm_v128_bitselect(better, lane->code, accepted);
	sums->product = wasm_v128_bitselect(product, sums->product, accepted);
	sums->square = wasm_v128_bitselect(square, sums->square, accepted);
	return accepted;
}

#define TOGETHER 2 /* values looked at before a branch */

static inline void take_turns(struct turn_lanes lanes[VALUES], struct sums *sums, v128_t *doubt)
{
	/* A lane without changes in a pass has none in the next either: it may go on with the others. (To end after the last
	 * change's place, not the pass, gave nothing.) */
	BQ_ROLLED
	for (int pass = 0; pass < 5; pass++) {
		v128_t changed = wasm_f32x4_splat(0.0f);

		BQ_ROLLED
		for (struct turn_lanes *some = lanes; some != lanes + VALUES; some += TOGETHER) {
			v128_t any = candidates_of(some, sums);

			for (int k = 1; k < TOGETHER; k++)
				any = wasm_v128_or(any, candidates_of(some + k, sums));
			if (!wasm_i32x4_bitmask(any))
				continue;
			BQ_ROLLED
			for (struct turn_lanes *lane = some; lane != some + TOGETHER; lane++) {
				const v128_t candidates = candidates_of(lane, sums);

				if (wasm_i32x4_bitmask(candidates))
					changed = wasm_v128_or(changed, take_turn(lane, candidates, sums, doubt));
			}
		}
		if (!wasm_v128_any_true(changed))
			break;
	}
}

int bq_search_by_turns_simd128(const float x[256], float scale[16])
{
	const v128_t zero = wasm_f32x4_splat(0.0f);
	v128_t doubt = zero;
	float largest[16], found[16];
	uint8_t order[16];
	int nnegative = 0, npositive = 0;

	for (int j = 0; j < 16; j += 4)
		wasm_v128_store(largest + j, bq_first_largest_of_four(VALUES, x + VALUES * j));

	/* If the largest value is positive, it and all others get codes of the other sign. No term of sums->product is
	 * positive then, rounding is monotone, and so no product without one of them is: no turn changes anything. The
	 * blocks where turns may are put together. */
	for (int j = 0; j < 16; j++) {
		if (largest[j] < 0.0f)
			order[nnegative++] = (uint8_t)j;
		else
			order[15 - npositive++] = (uint8_t)j;
	}

	BQ_ROLLED
	for (int j = 0; j < 16; j += 4) {
		const v128_t m = wasm_f32x4_make(
			largest[order[j]], largest[order[j + 1]], largest[order[j + 2]], largest[order[j + 3]]);
		const v128_t magnitude = bq_f32x4_magnitude(m);
		const v128_t tiny = wasm_f32x4_lt(magnitude, wasm_f32x4_splat(BQ_SEARCH_TINY));
		/* Below 1e-10 products may be subnormal, above 1e30 quotients infinite. */
		const v128_t trusted = wasm_v128_and(
			wasm_f32x4_ge(magnitude, wasm_f32x4_splat(1e-10f)), wasm_f32x4_le(magnitude, wasm_f32x4_splat(1e30f)));
		const v128_t inverse = wasm_f32x4_div(wasm_f32x4_splat(-LEVELS), m);
		struct turn_lanes lanes[VALUES];
		struct sums sums;

		if (j < nnegative) {
			sums = add_codes(x, order + j, inverse, 1, lanes);
			take_turns(lanes, &sums, &doubt);
		} else {
			sums = add_codes(x, order + j, inverse, 0, lanes);
		}
		doubt = wasm_v128_andnot(wasm_v128_or(doubt, wasm_v128_not(trusted)), tiny);
		if (wasm_v128_any_true(doubt))
			return 0;

		const v128_t kept = wasm_v128_andnot(wasm_f32x4_gt(sums.square, zero), tiny);

		wasm_v128_store(found + j, wasm_v128_and(wasm_f32x4_div(sums.product, sums.square), kept));
	}
	for (int j = 0; j < 16; j++)
		scale[order[j]] = found[j];
	return 1;
}
