/* SPDX-License-Identifier: MIT
 * test_ggml.c - the fused kernels of ggml's formats: ggml's own bytes (hashes made by ggml), and simd128 against scalar.
 */
#include <math.h>

#include "kernels.h"
#include "number.h"
#include "test.h"

#define NFORMATS (sizeof formats / sizeof formats[0])
#define ROW 2048

struct format {
	const char *name;
	uint32_t fused;
	size_t values, nbytes;                                      /* of a block */
	uint64_t hashes[6];                                         /* X0, X1, X2 plain, then weighted */
	const char *first_block, *zero_block, *weighted_zero_block; /* null: see the test */
};

static const struct format formats[] = {
	{ "q8_0", BQ_FUSED_Q8_0, 32, 34,
		{ 0xbf45aa4aa381eef2, 0x525a0101a2cc9f25, 0x2135aa961fbaf3b9, 0xbf45aa4aa381eef2, 0x525a0101a2cc9f25,
			0x2135aa961fbaf3b9 },
		"3311eee7be3f2881ec0c19672dd0ee0494fee9405515ed1a59b523ccb60d214d3088", NULL, NULL },
	{ "q4_0", BQ_FUSED_Q4_0, 32, 18,
		{ 0xc6760e70193e353c, 0x9fd6928143924d03, 0x41abeab9bbda1776, 0x7b7475dd2b51c15f, 0x306211a80ecd6d3c,
			0xc25bd15c4aa4df97 },
		"292177c6d49c7aa0e739aa5e3b95a7d8b108", "008088888888888888888888888888888888", NULL },
	{ "q5_0", BQ_FUSED_Q5_0, 32, 22,
		{ 0xfe8a2789c6ab0d1d, 0x0e46133a686790e2, 0xddf6a0086a0c9c66, 0x71e3a8aad98d17d9, 0xb1232f86b5710d47,
			0xa77703468cab2dfb },
		"291d98a76e79de8db838e530be72439d762a4ea06210", "0080ffffffff00000000000000000000000000000000", NULL },
	{ "q4_k", BQ_FUSED_Q4_K, 256, 144,
		{ 0x5a704efa50378d20, 0x42a1ab8251283a43, 0x19777c2cc88088d0, 0x112c8bc6bccf0a9d, 0xc088848015545662,
			0x19777c2cc88088d0 },
		NULL, NULL, NULL },
};

static float mean_square(size_t count, const float *x)
{
	float sum = 0.0f;

	for (size_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum / (float)count;
}

/* Encodes one row; the buffers end with their last value and byte. The caller frees the bytes. */
static uint8_t *encode_row(const struct bq_kernels *kernels, const struct format *format, size_t nblocks,
	const float *x, const float *importance)
{
	const size_t count = nblocks * format->values;
	float *values = test_buffer(count * sizeof *values, 0);
	float *weights = test_buffer(count * sizeof *weights, 0);
	uint8_t *bytes = test_buffer(nblocks * format->nbytes, 0xA5);

	memcpy(values, x, count * sizeof *values);
	if (importance)
		memcpy(weights, importance, count * sizeof *weights);
	kernels->fused[format->fused].encode(
		values, importance ? weights : NULL, importance ? mean_square(count, x) : 0.0f, nblocks, bytes);
	free(values);
	free(weights);
	return bytes;
}

static float *decode_row(
	const struct bq_kernels *kernels, const struct format *format, size_t nblocks, const uint8_t *in)
{
	uint8_t *bytes = test_buffer(nblocks * format->nbytes, 0);
	float *values = test_buffer(nblocks * format->values * sizeof *values, 0xA5);

	memcpy(bytes, in, nblocks * format->nbytes);
	kernels->fused[format->fused].decode(bytes, nblocks, values);
	free(bytes);
	return values;
}

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
		const size_t nblocks = ROW / format->values;

		for (int c = 0; c < 6; c++) {
			uint8_t *bytes = encode_row(bq_kernels(row), format, nblocks, x[c % 3], c < 3 ? NULL : weights);
			const uint64_t hash = fnv1a(nblocks * format->nbytes, bytes);

			CHECK(hash == format->hashes[c], "kernels %u, %s, column %d: got %016llx, expected %016llx", (unsigned)row,
				format->name, c, (unsigned long long)hash, (unsigned long long)format->hashes[c]);
			if (c == 0 && format->first_block) {
				char text[2 * 34 + 1];

				format_hex(format->nbytes, bytes, text);
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
	uint8_t *bytes = encode_row(bq_kernels(row), format, 5, x, weights);
	char text[2 * 144 + 1], zeros[2 * 144 + 1];

	memset(zeros, '0', 2 * format->nbytes);
	zeros[2 * format->nbytes] = 0;
	for (int block = 0; block < 5; block++) {
		format_hex(format->nbytes, bytes + block * format->nbytes, text);
		CHECK(strcmp(text, expected ? expected : zeros) == 0, "kernels %u, %s, block %d: got %s", (unsigned)row,
			format->name, block, text);
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

/* What becomes of a NaN or an infinity in one block is stated in scalar/ggml_search.h and in these bytes. */
static void nonfinite_values_encode_as_stated(uint32_t row)
{
	static float x[4 * 256], weights[4 * 256];
	static const uint32_t specials[] = { 0x7FC00000, 0xFFC00001, 0x7F812345, 0x7F800000, 0xFF800000 };

	for (size_t f = 0; f < NFORMATS; f++) {
		const struct format *format = &formats[f];
		const int is_super = format->values == 256;

		for (int s = 0; s < 5; s++)
			for (int weighted = 0; weighted < 2; weighted++) {
				const int is_nan = s < 3;
				const int ignores = format->fused == BQ_FUSED_Q8_0; /* the weights */
				const size_t at = 2 * format->values + 17;

				for (size_t i = 0; i < 4 * format->values; i++) {
					x[i] = (float)(int)(i % 13) - 6.0f;
					weights[i] = 1.0f;
				}
				x[at] = bq_float(specials[s]);

				uint8_t *bytes = encode_row(bq_kernels(row), format, 4, x, weighted ? weights : NULL);
				const uint8_t *block = bytes + 2 * format->nbytes;
				const unsigned scale = bq_load16(block);
				unsigned expected = 0x7E00;

				/* Plain, an infinity is divided as any other value: d = -inf / levels or inf / 127. */
				if (!is_nan && !is_super && (!weighted || ignores))
					expected = !ignores && specials[s] >> 31 == 0 ? 0xFC00 : 0x7C00;
				CHECK(scale == expected, "kernels %u, %s, %08x, weighted %d: scale %04x, expected %04x", (unsigned)row,
					format->name, (unsigned)specials[s], weighted, scale, expected);
				for (size_t i = 2; expected == 0x7E00 && i < format->nbytes; i++)
					CHECK(block[i] == (is_super && (i == 3) ? 0x7E : 0),
						"kernels %u, %s, %08x, weighted %d: byte %u is %02x", (unsigned)row, format->name,
						(unsigned)specials[s], weighted, (unsigned)i, block[i]);
				if (!is_super)
					CHECK(bq_load16(bytes + format->nbytes) < 0x7C00 || bq_load16(bytes + format->nbytes) > 0x7E00 ||
							(weighted && !ignores),
						"kernels %u, %s: the block before changed too", (unsigned)row, format->name);
				free(bytes);
			}
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

enum {
	GAUSSIAN,
	TIES,
	SAME,
	ZEROS,
	SUBNORMAL,
	TINY,
	HUGE_VALUES,
	NONFINITE,
	HALF_STEPS,
	WIDE,
	BOTH_EXTREMES,
	SPARSE,
	POSITIVE,
	NEGATIVE,
	BITS,
	NDISTRIBUTIONS
};

static float power_of_ten(uint32_t *state, float low, float high)
{
	const float exponent = low + (high - low) * (float)(test_next(state) >> 8) * 0x1p-24f;

	return powf(10.0f, exponent) * (test_next(state) >> 31 ? -1.0f : 1.0f);
}

/* block_value: one random normal number per block of 32. */
static float draw(int distribution, uint32_t *state, size_t i, float block_value)
{
	switch (distribution) {
	case TIES:
		return (float)((int)(test_next(state) >> 16) % 3 - 1) * 0.375f;
	case SAME:
		return block_value;
	case ZEROS:
		return test_next(state) >> 31 ? -0.0f : 0.0f;
	case SUBNORMAL:
		return bq_float((test_next(state) & 0x80000000) | test_next(state) >> (9 + (i / 64) % 22));
	case TINY:
		return power_of_ten(state, -38.0f, -30.0f);
	case HUGE_VALUES:
		return power_of_ten(state, 30.0f, 38.5f);
	case NONFINITE:
		if (test_next(state) >> 24 == 0)
			return bq_float(test_next(state) | (test_next(state) >> 31 ? 0x7F800000 : 0x7FC00000));
		if (test_next(state) >> 24 == 1)
			return test_next(state) >> 31 ? -INFINITY : INFINITY;
		return test_normal(state);
	case HALF_STEPS:
		return ((float)(int)((test_next(state) >> 16) % 17) - 8.0f) * (i / 32 % 2 ? 0.5f : 0.0625f * block_value);
	case WIDE:
		return power_of_ten(state, -20.0f, 20.0f);
	case BOTH_EXTREMES:
		return (test_next(state) >> 28 == 0 ? (test_next(state) >> 31 ? 1.0f : -1.0f) : 0.3f * test_normal(state));
	case SPARSE:
		return test_next(state) >> 28 == 0 ? 100.0f * test_normal(state) : 0.0f;
	case POSITIVE:
		return 3.0f + test_normal(state) * 0.25f;
	case NEGATIVE:
		return -3.0f + block_value + test_normal(state) * 0.001f;
	case BITS:
		return bq_float(test_next(state) ^ test_next(state) >> 16);
	default:
		return test_normal(state);
	}
}

static float draw_weight(int kind, uint32_t *state, size_t i)
{
	switch (kind) {
	case 0:
		return (float)((test_next(state) >> 20) + 1) * 0x1p-8f;
	case 1: /* with zeros, in some places nothing else */
		return i / 64 % 3 == 0 || test_next(state) >> 31 ? 0.0f : (float)(test_next(state) >> 20);
	case 2:
		return power_of_ten(state, -20.0f, 20.0f);
	default:
		return test_next(state) >> 24 == 0 ? bq_float(test_next(state) | 0x7F800000) : fabsf(test_normal(state));
	}
}

/* Rows of 1 to 9 blocks, over and over until there are nblocks. */
static void check_same_bytes(const struct format *format, int distribution, int weighting, size_t nblocks)
{
	static float x[9 * 256], weights[9 * 256];
	const uint32_t seed = (uint32_t)(distribution * 64 + weighting * 4 + 1);
	uint32_t state = seed;

	for (size_t done = 0, row = 0; done < nblocks; row++) {
		const size_t length = 1 + row % 9;
		float block_value = 0.0f;

		for (size_t i = 0; i < length * format->values; i++) {
			if (i % 32 == 0)
				block_value = test_normal(&state);
			x[i] = draw(distribution, &state, i, block_value);
			weights[i] = weighting ? draw_weight(weighting - 1, &state, i) : 0.0f;
		}

		uint8_t *expected = encode_row(bq_kernels(BQ_SCALAR), format, length, x, weighting ? weights : NULL);
		uint8_t *got = encode_row(bq_kernels(BQ_SIMD128), format, length, x, weighting ? weights : NULL);

		for (size_t i = 0; i < length * format->nbytes; i++)
			if (got[i] != expected[i]) {
				CHECK(got[i] == expected[i],
					"%s, distribution %d, weighting %d, seed %u, row %u of %u blocks, block %u, byte %u: got %02x, "
					"expected %02x",
					format->name, distribution, weighting, (unsigned)seed, (unsigned)row, (unsigned)length,
					(unsigned)(i / format->nbytes), (unsigned)(i % format->nbytes), got[i], expected[i]);
				break;
			}
		free(expected);
		free(got);
		done += length;
	}
}

static void simd128_encodes_the_bytes_of_scalar(void)
{
	for (size_t f = 0; f < NFORMATS; f++)
		for (int distribution = 0; distribution < NDISTRIBUTIONS; distribution++)
			for (int weighting = 0; weighting <= 4; weighting++) /* 20,000 blocks plain, 20,000 weighted */
				check_same_bytes(&formats[f], distribution, weighting, weighting ? 340 : 1350);
}

static void fill_bytes(uint32_t *state, size_t nbytes, uint8_t *bytes)
{
	for (size_t i = 0; i < nbytes; i++)
		bytes[i] = (uint8_t)(test_next(state) >> 24);
}

static void simd128_decodes_the_floats_of_scalar(void)
{
	static uint8_t bytes[9 * 144];
	uint32_t state = 7;

	for (size_t f = 0; f < NFORMATS; f++)
		for (size_t done = 0, row = 0; done < 20000; row++) {
			const size_t length = 1 + row % 9, count = length * formats[f].values;

			fill_bytes(&state, length * formats[f].nbytes, bytes);
			if (row % 4 ==
				0) /* NaN and infinite scales are one in 32 of the random ones; more of the block's minimum */
				bq_store16(bytes + 2, (uint16_t)(0x7C00 | (row & 0x83FF)));

			float *expected = decode_row(bq_kernels(BQ_SCALAR), &formats[f], length, bytes);
			float *got = decode_row(bq_kernels(BQ_SIMD128), &formats[f], length, bytes);

			for (size_t i = 0; i < count; i++)
				if (bq_bits(got[i]) != bq_bits(expected[i])) {
					CHECK(bq_bits(got[i]) == bq_bits(expected[i]), "%s, row %u, value %u: got %08x, expected %08x",
						formats[f].name, (unsigned)row, (unsigned)i, (unsigned)bq_bits(got[i]),
						(unsigned)bq_bits(expected[i]));
					break;
				}
			free(expected);
			free(got);
			done += length;
		}
}

/* Value i of a block, straight from the layouts of blockquant.h. */
static float value_of(const struct format *format, const uint8_t *block, size_t i)
{
	const float scale = bq_f32_from_f16(bq_load16(block));
	const size_t j = i / 32;

	switch (format->fused) {
	case BQ_FUSED_Q8_0:
		return (float)(int8_t)block[2 + i] * scale;
	case BQ_FUSED_Q4_0:
		return (float)((block[2 + i % 16] >> (i < 16 ? 0 : 4) & 15) - 8) * scale;
	case BQ_FUSED_Q5_0:
		return (float)(((block[6 + i % 16] >> (i < 16 ? 0 : 4) & 15) | (int)(bq_load32(block + 2) >> i & 1) << 4) -
				   16) *
			scale;
	default: {
		const float outer_min = bq_f32_from_f16(bq_load16(block + 2));
		const uint8_t *six = block + 4;
		const int inner_scale = j < 4 ? six[j] & 63 : (six[j + 4] & 15) | six[j - 4] >> 6 << 4;
		const int min = j < 4 ? six[j + 4] & 63 : six[j + 4] >> 4 | six[j] >> 6 << 4;
		const int code = block[16 + 32 * (i / 64) + i % 32] >> (i % 64 < 32 ? 0 : 4) & 15;

		return (scale * (float)inner_scale) * (float)code - outer_min * (float)min;
	}
	}
}

static void decode_follows_the_layout(uint32_t row)
{
	uint8_t bytes[3 * 144];
	uint32_t state = 3;

	for (size_t f = 0; f < NFORMATS; f++)
		for (int round = 0; round < 100; round++) {
			fill_bytes(&state, 3 * formats[f].nbytes, bytes);

			float *values = decode_row(bq_kernels(row), &formats[f], 3, bytes);

			for (size_t i = 0; i < 3 * formats[f].values; i++) {
				const float expected =
					value_of(&formats[f], bytes + i / formats[f].values * formats[f].nbytes, i % formats[f].values);
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
		decode_follows_the_layout(row);
	}
	if (bq_kernels(BQ_SIMD128)) {
		simd128_encodes_the_bytes_of_scalar();
		simd128_decodes_the_floats_of_scalar();
	}
	return test_done("test_ggml");
}
