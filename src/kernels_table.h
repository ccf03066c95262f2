/* SPDX-License-Identifier: MIT
 * kernels_table.h - one row of the kernel table: include with ISA defined. A new kernel is one line here.
 */
#define BQ_JOIN_(name, isa) bq_##name##_##isa
#define BQ_JOIN(name, isa) BQ_JOIN_(name, isa)
#define K(name) BQ_JOIN(name, ISA)
#define NUMBER(dtype, name) .to_f32[dtype] = K(name##_to_f32), .from_f32[dtype] = K(name##_from_f32)

const struct bq_kernels BQ_JOIN(kernels, ISA) = {
	NUMBER(BQ_F32, f32), NUMBER(BQ_F16, f16), NUMBER(BQ_BF16, bf16), NUMBER(BQ_F8E4M3, f8e4m3), NUMBER(BQ_F8E5M2, f8e5m2),
	NUMBER(BQ_F4E2M1, f4e2m1), NUMBER(BQ_F6E2M3, f6e2m3), NUMBER(BQ_E8M0, e8m0), NUMBER(BQ_UE4M3, ue4m3), NUMBER(BQ_GGML_UE4M3, ggml_ue4m3),
	.count_nonfinite = K(count_nonfinite), .range = K(range), .extreme = K(extreme),
	.encode = K(encode), .decode = K(decode),
	.pack_words = K(pack_words), .unpack_words = K(unpack_words), .pack_nibbles = K(pack_nibbles), .unpack_nibbles = K(unpack_nibbles),
	.pack_sixes = K(pack_sixes), .unpack_sixes = K(unpack_sixes),
	.fused[BQ_FUSED_Q8_0] = { K(encode_q8_0), K(decode_q8_0), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_Q4_0] = { K(encode_q4_0), K(decode_q4_0), BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q5_0] = { K(encode_q5_0), K(decode_q5_0), BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q4_K] = { K(encode_q4_k), K(decode_q4_k), BQ_WEIGHTED },
	.fused[BQ_FUSED_Q4_1] = { K(encode_q4_1), K(decode_q4_1), BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q5_1] = { K(encode_q5_1), K(decode_q5_1), BQ_WEIGHTED_BY_ROW },
	.fused[BQ_FUSED_Q6_K] = { K(encode_q6_k), K(decode_q6_k), BQ_WEIGHTED },
	.fused[BQ_FUSED_Q5_K] = { K(encode_q5_k), K(decode_q5_k), BQ_WEIGHTED },
	.fused[BQ_FUSED_Q2_K] = { K(encode_q2_k), K(decode_q2_k), BQ_WEIGHTED },
	.fused[BQ_FUSED_Q3_K] = { K(encode_q3_k), K(decode_q3_k), BQ_WEIGHTED },
	.fused[BQ_FUSED_Q1_0] = { K(encode_q1_0), K(decode_q1_0), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_Q2_0] = { K(encode_q2_0), K(decode_q2_0), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_TQ1_0] = { K(encode_tq1_0), K(decode_tq1_0), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_TQ2_0] = { K(encode_tq2_0), K(decode_tq2_0), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_MXFP4] = { K(encode_mxfp4), K(decode_mxfp4), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_NVFP4] = { K(encode_nvfp4), K(decode_nvfp4), BQ_UNWEIGHTED },
	.fused[BQ_FUSED_IQ4_NL] = { K(encode_iq4_nl), K(decode_iq4_nl), BQ_WEIGHTED },
	.fused[BQ_FUSED_IQ4_XS] = { K(encode_iq4_xs), K(decode_iq4_xs), BQ_WEIGHTED },
};
