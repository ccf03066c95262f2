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
#define CT(layout_) .rules = BQ_RULES_COMPRESSED_TENSORS, .layout = layout_
#define PER_TOKEN(dtype_) .act_mode = BQ_ACT_DYNAMIC, .act = { .dtype = dtype_, CHANNEL }

static const struct bq_preset presets[] = {
	{ "ggml:q8_0", "8-bit codes, one f16 scale per 32: nearly lossless", {
		.value = BQ_I8, .narrow = 1, .nscales = 1, .scale = { { BQ_F16, GROUP(32) } },
		GGML(BQ_LAYOUT_GGML_Q8_0, BQ_FUSED_Q8_0, BQ_RULES_GGML) } },
	{ "ggml:q6_k", "6-bit codes, 8-bit scales per 16 under an f16 one per 256: hard to tell from the original", {
		.value = BQ_I6, .nscales = 2, .scale = { { BQ_I8, GROUP(16) }, { BQ_F16, GROUP(256) } }, .calibration = BQ_SEARCH,
		GGML(BQ_LAYOUT_GGML_Q6_K, BQ_FUSED_Q6_K, BQ_RULES_GGML_SIGNED) } },
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
	{ "ct:w4a16", "int4 weights in groups of 128, symmetric: vLLM's usual 4 bits", {
		.value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(128) } }, CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w4a16_asym", "int4 weights in groups of 128 with zero points", {
		.value = BQ_I4, .nscales = 1, .scale = { { BQ_INPUT, GROUP(128) } }, .zero = BQ_I4, CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:w8a16", "int8 weights in groups of 128", {
		.value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, GROUP(128) } }, CT(BQ_LAYOUT_PACK_QUANTIZED) } },
	{ "ct:fp8_dynamic", "E4M3 weights with one scale per output channel; E4M3 activations scaled per token at run time", {
		.value = BQ_F8E4M3, .nscales = 1, .scale = { { BQ_INPUT, CHANNEL } }, CT(BQ_LAYOUT_FLOAT_QUANTIZED),
		PER_TOKEN(BQ_F8E4M3) } },
	{ "ct:nvfp4a16", "E2M1 weights, E4M3 scales per 16, one f32 scale per tensor", {
		.value = BQ_F4E2M1, .nscales = 2, .scale = { { BQ_F8E4M3, GROUP(16) }, { BQ_F32, TENSOR } },
		CT(BQ_LAYOUT_NVFP4_PACK_QUANTIZED) } },
	{ "ct:mxfp4a16", "E2M1 weights, power-of-two scales per 32 (OCP MX)", {
		.value = BQ_F4E2M1, .nscales = 1, .scale = { { BQ_E8M0, GROUP(32) } }, CT(BQ_LAYOUT_MXFP4_PACK_QUANTIZED) } },
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
