/* SPDX-License-Identifier: MIT
 * test_ggml.h - the fused formats of ggml as a table, and rows of them in buffers that end with their last byte. A new format
 * is one row here, and one case in value_of() of test_ggml.c.
 */
#ifndef BQ_TEST_GGML_H
#define BQ_TEST_GGML_H

#include "kernels.h"
#include "layouts.h"
#include "number.h"
#include "test.h"

#define NFORMATS (sizeof formats / sizeof formats[0])
#define ROW 2048
#define MAX_NBYTES 210 /* of a block */

/* What an infinity does to its block without importance: makes NaNs of all f16 fields and zeros of the rest, as a NaN does;
 * or is divided as any other value, by a positive number or by the lowest code. */
enum infinity { NANS, DIVIDED, DIVIDED_BY_LOWEST };

struct format {
	const char *name;
	uint32_t fused, layout;
	uint64_t hashes[6];      /* ggml's of a row: X0, X1, X2 of test_ggml.c plain, then weighted */
	const char *first_block; /* of X0 plain, where it is known */
	const char *zero_block, *weighted_zero_block; /* null: zeros */
	size_t signed_zero_at; /* not 0: the byte where a block of zeros keeps the sign of its first one */
	enum infinity infinity;
};

static const struct format formats[] = {
	{ "q8_0", BQ_FUSED_Q8_0, BQ_LAYOUT_GGML_Q8_0,
		.hashes = { 0xbf45aa4aa381eef2, 0x525a0101a2cc9f25, 0x2135aa961fbaf3b9, 0xbf45aa4aa381eef2,
			0x525a0101a2cc9f25, 0x2135aa961fbaf3b9 },
		.first_block = "3311eee7be3f2881ec0c19672dd0ee0494fee9405515ed1a59b523ccb60d214d3088",
		.infinity = DIVIDED },
	{ "q4_0", BQ_FUSED_Q4_0, BQ_LAYOUT_GGML_Q4_0,
		.hashes = { 0xc6760e70193e353c, 0x9fd6928143924d03, 0x41abeab9bbda1776, 0x7b7475dd2b51c15f,
			0x306211a80ecd6d3c, 0xc25bd15c4aa4df97 },
		.first_block = "292177c6d49c7aa0e739aa5e3b95a7d8b108",
		.zero_block = "008088888888888888888888888888888888",
		.infinity = DIVIDED_BY_LOWEST },
	{ "q5_0", BQ_FUSED_Q5_0, BQ_LAYOUT_GGML_Q5_0,
		.hashes = { 0xfe8a2789c6ab0d1d, 0x0e46133a686790e2, 0xddf6a0086a0c9c66, 0x71e3a8aad98d17d9,
			0xb1232f86b5710d47, 0xa77703468cab2dfb },
		.first_block = "291d98a76e79de8db838e530be72439d762a4ea06210",
		.zero_block = "0080ffffffff00000000000000000000000000000000",
		.infinity = DIVIDED_BY_LOWEST },
	{ "q4_k", BQ_FUSED_Q4_K, BQ_LAYOUT_GGML_Q4_K,
		.hashes = { 0x5a704efa50378d20, 0x42a1ab8251283a43, 0x19777c2cc88088d0, 0x112c8bc6bccf0a9d,
			0xc088848015545662, 0x19777c2cc88088d0 } },
	{ "q4_1", BQ_FUSED_Q4_1, BQ_LAYOUT_GGML_Q4_1,
		.hashes = { 0x69e3b6f55d61d682, 0xf553b49e52328fa5, 0x6151a3aac70210c4, 0x5948889938d45e99,
			0xef4036ed57eee2db, 0x64cdd3fe1e545e9b },
		.first_block = "fc2029ad77c7e4ac7ba0e739ba5f3b95a7d9b108",
		.signed_zero_at = 3 },
	{ "q5_1", BQ_FUSED_Q5_1, BQ_LAYOUT_GGML_Q5_1,
		.hashes = { 0x213f18004c21bea4, 0x4fea275ab7364e21, 0x8b2be59ebcc52291, 0xae7eb2582918931c,
			0xae153a6aa75ca1d3, 0x24006c58084c7bb8 },
		.first_block = "d31c29ad98a76e79efaed84af650de7364af773b6fc28311",
		.signed_zero_at = 3 },
	{ "q6_k", BQ_FUSED_Q6_K, BQ_LAYOUT_GGML_Q6_K,
		.hashes = { 0xb629bbc39c622b5a, 0x2cda6c89deb0cd45, 0xdb327c60dcb1d782, 0x7d3627ad8d578360,
			0xc44c9da7833585cc, 0xc857ae7709f2b00a } },
};

static inline const struct bq_layout *layout_of(const struct format *format)
{
	return bq_layout(format->layout);
}

static inline float mean_square(size_t count, const float *x)
{
	float sum = 0.0f;

	for (size_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum / (float)count;
}

/* Encodes one row; the buffers end with their last value and byte. The caller frees the bytes. */
static inline uint8_t *encode_row(const struct bq_kernels *kernels, const struct format *format, size_t nblocks,
	const float *x, const float *importance)
{
	const size_t count = nblocks * layout_of(format)->block_values;
	float *values = test_buffer(count * sizeof *values, 0);
	float *weights = test_buffer(count * sizeof *weights, 0);
	uint8_t *bytes = test_buffer(nblocks * layout_of(format)->block_nbytes, 0xA5);

	memcpy(values, x, count * sizeof *values);
	if (importance)
		memcpy(weights, importance, count * sizeof *weights);
	kernels->fused[format->fused].encode(
		values, importance ? weights : NULL, importance ? mean_square(count, x) : 0.0f, nblocks, bytes);
	free(values);
	free(weights);
	return bytes;
}

static inline float *decode_row(
	const struct bq_kernels *kernels, const struct format *format, size_t nblocks, const uint8_t *in)
{
	uint8_t *bytes = test_buffer(nblocks * layout_of(format)->block_nbytes, 0);
	float *values = test_buffer(nblocks * layout_of(format)->block_values * sizeof *values, 0xA5);

	memcpy(bytes, in, nblocks * layout_of(format)->block_nbytes);
	kernels->fused[format->fused].decode(bytes, nblocks, values);
	free(bytes);
	return values;
}

static inline void fill_bytes(uint32_t *state, size_t nbytes, uint8_t *bytes)
{
	for (size_t i = 0; i < nbytes; i++)
		bytes[i] = (uint8_t)(test_next(state) >> 24);
}

#endif
