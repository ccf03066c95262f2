/* SPDX-License-Identifier: MIT
 * pack.c - codes of a row to bits and back, scalar.
 */
#include "kernels.h"
#include "number.h"

void bq_pack_words_scalar(const uint8_t *codes, size_t count, unsigned bits, unsigned offset, uint8_t *out)
{
	const uint32_t mask = (1u << bits) - 1;
	uint64_t pending = 0;
	unsigned filled = 0;

	for (size_t i = 0; i < count; i++) {
		pending |= (uint64_t)((codes[i] + offset) & mask) << filled;
		filled += bits;
		if (filled >= 32) {
			bq_store32(out, (uint32_t)pending);
			out += 4;
			pending >>= 32;
			filled -= 32;
		}
	}
	if (filled)
		bq_store32(out, (uint32_t)pending);
}

void bq_unpack_words_scalar(const uint8_t *in, size_t count, unsigned bits, unsigned offset, uint8_t *codes)
{
	const uint32_t mask = (1u << bits) - 1;
	uint64_t pending = 0;
	unsigned left = 0;

	for (size_t i = 0; i < count; i++) {
		if (left < bits) {
			pending |= (uint64_t)bq_load32(in) << left;
			in += 4;
			left += 32;
		}
		codes[i] = (uint8_t)((pending & mask) - offset);
		pending >>= bits;
		left -= bits;
	}
}

void bq_pack_nibbles_scalar(const uint8_t *codes, size_t count, uint8_t *out)
{
	for (size_t i = 0; i < count; i += 2)
		out[i / 2] = (uint8_t)((codes[i] & 15) | codes[i + 1] << 4);
}

void bq_unpack_nibbles_scalar(const uint8_t *in, size_t count, uint8_t *codes)
{
	for (size_t i = 0; i < count; i += 2) {
		codes[i] = in[i / 2] & 15;
		codes[i + 1] = in[i / 2] >> 4;
	}
}

void bq_pack_sixes_scalar(const uint8_t *codes, size_t count, uint8_t *out)
{
	for (size_t i = 0; i < count; i += 4, out += 3) {
		uint32_t word = (codes[i] & 63u) | (codes[i + 1] & 63u) << 6 | (codes[i + 2] & 63u) << 12 | (codes[i + 3] & 63u) << 18;

		bq_store16(out, (uint16_t)word);
		out[2] = (uint8_t)(word >> 16);
	}
}

void bq_unpack_sixes_scalar(const uint8_t *in, size_t count, uint8_t *codes)
{
	for (size_t i = 0; i < count; i += 4, in += 3) {
		uint32_t word = bq_load16(in) | (uint32_t)in[2] << 16;

		for (unsigned k = 0; k < 4; k++)
			codes[i + k] = word >> 6 * k & 63;
	}
}
