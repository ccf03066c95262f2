/* SPDX-License-Identifier: MIT
 * blockquant.h - the whole public C API: quantize and dequantize weights in blocks, over the caller's buffers.
 *
 * A scheme (struct bq_scheme) says everything about a format; a preset is a scheme with a name (bq_preset).
 * One tensor goes through:
 *
 *     bq_plan    scheme + shape          -> sizes of every plane, what a band is, passes; or the one rule that is broken
 *     bq_prepare plan                    -> tables for bq_encode, once (only if plan.tables_nbytes)
 *     bq_band    plan + first step       -> the next band: which values, which bytes of which plane
 *     bq_range   plan + band + values    -> the tensor's range so far (only if plan.passes == 2)
 *     bq_encode  plan + band + values    -> the bytes of the band in every plane
 *     bq_decode  plan + band + planes    -> float32 values
 *
 * Ranges gathered over many batches (bq_observe, bq_average) may be given to bq_encode instead of measured ones.
 *
 * Nothing here allocates, does I/O or keeps state: the same arguments give the same bytes, on any thread, in any order of
 * bands, from the scalar and the simd128 kernels alike. File bytes are little-endian. Structs hold no pointers and no
 * size_t, so that their layout is the same in wasm32 and natively (js/core/abi.js writes them; a test compares).
 */
#ifndef BLOCKQUANT_H
#define BLOCKQUANT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __EMSCRIPTEN__
#define BQ_API(name) __attribute__((export_name(#name)))
#else
#define BQ_API(name)
#endif

#define BQ_MAX_RANK 5   /* axes of a tensor */
#define BQ_MAX_LEVELS 3 /* scale levels, inner to outer */
#define BQ_MAX_PLANES 10
#define BQ_MAX_CODEBOOK 256 /* entries */

/* How a stored number is read. The integers are listed by width so that a width is an offset: BQ_I1 + bits - 1. */
enum bq_dtype {
	BQ_NONE,
	BQ_F32,
	BQ_F16,
	BQ_BF16,
	BQ_F8E4M3,     /* OCP E4M3 ("fn"): max 448, no infinities, NaN 0x7F and 0xFF */
	BQ_F8E5M2,     /* OCP E5M2: max 57344, infinities, NaN */
	BQ_F4E2M1,     /* OCP E2M1: +-{0, .5, 1, 1.5, 2, 3, 4, 6}; one code a byte when not packed */
	BQ_F6E2M3,     /* OCP E2M3: 0..1.875 by 1/8, 2..3.75 by 1/4, 4..7.5 by 1/2, and negatives */
	BQ_E8M0,       /* OCP E8M0: 2^(code - 127); 255 is NaN */
	BQ_UE4M3,      /* E4M3 without a sign: the codes 0x00 to 0x7F of BQ_F8E4M3 */
	BQ_GGML_UE4M3, /* ggml's own conversion of the same: halved, and rounded half up (see number.h) */
	BQ_NF4,        /* in a value: the index of one of bitsandbytes' 16 NormalFloat levels, -1..1 (src/codebook.c) */
	BQ_IQ4_NL,     /* in a value: the index of one of ggml's 16 uneven levels, -127..113 */
	BQ_CODEBOOK,   /* in a value: an index into the table that bq_plan is given */
	BQ_INPUT,      /* in a scheme: the dtype of the weights that come in (F32, F16 or BF16) */
	BQ_I64,        /* in a plane only: shapes */
	BQ_I32,        /* in a plane only: words of packed codes */
	BQ_I1, BQ_I2, BQ_I3, BQ_I4, BQ_I5, BQ_I6, BQ_I7, BQ_I8,
	BQ_U1, BQ_U2, BQ_U3, BQ_U4, BQ_U5, BQ_U6, BQ_U7, BQ_U8,
	BQ_NDTYPES
};

/* Which values share a parameter: edges of a block, aligned to the last axes of the tensor.
 * rank 0: the whole tensor. rank 1, edge {g}: groups of g along the last axis. edge 0 is the whole axis, so rank 1,
 * edge {0}: one row (output channel). Axes before the listed ones have edge 1. */
struct bq_level {
	uint32_t dtype;
	uint32_t rank;
	uint32_t edge[BQ_MAX_RANK];
};

/* How the range [lo, hi] of each innermost block is chosen; 0 is always inside. All else follows from it. */
enum bq_calibration {
	BQ_MINMAX, /* that of its values */
	BQ_SEARCH, /* the reference's own way, mostly trying several scales a block: only where a fused kernel does it */
	BQ_ABSMEAN,    /* [-g, g], g the mean magnitude: the exact sum divided by the count, rounded once */
	BQ_PERCENTILE, /* of n sorted values, those of rank ceil(n * argument / 100) from either end; 50 < argument <= 100 */
	BQ_MSE,        /* that of its values times 1.00, 0.99, ... down to the argument (0 < argument <= 1): the first with the
	                * least sum of squared errors, weighted by importance */
};

/* What the runtime does with activations. The core only carries it, for the files that must say it. */
enum bq_activation { BQ_ACT_NONE, BQ_ACT_DYNAMIC, BQ_ACT_LOCAL, BQ_ACT_STATIC };

/* What codes are packed into, lowest bits first; a line that does not fill its last one is filled up with zeros. */
enum bq_pack_into {
	BQ_INTO_BYTES,  /* one code a byte, integers with their sign */
	BQ_INTO_NATIVE, /* what a device's own type of the codes would hold: two F4E2M1 a byte, of all else one, its other bits 0 */
	BQ_INTO_WORDS,  /* 32 bits, in two's complement */
};

struct bq_scheme {
	uint32_t value;    /* enum bq_dtype: an integer, F8E4M3, F8E5M2, F4E2M1, F6E2M3, NF4, IQ4_NL or CODEBOOK */
	uint32_t narrow;   /* 1: a signed integer without its lowest code (-127..127) */
	uint32_t codebook; /* entries of the table, if value is BQ_CODEBOOK, else 0 */
	uint32_t nscales;
	struct bq_level scale[BQ_MAX_LEVELS]; /* inner to outer; dtype BQ_INPUT: as the weights */
	uint32_t zero;                        /* dtype of a zero point beside the innermost scale, or BQ_NONE */
	uint32_t symmetric;                   /* 1, with a zero point or mins: the range of a block is widened to [-A, A] */
	uint32_t nmins;
	struct bq_level min[BQ_MAX_LEVELS]; /* what is subtracted after scaling, stored positive */
	uint32_t calibration;
	double calibration_argument; /* of BQ_PERCENTILE and BQ_MSE, else 0 */
	uint32_t rules;  /* enum bq_rules_id: the exact arithmetic */
	uint32_t layout; /* enum bq_layout_id: where the bits go */
	uint32_t pack_into; /* enum bq_pack_into, where the layout leaves it open; else BQ_INTO_BYTES */
	uint32_t pack_axis; /* axis along which codes share a word, counted from the last; it is stored in that one's place */
	uint32_t fused;  /* enum bq_fused_id: the kernel that does it in one go; BQ_GENERIC to go through the stages */
	uint32_t act_mode;
	struct bq_level act; /* the activations' code dtype and block, if act_mode is not BQ_ACT_NONE */
	uint32_t act_scale;  /* dtype of their scales, or BQ_NONE: their own */
};

/* Rows of src/rules.c. */
enum bq_rules_id {
	BQ_RULES_COMPRESSED_TENSORS, BQ_RULES_GGML, BQ_RULES_GGML_SIGNED, BQ_RULES_GGML_ODD, BQ_RULES_GGML_E2M1, BQ_RULES_PLAIN,
	BQ_RULES_COREAI, BQ_RULES_BURN, BQ_RULES_BURN_0_22, BQ_RULES_BURN_NDARRAY, BQ_NRULES
};

/* Rows of src/layouts.c. */
enum bq_layout_id {
	BQ_LAYOUT_PLANES,         /* codes one a byte, parameters as they are */
	BQ_LAYOUT_PACK_QUANTIZED, /* codes as little-endian bit streams in 32-bit words, offset binary */
	BQ_LAYOUT_INT_QUANTIZED,
	BQ_LAYOUT_FLOAT_QUANTIZED,
	BQ_LAYOUT_NAIVE_QUANTIZED,
	BQ_LAYOUT_MXFP8_QUANTIZED,
	BQ_LAYOUT_NVFP4_PACK_QUANTIZED, /* two codes a byte, the even column in the low half */
	BQ_LAYOUT_MXFP4_PACK_QUANTIZED,
	BQ_LAYOUT_MXFP6_PACK_QUANTIZED, /* four 6-bit codes in three bytes, the first in the lowest bits */
	BQ_LAYOUT_GGML_Q8_0, /* f16 d | 32 x i8                                                          34 bytes, 32 values */
	BQ_LAYOUT_GGML_Q4_0, /* f16 d | 16 bytes: value j low half, value j + 16 high half               18 bytes, 32 values */
	BQ_LAYOUT_GGML_Q5_0, /* f16 d | u32 fifth bits | 16 bytes as q4_0                                22 bytes, 32 values */
	BQ_LAYOUT_GGML_Q4_K, /* f16 d | f16 dmin | 12 bytes: 8 scales, 8 mins of 6 bits | 128 bytes     144 bytes, 256 values */
	BQ_LAYOUT_GGML_Q4_1, /* f16 d | f16 m, added | 16 bytes as q4_0                                  20 bytes, 32 values */
	BQ_LAYOUT_GGML_Q5_1, /* f16 d | f16 m, added | u32 fifth bits | 16 bytes as q4_0                 24 bytes, 32 values */
	BQ_LAYOUT_GGML_Q6_K, /* 128 bytes low halves | 64 bytes upper 2 bits | 16 x i8 scales | f16 d   210 bytes, 256 values */
	BQ_LAYOUT_GGML_Q5_K, /* as q4_k, with 32 bytes of fifth bits before the 128                     176 bytes, 256 values */
	BQ_LAYOUT_GGML_Q2_K, /* 16 bytes: scale, min of 4 bits | 64 bytes pairs | f16 d | f16 dmin       84 bytes, 256 values */
	BQ_LAYOUT_GGML_Q3_K, /* 32 bytes third bits | 64 bytes pairs | 12 bytes 6-bit scales | f16 d    110 bytes, 256 values */
	BQ_LAYOUT_GGML_Q1_0,  /* f16 d | 16 bytes: a bit for +d, else -d                                18 bytes, 128 values */
	BQ_LAYOUT_GGML_Q2_0,  /* f16 d | 16 bytes: 4 consecutive pairs of bits, with 1 added             18 bytes, 64 values */
	BQ_LAYOUT_GGML_TQ1_0, /* 52 bytes: 5 trits each, as fractions of 256 | f16 d                    54 bytes, 256 values */
	BQ_LAYOUT_GGML_TQ2_0, /* 64 bytes pairs, with 1 added | f16 d                                   66 bytes, 256 values */
	BQ_LAYOUT_GGML_MXFP4, /* E8M0 scale | 16 bytes as q4_0: E2M1 codes                               17 bytes, 32 values */
	BQ_LAYOUT_GGML_NVFP4, /* 4 E4M3 scales | 4 x 8 bytes: value j low half, value j + 8 high half    36 bytes, 64 values */
	BQ_LAYOUT_GGML_IQ4_NL, /* f16 d | 16 bytes as q4_0: codes of 16 levels                           18 bytes, 32 values */
	BQ_LAYOUT_GGML_IQ4_XS, /* f16 d | 2 bytes upper, 4 bytes lower bits of 8 scales | 8 x 16 bytes 136 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ2_XXS, /* f16 d | 8 x (4 points, 4 x 7 bits of signs and 4 of scale)            66 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ2_XS,  /* f16 d | 32 x (9 bits of point, 7 of signs) | 16 scales of 4 bits      74 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ2_S,   /* f16 d | 32 points | 32 signs | 8 bytes upper bits | 16 scales         82 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ3_XXS, /* f16 d | 64 points | 8 x (4 x 7 bits of signs and 4 of scale)          98 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ3_S,   /* f16 d | 64 points | 8 bytes upper bits | 32 signs | 8 scales of 4    110 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ1_S,   /* f16 d | 32 points | 8 x (4 x 3 upper bits, 3 of scale, shift)         50 bytes, 256 values */
	BQ_LAYOUT_GGML_IQ1_M,   /* 32 points | 32 x (3 upper bits, shift) | 16 scales of 3 bits and d    56 bytes, 256 values */
	BQ_LAYOUT_BURN_QUANTIZED_BYTES, /* codes as pack_into says | innermost scales | tensor-wide scale, in one array */
	BQ_NLAYOUTS
};

/* Rows of the kernel tables' fused column. */
enum bq_fused_id {
	BQ_GENERIC, BQ_FUSED_Q8_0, BQ_FUSED_Q4_0, BQ_FUSED_Q5_0, BQ_FUSED_Q4_K, BQ_FUSED_Q4_1, BQ_FUSED_Q5_1, BQ_FUSED_Q6_K,
	BQ_FUSED_Q5_K, BQ_FUSED_Q2_K, BQ_FUSED_Q3_K, BQ_FUSED_Q1_0, BQ_FUSED_Q2_0, BQ_FUSED_TQ1_0, BQ_FUSED_TQ2_0,
	BQ_FUSED_MXFP4, BQ_FUSED_NVFP4, BQ_FUSED_IQ4_NL, BQ_FUSED_IQ4_XS, BQ_FUSED_IQ2_XXS, BQ_FUSED_IQ2_XS, BQ_FUSED_IQ2_S,
	BQ_FUSED_IQ3_XXS, BQ_FUSED_IQ3_S, BQ_FUSED_IQ1_S, BQ_FUSED_IQ1_M,
	BQ_FUSED_INT8_PLANES, BQ_FUSED_FP8_PLANES, BQ_FUSED_NVFP4_PLANES, BQ_FUSED_MXFP4_PLANES, BQ_NFUSED
};

enum bq_kernels_id { BQ_SCALAR, BQ_SIMD128, BQ_NKERNELS };

/* BQ_OK, or the rule that is broken. docs/schemes.md explains each. */
enum bq_status {
	BQ_OK,
	BQ_BAD_VALUE,        /* the value dtype is no code dtype, or narrow on something else than a signed integer */
	BQ_BAD_LEVELS,       /* no scale, more than BQ_MAX_LEVELS, or mins whose levels are not the scales' */
	BQ_BAD_LEVEL_DTYPE,  /* a level's dtype cannot hold a scale there */
	BQ_BAD_BLOCK,        /* more axes than the tensor, or a level's block is no multiple of the one inside it */
	BQ_BAD_ZERO,         /* a zero point with mins, narrower than the value, or with floats other than E4M3 */
	BQ_BAD_RULES,        /* no such row, or the row lacks what the scheme needs */
	BQ_BAD_LAYOUT,       /* no such row, or the layout has no place for what the scheme stores */
	BQ_BAD_FUSED,        /* no such kernel, or it does not do this scheme */
	BQ_BAD_SHAPE,        /* rank above BQ_MAX_RANK, or sizes that overflow 2^53 */
	BQ_EMPTY,            /* a tensor without values */
	BQ_RAGGED,           /* rows are not whole blocks, and the format stores only whole ones */
	BQ_ODD,              /* codes share bytes (two in one, four in three) and a row does not fill its last ones */
	BQ_NEEDS_KERNEL,     /* this calibration is a search that only a fused kernel does */
	BQ_TOO_BIG,          /* one band's buffers do not fit 31 bits: a block of rows is too large */
	BQ_BAD_DTYPE,        /* the input is none of F32, F16, BF16 */
	BQ_BAD_KERNELS,      /* this build lacks the kernel row asked for */
	BQ_BAD_CALIBRATION,  /* no such calibration, an argument out of its range, or a search that these rules do not have */
	BQ_BAD_CODEBOOK,     /* the table is none of 2 to 256 different finite numbers, or value is no table */
	BQ_NEEDS_IMPORTANCE, /* this format is not made without importance */
	BQ_NSTATUS
};

/* What a broken rule is about. */
enum bq_field {
	BQ_FIELD_NONE, BQ_FIELD_VALUE, BQ_FIELD_SCALES, BQ_FIELD_SCALE0, BQ_FIELD_SCALE1, BQ_FIELD_SCALE2, BQ_FIELD_ZERO, BQ_FIELD_SYMMETRIC,
	BQ_FIELD_MINS, BQ_FIELD_MIN0, BQ_FIELD_MIN1, BQ_FIELD_MIN2, BQ_FIELD_CALIBRATION, BQ_FIELD_RULES, BQ_FIELD_LAYOUT, BQ_FIELD_SHAPE,
	BQ_NFIELDS
};

#define BQ_MAX_PROBLEMS 16

struct bq_problem {
	uint32_t status, field;
};

enum bq_role { BQ_ROLE_VALUES, BQ_ROLE_SCALE0, BQ_ROLE_SCALE1, BQ_ROLE_SCALE2, BQ_ROLE_ZERO, BQ_ROLE_MIN0, BQ_ROLE_MIN1, BQ_ROLE_MIN2, BQ_ROLE_SHAPE, BQ_ROLE_BLOCKS };

/* One stored array. Bytes of step s of item i begin at i * item_nbytes + s * step_nbytes; a plane that does not grow with
 * the steps (a tensor-wide scale, a shape) has step_nbytes 0 and belongs to every band. */
struct bq_plane {
	uint32_t role, dtype, rank, step_nbytes;
	uint64_t item_nbytes;
	uint64_t nbytes;
	uint64_t dims[BQ_MAX_RANK];
};

/* A tensor is nitems items of steps_per_item steps; a step is the least that a band may hold: step_rows rows of cols
 * values (fewer at an item's end). */
struct bq_plan {
	struct bq_scheme scheme; /* BQ_INPUT replaced by the weights' dtype */
	uint32_t input, kernels, passes, nplanes;
	uint32_t rank, first_axis; /* rank is at least 2: a vector is one row */
	uint32_t unit_height;      /* edge of a unit along first_axis */
	uint32_t unit_rows, step_rows;
	uint32_t cols, group, cells_per_unit; /* of the innermost scale */
	uint32_t packed_axis;                 /* along which a line of codes runs: the last one, but for scheme.pack_axis */
	uint32_t line_nbytes;                 /* of the codes' plane */
	uint32_t workspace_nbytes; /* for bq_encode and bq_decode, aligned to 16 */
	uint32_t tensor_level;     /* the first level that is one for the tensor and made of a first pass; nscales: none */
	uint32_t value_bits;       /* of a packed code */
	uint32_t tables_nbytes;    /* for bq_prepare, aligned to 16; 0: bq_encode takes no tables */
	uint32_t takes_importance; /* 1: importance may be given: to a kernel of blocks, heeded or not, or to a calibration that weighs errors */
	uint32_t needs_importance; /* 1: bq_encode refuses without importance */
	uint32_t ncodebook;        /* entries of a table of values; 0: none */
	/* Dtypes: of the parameters' arithmetic, of the quotient, of the decoder's product, of its result. */
	uint32_t parameter_work, encode_work, decode_work, result;
	uint64_t dims[BQ_MAX_RANK];
	uint64_t nvalues, nbytes;
	uint64_t nitems, rows_per_item, steps_per_item;
	struct bq_plane plane[BQ_MAX_PLANES];
	/* Of a codebook: its values by code; in ascending order, the codes and the highest float32 that is nearer to an entry
	 * than to the next, or as near. */
	float codebook[BQ_MAX_CODEBOOK], codebook_end[BQ_MAX_CODEBOOK];
	uint8_t codebook_code[BQ_MAX_CODEBOOK];
};

/* Some consecutive steps: which values, which bytes of each plane, and which cells of each level's grid. */
struct bq_band {
	uint64_t first_step, nsteps;
	uint64_t value_offset, nvalues; /* in values */
	uint64_t cell_offset[BQ_MAX_LEVELS], ncells[BQ_MAX_LEVELS]; /* scales and mins alike; one for a tensor-wide level */
	uint64_t plane_offset[BQ_MAX_PLANES];
	uint32_t plane_nbytes[BQ_MAX_PLANES];
};

#define BQ_SUM_LIMBS 11

/* What a first pass gathers of a whole tensor. Begin with zeroes; merging is independent of the order of bands. */
struct bq_tensor_range {
	float lo, hi;     /* of the values; never above, below 0 */
	float scale, min; /* the largest magnitude of what the first tensor-wide level covers, if that is not the values */
	uint32_t sum[BQ_SUM_LIMBS]; /* of the magnitudes, in units of 2^-149, the lowest limb first */
	uint32_t seen;
};

/* What happened; the caller zeroes it before the first band and every call adds to it. */
struct bq_report {
	uint64_t fused_values, generic_values; /* which path ran */
	uint64_t overflow_blocks;              /* blocks of finite weights whose parameter its dtype cannot hold */
	uint64_t heavy_blocks;                 /* of others, those whose importance is too large to search with */
	uint64_t nonfinite_values;
	uint64_t first_nonfinite; /* index in the tensor, if nonfinite_values > 0 */
};

struct bq_preset {
	const char *name; /* qualified, such as "ggml:q4_0" */
	const char *description;
	struct bq_scheme scheme;
};

/* Kernel rows of this build: bit BQ_SCALAR is always set, bit BQ_SIMD128 where the build has it. */
BQ_API(bq_kernel_rows) uint32_t bq_kernel_rows(void);

/* The table of named formats. index counts from 0; null at its end. name: not null; null where there is no such preset. */
BQ_API(bq_preset_at) const struct bq_preset *bq_preset_at(uint32_t index);
const struct bq_preset *bq_preset_named(const char *name);

/* Stored bits per value of an unboundedly large tensor: codes and every parameter level. input: as for bq_plan. */
BQ_API(bq_bits_per_weight) double bq_bits_per_weight(const struct bq_scheme *scheme, uint32_t input);

/* Lays out a tensor of dims[0..rank) under a scheme. codebook: null, or scheme->codebook values, copied. input: dtype of its weights (BQ_F32, BQ_F16, BQ_BF16); it is the
 * working dtype of rules that have one. kernels: enum bq_kernels_id. Returns BQ_OK or the first broken rule. */
BQ_API(bq_plan) enum bq_status bq_plan(const struct bq_scheme *scheme, const float *codebook, uint32_t input, uint32_t kernels,
	uint32_t rank, const uint64_t *dims, struct bq_plan *plan);

/* All the rules that a scheme breaks on a tensor, up to BQ_MAX_PROBLEMS; returns their number. How fields go together is
 * judged where each is right by itself, and rows where the scheme is. */
BQ_API(bq_check) uint32_t bq_check(const struct bq_scheme *scheme, const float *codebook, uint32_t input, uint32_t rank,
	const uint64_t *dims, struct bq_problem problem[BQ_MAX_PROBLEMS]);

/* Makes the tables that bq_encode looks things up in: plan.tables_nbytes bytes, aligned to 16. They depend on
 * plan.scheme.fused alone, take some ten milliseconds, and serve any number of calls and threads. */
BQ_API(bq_prepare) void bq_prepare(const struct bq_plan *plan, void *tables);

/* The band that begins at first_step (less than nitems * steps_per_item) and holds as many whole steps as fit in max_nbytes of input (at least one), while no
 * plane of it exceeds 32 bits. */
BQ_API(bq_band) void bq_band(const struct bq_plan *plan, uint64_t first_step, uint32_t max_nbytes, struct bq_band *band);

/* Merges what a band of weights says of the tensor into range. Arguments as those of bq_encode. */
BQ_API(bq_range) void bq_range(const struct bq_plan *plan, const struct bq_band *band, const void *weights, const float *importance,
	uint32_t nimportance, const float *lo, const float *hi, uint32_t correct, void *workspace, struct bq_tensor_range *range,
	struct bq_report *report);

/* Quantizes a band.
 *   weights      band.nvalues values of plan.input
 *   importance   null, or nimportance rows of plan.cols float32: one weight per column; item i of the tensor uses row
 *                i % nimportance (one for all, or one per expert)
 *   range        of the whole tensor, if plan.passes == 2 and nothing is given, else null
 *   lo, hi       null, or band.ncells[0] ranges to use instead of measuring the blocks
 *   given        null, or by enum bq_role the codes of the band's cells for each level of scales and mins and the zero
 *                points, in their dtypes, one code a byte: they are stored, and the values made against what they decode
 *                to; or the tensor-wide levels alone, and the others are made against them
 *   correct      1: without the faults of the reference that docs/schemes.md lists, such as arithmetic that is rounded at
 *                each step to the weights' dtype; what is right, not its bytes
 *   tables       null, or those of bq_prepare, if plan.tables_nbytes
 *   planes       plan.nplanes pointers to band.plane_nbytes[p] bytes each
 *   workspace    plan.workspace_nbytes bytes, aligned to 16
 * Non-finite weights are counted, not refused: the report says so. BQ_NEEDS_KERNEL: the scheme's parameters are found by
 * a search that only a fused kernel does; BQ_NEEDS_IMPORTANCE: plan.needs_importance, and importance is null. */
BQ_API(bq_encode) enum bq_status bq_encode(const struct bq_plan *plan, const struct bq_band *band, const void *weights,
	const float *importance, uint32_t nimportance, const struct bq_tensor_range *range, const float *lo, const float *hi,
	const void *const *given, uint32_t correct, const void *tables, void *const *planes, void *workspace, struct bq_report *report);

/* Decodes a band to float32: the values of the format's own decoder, widened; fake 1: those of the reference's fake
 * quantizer, which keeps the working dtype and rounds to that of the weights (plan.input). */
BQ_API(bq_decode) void bq_decode(const struct bq_plan *plan, const struct bq_band *band, const void *const *planes,
	uint32_t fake, float *values, void *workspace, struct bq_report *report);

/* Takes the codes and parameters of a band out of its planes, as they are: parts, by enum bq_role, are arrays for band.nvalues
 * codes of values (BQ_ROLE_VALUES) and band.ncells[i] of each level of scales and mins and the zero points, in their dtypes,
 * one code a byte, integers with their sign. */
BQ_API(bq_unpack) void bq_unpack(const struct bq_plan *plan, const struct bq_band *band, const void *const *planes, void *const *parts,
	void *workspace);

/* The way back: the planes of a band from its codes and parameters. BQ_NEEDS_KERNEL: only a fused kernel writes this layout. */
BQ_API(bq_pack) enum bq_status bq_pack(const struct bq_plan *plan, const struct bq_band *band, const void *const *parts,
	void *const *planes, void *workspace);

/* Converts count numbers between float32 and a float dtype (one of from, to is BQ_F32). docs/numbers.md says what becomes
 * of NaN, infinities, both zeros and subnormals. Returns 0, or 1 where there is no such conversion. */
BQ_API(bq_convert) int bq_convert(uint32_t kernels, uint32_t from, uint32_t to, size_t count, const void *in, void *out);

/* Widens lo, hi, the ranges of band.ncells[0] blocks of the innermost scale (begin with zeroes, for 0 is in every range), by those
 * of a band of weights (plan.input dtype). A NaN makes its block's NaN. workspace: as for bq_encode. */
BQ_API(bq_observe) void bq_observe(const struct bq_plan *plan, const struct bq_band *band, const void *weights, float *lo, float *hi,
	void *workspace);

/* running = constant * batch + (1 - constant) * running, for count ends of ranges; both products and the sum are rounded to
 * dtype (BQ_F32, BQ_F16 or BQ_BF16). */
BQ_API(bq_average) void bq_average(uint32_t dtype, double constant, size_t count, const float *batch, float *running);

/* A scale rounded upwards, so that nothing of its block is cut: the least value of a dtype (F32, F16, BF16, F8E4M3, UE4M3 or
 * E8M0, whose least is 2^-127) that is not below x, which is not negative; the dtype's largest where there is none. NaN stays. */
BQ_API(bq_round_up) float bq_round_up(uint32_t dtype, float x);

/* Adds to sums[5]: squared error, squared reference, squared other, product, and the maximum |error| so far. */
BQ_API(bq_compare) void bq_compare(size_t count, const float *reference, const float *other, double sums[5]);

#ifdef __cplusplus
}
#endif
#endif
