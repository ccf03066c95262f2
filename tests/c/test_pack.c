/* SPDX-License-Identifier: MIT
 * test_pack.c - codes to bits and back: the words and nibbles of compressed-tensors (its behaviour, sections 5.1, 5.2, 11.1
 * and 11.2 of our study of it), every width against its definition bit by bit, simd128 against scalar.
 */
#include "kernels.h"
#include "test.h"

#define MOST 100
#define ALIGNMENTS 3

static size_t words_nbytes(size_t count, unsigned bits)
{
	return (count * bits + 31) / 32 * 4;
}

/* The input or output of a kernel at an odd place: it ends where its allocation ends. */
static uint8_t *place(uint8_t *buffer, size_t alignment)
{
	return buffer + alignment;
}

static int same_fill(const uint8_t *buffer, size_t alignment)
{
	for (size_t i = 0; i < alignment; i++)
		if (buffer[i] != 0xA5)
			return 0;
	return 1;
}

/* The caller frees the result, whose first byte is at `alignment`. */
static uint8_t *packed(const struct bq_kernels *row, const uint8_t *codes, size_t count, unsigned bits, unsigned offset,
	size_t alignment)
{
	uint8_t *in = test_buffer(alignment + count, 0xA5);
	uint8_t *out = test_buffer(alignment + words_nbytes(count, bits), 0xA5);

	memcpy(place(in, alignment), codes, count);
	row->pack_words(place(in, alignment), count, bits, offset, place(out, alignment));
	CHECK(!memcmp(place(in, alignment), codes, count), "%u bits, %zu codes: the input changed", bits, count);
	CHECK(same_fill(out, alignment), "%u bits, %zu codes: a byte before the output changed", bits, count);
	free(in);
	return out;
}

static uint8_t *unpacked(const struct bq_kernels *row, const uint8_t *words, size_t count, unsigned bits,
	unsigned offset, size_t alignment)
{
	uint8_t *in = test_buffer(alignment + words_nbytes(count, bits), 0xA5);
	uint8_t *out = test_buffer(alignment + count, 0xA5);

	memcpy(place(in, alignment), words, words_nbytes(count, bits));
	row->unpack_words(place(in, alignment), count, bits, offset, place(out, alignment));
	CHECK(same_fill(out, alignment), "%u bits, %zu codes: a byte before the output changed", bits, count);
	free(in);
	return out;
}

struct vector {
	unsigned bits, count;
	int8_t codes[33];
	uint32_t words[8];
};

/* 33 codes: all of a width, upward from the least, over and over (count 0: they are filled in); then what the
 * reference was asked for by hand, the last lines down the rows of a matrix (its packed_dim 0). */
static const struct vector vectors[] = {
	{ 1, 0, { 0 }, { 0xAAAAAAAA, 0 } },
	{ 2, 0, { 0 }, { 0xE4E4E4E4, 0xE4E4E4E4, 0 } },
	{ 3, 0, { 0 }, { 0x88FAC688, 0xC688FAC6, 0xFAC688FA, 0 } },
	{ 4, 0, { 0 }, { 0x76543210, 0xFEDCBA98, 0x76543210, 0xFEDCBA98, 0 } },
	{ 5, 0, { 0 }, { 0x8A418820, 0xC5A92839, 0xCA307B9A, 0x38BDAB49, 0xFFBBCDEB, 0 } },
	{ 6, 0, { 0 }, { 0x440C2040, 0xA2481C61, 0x3CE34C2C, 0x544D2450, 0xA6585D65, 0x7DE75C6D, 0x00000020 } },
	{ 7, 0, { 0 }, { 0x40608080, 0x880E1828, 0x68C16284, 0x88901E38, 0x58A94264, 0x668C982E, 0x3E78E9C3, 0x00000020 } },
	{ 8, 32, { -128, -127, -126, -125, -124, -123, -122, -121, -120, -119, -118, -117, -116, -115, -114, -113, -112, -111,
		-110, -109, -108, -107, -106, -105, -104, -103, -102, -101, -100, -99, -98, -97 },
		{ 0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C, 0x13121110, 0x17161514, 0x1B1A1918, 0x1F1E1D1C } },
	{ 8, 1, { -96 }, { 0x00000020 } },
	{ 4, 2, { 1, 2 }, { 0x000000A9 } }, { 4, 2, { 3, 4 }, { 0x000000CB } },
	{ 8, 2, { 1, 2 }, { 0x00008281 } }, { 8, 2, { 3, 4 }, { 0x00008483 } },
	{ 3, 2, { 1, 2 }, { 0x00000035 } },
	{ 4, 8, { 1, 2, 3, 4, 5, 6, 7, 0 }, { 0x8FEDCBA9 } }, { 4, 8, { -1, -2, -3, -4, -5, -6, -7, -8 }, { 0x01234567 } },
	{ 8, 8, { 10, 15, 20, 25, 30, 35, 40, 45 }, { 0x99948F8A, 0xADA8A39E } },
	{ 8, 8, { -10, -20, -30, -40, -50, -60, -70, -80 }, { 0x58626C76, 0x303A444E } },
	{ 4, 2, { 1, 3 }, { 0x000000B9 } }, { 4, 2, { 2, 4 }, { 0x000000CA } },
	{ 4, 2, { 1, -1 }, { 0x00000079 } }, { 4, 2, { 7, -7 }, { 0x0000001F } }, { 4, 2, { 0, -8 }, { 0x00000008 } },
	{ 4, 10, { -5, -4, -3, -2, -1, 0, 1, 2, 3, 4 }, { 0xA9876543, 0x000000CB } },
	{ 4, 10, { 5, 4, 3, 2, 1, 0, -1, -2, -3, -4 }, { 0x6789ABCD, 0x00000045 } },
	{ 3, 11, { -4, -4, -3, -2, -1, 0, 1, 2, 3, 3, 3 }, { 0xFFD63440, 0x00000001 } },
};

static struct vector filled(const struct vector *vector)
{
	struct vector result = *vector;

	if (!result.count) {
		result.count = 33;
		for (int i = 0; i < 33; i++)
			result.codes[i] = (int8_t)(i % (1 << result.bits) - (1 << (result.bits - 1)));
	}
	return result;
}

static void words_are_those_of_the_reference(const struct bq_kernels *row)
{
	for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
		const struct vector vector = filled(&vectors[v]);
		const unsigned offset = 1u << (vector.bits - 1);
		const size_t nwords = words_nbytes(vector.count, vector.bits) / 4;
		uint8_t *bytes = packed(row, (const uint8_t *)vector.codes, vector.count, vector.bits, offset, 0);
		uint8_t *codes = unpacked(row, bytes, vector.count, vector.bits, offset, 0);

		for (size_t w = 0; w < nwords; w++) {
			const uint8_t *at = bytes + 4 * w;
			const uint32_t got = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

			CHECK(got == vector.words[w], "vector %zu, word %zu: got %08x, expected %08x", v, w, (unsigned)got,
				(unsigned)vector.words[w]);
		}
		CHECK(!memcmp(codes, vector.codes, vector.count), "vector %zu does not come back", v);
		free(bytes);
		free(codes);
	}
}

/* Bit b of value i is bit i * bits + b of the stream; bits after the last value are 0. */
static void check_bits(const uint8_t *codes, size_t count, unsigned bits, unsigned offset, const uint8_t *stream)
{
	for (size_t at = 0; at < 8 * words_nbytes(count, bits); at++) {
		const size_t i = at / bits;
		const unsigned expected = i < count ? (codes[i] + offset) >> at % bits & 1 : 0;

		if ((stream[at / 8] >> at % 8 & 1u) != expected) {
			CHECK(0, "%u bits, offset %u, %zu codes: bit %zu is not %u", bits, offset, count, at, expected);
			return;
		}
	}
}

static void every_width_and_count_is_a_bit_stream(const struct bq_kernels *row)
{
	uint32_t state = 1;
	uint8_t codes[MOST];

	for (unsigned bits = 1; bits <= 8; bits++)
		for (unsigned is_signed = 0; is_signed < 2; is_signed++)
			for (size_t count = 0; count <= MOST; count++) {
				const unsigned offset = is_signed ? 1u << (bits - 1) : 0;
				const size_t alignment = count % ALIGNMENTS;

				for (size_t i = 0; i < count; i++) /* fields from 0, or codes from -offset */
					codes[i] = (uint8_t)((test_next(&state) >> (32 - bits)) - offset);

				uint8_t *bytes = packed(row, codes, count, bits, offset, alignment);
				uint8_t *back = unpacked(row, place(bytes, alignment), count, bits, offset, alignment);

				check_bits(codes, count, bits, offset, place(bytes, alignment));
				CHECK(!memcmp(place(back, alignment), codes, count), "%u bits, offset %u, %zu codes do not come back",
					bits, offset, count);
				free(bytes);
				free(back);
			}
}

static void unpacking_ignores_the_padding(const struct bq_kernels *row)
{
	uint8_t words[4 * 8], expected[33];

	for (unsigned bits = 1; bits <= 8; bits++)
		for (size_t count = 1; count <= 33; count++) {
			const size_t nbytes = words_nbytes(count, bits);

			if (nbytes > sizeof words)
				continue;
			memset(words, 0xFF, nbytes);
			memset(expected, (int)(uint8_t)((1u << bits) - 1), count);

			uint8_t *codes = unpacked(row, words, count, bits, 0, 0);

			CHECK(!memcmp(codes, expected, count), "%u bits, %zu codes", bits, count);
			free(codes);
		}
}

struct nibbles {
	float values[8]; /* of E2M1, for the reader */
	uint8_t codes[8], bytes[4];
};

static const struct nibbles nibble_vectors[] = {
	{ { -.5f, -6, -.5f, -1.5f, -1, 6, 0, -0.0f }, { 9, 15, 9, 11, 10, 7, 0, 8 }, { 0xF9, 0xB9, 0x7A, 0x80 } },
	{ { -1, -6, -.5f, -0.0f, .5f, .5f, -0.0f, 0 }, { 10, 15, 9, 8, 1, 1, 8, 0 }, { 0xFA, 0x89, 0x11, 0x08 } },
	{ { -3, -6, -.5f, -2, -.5f, -1.5f, -0.0f, -0.0f }, { 13, 15, 9, 12, 9, 11, 8, 8 }, { 0xFD, 0xC9, 0xB9, 0x88 } },
	{ { 1.5f, 6, -0.0f, -.5f, 1, 1, -0.0f, 0 }, { 3, 7, 8, 9, 2, 2, 8, 0 }, { 0x73, 0x98, 0x22, 0x08 } },
};

static void nibbles_are_those_of_the_reference(const struct bq_kernels *row)
{
	for (size_t v = 0; v < sizeof nibble_vectors / sizeof *nibble_vectors; v++) {
		const struct nibbles *vector = &nibble_vectors[v];
		uint8_t codes[8], bytes[4];
		float values[8];

		row->from_f32[BQ_F4E2M1](vector->values, 8, codes);
		CHECK(!memcmp(codes, vector->codes, 8), "vector %zu: the codes of its values are others", v);
		row->pack_nibbles(codes, 8, bytes);
		CHECK(!memcmp(bytes, vector->bytes, 4), "vector %zu: got %02x %02x %02x %02x", v, bytes[0], bytes[1], bytes[2],
			bytes[3]);
		row->unpack_nibbles(bytes, 8, codes);
		CHECK(!memcmp(codes, vector->codes, 8), "vector %zu does not come back", v);
		row->to_f32[BQ_F4E2M1](codes, 8, values);
		CHECK(!memcmp(values, vector->values, sizeof values), "vector %zu: other values", v);
	}
}

static void even_places_are_the_low_nibbles(const struct bq_kernels *row)
{
	uint32_t state = 2;
	uint8_t codes[MOST];

	for (size_t count = 0; count <= MOST; count += 2) {
		const size_t alignment = count / 2 % ALIGNMENTS;
		uint8_t *in = test_buffer(alignment + count, 0xA5);
		uint8_t *bytes = test_buffer(alignment + count / 2, 0xA5);
		uint8_t *back = test_buffer(alignment + count, 0xA5);

		for (size_t i = 0; i < count; i++)
			codes[i] = (uint8_t)(test_next(&state) >> 28);
		memcpy(place(in, alignment), codes, count);
		row->pack_nibbles(place(in, alignment), count, place(bytes, alignment));
		row->unpack_nibbles(place(bytes, alignment), count, place(back, alignment));
		for (size_t i = 0; i < count; i++)
			CHECK((place(bytes, alignment)[i / 2] >> (i % 2 ? 4 : 0) & 15) == codes[i], "%zu codes, code %zu", count, i);
		CHECK(!memcmp(place(back, alignment), codes, count), "%zu codes do not come back", count);
		CHECK(same_fill(bytes, alignment) && same_fill(back, alignment), "%zu codes: a byte before changed", count);
		free(in);
		free(bytes);
		free(back);
	}
}

/* Four codes of 6 bits: the little-endian word c0 | c1 << 6 | c2 << 12 | c3 << 18 (section A). */
static void sixes_are_words_of_three_bytes(const struct bq_kernels *row)
{
	static const uint8_t four[4] = { 0x01, 0x3F, 0x20, 0x15 }, three[3] = { 0xC1, 0x0F, 0x56 };
	uint32_t state = 4;
	uint8_t codes[MOST];

	for (size_t count = 0; count <= MOST; count += 4) {
		const size_t alignment = count / 4 % ALIGNMENTS;
		uint8_t *in = test_buffer(alignment + count, 0xA5);
		uint8_t *bytes = test_buffer(alignment + count / 4 * 3, 0xA5);
		uint8_t *back = test_buffer(alignment + count, 0xA5);

		for (size_t i = 0; i < count; i++)
			codes[i] = i < 4 ? four[i] : (uint8_t)(test_next(&state) >> 26);
		memcpy(place(in, alignment), codes, count);
		row->pack_sixes(place(in, alignment), count, place(bytes, alignment));
		row->unpack_sixes(place(bytes, alignment), count, place(back, alignment));
		CHECK(!count || !memcmp(place(bytes, alignment), three, 3), "%zu codes: got %02x %02x %02x", count,
			place(bytes, alignment)[0], place(bytes, alignment)[1], place(bytes, alignment)[2]);
		for (size_t bit = 0; bit < 6 * count; bit++)
			CHECK((place(bytes, alignment)[bit / 8] >> bit % 8 & 1) == (codes[bit / 6] >> bit % 6 & 1), "%zu codes, bit %zu",
				count, bit);
		CHECK(!memcmp(place(back, alignment), codes, count), "%zu codes do not come back", count);
		CHECK(same_fill(bytes, alignment) && same_fill(back, alignment), "%zu codes: a byte before changed", count);
		free(in);
		free(bytes);
		free(back);
	}
}

/* Whatever the codes are: what exceeds the width is cut off. (The reference would change the neighbour: 9 at 4 bits makes
 * 17. No encoder of ours makes such codes.) */
static void simd128_gives_the_bytes_of_scalar(void)
{
	const struct bq_kernels *scalar = bq_kernels(BQ_SCALAR), *simd128 = bq_kernels(BQ_SIMD128);
	uint32_t state = 3;
	uint8_t codes[MOST], bytes[2][MOST], values[2][MOST];

	for (unsigned bits = 1; bits <= 8; bits++)
		for (size_t count = 0; count <= MOST; count++) {
			const unsigned offset = count % 3 ? 1u << (bits - 1) : 0;

			for (size_t i = 0; i < count; i++)
				codes[i] = (uint8_t)(test_next(&state) >> 24);

			uint8_t *expected = packed(scalar, codes, count, bits, offset, 0);
			uint8_t *got = packed(simd128, codes, count, bits, offset, 0);

			CHECK(!memcmp(expected, got, words_nbytes(count, bits)), "%u bits, %zu codes: packed", bits, count);
			check_bits(codes, count, bits, offset, expected);
			free(got);
			got = unpacked(simd128, expected, count, bits, offset, 0);

			uint8_t *plain = unpacked(scalar, expected, count, bits, offset, 0);

			CHECK(!memcmp(plain, got, count), "%u bits, %zu codes: unpacked", bits, count);
			free(plain);
			free(got);
			free(expected);
		}
	for (size_t count = 0; count <= MOST; count += 2) {
		for (size_t i = 0; i < count; i++)
			codes[i] = (uint8_t)(test_next(&state) >> 24);
		scalar->pack_nibbles(codes, count, bytes[0]);
		simd128->pack_nibbles(codes, count, bytes[1]);
		CHECK(!memcmp(bytes[0], bytes[1], count / 2), "%zu nibbles: packed", count);
		scalar->unpack_nibbles(codes, count, values[0]);
		simd128->unpack_nibbles(codes, count, values[1]);
		CHECK(!memcmp(values[0], values[1], count), "%zu nibbles: unpacked", count);
		if (count % 4)
			continue;
		scalar->pack_sixes(codes, count, bytes[0]);
		simd128->pack_sixes(codes, count, bytes[1]);
		CHECK(!memcmp(bytes[0], bytes[1], count / 4 * 3), "%zu sixes: packed", count);
		scalar->unpack_sixes(codes, count, values[0]);
		simd128->unpack_sixes(codes, count, values[1]);
		CHECK(!memcmp(values[0], values[1], count), "%zu sixes: unpacked", count);
	}
}

int main(void)
{
	for (uint32_t id = 0; id < BQ_NKERNELS; id++) {
		const struct bq_kernels *row = bq_kernels(id);

		if (!row)
			continue;
		words_are_those_of_the_reference(row);
		every_width_and_count_is_a_bit_stream(row);
		unpacking_ignores_the_padding(row);
		nibbles_are_those_of_the_reference(row);
		even_places_are_the_low_nibbles(row);
		sixes_are_words_of_three_bytes(row);
	}
	if (!bq_kernels(BQ_SIMD128))
		return test_skipped("test_pack", "no simd128 kernels here (SIMDe)");
	simd128_gives_the_bytes_of_scalar();
	return test_done("test_pack");
}
