/* SPDX-License-Identifier: MIT
 * kernels.h - the inner loops, one commented pointer each: the contract between the stages and src/scalar, src/simd128.
 *
 * Both rows of the table give the same bytes on every input, NaN included. Scalar defines them.
 * Arrays are tight, of any alignment that their C type has; nothing is read or written past count.
 * group: consecutive values that share a parameter; the last group of a row may be shorter. Cells count groups.
 */
#ifndef BQ_KERNELS_H
#define BQ_KERNELS_H

#include "blockquant.h"

/* How a quotient becomes a code. The values are those of struct bq_rules. */
enum bq_quotient {
	BQ_DIVIDE,
	BQ_RECIPROCAL,
	BQ_PRODUCTS, /* none: the float code whose product with the scale is nearest to the value, both in float32; the first of equals, 0 for NaN */
};
enum bq_round {
	BQ_HALF_EVEN,
	BQ_HALF_AWAY,
	BQ_FIELD_HALF_UP, /* field = trunc(quotient - code_min + 0.5), at most the highest; a quotient that no int32 holds: field 0 */
};

/* One row's worth of parameters for encode: entry c belongs to the values [c * group, c * group + group). */
struct bq_quantizer {
	uint32_t value;     /* dtype of the codes: an integer or a float of at most 8 bits */
	const float *scale; /* BQ_DIVIDE: the divisor; BQ_RECIPROCAL: the factor; BQ_PRODUCTS: itself */
	/* For integers; a truncated field has none that is added after rounding. */
	const float *zero;  /* null, or added to the quotient: before rounding (and rounded to work), or with zero_after after it */
	const float *min;   /* null, or added to the value before all else */
	float code_min, code_max;
	uint32_t quotient, round, zero_after;
	uint32_t work; /* BQ_F32, BQ_F16 or BQ_BF16: the quotient, and its sum with zero, are rounded to it */
	uint32_t drop_negative_zero; /* float codes: a quotient of -0 gets the code of +0 (a negative that rounds to 0 keeps its sign) */
	uint32_t nan_code; /* float codes: 0, or the code of NaN; with the sign bit, that of a quotient that is NaN of a value that is not */
	/* Of a table, in ascending order of its entries: what is nearest to each and not to one before it ends here; their codes. */
	const float *codebook_end;
	const uint8_t *codebook_code;
	uint32_t ncodebook;
};

/* A group whose scale decodes to 0 is divided by infinity: all its codes are those of +0. */
static inline int bq_drops_negative_zero(const struct bq_quantizer *q, size_t cell)
{
	return q->drop_negative_zero || q->scale[cell] > 3.4028235e38f;
}

/* And for decode: value = round_result(round_work(round_work(code - zero) * scale) - min). */
struct bq_dequantizer {
	uint32_t value;     /* dtype of the codes */
	const float *scale;
	const float *zero; /* null, or subtracted from the code */
	const float *min;  /* null, or subtracted from the product */
	uint32_t work, result;
	const float *codebook; /* null, or the values of codes */
	uint32_t ncodebook;
};

typedef void bq_to_f32(const void *in, size_t count, float *out);
typedef void bq_from_f32(const float *in, size_t count, void *out);

/* What a few formats' encoders must know beside the values. */
struct bq_context {
	float row_sigma;    /* mean of x*x over the whole row (0 without importance) */
	const void *tables; /* of bq_prepare, for a format that has a grid */
	uint32_t correct;   /* 1: without the reference's faults */
};

/* A format's blocks in one go. x: nblocks whole blocks of float32, consecutive blocks of one row.
 * importance: null, or one weight per value of x; never null for BQ_WEIGHTED_ALWAYS. context: where a scalar kernel stands in
 * for a simd128 one and looks at nothing of it, it may be null. */
typedef void bq_encode_blocks(const float *x, const float *importance, const struct bq_context *context, size_t nblocks,
	uint8_t *out);
typedef void bq_decode_blocks(const uint8_t *in, size_t nblocks, float *out);

/* Some cells of a planar format, side by side: nrows high, group wide but for the last. */
struct bq_cells {
	size_t nrows, cols, group;
	size_t stride;      /* of the values: from a row to the next */
	size_t line_nbytes; /* and of the codes */
	uint32_t scale;     /* dtype of the innermost scale */
	uint32_t work;      /* to encode: dtype that the scale's arithmetic is rounded to, and under one level the quotient's */
	float outer;        /* the tensor-wide level, decoded; 1 where there is none */
};

/* Such cells in one go, straight into their planes: codes of the first row, packed, and the first cell's scale. The bytes are
 * those of the stages, for any x. Returns how many cells of finite values have a scale that its dtype cannot hold. */
typedef uint32_t bq_encode_cells(const struct bq_cells *cells, const float *x, uint8_t *codes, uint8_t *scales);
/* The way back, of any bytes. */
typedef void bq_decode_cells(const struct bq_cells *cells, const uint8_t *codes, const uint8_t *scales, float *out);

struct bq_iq_grid;

enum bq_weighting { BQ_UNWEIGHTED, BQ_WEIGHTED, BQ_WEIGHTED_BY_ROW, BQ_WEIGHTED_ALWAYS };

/* Of blocks, or of planes: the others are null. */
struct bq_fused {
	bq_encode_blocks *encode;
	bq_decode_blocks *decode;
	bq_encode_cells *encode_cells;
	bq_decode_cells *decode_cells;
	uint32_t weighting; /* whether encode heeds importance, and row_sigma with it; whether it must have importance */
	const struct bq_iq_grid *grid; /* null, or what encode's tables are of */
};

struct bq_kernels {
	/* Numbers; null where a dtype has no such conversion. Codes are one a byte (F4E2M1: 0..15, F6E2M3: 0..63). */
	bq_to_f32 *to_f32[BQ_NDTYPES];
	bq_from_f32 *from_f32[BQ_NDTYPES];

	/* How many of count F32, F16, BF16 values are NaN or infinite; *first: the index of the first, if any. */
	size_t (*count_nonfinite)(const void *in, uint32_t dtype, size_t count, size_t *first);

	/* Merges each group's range into lo, hi (which the caller starts at 0). A NaN in a group makes both NaN (0x7FC00000), or
	 * with skip_nan nothing. */
	void (*range)(const float *x, size_t count, size_t group, int skip_nan, float *lo, float *hi);
	/* Merges each group's value of the largest magnitude, the first of equals, into extreme (started at 0). */
	void (*extreme)(const float *x, size_t count, size_t group, float *extreme);

	/* Codes, one a byte; integers in two's complement. NaN: integer code 0 (field 0 for BQ_FIELD_HALF_UP), the NaN
	 * of F8E4M3 and F8E5M2, the highest of F4E2M1 and F6E2M3, the lowest entry of a table. */
	void (*encode)(const struct bq_quantizer *q, const float *x, size_t count, size_t group, uint8_t *codes);

	/* The way back, from codes one a byte. */
	void (*decode)(const struct bq_dequantizer *d, const uint8_t *codes, size_t count, size_t group, float *out);

	/* Little-endian bit stream in 32-bit words: value i takes the bits [i * bits, i * bits + bits) of code + offset;
	 * the last word is padded with zero bits. out: 4 * ceil(count * bits / 32) bytes. */
	void (*pack_words)(const uint8_t *codes, size_t count, unsigned bits, unsigned offset, uint8_t *out);
	void (*unpack_words)(const uint8_t *in, size_t count, unsigned bits, unsigned offset, uint8_t *codes);
	/* Two 4-bit codes a byte, the first in the low half. count is even. */
	void (*pack_nibbles)(const uint8_t *codes, size_t count, uint8_t *out);
	void (*unpack_nibbles)(const uint8_t *in, size_t count, uint8_t *codes);

	/* Four 6-bit codes in three bytes, the first in the lowest bits. count is a multiple of 4. */
	void (*pack_sixes)(const uint8_t *codes, size_t count, uint8_t *out);
	void (*unpack_sixes)(const uint8_t *in, size_t count, uint8_t *codes);

	struct bq_fused fused[BQ_NFUSED];
};

/* Row id of the table, or null where this build lacks it. */
const struct bq_kernels *bq_kernels(uint32_t id);

extern const struct bq_kernels bq_kernels_scalar;
extern const struct bq_kernels bq_kernels_simd128;

/* src/scalar and src/simd128 define each of these with their suffix. */
#define BQ_DECLARE_KERNELS(isa) \
	bq_to_f32 bq_f32_to_f32_##isa, bq_f16_to_f32_##isa, bq_bf16_to_f32_##isa, bq_f8e4m3_to_f32_##isa, bq_f8e5m2_to_f32_##isa, \
		bq_f4e2m1_to_f32_##isa, bq_f6e2m3_to_f32_##isa, bq_e8m0_to_f32_##isa, bq_ue4m3_to_f32_##isa, bq_ggml_ue4m3_to_f32_##isa; \
	bq_from_f32 bq_f32_from_f32_##isa, bq_f16_from_f32_##isa, bq_bf16_from_f32_##isa, bq_f8e4m3_from_f32_##isa, \
		bq_f8e5m2_from_f32_##isa, bq_f4e2m1_from_f32_##isa, bq_f6e2m3_from_f32_##isa, bq_e8m0_from_f32_##isa, bq_ue4m3_from_f32_##isa, \
		bq_ggml_ue4m3_from_f32_##isa; \
	size_t bq_count_nonfinite_##isa(const void *in, uint32_t dtype, size_t count, size_t *first); \
	void bq_range_##isa(const float *x, size_t count, size_t group, int skip_nan, float *lo, float *hi); \
	void bq_extreme_##isa(const float *x, size_t count, size_t group, float *extreme); \
	void bq_encode_##isa(const struct bq_quantizer *q, const float *x, size_t count, size_t group, uint8_t *codes); \
	void bq_decode_##isa(const struct bq_dequantizer *d, const uint8_t *codes, size_t count, size_t group, float *out); \
	void bq_pack_words_##isa(const uint8_t *codes, size_t count, unsigned bits, unsigned offset, uint8_t *out); \
	void bq_unpack_words_##isa(const uint8_t *in, size_t count, unsigned bits, unsigned offset, uint8_t *codes); \
	void bq_pack_nibbles_##isa(const uint8_t *codes, size_t count, uint8_t *out); \
	void bq_unpack_nibbles_##isa(const uint8_t *in, size_t count, uint8_t *codes); \
	void bq_pack_sixes_##isa(const uint8_t *codes, size_t count, uint8_t *out); \
	void bq_unpack_sixes_##isa(const uint8_t *in, size_t count, uint8_t *codes);

BQ_DECLARE_KERNELS(scalar)
BQ_DECLARE_KERNELS(simd128)

/* The fused kernels, a line each: of blocks with what their encoders heed and the grid whose tables they need, and of planes. */
#define BQ_BLOCK_KERNELS(X) \
	X(Q8_0, q8_0, BQ_UNWEIGHTED, NULL) \
	X(Q4_0, q4_0, BQ_WEIGHTED_BY_ROW, NULL) \
	X(Q5_0, q5_0, BQ_WEIGHTED_BY_ROW, NULL) \
	X(Q4_K, q4_k, BQ_WEIGHTED, NULL) \
	X(Q4_1, q4_1, BQ_WEIGHTED_BY_ROW, NULL) \
	X(Q5_1, q5_1, BQ_WEIGHTED_BY_ROW, NULL) \
	X(Q6_K, q6_k, BQ_WEIGHTED, NULL) \
	X(Q5_K, q5_k, BQ_WEIGHTED, NULL) \
	X(Q2_K, q2_k, BQ_WEIGHTED, NULL) \
	X(Q3_K, q3_k, BQ_WEIGHTED, NULL) \
	X(Q1_0, q1_0, BQ_UNWEIGHTED, NULL) \
	X(Q2_0, q2_0, BQ_UNWEIGHTED, NULL) \
	X(TQ1_0, tq1_0, BQ_UNWEIGHTED, NULL) \
	X(TQ2_0, tq2_0, BQ_UNWEIGHTED, NULL) \
	X(MXFP4, mxfp4, BQ_UNWEIGHTED, NULL) \
	X(NVFP4, nvfp4, BQ_UNWEIGHTED, NULL) \
	X(IQ4_NL, iq4_nl, BQ_WEIGHTED, NULL) \
	X(IQ4_XS, iq4_xs, BQ_WEIGHTED, NULL) \
	X(IQ2_XXS, iq2_xxs, BQ_WEIGHTED_ALWAYS, &bq_iq2_xxs_grid) \
	X(IQ2_XS, iq2_xs, BQ_WEIGHTED_ALWAYS, &bq_iq2_xs_grid) \
	X(IQ2_S, iq2_s, BQ_WEIGHTED, &bq_iq2_s_grid) \
	X(IQ3_XXS, iq3_xxs, BQ_WEIGHTED, &bq_iq3_xxs_grid) \
	X(IQ3_S, iq3_s, BQ_WEIGHTED, &bq_iq3_s_grid) \
	X(IQ1_S, iq1_s, BQ_WEIGHTED_ALWAYS, &bq_iq1_grid) \
	X(IQ1_M, iq1_m, BQ_WEIGHTED, &bq_iq1_grid)

#define BQ_PLANES_KERNELS(X) \
	X(INT8_PLANES, int8_planes) \
	X(FP8_PLANES, fp8_planes) \
	X(NVFP4_PLANES, nvfp4_planes) \
	X(MXFP4_PLANES, mxfp4_planes)

#define BQ_DECLARE_BLOCKS(TYPE, name, weighting, grid) \
	bq_encode_blocks bq_encode_##name##_scalar, bq_encode_##name##_simd128; \
	bq_decode_blocks bq_decode_##name##_scalar, bq_decode_##name##_simd128;
#define BQ_DECLARE_PLANES(TYPE, name) \
	bq_encode_cells bq_encode_##name##_scalar, bq_encode_##name##_simd128; \
	bq_decode_cells bq_decode_##name##_scalar, bq_decode_##name##_simd128;

BQ_BLOCK_KERNELS(BQ_DECLARE_BLOCKS)
BQ_PLANES_KERNELS(BQ_DECLARE_PLANES)

#endif
