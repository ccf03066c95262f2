/* SPDX-License-Identifier: MIT
 * kernels_table.h - one row of the kernel table: include with ISA defined. A new fused kernel is one line of the lists in kernels.h.
 */
#define BQ_JOIN_(name, isa) bq_##name##_##isa
#define BQ_JOIN(name, isa) BQ_JOIN_(name, isa)
#define K(name) BQ_JOIN(name, ISA)
#define NUMBER(dtype, name) .to_f32[dtype] = K(name##_to_f32), .from_f32[dtype] = K(name##_from_f32)
#define BLOCKS(TYPE, name, heeds, tables) \
	[BQ_FUSED_##TYPE] = { .encode = K(encode_##name), .decode = K(decode_##name), .weighting = heeds, .grid = tables },
#define PLANES(TYPE, name) [BQ_FUSED_##TYPE] = { .encode_cells = K(encode_##name), .decode_cells = K(decode_##name) },

const struct bq_kernels BQ_JOIN(kernels, ISA) = {
	NUMBER(BQ_F32, f32), NUMBER(BQ_F16, f16), NUMBER(BQ_BF16, bf16), NUMBER(BQ_F8E4M3, f8e4m3), NUMBER(BQ_F8E5M2, f8e5m2),
	NUMBER(BQ_F4E2M1, f4e2m1), NUMBER(BQ_F6E2M3, f6e2m3), NUMBER(BQ_E8M0, e8m0), NUMBER(BQ_UE4M3, ue4m3), NUMBER(BQ_GGML_UE4M3, ggml_ue4m3),
	.count_nonfinite = K(count_nonfinite), .range = K(range), .extreme = K(extreme),
	.encode = K(encode), .decode = K(decode),
	.pack_words = K(pack_words), .unpack_words = K(unpack_words), .pack_nibbles = K(pack_nibbles), .unpack_nibbles = K(unpack_nibbles),
	.pack_sixes = K(pack_sixes), .unpack_sixes = K(unpack_sixes),
	.fused = { BQ_BLOCK_KERNELS(BLOCKS) BQ_PLANES_KERNELS(PLANES) },
};
