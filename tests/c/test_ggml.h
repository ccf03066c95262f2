/* SPDX-License-Identifier: MIT
 * test_ggml.h - the fused formats of ggml as a table, and rows of them in buffers that end with their last byte. A new format
 * is one row here, and one case in value_of() of test_ggml.c.
 */
#ifndef BQ_TEST_GGML_H
#define BQ_TEST_GGML_H

#include "ggml_iq_grid.h"
#include "kernels.h"
#include "layouts.h"
#include "number.h"
#include "test.h"

#define NFORMATS (sizeof formats / sizeof formats[0])
#define ROW 2048
#define MAX_NBYTES 210 /* of a block */

/* What an infinity does to its block without importance: makes NaNs of all f16 fields and zeros of the rest, as a NaN does;
 * or is divided as any other value, by a positive number or by the lowest code; or, as a NaN, nothing that decoding shows. */
enum infinity { NANS, DIVIDED, DIVIDED_BY_LOWEST, UNSEEN };

struct format {
	const char *name;
	uint32_t fused, layout;
	uint64_t hashes[6];      /* ggml's of a row: X0, X1, X2 of test_ggml.c plain, then weighted */
	const char *first_block; /* of X0 plain, where it is known */
	const char *zero_block, *weighted_zero_block; /* null: zeros */
	size_t signed_zero_at; /* not 0: the byte where a block of zeros keeps the sign of its first one */
	enum infinity infinity;
	uint8_t nan_code; /* of a scale of one byte, the first */
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
	{ "q5_k", BQ_FUSED_Q5_K, BQ_LAYOUT_GGML_Q5_K,
		.hashes = { 0xee3d96c1618c8890, 0x4f63d6b361ef9a74, 0x67bd637a6120e03a, 0xb153bbd2335b4dbf,
			0x09ea6dd3f8d63896, 0x67bd637a6120e03a } },
	{ "q2_k", BQ_FUSED_Q2_K, BQ_LAYOUT_GGML_Q2_K,
		.hashes = { 0xed9ab429907987dd, 0x8e67da6c69dc634f, 0x2b1b3a168bf6b7ac, 0xb5f58b9e91656516,
			0x7e2442245eb0758b, 0x65ce0b873bcb854c } },
	{ "q3_k", BQ_FUSED_Q3_K, BQ_LAYOUT_GGML_Q3_K,
		.hashes = { 0x827063e9f28675fa, 0xac288b157b73e4b8, 0xd9a806ee87487575, 0x4398e8ce2925612d,
			0xa5da6b9f52cf09be, 0x418e82b1b5acc7d7 } },
	{ "q1_0", BQ_FUSED_Q1_0, BQ_LAYOUT_GGML_Q1_0,
		.hashes = { 0xef414b29b3d00c8c, 0x6e99f93a83a68eee, 0x4f1a6d0f4be47021, 0xef414b29b3d00c8c,
			0x6e99f93a83a68eee, 0x4f1a6d0f4be47021 },
		.zero_block = "0000ffffffffffffffffffffffffffffffff",
		.weighted_zero_block = "0000ffffffffffffffffffffffffffffffff" },
	{ "q2_0", BQ_FUSED_Q2_0, BQ_LAYOUT_GGML_Q2_0,
		.hashes = { 0x1f9fb10bd1cf9c7a, 0xc837d2c9cfcbcaba, 0xaf6936e25a8099d7, 0x1f9fb10bd1cf9c7a,
			0xc837d2c9cfcbcaba, 0xaf6936e25a8099d7 },
		.zero_block = "000055555555555555555555555555555555",
		.weighted_zero_block = "000055555555555555555555555555555555" },
	{ "tq1_0", BQ_FUSED_TQ1_0, BQ_LAYOUT_GGML_TQ1_0,
		.hashes = { 0xed4fb4afc0b81b32, 0x70b5d94da0153556, 0x3755829d2a1b89c6, 0xed4fb4afc0b81b32,
			0x70b5d94da0153556, 0x3755829d2a1b89c6 },
		.zero_block = 
			"808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080"
			"7f7f7f7f0000",
		.weighted_zero_block = 
			"808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080"
			"7f7f7f7f0000" },
	{ "tq2_0", BQ_FUSED_TQ2_0, BQ_LAYOUT_GGML_TQ2_0,
		.hashes = { 0x5b121cb11e91647c, 0xbff651e18717f721, 0xbe123a9020f26cf0, 0x5b121cb11e91647c,
			0xbff651e18717f721, 0xbe123a9020f26cf0 },
		.zero_block = 
			"555555555555555555555555555555555555555555555555555555555555555555555555555555555555555555555555"
			"555555555555555555555555555555550000",
		.weighted_zero_block = 
			"555555555555555555555555555555555555555555555555555555555555555555555555555555555555555555555555"
			"555555555555555555555555555555550000" },
	{ "mxfp4", BQ_FUSED_MXFP4, BQ_LAYOUT_GGML_MXFP4,
		.hashes = { 0x4e6329e6e855aebf, 0xe1b0a718bc69cbf0, 0xb73ca4499d5009bb, 0x4e6329e6e855aebf,
			0xe1b0a718bc69cbf0, 0xb73ca4499d5009bb },
		.first_block = "79a95a5d25a32f6ad132c6d41c39504ee0",
		.nan_code = 255 },
	{ "nvfp4", BQ_FUSED_NVFP4, BQ_LAYOUT_GGML_NVFP4,
		.hashes = { 0xaef6570393c6aa52, 0x0d61057ad25f383e, 0x57a23285e30ef63b, 0xaef6570393c6aa52,
			0x0d61057ad25f383e, 0x57a23285e30ef63b },
		.infinity = UNSEEN },
	{ "iq4_nl", BQ_FUSED_IQ4_NL, BQ_LAYOUT_GGML_IQ4_NL,
		.hashes = { 0x056c21ca986273f2, 0x20e06071956ba6cc, 0x5bafc45193e55d76, 0xba47a2fe3e766776,
			0xe9ca1477814ab9bf, 0x230ea5a4b0e5d1c3 },
		.first_block = "001166d6e3ad6ba0e629ba4f2c94b6e8c108",
		.zero_block = "000088888888888888888888888888888888",
		.weighted_zero_block = "000088888888888888888888888888888888" },
	{ "iq4_xs", BQ_FUSED_IQ4_XS, BQ_LAYOUT_GGML_IQ4_XS,
		.hashes = { 0x5ac7e08153e84788, 0x7d817e0b94e7177a, 0x109284dddf5229d8, 0xebc018386137ce7c,
			0x30a426d7c44feb23, 0xec08dc040fd55121 },
		.zero_block = 
			"0080aaaa0000000088888888888888888888888888888888888888888888888888888888888888888888888888888888"
			"888888888888888888888888888888888888888888888888888888888888888888888888888888888888888888888888"
			"88888888888888888888888888888888888888888888888888888888888888888888888888888888",
		.weighted_zero_block = 
			"0080aaaa0000000088888888888888888888888888888888888888888888888888888888888888888888888888888888"
			"888888888888888888888888888888888888888888888888888888888888888888888888888888888888888888888888"
			"88888888888888888888888888888888888888888888888888888888888888888888888888888888" },
	{ "iq2_xxs", BQ_FUSED_IQ2_XXS, BQ_LAYOUT_GGML_IQ2_XXS,
		.hashes = { 0, 0, 0, 0xb069befc1c6c260f,
			0x5403e1820ba6334d, 0xb2ade76a5f29cfab } },
	{ "iq2_xs", BQ_FUSED_IQ2_XS, BQ_LAYOUT_GGML_IQ2_XS,
		.hashes = { 0, 0, 0, 0x0056da70e6a31558,
			0x5d070debed703add, 0x666fcb839c90c57e } },
	{ "iq2_s", BQ_FUSED_IQ2_S, BQ_LAYOUT_GGML_IQ2_S,
		.hashes = { 0x16d89117cfb5ac3a, 0x8c0e6f00e3a6e54d, 0xf476c0ddde9b407a, 0x165fc9a6e4140a5a,
			0x3d846d74fa678226, 0x37ecd1282f18aaaf } },
	{ "iq3_xxs", BQ_FUSED_IQ3_XXS, BQ_LAYOUT_GGML_IQ3_XXS,
		.hashes = { 0x452b7206fd840dad, 0x4c69b0825cc7714a, 0xbcb163d4e3b53c67, 0x71935b6efaeddc21,
			0x7ead8071d90c1a62, 0xbe15261ebc4e51a9 } },
	{ "iq3_s", BQ_FUSED_IQ3_S, BQ_LAYOUT_GGML_IQ3_S,
		.hashes = { 0xff9d00ecfa89675a, 0xb24f9cdd59f8db28, 0xa7a53e6f83d1fe60, 0xac6dac32e497f24d,
			0xc1e8ed26324299ce, 0x92e426eb27e83cc3 } },
	{ "iq1_s", BQ_FUSED_IQ1_S, BQ_LAYOUT_GGML_IQ1_S,
		.hashes = { 0, 0, 0, 0x09db1e077e72d7e5,
			0x69609618448d5d3d, 0x1cc282402c0ae3d1 } },
	{ "iq1_m", BQ_FUSED_IQ1_M, BQ_LAYOUT_GGML_IQ1_M,
		.hashes = { 0xb14357fcf31a543c, 0x2d4ebf9241b38648, 0xb3df6995043aa9ce, 0x6c15be8205e1932d,
			0xd61321ec61c56d38, 0x99907d0c41156342 } },
};

static inline const struct bq_layout *layout_of(const struct format *format)
{
	return bq_layout(format->layout);
}

/* A format that is not made without weights has no hashes without them. */
static inline int takes(const struct bq_kernels *kernels, const struct format *format, int weighted)
{
	return weighted || kernels->fused[format->fused].weighting != BQ_WEIGHTED_ALWAYS;
}

/* The tables of a grid, made once. */
static inline const void *tables_of(const struct bq_iq_grid *grid)
{
	static struct {
		const struct bq_iq_grid *grid;
		void *tables;
	} made[BQ_NFUSED];
	size_t i = 0;

	if (!grid)
		return NULL;
	while (made[i].grid && made[i].grid != grid)
		i++;
	if (!made[i].grid) {
		made[i].grid = grid;
		made[i].tables = test_buffer(bq_iq_tables_nbytes(grid), 0xA5);
		bq_iq_make_tables(grid, made[i].tables);
	}
	return made[i].tables;
}

static inline float mean_square(size_t count, const float *x)
{
	float sum = 0.0f;

	for (size_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum / (float)count;
}

/* Encodes one row; the buffers end with their last value and byte. The caller frees the bytes. */
static inline uint8_t *encode_row_as(const struct bq_kernels *kernels, const struct format *format, size_t nblocks,
	const float *x, const float *importance, uint32_t correct)
{
	const size_t count = nblocks * layout_of(format)->block_values;
	float *values = test_buffer(count * sizeof *values, 0);
	float *weights = test_buffer(count * sizeof *weights, 0);
	uint8_t *bytes = test_buffer(nblocks * layout_of(format)->block_nbytes, 0xA5);

	memcpy(values, x, count * sizeof *values);
	if (importance)
		memcpy(weights, importance, count * sizeof *weights);

	const struct bq_fused *fused = &kernels->fused[format->fused];
	const struct bq_context context = {
		.row_sigma = importance ? mean_square(count, x) : 0.0f,
		.tables = tables_of(fused->grid),
		.correct = correct,
	};

	fused->encode(values, importance ? weights : NULL, &context, nblocks, bytes);
	free(values);
	free(weights);
	return bytes;
}

static inline uint8_t *encode_row(const struct bq_kernels *kernels, const struct format *format, size_t nblocks,
	const float *x, const float *importance)
{
	return encode_row_as(kernels, format, nblocks, x, importance, 0);
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

/* The hash that gguf.md's check values are; FNV1A is that of nothing. */
#define FNV1A 0xcbf29ce484222325u

static inline uint64_t fnv1a(uint64_t hash, size_t nbytes, const void *bytes)
{
	for (size_t i = 0; i < nbytes; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return hash;
}

static inline void fill_bytes(uint32_t *state, size_t nbytes, uint8_t *bytes)
{
	for (size_t i = 0; i < nbytes; i++)
		bytes[i] = (uint8_t)(test_next(state) >> 24);
}

#endif
