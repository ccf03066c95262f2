/* SPDX-License-Identifier: MIT
 * pack.c - codes of a row to bits and back, simd128: widths 4 and 8; the odd ones, whose codes straddle words, are scalar.
 */
#include "nibbles.h"

/* Packs whole groups of 32 codes of 4 bits; returns how many codes that was. */
static size_t pack_fours(const uint8_t *codes, size_t count, unsigned offset, uint8_t *out)
{
	const v128_t plus = bq_u8x16_splat((uint8_t)offset), mask = bq_u8x16_splat(15);
	size_t whole = count & ~(size_t)31;

	BQ_ROLLED
	for (size_t i = 0; i < whole; i += 32) {
		v128_t first = wasm_v128_and(wasm_i8x16_add(wasm_v128_load(codes + i), plus), mask);
		v128_t second = wasm_v128_and(wasm_i8x16_add(wasm_v128_load(codes + i + 16), plus), mask);

		wasm_v128_store(out + i / 2, bq_nibbles(first, second));
	}
	return whole;
}

static size_t unpack_fours(const uint8_t *in, size_t count, unsigned offset, uint8_t *codes)
{
	const v128_t minus = bq_u8x16_splat((uint8_t)offset), mask = bq_u8x16_splat(15);
	size_t whole = count & ~(size_t)31;

	BQ_ROLLED
	for (size_t i = 0; i < whole; i += 32) {
		v128_t bytes = wasm_v128_load(in + i / 2);
		v128_t even = wasm_i8x16_sub(wasm_v128_and(bytes, mask), minus);
		v128_t odd = wasm_i8x16_sub(wasm_v128_and(wasm_u16x8_shr(bytes, 4), mask), minus);

		wasm_v128_store(codes + i, wasm_i8x16_shuffle(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
		wasm_v128_store(codes + i + 16, wasm_i8x16_shuffle(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
	}
	return whole;
}

/* Bytes with an offset added. */
static size_t shift_bytes(const uint8_t *in, size_t count, unsigned offset, uint8_t *out)
{
	const v128_t plus = bq_u8x16_splat((uint8_t)offset);
	size_t whole = count & ~(size_t)15;

	BQ_ROLLED
	for (size_t i = 0; i < whole; i += 16)
		wasm_v128_store(out + i, wasm_i8x16_add(wasm_v128_load(in + i), plus));
	return whole;
}

void bq_pack_words_simd128(const uint8_t *codes, size_t count, unsigned bits, unsigned offset, uint8_t *out)
{
	size_t done = bits == 4 ? pack_fours(codes, count, offset, out) : bits == 8 ? shift_bytes(codes, count, offset, out) : 0;

	if (done < count)
		bq_pack_words_scalar(codes + done, count - done, bits, offset, out + done * bits / 8);
}

void bq_unpack_words_simd128(const uint8_t *in, size_t count, unsigned bits, unsigned offset, uint8_t *codes)
{
	size_t done = bits == 4 ? unpack_fours(in, count, offset, codes) : bits == 8 ? shift_bytes(in, count, 0u - offset, codes) : 0;

	if (done < count)
		bq_unpack_words_scalar(in + done * bits / 8, count - done, bits, offset, codes + done);
}

void bq_pack_nibbles_simd128(const uint8_t *codes, size_t count, uint8_t *out)
{
	size_t done = pack_fours(codes, count, 0, out);

	if (done < count)
		bq_pack_nibbles_scalar(codes + done, count - done, out + done / 2);
}

void bq_unpack_nibbles_simd128(const uint8_t *in, size_t count, uint8_t *codes)
{
	size_t done = unpack_fours(in, count, 0, codes);

	if (done < count)
		bq_unpack_nibbles_scalar(in + done / 2, count - done, codes + done);
}

/* Sixteen codes to twelve bytes: 24-bit words in lanes, then their three bytes side by side. */
void bq_pack_sixes_simd128(const uint8_t *codes, size_t count, uint8_t *out)
{
	size_t i = 0;

	/* Each store writes four bytes too many, which the next one writes over: the last sixteen codes are scalar's. */
	BQ_ROLLED
	for (; i + 32 <= count; i += 16, out += 12) {
		const v128_t four = wasm_v128_load(codes + i);
		const v128_t low = wasm_v128_and(four, bq_u32x4_splat(0x3F));
		const v128_t second = wasm_v128_and(wasm_u32x4_shr(four, 2), bq_u32x4_splat(0x3F << 6));
		const v128_t third = wasm_v128_and(wasm_u32x4_shr(four, 4), bq_u32x4_splat(0x3F << 12));
		const v128_t fourth = wasm_v128_and(wasm_u32x4_shr(four, 6), bq_u32x4_splat(0x3F << 18));
		const v128_t words = wasm_v128_or(wasm_v128_or(low, second), wasm_v128_or(third, fourth));

		wasm_v128_store(out, wasm_i8x16_shuffle(words, words, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 3, 3, 3));
	}
	bq_pack_sixes_scalar(codes + i, count - i, out);
}

void bq_unpack_sixes_simd128(const uint8_t *in, size_t count, uint8_t *codes)
{
	size_t i = 0;

	/* Each load reads four bytes of the next sixteen codes: the last sixteen are scalar's. */
	BQ_ROLLED
	for (; i + 32 <= count; i += 16, in += 12) {
		const v128_t bytes = wasm_v128_load(in);
		const v128_t words = wasm_i8x16_shuffle(bytes, wasm_i32x4_splat(0), 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
		const v128_t low = wasm_v128_and(words, bq_u32x4_splat(0x3F));
		const v128_t second = wasm_v128_and(wasm_i32x4_shl(words, 2), bq_u32x4_splat(0x3F00));
		const v128_t third = wasm_v128_and(wasm_i32x4_shl(words, 4), bq_u32x4_splat(0x3F0000));
		const v128_t fourth = wasm_v128_and(wasm_i32x4_shl(words, 6), bq_u32x4_splat(0x3F000000));

		wasm_v128_store(codes + i, wasm_v128_or(wasm_v128_or(low, second), wasm_v128_or(third, fourth)));
	}
	bq_unpack_sixes_scalar(in, count - i, codes + i);
}
