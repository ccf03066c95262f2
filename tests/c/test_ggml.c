/* SPDX-License-Identifier: MIT
 * test_ggml.c - the fused kernels of ggml's formats: ggml's own bytes (hashes made by ggml), zeros, what is
 * not finite, half steps, and decoding.
 */
#include <math.h>

#include "test_ggml.h"

static void format_hex(size_t nbytes, const uint8_t *bytes, char *text)
{
	for (size_t i = 0; i < nbytes; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
}

static float sum_of_four(uint32_t *state)
{
	int32_t sum = -131070;

	for (int i = 0; i < 4; i++)
		sum += (int32_t)(test_next(state) >> 16);
	return (float)sum * 0x1p-20f;
}

/* The three rows and the weights whose encodings ggml was asked for. */
static void fill_reference_rows(float x[3][ROW], float weights[ROW])
{
	uint32_t state = 1;

	for (int i = 0; i < ROW; i++)
		x[0][i] = sum_of_four(&state);
	for (int i = 0; i < ROW; i++)
		x[1][i] = i / 32 % 3 == 0 ? 0.0f : x[0][i];
	for (int i = 0; i < ROW; i++)
		x[2][i] = (float)((int)((test_next(&state) >> 16) % 3) - 1) * 0.375f;
	for (int i = 0; i < ROW; i++)
		weights[i] = (float)((test_next(&state) >> 20) + 1) * 0x1p-8f;
}

static void encode_gives_ggmls_bytes(uint32_t row)
{
	static float x[3][ROW], weights[ROW];

	fill_reference_rows(x, weights);
	CHECK(x[0][0] == -0x1.7b28p-7f && x[2][3] == 0.0f && weights[3] == 5.0546875f, "the generator is another");
	for (size_t f = 0; f < NFORMATS; f++) {
		const struct format *format = &formats[f];
		const size_t nblocks = ROW / layout_of(format)->block_values;

		for (int c = takes(bq_kernels(row), format, 0) ? 0 : 3; c < 6; c++) {
			uint8_t *bytes = encode_row(bq_kernels(row), format, nblocks, x[c % 3], c < 3 ? NULL : weights);
			const uint64_t hash = fnv1a(FNV1A, nblocks * layout_of(format)->block_nbytes, bytes);

			CHECK(hash == format->hashes[c], "kernels %u, %s, column %d: got %016llx, expected %016llx", (unsigned)row,
				format->name, c, (unsigned long long)hash, (unsigned long long)format->hashes[c]);
			if (c == 0 && format->first_block) {
				char text[2 * MAX_NBYTES + 1];

				format_hex(layout_of(format)->block_nbytes, bytes, text);
				CHECK(strcmp(text, format->first_block) == 0, "kernels %u, %s: got %s, expected %s", (unsigned)row,
					format->name, text, format->first_block);
			}
			free(bytes);
		}
	}
}

/* expected: hexadecimal, or null for zero bytes. Five blocks: some are in a batch of four, some are not. */
static void check_zero_block(
	uint32_t row, const struct format *format, const float *x, const float *weights, const char *expected)
{
	const struct bq_layout *layout = layout_of(format);
	uint8_t *bytes = encode_row(bq_kernels(row), format, 5, x, weights);
	char text[2 * MAX_NBYTES + 1], wanted[2 * MAX_NBYTES + 1];

	for (size_t block = 0; block < 5; block++) {
		memset(wanted, '0', 2 * layout->block_nbytes);
		wanted[2 * layout->block_nbytes] = 0;
		if (expected)
			strcpy(wanted, expected);
		if (format->signed_zero_at && bq_bits(x[block * layout->block_values]))
			wanted[2 * format->signed_zero_at] = '8';
		format_hex(layout->block_nbytes, bytes + block * layout->block_nbytes, text);
		CHECK(strcmp(text, wanted) == 0, "kernels %u, %s, block %u: got %s, expected %s", (unsigned)row, format->name,
			(unsigned)block, text, wanted);
	}
	free(bytes);
}

static void zeros_of_both_signs_encode_as_in_ggml(uint32_t row)
{
	static float x[5 * 256], weights[5 * 256];

	for (int sign = 0; sign < 3; sign++) {
		for (int i = 0; i < 5 * 256; i++) {
			x[i] = sign == 1 || (sign == 2 && i % 3) ? -0.0f : 0.0f;
			weights[i] = 1.0f;
		}
		for (size_t f = 0; f < NFORMATS; f++) {
			if (takes(bq_kernels(row), &formats[f], 0))
				check_zero_block(row, &formats[f], x, NULL, formats[f].zero_block);
			/* q8_0 does not heed the weights. */
			check_zero_block(row, &formats[f], x, weights, formats[f].weighted_zero_block);
		}
	}
}

/* The f16 fields hold what is expected (one-byte scales: NaN), every other byte is zero. */
static int is_block_of(const struct format *format, const uint8_t *block, unsigned expected)
{
	const struct bq_layout *layout = layout_of(format);
	uint8_t all[MAX_NBYTES] = { 0 };

	for (uint32_t i = 0; i < layout->halves; i++)
		bq_store16(all + layout->halves_at + 2 * i, (uint16_t)expected);
	if (layout->scattered_half) /* iq1_m: a quarter at the top of each of the last four halves */
		for (unsigned k = 0; k < 4; k++)
			bq_store16(all + 48 + 2 * k, (uint16_t)((expected >> 4 * k & 15) << 12));
	else if (!layout->halves)
		all[0] = format->nan_code;
	return memcmp(block, all, layout->block_nbytes) == 0;
}

/* One value of the third of four blocks is not finite. */
static void nonfinite_values_encode_as_stated(uint32_t row)
{
	static float x[4 * 256], weights[4 * 256];
	static const uint32_t specials[] = { 0x7FC00000, 0xFFC00001, 0x7F812345, 0x7F800000, 0xFF800000 };

	for (size_t f = 0; f < NFORMATS; f++)
		for (int s = 0; s < 5; s++)
			for (int weighted = 0; weighted < 2; weighted++) {
				const struct format *format = &formats[f];
				const struct bq_layout *layout = layout_of(format);
				const uint32_t weighting = bq_kernels(row)->fused[format->fused].weighting;
				const int heeds = weighted && weighting != BQ_UNWEIGHTED;
				const int divided = s >= 3 && format->infinity != NANS && !heeds;

				if (!takes(bq_kernels(row), format, weighted))
					continue;
				for (size_t i = 0; i < 4 * layout->block_values; i++) {
					x[i] = (float)(int)(i % 13) - 6.0f;
					weights[i] = 1.0f;
				}
				x[2 * layout->block_values + 17] = bq_float(specials[s]);

				uint8_t *bytes = encode_row(bq_kernels(row), format, 4, x, weighted ? weights : NULL);
				const uint8_t *block = bytes + 2 * layout->block_nbytes;
				const unsigned scale = bq_load16(block + layout->halves_at);
				const int negative = format->infinity == DIVIDED_BY_LOWEST && specials[s] >> 31 == 0;

				if (divided && format->infinity != UNSEEN)
					CHECK(scale == (negative ? 0xFC00 : 0x7C00), "kernels %u, %s, %08x: scale %04x", (unsigned)row,
						format->name, (unsigned)specials[s], scale);
				else if (format->infinity != UNSEEN)
					CHECK(is_block_of(format, block, 0x7E00), "kernels %u, %s, %08x, weighted %d: scale %04x",
						(unsigned)row, format->name, (unsigned)specials[s], weighted, scale);
				/* Weighted, the mean square of the row is infinite or NaN, so other blocks change too. */
				if (layout->halves && (!heeds || weighting != BQ_WEIGHTED_BY_ROW))
					CHECK((bq_load16(block - layout->block_nbytes + layout->halves_at) & 0x7C00) != 0x7C00,
						"kernels %u, %s: the block before changed too", (unsigned)row, format->name);
				free(bytes);
			}
}

/* Half away from zero in q8_0 (roundf; 0.49999997 is the largest value below a half), half up in the others. */
static void half_steps_round_as_in_ggml(uint32_t row)
{
	static const float quotients[8] = { 0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 0x1.fffffep-2f, -0x1.fffffep-2f };
	static const int away[8] = { 1, -1, 2, -2, 3, -3, 0, 0 };
	static const int up[8] = { 1, 0, 2, -1, 3, -2, 1, 0 };    /* 0.49999997 + 8.5 is 9 in float32 */
	static const float largest[] = { 127.0f, -8.0f, -16.0f }; /* for a scale of 1 */
	float x[4 * 32];

	for (size_t f = 0; f < 3; f++) {
		const struct format *format = &formats[f];

		for (int i = 0; i < 4 * 32; i++)
			x[i] = i % 32 == 8 ? largest[f] : quotients[i % 8];

		uint8_t *bytes = encode_row(bq_kernels(row), format, 4, x, NULL);
		float *values = decode_row(bq_kernels(row), format, 4, bytes);

		for (int i = 0; i < 4 * 32; i++) {
			const int expected = i % 32 == 8 ? (int)largest[f] : f == 0 ? away[i % 8] : up[i % 8];

			CHECK(values[i] == (float)expected, "kernels %u, %s, %a: got %g, expected %d", (unsigned)row, format->name,
				x[i], values[i], expected);
		}
		free(bytes);
		free(values);
	}
}

/* mxfp4 takes floor(log2f(x)) of the largest value, and log2f rounds to the next integer just below a power of two. */
static void exponents_are_those_of_log2f(uint32_t row)
{
	const struct format *mxfp4 = NULL;
	float x[4 * 32] = { 0.0f };

	for (size_t f = 0; f < NFORMATS; f++)
		if (formats[f].fused == BQ_FUSED_MXFP4)
			mxfp4 = &formats[f];
	for (int power = -148; power <= 127; power++)
		for (uint32_t steps = 0; steps < 100; steps++) {
			const float largest = bq_float(bq_bits(ldexpf(1.0f, power)) - steps);

			if (!(largest > 0.0f))
				break;

			const uint8_t expected = (uint8_t)((int)floorf((float)log2((double)largest)) + 125);

			for (int i = 0; i < 4 * 32; i += 32)
				x[i + i / 32] = i / 32 % 2 ? -largest : largest;

			uint8_t *bytes = encode_row(bq_kernels(row), mxfp4, 4, x, NULL);

			for (int block = 0; block < 4; block++)
				CHECK(bytes[17 * block] == expected, "kernels %u, block %d, %a: exponent %u, expected %u", (unsigned)row,
					block, largest, bytes[17 * block], expected);
			free(bytes);
		}
}

/* Code i of a block of 32, with its fifth bit. */
static int code_of_32(const uint8_t *codes, const uint8_t *fifth_bits, size_t i)
{
	const int low = codes[i % 16] >> (i < 16 ? 0 : 4) & 15;

	return fifth_bits ? low | (int)(bq_load32(fifth_bits) >> i & 1) << 4 : low;
}

/* q4_K, and q5_K, whose fifth bits are before the others. */
static float value_of_k32(const uint8_t *block, const uint8_t *fifth_bits, size_t i)
{
	const size_t j = i / 32;
	const uint8_t *six = block + 4, *codes = fifth_bits ? fifth_bits + 32 : block + 16;
	const int scale = j < 4 ? six[j] & 63 : (six[j + 4] & 15) | six[j - 4] >> 6 << 4;
	const int min = j < 4 ? six[j + 4] & 63 : six[j + 4] >> 4 | six[j] >> 6 << 4;
	const int low = codes[32 * (i / 64) + i % 32] >> (i % 64 < 32 ? 0 : 4) & 15;
	const int code = fifth_bits ? low | (fifth_bits[i % 32] >> j & 1) << 4 : low;

	return (bq_f32_from_f16(bq_load16(block)) * (float)scale) * (float)code -
		bq_f32_from_f16(bq_load16(block + 2)) * (float)min;
}

static int pair_of(const uint8_t *plane, size_t i)
{
	return plane[32 * (i / 128) + i % 32] >> 2 * (i % 128 / 32) & 3;
}

static float value_of_q2_k(const uint8_t *block, size_t i)
{
	return (bq_f32_from_f16(bq_load16(block + 80)) * (float)(block[i / 16] & 15)) * (float)pair_of(block + 16, i) -
		bq_f32_from_f16(bq_load16(block + 82)) * (float)(block[i / 16] >> 4);
}

static float value_of_q3_k(const uint8_t *block, size_t i)
{
	const size_t j = i / 16;
	const int low = j < 8 ? block[96 + j] & 15 : block[96 + j - 8] >> 4;
	const int scale = (low | (block[104 + j % 4] >> 2 * (j / 4) & 3) << 4) - 32;
	const int code = pair_of(block + 32, i) - (block[i % 32] >> i / 32 & 1 ? 0 : 4);

	return (bq_f32_from_f16(bq_load16(block + 108)) * (float)scale) * (float)code;
}

static float value_of_q6_k(const uint8_t *block, size_t i)
{
	const size_t half = i / 128, k = i % 128, group = k / 32;
	const uint8_t low = block[64 * half + 32 * (group & 1) + k % 32];
	const float scale = bq_f32_from_f16(bq_load16(block + 208)) * (float)(int8_t)block[192 + i / 16];

	return scale * (float)(((group < 2 ? low & 15 : low >> 4) | pair_of(block + 128, i) << 4) - 32);
}

static float value_of_tq1_0(const uint8_t *block, size_t i)
{
	static const unsigned powers[5] = { 1, 3, 9, 27, 81 };
	const size_t byte = i < 160 ? i % 32 : i < 240 ? 32 + (i - 160) % 16 : 48 + (i - 240) % 4;
	const size_t trit = i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4;

	return (float)((int)((block[byte] * powers[trit] & 255) * 3 >> 8) - 1) * bq_f32_from_f16(bq_load16(block + 52));
}

static const int8_t doubled_e2m1[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };
static const int8_t levels[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

static float value_of_nvfp4(const uint8_t *block, size_t i)
{
	const int code = block[4 + i / 16 * 8 + i % 8] >> (i % 16 < 8 ? 0 : 4) & 15;

	return (float)doubled_e2m1[code] * bq_f32_from_ggml_ue4m3(block[i / 16]);
}

static float value_of_iq4_xs(const uint8_t *block, size_t i)
{
	const size_t j = i / 32;
	const int scale = (block[4 + j / 2] >> 4 * (j % 2) & 15) | (bq_load16(block + 2) >> 2 * j & 3) << 4;

	return (bq_f32_from_f16(bq_load16(block)) * (float)(scale - 32)) *
		(float)levels[code_of_32(block + 8 + 16 * j, NULL, i % 32)];
}

/* The decoders' grids are those of the reference: FNV-1a of its iq2xxs_grid and so on, coordinate by coordinate. */
static void grids_are_ggmls(void)
{
	static const struct {
		const struct bq_iq_grid *grid;
		uint64_t hash;
		uint8_t values[8];
	} grids[] = {
		{ &bq_iq2_xxs_grid, 0xbb4ee025b5ac6e8e, { 8, 25, 43 } },
		{ &bq_iq2_xs_grid, 0xc9b1ee61e79909bd, { 8, 25, 43 } },
		{ &bq_iq2_s_grid, 0x123edd38a3b62b90, { 8, 25, 43 } },
		{ &bq_iq3_xxs_grid, 0xdfa5dc83d6a155d5, { 4, 12, 20, 28, 36, 44, 52, 62 } },
		{ &bq_iq3_s_grid, 0xfa37020c25b44829, { 1, 3, 5, 7, 9, 11, 13, 15 } },
		{ &bq_iq1_grid, 0x6703ed863501ae2e, { 255, 0, 1 } },
	};
	for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
		const size_t nbytes = (size_t)grids[g].grid->npoints * grids[g].grid->coords;
		uint8_t *points = test_buffer(nbytes, 0);

		bq_iq_spread(grids[g].grid, grids[g].values, points);
		CHECK(fnv1a(FNV1A, nbytes, points) == grids[g].hash, "grid %u: got %016llx", (unsigned)g,
			(unsigned long long)fnv1a(FNV1A, nbytes, points));
		free(points);
	}
}

static int distance_of(const struct bq_iq_grid *grid, const uint8_t *point, uint32_t combination)
{
	int sum = 0;

	for (uint32_t i = 0; i < grid->coords; i++, combination /= grid->levels) {
		const int difference = (int)point[i] - (int)(combination % grid->levels);

		sum += difference * difference;
	}
	return sum;
}

/* Whether words[1..] are the points at the least distances, in the order of distance and number; and all of them. */
static int is_list(const struct bq_iq_grid *grid, const uint8_t *points, uint32_t combination, const uint16_t *words)
{
	unsigned count = 0, shells = 0;

	for (int distance = 0; shells < grid->shells; distance++) {
		const unsigned before = count;

		for (uint32_t k = 0; k < grid->npoints; k++)
			if (distance_of(grid, points + (size_t)grid->coords * k, combination) == distance) {
				count++;
				if (count > words[0] || words[count] != k)
					return 0;
			}
		shells += count > before;
	}
	return count == words[0];
}

/* Every combination is a point or has a list; lists fill the table to its end. Every 97th list is made by hand. */
static void tables_hold_the_nearest_points(void)
{
	static const struct bq_iq_grid *const grids[] = {
		&bq_iq2_xxs_grid, &bq_iq2_xs_grid, &bq_iq2_s_grid, &bq_iq3_xxs_grid, &bq_iq3_s_grid, &bq_iq1_grid,
	};

	for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
		const struct bq_iq_grid *grid = grids[g];
		const struct bq_iq_tables tables = bq_iq_tables_in(grid, tables_of(grid));
		const uint32_t combinations = grid->coords == 8 ? 6561 : 4096;
		uint32_t used = 0, npoints = 0;

		for (uint32_t c = 0; c < combinations; c++) {
			if (tables.place[c] >= 0) {
				CHECK(tables.place[c] == (int32_t)npoints && distance_of(grid, tables.points + grid->coords * npoints, c) == 0,
					"grid %u, combination %u: point %d", (unsigned)g, (unsigned)c, (int)tables.place[c]);
				npoints++;
				continue;
			}
			CHECK(~tables.place[c] == (int32_t)used, "grid %u, combination %u: list at %d", (unsigned)g, (unsigned)c,
				(int)~tables.place[c]);
			if (c % 97 == 0)
				CHECK(is_list(grid, tables.points, c, tables.words + used), "grid %u, combination %u: another list",
					(unsigned)g, (unsigned)c);
			used += 1u + tables.words[used];
		}
		CHECK(used == grid->nwords && npoints == grid->npoints, "grid %u: %u words, %u points", (unsigned)g,
			(unsigned)used, (unsigned)npoints);
		CHECK(tables.points + grid->npoints * grid->coords == (const uint8_t *)tables_of(grid) + bq_iq_tables_nbytes(grid),
			"grid %u: the size", (unsigned)g);
	}
}

/* Coordinate c of an entry of a grid: what the decoder's table holds. */
static int grid_value(const struct bq_iq_grid *grid, unsigned point, size_t c)
{
	static const uint8_t values[3][8] = { { 8, 25, 43 }, { 4, 12, 20, 28, 36, 44, 52, 62 }, { 1, 3, 5, 7, 9, 11, 13, 15 } };
	const struct bq_iq_tables tables = bq_iq_tables_in(grid, tables_of(grid));
	const int level = tables.points[grid->coords * point + c];

	if (grid == &bq_iq1_grid)
		return level - 1;
	return values[grid == &bq_iq3_s_grid ? 2 : grid == &bq_iq3_xxs_grid][level];
}

/* The sign that 7 bits give value c of 8: the last makes their number even. */
static float sign_of(unsigned seven, size_t c)
{
	unsigned bits = 0;

	for (size_t i = 0; i < 7; i++)
		bits += seven >> i & 1;
	return (c == 7 ? bits & 1 : seven >> c & 1) ? -1.0f : 1.0f;
}

static float value_of_iq2(const struct format *format, const uint8_t *block, size_t i)
{
	const struct bq_iq_grid *grid = bq_kernels(BQ_SCALAR)->fused[format->fused].grid;
	const size_t g = i / 8;
	unsigned point = block[2 + g], scale = block[format->fused == BQ_FUSED_IQ2_XS ? 66 + g / 4 : 74 + g / 4] >> (g % 4 < 2 ? 0 : 4) & 15;
	float sign = block[34 + g] >> i % 8 & 1 ? -1.0f : 1.0f;

	if (format->fused == BQ_FUSED_IQ2_XXS) {
		const uint32_t rest = bq_load32(block + 2 + 8 * (i / 32) + 4);

		point = block[2 + 8 * (i / 32) + g % 4];
		scale = rest >> 28;
		sign = sign_of(rest >> 7 * (g % 4) & 127, i % 8);
	} else if (format->fused == BQ_FUSED_IQ2_XS) {
		point = bq_load16(block + 2 + 2 * g) & 511;
		sign = sign_of((unsigned)bq_load16(block + 2 + 2 * g) >> 9, i % 8);
	} else {
		point |= (block[66 + g / 4] >> 2 * (g % 4) & 3u) << 8;
	}
	return (((bq_f32_from_f16(bq_load16(block)) * (0.5f + (float)scale)) * 0.25f) * (float)grid_value(grid, point, i % 8)) * sign;
}

static float value_of_iq3_xxs(const uint8_t *block, size_t i)
{
	const uint32_t rest = bq_load32(block + 66 + i / 32 * 4);
	const float scale = (bq_f32_from_f16(bq_load16(block)) * (0.5f + (float)(rest >> 28))) * 0.5f;

	return (scale * (float)grid_value(&bq_iq3_xxs_grid, block[2 + i / 4], i % 4)) * sign_of(rest >> 7 * (i / 8 % 4) & 127, i % 8);
}

static float value_of_iq3_s(const uint8_t *block, size_t i)
{
	const unsigned point = block[2 + i / 4] | (block[66 + i / 32] >> i / 4 % 8 & 1u) << 8;
	const int scale = 1 + 2 * (block[106 + i / 64] >> (i % 64 < 32 ? 0 : 4) & 15);

	return ((bq_f32_from_f16(bq_load16(block)) * (float)scale) * (float)grid_value(&bq_iq3_s_grid, point, i % 4)) *
		(block[74 + i / 8] >> i % 8 & 1 ? -1.0f : 1.0f);
}

static float value_of_iq1_s(const uint8_t *block, size_t i)
{
	const unsigned rest = bq_load16(block + 34 + i / 32 * 2);
	const float scale = bq_f32_from_f16(bq_load16(block)) * (float)(2 * (rest >> 12 & 7) + 1);
	const unsigned point = block[2 + i / 8] | (rest >> 3 * (i / 8 % 4) & 7) << 8;

	return scale * ((float)grid_value(&bq_iq1_grid, point, i % 8) + (rest >> 15 ? -0.125f : 0.125f));
}

static float value_of_iq1_m(const uint8_t *block, size_t i)
{
	const unsigned upper = block[32 + i / 16] >> (i % 16 < 8 ? 0 : 4) & 15;
	const unsigned scale = (unsigned)bq_load16(block + 48 + i / 64 * 2) >> 3 * (i / 16 % 4) & 7;
	uint16_t outer = 0;

	for (unsigned k = 0; k < 4; k++)
		outer |= (uint16_t)(bq_load16(block + 48 + 2 * k) >> 12 << 4 * k);
	return (bq_f32_from_f16(outer) * (float)(2 * scale + 1)) *
		((float)grid_value(&bq_iq1_grid, block[i / 8] | (upper & 7) << 8, i % 8) + (upper & 8 ? -0.125f : 0.125f));
}

/* Value i of a block, straight from the layouts of blockquant.h. */
static float value_of(const struct format *format, const uint8_t *block, size_t i)
{
	const float scale = bq_f32_from_f16(bq_load16(block));
	const float min = bq_f32_from_f16(bq_load16(block + 2));

	switch (format->fused) {
	case BQ_FUSED_Q8_0:
		return (float)(int8_t)block[2 + i] * scale;
	case BQ_FUSED_Q4_0:
		return (float)(code_of_32(block + 2, NULL, i) - 8) * scale;
	case BQ_FUSED_Q5_0:
		return (float)(code_of_32(block + 6, block + 2, i) - 16) * scale;
	case BQ_FUSED_Q4_1:
		return (float)code_of_32(block + 4, NULL, i) * scale + min;
	case BQ_FUSED_Q5_1:
		return (float)code_of_32(block + 8, block + 4, i) * scale + min;
	case BQ_FUSED_Q4_K:
		return value_of_k32(block, NULL, i);
	case BQ_FUSED_Q5_K:
		return value_of_k32(block, block + 16, i);
	case BQ_FUSED_Q2_K:
		return value_of_q2_k(block, i);
	case BQ_FUSED_Q3_K:
		return value_of_q3_k(block, i);
	case BQ_FUSED_Q1_0:
		return block[2 + i / 8] >> i % 8 & 1 ? scale : -scale;
	case BQ_FUSED_Q2_0:
		return (float)((block[2 + i / 4] >> 2 * (i % 4) & 3) - 1) * scale;
	case BQ_FUSED_TQ1_0:
		return value_of_tq1_0(block, i);
	case BQ_FUSED_TQ2_0:
		return (float)(pair_of(block, i) - 1) * bq_f32_from_f16(bq_load16(block + 64));
	case BQ_FUSED_MXFP4:
		return (float)doubled_e2m1[code_of_32(block + 1, NULL, i)] * ldexpf(1.0f, block[0] - 128);
	case BQ_FUSED_NVFP4:
		return value_of_nvfp4(block, i);
	case BQ_FUSED_IQ4_NL:
		return scale * (float)levels[code_of_32(block + 2, NULL, i)];
	case BQ_FUSED_IQ4_XS:
		return value_of_iq4_xs(block, i);
	case BQ_FUSED_IQ2_XXS:
	case BQ_FUSED_IQ2_XS:
	case BQ_FUSED_IQ2_S:
		return value_of_iq2(format, block, i);
	case BQ_FUSED_IQ3_XXS:
		return value_of_iq3_xxs(block, i);
	case BQ_FUSED_IQ3_S:
		return value_of_iq3_s(block, i);
	case BQ_FUSED_IQ1_S:
		return value_of_iq1_s(block, i);
	case BQ_FUSED_IQ1_M:
		return value_of_iq1_m(block, i);
	default:
		return value_of_q6_k(block, i);
	}
}

static void decode_follows_the_layout(uint32_t row)
{
	uint8_t bytes[3 * MAX_NBYTES];
	uint32_t state = 3;

	for (size_t f = 0; f < NFORMATS; f++)
		for (int round = 0; round < 100; round++) {
			const struct bq_layout *layout = layout_of(&formats[f]);

			fill_bytes(&state, 3 * layout->block_nbytes, bytes);

			float *values = decode_row(bq_kernels(row), &formats[f], 3, bytes);

			for (size_t i = 0; i < 3 * layout->block_values; i++) {
				const float expected =
					value_of(&formats[f], bytes + i / layout->block_values * layout->block_nbytes,
						i % layout->block_values);
				const uint32_t bits = expected != expected ? BQ_F32_NAN : bq_bits(expected);

				CHECK(bq_bits(values[i]) == bits, "kernels %u, %s, round %d, value %u: got %08x, expected %08x",
					(unsigned)row, formats[f].name, round, (unsigned)i, (unsigned)bq_bits(values[i]), (unsigned)bits);
			}
			free(values);
		}
}

/* The reference writes what follows a sub-block of zeros too early, and wraps the exponent of tiny values; correct mends both:
 * decoded values are near the weights. */
static void correct_mends_what_ggml_has_wrong(uint32_t row)
{
	static const struct {
		uint32_t fused;
		float factor, error[2]; /* of a block of values up to 1: as ggml, correct */
	} faults[] = {
		{ BQ_FUSED_IQ3_S, 1.0f, { 0.5f, 0.35f } },
		{ BQ_FUSED_MXFP4, 0x1p-126f, { 0.5f, 0.15f } },
	};

	for (size_t n = 0; n < sizeof faults / sizeof faults[0]; n++) {
		const struct format *format = formats;
		float x[5 * 256], worst[2] = { 0 };

		while (format->fused != faults[n].fused)
			format++;

		const size_t count = 5 * layout_of(format)->block_values;

		for (size_t i = 0; i < count; i++)
			x[i] = (i / 32 % 8 == 1 ? 0.0f : 1.0f - (float)(i * 37 % 64) / 32.0f) * faults[n].factor;
		for (uint32_t correct = 0; correct < 2; correct++) {
			uint8_t *bytes = encode_row_as(bq_kernels(row), format, 5, x, NULL, correct);
			float *values = decode_row(bq_kernels(row), format, 5, bytes);

			for (size_t i = 0; i < count; i++) {
				const float error = fabsf(values[i] - x[i]) / faults[n].factor;

				worst[correct] = error > worst[correct] ? error : worst[correct];
			}
			free(bytes);
			free(values);
		}
		CHECK(worst[0] > faults[n].error[0] && worst[1] < faults[n].error[1], "kernels %u, %s: worst %g, corrected %g",
			(unsigned)row, format->name, worst[0], worst[1]);
	}
}

/* Sub-blocks whose magnitudes are all below a bound, which is each type's own, are zeros. */
static void tiny_values_are_zeros_below_the_types_bound(uint32_t row)
{
	static const struct {
		uint32_t fused;
		float bound;
	} bounds[] = {
		{ BQ_FUSED_IQ2_XXS, 1e-15f }, { BQ_FUSED_IQ2_XS, 1e-15f }, { BQ_FUSED_IQ2_S, 1e-8f }, { BQ_FUSED_IQ3_XXS, 1e-8f },
		{ BQ_FUSED_IQ1_S, 1e-12f }, { BQ_FUSED_IQ1_M, 1e-7f },
	};

	for (size_t n = 0; n < sizeof bounds / sizeof bounds[0]; n++)
		for (int above = 0; above < 2; above++) {
			const struct format *format = formats;
			const uint8_t none[MAX_NBYTES] = { 0 };
			float x[256], weights[256];

			while (format->fused != bounds[n].fused)
				format++;
			for (int i = 0; i < 256; i++) {
				x[i] = bounds[n].bound * (above ? 1.01f : 0.99f) * (i % 3 ? 1.0f : -1.0f);
				weights[i] = 1.0f;
			}

			uint8_t *bytes = encode_row(bq_kernels(row), format, 1, x, weights);

			CHECK((memcmp(bytes, none, layout_of(format)->block_nbytes) != 0) == above, "kernels %u, %s, above %d", (unsigned)row,
				format->name, above);
			free(bytes);
		}
}

/* Magnitudes whose squares, sums or distances overflow, where the reference ends or writes what it comes to: the scale NaN. */
static void values_too_large_to_search_give_nan(uint32_t row)
{
	for (size_t f = 0; f < NFORMATS; f++)
		for (int power = 17; power < 39; power++) {
			const struct format *format = &formats[f];
			float x[256], weights[256];

			if (!bq_kernels(row)->fused[format->fused].grid)
				continue;
			for (int i = 0; i < 256; i++) {
				x[i] = (float)(i * 37 % 64 - 32) / 32.0f * powf(10.0f, (float)power);
				weights[i] = 1.0f + (float)(i % 7);
			}

			uint8_t *bytes = encode_row(bq_kernels(row), format, 1, x, weights);
			const uint16_t outer = layout_of(format)->scattered_half ? layout_of(format)->scattered_half(bytes) : bq_load16(bytes);

			CHECK((outer & 0x7C00) == 0x7C00, "kernels %u, %s, 1e%d: scale %04x", (unsigned)row, format->name, power, outer);
			if (power > 18)
				CHECK(is_block_of(format, bytes, 0x7E00), "kernels %u, %s, 1e%d", (unsigned)row, format->name, power);
			free(bytes);
		}
}

int main(void)
{
	grids_are_ggmls();
	tables_hold_the_nearest_points();
	for (uint32_t row = 0; row < BQ_NKERNELS; row++) {
		if (!bq_kernels(row))
			continue;
		encode_gives_ggmls_bytes(row);
		zeros_of_both_signs_encode_as_in_ggml(row);
		nonfinite_values_encode_as_stated(row);
		half_steps_round_as_in_ggml(row);
		exponents_are_those_of_log2f(row);
		decode_follows_the_layout(row);
		correct_mends_what_ggml_has_wrong(row);
		tiny_values_are_zeros_below_the_types_bound(row);
		values_too_large_to_search_give_nan(row);
	}
	return test_done("test_ggml");
}
