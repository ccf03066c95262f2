/* SPDX-License-Identifier: MIT
 * presets.c - the table of named formats, each said in the scheme language. A new format is one row here.
 */
#include <string.h>

#include "blockquant.h"

#define TENSOR .rank = 0
#define CHANNEL .rank = 1, .edge = { 0 } /* one row */
#define GROUP(n) .rank = 1, .edge = { n }
#define BLOCK(r, c) .rank = 2, .edge = { r, c }

#define GGML(layout_, fused_, rules_) .rules = rules_, .layout = layout_, .fused = fused_
#define COREAI .rules = BQ_RULES_COREAI, .layout = BQ_LAYOUT_PLANES
#define CT(layout_) .rules = BQ_RULES_COMPRESSED_TENSORS, .layout = layout_
#define CT_FUSED(layout_, fused_) CT(layout_), .fused = fused_

#define BURN(into) .rules = BQ_RULES_BURN, .layout = BQ_LAYOUT_BURN_QUANTIZED_BYTES, .pack_into = into

/* Points of a grid, as their coordinates: eight or four codes of 8 bits in less than 8. */
#define GRID(scale_, n) .value = BQ_I8, .nscales = 2, .scale = { { scale_, GROUP(n) }, { BQ_F16, GROUP(256) } }, .calibration = BQ_SEARCH

/* What the runtime does with activations. */
#define PER_TOKEN(dtype_) .act_mode = BQ_ACT_DYNAMIC, .act = { .dtype = dtype_, CHANNEL }
#define PER_GROUP(dtype_, n, scale_) .act_mode = BQ_ACT_DYNAMIC, .act = { .dtype = dtype_, GROUP(n) }, .act_scale = scale_

/* Weights that several formats share. */
#define INT_GROUPS(bits) .value = BQ_I1 + bits - 1, .nscales = 1, .scale = { { BQ_INPUT, GROUP(128) } }
#define INT_ROWS(bits) .value = BQ_I1 + bits - 1, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }
#define NVFP4 .value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } }
#define BURN_INT(bits, narrow_, dtype_, ...) \
	.value = BQ_I1 + bits - 1, .narrow = narrow_, .nscales = 1, .scale = { { dtype_, __VA_ARGS__ } }, BURN(BQ_INTO_WORDS)
#define MX(value_) .value = value_, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } }

static const struct bq_preset presets[] = {
	{ "ggml:q8_0", "8-bit codes, one f16 scale per 32: nearly lossless", {
		.value = BQ_I8, .narrow = 1, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } },
		GGML(BQ_LAYOUT_GGML_Q8_0, BQ_FUSED_Q8_0, BQ_RULES_GGML) } },
	{ "ggml:q6_k", "6-bit codes, 8-bit scales per 16 under an f16 one per 256: hard to tell from the original", {
		.value = BQ_I6, .nscales = 2, .scale = { { BQ_I8, GROUP(16) }, { BQ_F16, GROUP(256) } },
		.calibration = BQ_SEARCH, GGML(BQ_LAYOUT_GGML_Q6_K, BQ_FUSED_Q6_K, BQ_RULES_GGML_SIGNED) } },
	{ "ggml:q5_k", "5-bit codes, 6-bit scales and mins per 32 under f16 ones per 256: q4_k with a bit to spare", {
		.value = BQ_U5, .nscales = 2, .scale = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(256) } },
		.nmins = 2, .min = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(256) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_Q5_K, BQ_FUSED_Q5_K, BQ_RULES_GGML) } },
	{ "ggml:q5_1", "5-bit codes, f16 scale and min per 32: q5_0 for values far from zero on average", {
		.value = BQ_U5, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } }, .nmins = 1, .min = { { BQ_F16, GROUP(32) } },
		.calibration = BQ_SEARCH, GGML(BQ_LAYOUT_GGML_Q5_1, BQ_FUSED_Q5_1, BQ_RULES_GGML) } },
	{ "ggml:q5_0", "5-bit codes, one f16 scale per 32: rows that k-quants cannot take", {
		.value = BQ_I5, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } },
		GGML(BQ_LAYOUT_GGML_Q5_0, BQ_FUSED_Q5_0, BQ_RULES_GGML_SIGNED) } },
	{ "ggml:q4_0", "4-bit codes, one f16 scale per 32: small and fast everywhere", {
		.value = BQ_I4, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } },
		GGML(BQ_LAYOUT_GGML_Q4_0, BQ_FUSED_Q4_0, BQ_RULES_GGML_SIGNED) } },
	{ "ggml:q4_1", "4-bit codes, f16 scale and min per 32: q4_0 for values far from zero on average", {
		.value = BQ_U4, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } }, .nmins = 1, .min = { { BQ_F16, GROUP(32) } },
		.calibration = BQ_SEARCH, GGML(BQ_LAYOUT_GGML_Q4_1, BQ_FUSED_Q4_1, BQ_RULES_GGML) } },
	{ "ggml:q4_k", "4-bit codes, 6-bit scales and mins per 32 under f16 ones per 256: the usual choice at 4.5 bits", {
		.value = BQ_U4, .nscales = 2, .scale = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(256) } },
		.nmins = 2, .min = { { BQ_U6, GROUP(32) }, { BQ_F16, GROUP(256) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_Q4_K, BQ_FUSED_Q4_K, BQ_RULES_GGML) } },
	{ "ggml:q3_k", "3-bit codes, 6-bit scales per 16 under an f16 one per 256: where 4 bits do not fit", {
		.value = BQ_I3, .nscales = 2, .scale = { { BQ_I6, GROUP(16) }, { BQ_F16, GROUP(256) } },
		.calibration = BQ_SEARCH, GGML(BQ_LAYOUT_GGML_Q3_K, BQ_FUSED_Q3_K, BQ_RULES_GGML_SIGNED) } },
	{ "ggml:q2_k", "2-bit codes, 4-bit scales and mins per 16 under f16 ones per 256: the largest models", {
		.value = BQ_U2, .nscales = 2, .scale = { { BQ_U4, GROUP(16) }, { BQ_F16, GROUP(256) } },
		.nmins = 2, .min = { { BQ_U4, GROUP(16) }, { BQ_F16, GROUP(256) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_Q2_K, BQ_FUSED_Q2_K, BQ_RULES_GGML) } },
	{ "ggml:iq4_xs", "4-bit codes of 16 uneven levels, 6-bit scales per 32 under an f16 one per 256: as good as q4_k", {
		.value = BQ_IQ4_NL, .nscales = 2, .scale = { { BQ_I6, GROUP(32) }, { BQ_F16, GROUP(256) } },
		.calibration = BQ_SEARCH, GGML(BQ_LAYOUT_GGML_IQ4_XS, BQ_FUSED_IQ4_XS, BQ_RULES_GGML_SIGNED) } },
	{ "ggml:iq4_nl", "4-bit codes of 16 uneven levels, one f16 scale per 32: rows that iq4_xs cannot take", {
		.value = BQ_IQ4_NL, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_IQ4_NL, BQ_FUSED_IQ4_NL, BQ_RULES_GGML_SIGNED) } },
	{ "ggml:iq3_s", "3-bit codes in fours from a grid of 512, 4-bit scales per 32 under an f16 one per 256: q3_k, better", {
		GRID(BQ_U4, 32), GGML(BQ_LAYOUT_GGML_IQ3_S, BQ_FUSED_IQ3_S, BQ_RULES_GGML_ODD) } },
	{ "ggml:iq3_xxs", "3-bit codes in fours from a grid of 256, 4-bit scales per 32 under an f16 one per 256", {
		GRID(BQ_U4, 32), GGML(BQ_LAYOUT_GGML_IQ3_XXS, BQ_FUSED_IQ3_XXS, BQ_RULES_GGML_ODD) } },
	{ "ggml:iq2_s", "2-bit codes in eights from a grid of 1024, 4-bit scales per 16 under an f16 one per 256", {
		GRID(BQ_U4, 16), GGML(BQ_LAYOUT_GGML_IQ2_S, BQ_FUSED_IQ2_S, BQ_RULES_GGML_ODD) } },
	{ "ggml:iq2_xs", "2-bit codes in eights from a grid of 512, 4-bit scales per 16 under an f16 one per 256; needs an imatrix", {
		GRID(BQ_U4, 16), GGML(BQ_LAYOUT_GGML_IQ2_XS, BQ_FUSED_IQ2_XS, BQ_RULES_GGML_ODD) } },
	{ "ggml:iq2_xxs", "2-bit codes in eights from a grid of 256, 4-bit scales per 32 under an f16 one per 256; needs an imatrix", {
		GRID(BQ_U4, 32), GGML(BQ_LAYOUT_GGML_IQ2_XXS, BQ_FUSED_IQ2_XXS, BQ_RULES_GGML_ODD) } },
	{ "ggml:iq1_m", "ternary codes in eights from a grid of 2048, 3-bit scales per 16 under an f16 one per 256", {
		GRID(BQ_U3, 16), GGML(BQ_LAYOUT_GGML_IQ1_M, BQ_FUSED_IQ1_M, BQ_RULES_GGML_ODD) } },
	{ "ggml:iq1_s", "ternary codes in eights from a grid of 2048, 3-bit scales per 32 under an f16 one per 256; needs an imatrix", {
		GRID(BQ_U3, 32), GGML(BQ_LAYOUT_GGML_IQ1_S, BQ_FUSED_IQ1_S, BQ_RULES_GGML_ODD) } },
	{ "ggml:nvfp4", "E2M1 codes, E4M3 scales per 16, none above: NVIDIA's FP4 in GGUF", {
		.value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_GGML_UE4M3, GROUP(16) } },
		GGML(BQ_LAYOUT_GGML_NVFP4, BQ_FUSED_NVFP4, BQ_RULES_GGML_E2M1) } },
	{ "ggml:mxfp4", "E2M1 codes, power-of-two scales per 32: OCP MX in GGUF, as gpt-oss has it", {
		.value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } },
		GGML(BQ_LAYOUT_GGML_MXFP4, BQ_FUSED_MXFP4, BQ_RULES_GGML_E2M1) } },
	{ "ggml:tq2_0", "codes -1, 0, 1 in pairs of bits, one f16 scale per 256: ternary models", {
		.value = BQ_I2, .narrow = 1, .nscales = 1, .scale = { { BQ_F16, GROUP(256) } },
		GGML(BQ_LAYOUT_GGML_TQ2_0, BQ_FUSED_TQ2_0, BQ_RULES_GGML) } },
	{ "ggml:tq1_0", "codes -1, 0, 1, five in a byte, one f16 scale per 256: ternary models, smallest", {
		.value = BQ_I2, .narrow = 1, .nscales = 1, .scale = { { BQ_F16, GROUP(256) } },
		GGML(BQ_LAYOUT_GGML_TQ1_0, BQ_FUSED_TQ1_0, BQ_RULES_GGML) } },
	{ "ggml:q2_0", "codes -1, 0, 1 in pairs of bits, one f16 scale per 64: ternary models", {
		.value = BQ_I2, .narrow = 1, .nscales = 1, .scale = { { BQ_F16, GROUP(64) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_Q2_0, BQ_FUSED_Q2_0, BQ_RULES_GGML) } },
	{ "ggml:q1_0", "signs, one f16 scale per 128: binary models", {
		.value = BQ_I2, .narrow = 1, .nscales = 1, .scale = { { BQ_F16, GROUP(128) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_Q1_0, BQ_FUSED_Q1_0, BQ_RULES_GGML) } },
	{ "ct:w4a16", "int4 weights in groups of 128, symmetric: vLLM's usual 4 bits", {
		INT_GROUPS(4), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w4a16_asym", "int4 weights in groups of 128 with zero points", {
		INT_GROUPS(4), .zero = BQ_I4, CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w8a16", "int8 weights in groups of 128", {
		INT_GROUPS(8), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w2a16", "int2 weights in groups of 128", {
		INT_GROUPS(2), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w3a16", "int3 weights in groups of 128", {
		INT_GROUPS(3), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w5a16", "int5 weights in groups of 128", {
		INT_GROUPS(5), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w6a16", "int6 weights in groups of 128", {
		INT_GROUPS(6), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w7a16", "int7 weights in groups of 128", {
		INT_GROUPS(7), CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:int8", "int8 weights with one scale per output channel; int8 activations scaled per token at run time", {
		INT_ROWS(8), CT_FUSED(BQ_LAYOUT_INT_QUANTIZED, BQ_FUSED_INT8_PLANES), PER_TOKEN(BQ_I8) } },
	{ "ct:w8a8", "the same as ct:int8", {
		INT_ROWS(8), CT_FUSED(BQ_LAYOUT_INT_QUANTIZED, BQ_FUSED_INT8_PLANES), PER_TOKEN(BQ_I8) } },
	{ "ct:w2a8", "int2 weights in groups of 128, one a byte; int8 activations per token", {
		INT_GROUPS(2), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I8) } },
	{ "ct:w3a8", "int3 weights in groups of 128, one a byte; int8 activations per token", {
		INT_GROUPS(3), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I8) } },
	{ "ct:w4a8", "int4 weights in groups of 128, one a byte; int8 activations per token", {
		INT_GROUPS(4), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I8) } },
	{ "ct:w5a8", "int5 weights in groups of 128, one a byte; int8 activations per token", {
		INT_GROUPS(5), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I8) } },
	{ "ct:w6a8", "int6 weights in groups of 128, one a byte; int8 activations per token", {
		INT_GROUPS(6), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I8) } },
	{ "ct:w7a8", "int7 weights in groups of 128, one a byte; int8 activations per token", {
		INT_GROUPS(7), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I8) } },
	{ "ct:w2a4", "int2 weights in groups of 128, one a byte; int4 activations per token", {
		INT_GROUPS(2), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I4) } },
	{ "ct:w3a4", "int3 weights in groups of 128, one a byte; int4 activations per token", {
		INT_GROUPS(3), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I4) } },
	{ "ct:w4a4", "int4 weights in groups of 128, one a byte; int4 activations per token", {
		INT_GROUPS(4), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_I4) } },
	{ "ct:w4afp8", "int4 weights in groups of 128, one a byte; E4M3 activations per token", {
		INT_GROUPS(4), CT(BQ_LAYOUT_INT_QUANTIZED), PER_TOKEN(BQ_F8E4M3) } },
	{ "ct:fp8_dynamic", "E4M3 weights with one scale per output channel; E4M3 activations scaled per token at run time", {
		.value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }, CT(BQ_LAYOUT_FLOAT_QUANTIZED), PER_TOKEN(BQ_F8E4M3) } },
	{ "ct:fp8", "E4M3 weights and activations, one scale per tensor each; that of activations comes from calibration", {
		.value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_INPUT, TENSOR } }, CT(BQ_LAYOUT_FLOAT_QUANTIZED), .act_mode = BQ_ACT_STATIC,
		.act = { .dtype = BQ_F8E4M3, TENSOR } } },
	{ "ct:fp8_block", "E4M3 weights in blocks of 128 x 128; E4M3 activations in groups of 128", {
		.value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_INPUT, BLOCK(128, 128) } },
		CT_FUSED(BQ_LAYOUT_FLOAT_QUANTIZED, BQ_FUSED_FP8_PLANES), PER_GROUP(BQ_F8E4M3, 128, BQ_NONE) } },
	{ "ct:nvfp4a16", "E2M1 weights, E4M3 scales per 16, one f32 scale per tensor", {
		NVFP4, CT_FUSED(BQ_LAYOUT_NVFP4_PACK_QUANTIZED, BQ_FUSED_NVFP4_PLANES) } },
	{ "ct:nvfp4", "weights as ct:nvfp4a16; activations likewise, their tensor scale from calibration", {
		NVFP4, CT_FUSED(BQ_LAYOUT_NVFP4_PACK_QUANTIZED, BQ_FUSED_NVFP4_PLANES), .act_mode = BQ_ACT_LOCAL, .act = { .dtype = BQ_F4E2M1, GROUP(16) },
		.act_scale = BQ_F8E4M3 } },
	{ "ct:mxfp4a16", "E2M1 weights, power-of-two scales per 32 (OCP MX)", {
		MX(BQ_F4E2M1), CT_FUSED(BQ_LAYOUT_MXFP4_PACK_QUANTIZED, BQ_FUSED_MXFP4_PLANES) } },
	{ "ct:mxfp4", "weights as ct:mxfp4a16; activations likewise", {
		MX(BQ_F4E2M1), CT_FUSED(BQ_LAYOUT_MXFP4_PACK_QUANTIZED, BQ_FUSED_MXFP4_PLANES), PER_GROUP(BQ_F4E2M1, 32, BQ_E8M0) } },
	{ "ct:mxfp4xfp8", "weights as ct:mxfp4a16; E4M3 activations in groups of 128", {
		MX(BQ_F4E2M1), CT_FUSED(BQ_LAYOUT_MXFP4_PACK_QUANTIZED, BQ_FUSED_MXFP4_PLANES), PER_GROUP(BQ_F8E4M3, 128, BQ_NONE) } },
	{ "ct:mxfp6a16", "E2M3 weights, power-of-two scales per 32", {
		MX(BQ_F6E2M3), CT(BQ_LAYOUT_MXFP6_PACK_QUANTIZED) } },
	{ "ct:mxfp6a8", "weights as ct:mxfp6a16; E4M3 activations with power-of-two scales per 32", {
		MX(BQ_F6E2M3), CT(BQ_LAYOUT_MXFP6_PACK_QUANTIZED), PER_GROUP(BQ_F8E4M3, 32, BQ_E8M0) } },
	{ "ct:mxfp8a16", "E4M3 weights, power-of-two scales per 32", {
		MX(BQ_F8E4M3), CT(BQ_LAYOUT_MXFP8_QUANTIZED) } },
	{ "ct:mxfp8", "weights as ct:mxfp8a16; activations likewise", {
		MX(BQ_F8E4M3), CT(BQ_LAYOUT_MXFP8_QUANTIZED), PER_GROUP(BQ_F8E4M3, 32, BQ_E8M0) } },
	{ "coreai:w8", "int8 weights with one scale per output channel, as coreai-opt calculates them", {
		INT_ROWS(8), COREAI } },
	{ "coreai:w4", "int4 weights with one scale per output channel, one a byte", {
		INT_ROWS(4), COREAI } },
	{ "coreai:w4_per_block", "int4 weights in groups of 32, one a byte", {
		.value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(32) } }, COREAI } },
	{ "burn:q8f", "int8 weights in words, one f32 scale for the tensor: Burn's default", {
		BURN_INT(8, 0, BQ_F32, TENSOR) } },
	{ "burn:q8s", "burn:q8f without the lowest code", {
		BURN_INT(8, 1, BQ_F32, TENSOR) } },
	{ "burn:q4f", "int4 weights in words, one f32 scale for the tensor", {
		BURN_INT(4, 0, BQ_F32, TENSOR) } },
	{ "burn:q4s", "burn:q4f without the lowest code", {
		BURN_INT(4, 1, BQ_F32, TENSOR) } },
	{ "burn:q2s", "codes -1, 0, 1 in words under the mean magnitude of the tensor: BitNet's ternary weights", {
		BURN_INT(2, 1, BQ_F32, TENSOR), .calibration = BQ_ABSMEAN } },
	{ "burn:q8f_block32", "int8 weights in words, f16 scales per 32", {
		BURN_INT(8, 0, BQ_F16, GROUP(32)) } },
	{ "burn:q8s_block32", "burn:q8f_block32 without the lowest code", {
		BURN_INT(8, 1, BQ_F16, GROUP(32)) } },
	{ "burn:q4f_block32", "int4 weights in words, f16 scales per 32", {
		BURN_INT(4, 0, BQ_F16, GROUP(32)) } },
	{ "burn:q4s_block32", "burn:q4f_block32 without the lowest code", {
		BURN_INT(4, 1, BQ_F16, GROUP(32)) } },
	{ "burn:e4m3", "E4M3 weights, one f32 scale for the tensor", {
		.value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_F32, TENSOR } }, BURN(BQ_INTO_BYTES) } },
	{ "burn:e5m2", "E5M2 weights, one f32 scale for the tensor", {
		.value = BQ_F8E5M2, .nscales = 1, .scale = { { BQ_F32, TENSOR } }, BURN(BQ_INTO_BYTES) } },
	{ "burn:nvfp4", "E2M1 weights, E4M3 scales per 16, one f32 scale for the tensor", {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_UE4M3, GROUP(16) }, { BQ_F32, TENSOR } }, BURN(BQ_INTO_NATIVE) } },
	{ "burn:mxfp4", "E2M1 weights, power-of-two scales per 32", {
		MX(BQ_F4E2M1), BURN(BQ_INTO_NATIVE) } },
	{ "burn:mxfp8", "E4M3 weights, power-of-two scales per 32", {
		MX(BQ_F8E4M3), BURN(BQ_INTO_BYTES) } },
};

const struct bq_preset *bq_preset_at(uint32_t index)
{
	return index < sizeof(presets) / sizeof(presets[0]) ? &presets[index] : NULL;
}

const struct bq_preset *bq_preset_named(const char *name)
{
	const struct bq_preset *preset;

	for (uint32_t i = 0; (preset = bq_preset_at(i)); i++)
		if (!strcmp(preset->name, name))
			return preset;
	return NULL;
}
