/* SPDX-License-Identifier: MIT
 * ggml_search_levels.c - ggml's search for a scale of values from a table of levels, its candidates in lanes.
 *
 * Candidate k takes x * (k - 127) / largest for k = -7 .. 7: between 120 / 127 and 134 / 127 of what candidate 0 takes. The
 * levels are so far apart that a number that is between two of them for k = 0 passes no other bound than the one halfway
 * between these two (from 101 down: 101 / 1.0552 > 89 > 79 / 0.9448 and so on, with 4 to spare at least): so one comparison
 * a candidate finds the nearest level. The first candidate of all is on the other side of 0 and has a pair of its own.
 */
#include <math.h>

#include "ggml_iq4.h"

struct pair {
	float bound, low, high;
};

/* Neighbours of bq_iq4_levels, and halfway. */
static const struct pair pairs[15] = {
	{ -115.5f, -127.0f, -104.0f },
	{ -93.5f, -104.0f, -83.0f },
	{ -74.0f, -83.0f, -65.0f },
	{ -57.0f, -65.0f, -49.0f },
	{ -42.0f, -49.0f, -35.0f },
	{ -28.5f, -35.0f, -22.0f },
	{ -16.0f, -22.0f, -10.0f },
	{ -4.5f, -10.0f, 1.0f },
	{ 7.0f, 1.0f, 13.0f },
	{ 19.0f, 13.0f, 25.0f },
	{ 31.5f, 25.0f, 38.0f },
	{ 45.5f, 38.0f, 53.0f },
	{ 61.0f, 53.0f, 69.0f },
	{ 79.0f, 69.0f, 89.0f },
	{ 101.0f, 89.0f, 113.0f },
};

void bq_fill_level_places(struct bq_level_places *places)
{
	for (int i = 0, place = 0; i < 2 * BQ_REACH; i++) {
		if (place < 14 && (float)(i - BQ_REACH) >= pairs[place].high)
			place++;
		places->place[i] = (uint8_t)place;
	}
}

/* Sums of the candidates -7 to 7 (and once more 7), four to a vector, and of the first one. */
struct sums {
	v128_t product[4], square[4];
	float first_product, first_square;
};

/* x with its weight, and the places of inverse * x. */
struct element {
	float x[32], weight[32], first[32];
	uint8_t place[32], first_place[32];
};

static inline void find_places(
	float inverse, const float x[32], const struct bq_level_places *places, uint8_t place[32])
{
	int32_t index[32];

	for (int i = 0; i < 32; i += 4)
		wasm_v128_store(
			index + i, bq_i32x4_rounded(wasm_f32x4_mul(wasm_v128_load(x + i), wasm_f32x4_splat(inverse)), BQ_REACH));
	for (int i = 0; i < 32; i++)
		place[i] = places->place[index[i]];
}

static inline void weigh(const float *importance, float sigma, struct element *e)
{
	const v128_t sigmas = wasm_f32x4_splat(sigma);

	for (int i = 0; i < 32; i += 4) {
		const v128_t x = wasm_v128_load(e->x + i), square = wasm_f32x4_mul(x, x);

		wasm_v128_store(e->weight + i,
			importance ? wasm_f32x4_mul(wasm_v128_load(importance + i), wasm_f32x4_sqrt(wasm_f32x4_add(sigmas, square)))
					   : square);
	}
}

static inline void add_all(const struct element *e, const v128_t inverse[4], struct sums *sums)
{
	const v128_t zero = wasm_f32x4_splat(0.0f);

	for (int k = 0; k < 4; k++)
		sums->product[k] = sums->square[k] = zero;
	sums->first_product = sums->first_square = 0.0f;

	BQ_ROLLED
	for (int i = 0; i < 32; i++) {
		const struct pair *const pair = &pairs[e->place[i]], *const first = &pairs[e->first_place[i]];
		const v128_t x = wasm_v128_load32_splat(e->x + i), weight = wasm_v128_load32_splat(e->weight + i);
		const v128_t bound = wasm_v128_load32_splat(&pair->bound), high = wasm_v128_load32_splat(&pair->high);
		const v128_t change = wasm_v128_xor(wasm_v128_load32_splat(&pair->low), high);

		for (int k = 0; k < 4; k++) {
			/* bq_opaque: LLVM 14 makes a bitselect with 0, three instructions, of an and with a comparison. */
			const v128_t below = bq_opaque(wasm_f32x4_lt(wasm_f32x4_mul(inverse[k], x), bound));
			const v128_t level = wasm_v128_xor(high, wasm_v128_and(below, change));
			const v128_t weighted = wasm_f32x4_mul(weight, level);

			sums->product[k] = wasm_f32x4_add(sums->product[k], wasm_f32x4_mul(weighted, x));
			sums->square[k] = wasm_f32x4_add(sums->square[k], wasm_f32x4_mul(weighted, level));
		}

		const float level = e->first[i] < first->bound ? first->low : first->high;

		sums->first_product += (e->weight[i] * level) * e->x[i];
		sums->first_square += (e->weight[i] * level) * level;
	}
}

static float best_of(const struct sums *sums)
{
	float product[16], square[16];
	float scale = sums->first_square > 0.0f ? sums->first_product / sums->first_square : 0.0f;
	float best = scale * sums->first_product;

	for (int k = 0; k < 4; k++) {
		wasm_v128_store(product + 4 * k, sums->product[k]);
		wasm_v128_store(square + 4 * k, sums->square[k]);
	}
	for (int k = 0; k < 15; k++)
		if (square[k] > 0.0f && product[k] * product[k] > best * square[k]) {
			scale = product[k] / square[k];
			best = scale * product[k];
		}
	return scale;
}

/* bq_first_largest, as in bq_first_largest_of_four. */
static float first_largest(const float x[32])
{
	v128_t most = wasm_v128_load(x), least = most;

	for (int i = 4; i < 32; i += 4) {
		most = wasm_i32x4_max(most, wasm_v128_load(x + i));
		least = wasm_u32x4_max(least, wasm_v128_load(x + i));
	}
	most = wasm_i32x4_max(most, wasm_i32x4_shuffle(most, most, 2, 3, 0, 1));
	least = wasm_u32x4_max(least, wasm_i32x4_shuffle(least, least, 2, 3, 0, 1));

	const uint32_t positive = (uint32_t)wasm_i32x4_extract_lane(
		wasm_i32x4_max(most, wasm_i32x4_shuffle(most, most, 1, 0, 3, 2)), 0);
	const uint32_t negative = (uint32_t)wasm_i32x4_extract_lane(
		wasm_u32x4_max(least, wasm_i32x4_shuffle(least, least, 1, 0, 3, 2)), 0);

	if (positive << 1 == negative << 1 && positive != negative)
		return bq_first_largest(32, x); /* both signs reach the largest magnitude */
	return bq_float(positive << 1 > negative << 1 ? positive : negative);
}

float bq_search_levels_simd128(
	const float x[32], const float *importance, float sigma, const struct bq_level_places *places)
{
	const float largest = first_largest(x);
	const v128_t divisor = wasm_f32x4_splat(largest);
	v128_t inverse[4];
	struct element e;
	struct sums sums;

	/* Within these no quotient overflows or loses bits. */
	if (!(fabsf(largest) >= BQ_SEARCH_TINY && fabsf(largest) <= 1e30f))
		return bq_search_levels(x, importance, sigma);

	const float first = 1.0f / (-largest / -127.0f);

	inverse[0] = wasm_f32x4_div(wasm_f32x4_make(-134.0f, -133.0f, -132.0f, -131.0f), divisor);
	inverse[1] = wasm_f32x4_div(wasm_f32x4_make(-130.0f, -129.0f, -128.0f, -127.0f), divisor);
	inverse[2] = wasm_f32x4_div(wasm_f32x4_make(-126.0f, -125.0f, -124.0f, -123.0f), divisor);
	inverse[3] = wasm_f32x4_div(wasm_f32x4_make(-122.0f, -121.0f, -120.0f, -120.0f), divisor);
	memcpy(e.x, x, sizeof e.x);
	weigh(importance, sigma, &e);
	for (int i = 0; i < 32; i += 4)
		wasm_v128_store(e.first + i, wasm_f32x4_mul(wasm_f32x4_splat(first), wasm_v128_load(x + i)));
	find_places(-127.0f / largest, x, places, e.place);
	find_places(first, x, places, e.first_place);
	add_all(&e, inverse, &sums);
	return best_of(&sums);
}

void bq_store_levels_simd128(const float x[32], float scale, uint8_t out[16])
{
	const v128_t inverse = wasm_f32x4_splat(scale != 0.0f ? 1.0f / scale : 0.0f);
	v128_t codes[2];

	for (int half = 0; half < 2; half++) {
		v128_t value[4], code[4];

		for (int k = 0; k < 4; k++) {
			value[k] = wasm_f32x4_mul(inverse, wasm_v128_load(x + 16 * half + 4 * k));
			code[k] = wasm_i32x4_splat(15);
		}
		/* Less one for each bound that the value is below: a NaN is below none. */
		BQ_ROLLED
		for (int b = 0; b < 15; b++) {
			const v128_t bound = wasm_v128_load32_splat(&pairs[b].bound);

			for (int k = 0; k < 4; k++)
				code[k] = wasm_i32x4_add(code[k], wasm_f32x4_lt(value[k], bound));
		}
		codes[half] = bq_u8x16_from_i32(code);
	}
	wasm_v128_store(out, bq_join_nibbles(codes[0], codes[1]));
}
