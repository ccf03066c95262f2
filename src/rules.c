/* SPDX-License-Identifier: MIT
 * rules.c - the references' arithmetic, one row each.
 */
#include "rules.h"

static const struct bq_rules rows[BQ_NRULES] = {
	/* compressed-tensors 0.20.1: calculate_qparams, quantize, dequantize. Symmetric integers keep their full range and
	 * divide by half of it (7.5 for 4 bits); torch rounds to even and does each operation in the tensor's dtype. */
	[BQ_RULES_COMPRESSED_TENSORS] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_HALF_SPAN, .quotient = BQ_DIVIDE, .round = BQ_HALF_EVEN, .work = BQ_WORK_ALL,
		.against = BQ_STORED, .zero_scale = BQ_EPSILON, .saturate = 1,
		.power = BQ_POWER_CARRIED, .power_carry = { [BQ_F4E2M1] = 2, [BQ_F8E4M3] = 2, [BQ_F6E2M3] = 4 },
		.outer = BQ_OUTER_MULTIPLIER, .drop_negative_zero = { [BQ_F4E2M1] = 1, [BQ_F8E4M3] = 1 }, .whole_groups = 1,
	},
	/* ggml's simple types with a positive scale (q8_0): codes are made with the float32 scale, the file holds its half. */
	[BQ_RULES_GGML] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_CODE_MAX, .quotient = BQ_RECIPROCAL, .round = BQ_HALF_AWAY,
		.against = BQ_IDEAL, .zero_scale = BQ_ZERO_FACTOR, .outer = BQ_OUTER_FACTOR, .zero_after = 1, .whole_groups = 1,
	},
	/* ggml's simple types whose lowest code takes the largest value, sign and all (q4_0, q5_0). */
	[BQ_RULES_GGML_SIGNED] = {
		.extent = BQ_SIGNED, .divisor = BQ_CODE_MIN, .quotient = BQ_RECIPROCAL, .round = BQ_FIELD_HALF_UP,
		.against = BQ_IDEAL, .zero_scale = BQ_ZERO_FACTOR, .outer = BQ_OUTER_FACTOR, .zero_after = 1, .whole_groups = 1,
	},
	/* As BQ_RULES_GGML, but a scale inside of another is odd: iq1_s to iq3_s. */
	[BQ_RULES_GGML_ODD] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_CODE_MAX, .quotient = BQ_RECIPROCAL, .round = BQ_HALF_AWAY,
		.against = BQ_IDEAL, .zero_scale = BQ_ZERO_FACTOR, .outer = BQ_OUTER_FACTOR, .zero_after = 1, .whole_groups = 1,
		.odd_eighths = 1,
	},
	/* ggml's mxfp4 and nvfp4: codes by distance, against the stored scale. A NaN scale is read as one more power of two, but
	 * stands above codes of 0 alone. */
	[BQ_RULES_GGML_E2M1] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_CODE_MAX, .quotient = BQ_PRODUCTS, .against = BQ_STORED, .zero_scale = BQ_ZERO_FACTOR,
		.saturate = 1, .power = BQ_POWER_LOGARITHM, .outer = BQ_OUTER_FACTOR, .zero_after = 1,
		.skip_nan = { [BQ_GGML_UE4M3] = 1 }, .zero_nan = 1, .whole_groups = 1,
	},
	/* Nobody's in particular: what a scheme means that names none. */
	[BQ_RULES_PLAIN] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_CODE_MAX, .quotient = BQ_DIVIDE, .round = BQ_HALF_EVEN, .work = BQ_WORK_F32,
		.against = BQ_STORED, .zero_scale = BQ_ZERO_FACTOR, .outer = BQ_OUTER_FACTOR, .zero_after = 1,
	},
	/* coreai-opt 0.4.0: parameters in the tensor's dtype, values in float32; no scale below float32's epsilon. */
	[BQ_RULES_COREAI] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_HALF_SPAN, .quotient = BQ_DIVIDE, .round = BQ_HALF_EVEN, .work = BQ_WORK_PARAMETERS,
		.against = BQ_STORED, .least_scale = 0x1p-23f, .least_parent = 0x1p-23f, .zero_scale = BQ_ZERO_FACTOR,
		.power = BQ_POWER_BELOW, .outer = BQ_OUTER_FACTOR, .zero_after = 1,
	},
	/* Burn 0.23 on Flex: scales in the tensor's dtype, rounded up. */
	[BQ_RULES_BURN] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_SPAN, .quotient = BQ_DIVIDE, .round = BQ_HALF_EVEN, .work = BQ_WORK_PARAMETERS,
		.against = BQ_STORED, .parameter_round = BQ_UP, .least_parent = 0x1p-126f, .zero_scale = BQ_LEAST,
		.outer = BQ_OUTER_FACTOR, .zero_after = 1, .nan_code = { [BQ_F8E4M3] = 0x7F, [BQ_F8E5M2] = 0x7E },
	},
	/* Burn 0.22.1 on Flex: times the reciprocal, half away from zero. */
	[BQ_RULES_BURN_0_22] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_SPAN, .quotient = BQ_RECIPROCAL, .round = BQ_HALF_AWAY, .work = BQ_WORK_PARAMETERS,
		.against = BQ_STORED, .parameter_round = BQ_UP, .least_parent = 0x1p-126f, .zero_scale = BQ_LEAST,
		.outer = BQ_OUTER_FACTOR, .zero_after = 1,
	},
	/* Burn 0.22.1 on NdArray: a scale of 0 stays. */
	[BQ_RULES_BURN_NDARRAY] = {
		.extent = BQ_ABSOLUTE, .divisor = BQ_SPAN, .quotient = BQ_DIVIDE, .round = BQ_HALF_AWAY, .work = BQ_WORK_PARAMETERS,
		.against = BQ_STORED, .parameter_round = BQ_UP, .least_parent = 0x1p-126f, .zero_scale = BQ_ZERO_FACTOR,
		.outer = BQ_OUTER_FACTOR, .zero_after = 1,
	},
};

const struct bq_rules *bq_rules(uint32_t id)
{
	return id < BQ_NRULES ? &rows[id] : NULL;
}
