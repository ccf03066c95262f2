/* SPDX-License-Identifier: MIT
 * kernels_table.h - one row of the kernel table: include with ISA defined. A new kernel is one line here.
 */
#define BQ_JOIN_(name, isa) bq_##name##_##isa
#define BQ_JOIN(name, isa) BQ_JOIN_(name, isa)
#define K(name) BQ_JOIN(name, ISA)
#define NUMBER(dtype, name) .to_f32[dtype] = K(name##_to_f32), .from_f32[dtype] = K(name##_from_f32)
#define FUSED(name) .encode = K(encode_##name), .decode = K(decode_##name)
#define PLANES(name) .encode_cells = K(encode_##name), .decode_cells = K(decode_##name)

const struct bq_kernels BQ_JOIN(kernels, ISA) = {
	NUMBER(BQ_F32, f32), NUMBER(BQ_F16, f16), NUMBER(BQ_BF16, bf16), NUMBER(BQ_F8E4M3, f8e4m3), NUMBER(BQ_F8E5M2, f8e5m2),
	NUMBER(BQ_F4E2M1, f4e2m1), NUMBER(BQ_F6E2M3, f6e2m3), NUMBER(BQ_E8M0, e8m0), NUMBER(BQ_UE4M3, ue4m3), NUMBER(BQ_GGML_UE4M3, ggml_ue4m3),
	.count_nonfinite = K(count_nonfinite), .range = K(range), .extreme = K(extreme),
	.encode = K(encode), .decode = K(decode),
	.pack_words = K(pack_words), .unpack_words = K(unpack_words), .pack_nibbles = K(pack_nibbles), .unpack_nibbles = K(unpack_nibbles),
	.pack_sixes = K(pack_sixes), .unpack_sixes = K(unpack_sixes),
	.fused[BQ_FUSED_Q8_0] = { FUSED(q8_0), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_Q4_0] = { FUSED(q4_0), .weighting = BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q5_0] = { FUSED(q5_0), .weighting = BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q4_K] = { FUSED(q4_k), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_Q4_1] = { FUSED(q4_1), .weighting = BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q5_1] = { FUSED(q5_1), .weighting = BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q6_K] = { FUSED(q6_k), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_Q5_K] = { FUSED(q5_k), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_Q2_K] = { FUSED(q2_k), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_Q3_K] = { FUSED(q3_k), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_Q1_0] = { FUSED(q1_0), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_Q2_0] = { FUSED(q2_0), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_TQ1_0] = { FUSED(tq1_0), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_TQ2_0] = { FUSED(tq2_0), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_MXFP4] = { FUSED(mxfp4), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_NVFP4] = { FUSED(nvfp4), .weighting = BQ_UNWEIGHTED },
	.fused[BQ_FUSED_IQ4_NL] = { FUSED(iq4_nl), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_IQ4_XS] = { FUSED(iq4_xs), .weighting = BQ_WEIGHTED },
	.fused[BQ_FUSED_IQ2_XXS] = { FUSED(iq2_xxs), .weighting = BQ_WEIGHTED_ALWAYS, .grid = &bq_iq2_xxs_grid },
	.fused[BQ_FUSED_IQ2_XS] = { FUSED(iq2_xs), .weighting = BQ_WEIGHTED_ALWAYS, .grid = &bq_iq2_xs_grid },
	.fused[BQ_FUSED_IQ2_S] = { FUSED(iq2_s), .weighting = BQ_WEIGHTED, .grid = &bq_iq2_s_grid },
	.fused[BQ_FUSED_IQ3_XXS] = { FUSED(iq3_xxs), .weighting = BQ_WEIGHTED, .grid = &bq_iq3_xxs_grid },
	.fused[BQ_FUSED_IQ3_S] = { FUSED(iq3_s), .weighting = BQ_WEIGHTED, .grid = &bq_iq3_s_grid },
	.fused[BQ_FUSED_IQ1_S] = { FUSED(iq1_s), .weighting = BQ_WEIGHTED_ALWAYS, .grid = &bq_iq1_grid },
	.fused[BQ_FUSED_IQ1_M] = { FUSED(iq1_m), .weighting = BQ_WEIGHTED, .grid = &bq_iq1_grid },
	.fused[BQ_FUSED_INT8_PLANES] = { PLANES(int8_planes) },
	.fused[BQ_FUSED_FP8_PLANES] = { PLANES(fp8_planes) },
	.fused[BQ_FUSED_NVFP4_PLANES] = { PLANES(nvfp4_planes) },
	.fused[BQ_FUSED_MXFP4_PLANES] = { PLANES(mxfp4_planes) },
};
