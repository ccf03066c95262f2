/* SPDX-License-Identifier: MIT
 * test_ggml.c - the fused kernels of ggml's formats: ggml's own bytes (hashes made by ggml), zeros, what is
 * not finite, half steps, and decoding.
 */
#include <math.h>

#include "test_ggml.h"

static uint64_t fnv1a(size_t nbytes, const uint8_t *bytes)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < nbytes; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

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

		for (int c = 0; c < 6; c++) {
			uint8_t *bytes = encode_row(bq_kernels(row), format, nblocks, x[c % 3], c < 3 ? NULL : weights);
			const uint64_t hash = fnv1a(nblocks * layout_of(format)->block_nbytes, bytes);

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
	if (!layout->halves)
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

int main(void)
{
	for (uint32_t row = 0; row < BQ_NKERNELS; row++) {
		if (!bq_kernels(row))
			continue;
		encode_gives_ggmls_bytes(row);
		zeros_of_both_signs_encode_as_in_ggml(row);
		nonfinite_values_encode_as_stated(row);
		half_steps_round_as_in_ggml(row);
		exponents_are_those_of_log2f(row);
		decode_follows_the_layout(row);
	}
	return test_done("test_ggml");
}
