// abi.js - include/blockquant.h as JavaScript sees it: enums as lists of names in the header's order, structs as lists of
// fields. tests/js/abi.test.js compares them with the header.
// SPDX-License-Identifier: MIT

import { arrayOf, struct } from './structs.js';

const widths = [1, 2, 3, 4, 5, 6, 7, 8];

/** enum bq_dtype */
export const DTYPES = [
	...[
		'none',
		'f32',
		'f16',
		'bf16',
		'f8e4m3',
		'f8e5m2',
		'f4e2m1',
		'f6e2m3',
		'e8m0',
		'ue4m3',
		'ggml_ue4m3',
		'nf4',
		'iq4_nl',
		'codebook',
		'input',
		'i64',
		'i32',
	],
	...widths.map((bits) => `i${bits}`),
	...widths.map((bits) => `u${bits}`),
];

/** enum bq_calibration */
export const CALIBRATIONS = ['minmax', 'search', 'absmean', 'percentile', 'mse'];

/** enum bq_activation */
export const ACTIVATIONS = ['none', 'dynamic', 'local', 'static'];

/** enum bq_rules_id */
export const RULES = [
	'compressed-tensors',
	'ggml',
	'ggml-signed',
	'ggml-odd',
	'ggml-e2m1',
	'plain',
	'coreai',
	'burn',
	'burn-0.22',
	'burn-ndarray',
];

/** enum bq_layout_id */
export const LAYOUTS = [
	'planes',
	'pack-quantized',
	'int-quantized',
	'float-quantized',
	'naive-quantized',
	'mxfp8-quantized',
	'nvfp4-pack-quantized',
	'mxfp4-pack-quantized',
	'mxfp6-pack-quantized',
	'ggml-q8_0',
	'ggml-q4_0',
	'ggml-q5_0',
	'ggml-q4_k',
	'ggml-q4_1',
	'ggml-q5_1',
	'ggml-q6_k',
	'ggml-q5_k',
	'ggml-q2_k',
	'ggml-q3_k',
	'ggml-q1_0',
	'ggml-q2_0',
	'ggml-tq1_0',
	'ggml-tq2_0',
	'ggml-mxfp4',
	'ggml-nvfp4',
	'ggml-iq4_nl',
	'ggml-iq4_xs',
	'ggml-iq2_xxs',
	'ggml-iq2_xs',
	'ggml-iq2_s',
	'ggml-iq3_xxs',
	'ggml-iq3_s',
	'ggml-iq1_s',
	'ggml-iq1_m',
	'burn-quantized-bytes',
];

/** enum bq_pack_into */
export const PACK_INTO = ['bytes', 'native', 'u32'];

/** enum bq_kernels_id */
export const KERNELS = ['scalar', 'simd128'];

/** enum bq_field, as a scheme object has them */
export const FIELDS = [
	...['', 'value', 'scales', 'scales[0]', 'scales[1]', 'scales[2]', 'zero', 'symmetric'],
	...['mins', 'mins[0]', 'mins[1]', 'mins[2]', 'calibration', 'rules', 'layout', 'shape'],
];

/** enum bq_role */
export const ROLES = [
	'values',
	'scales.0',
	'scales.1',
	'scales.2',
	'zeros',
	'mins.0',
	'mins.1',
	'mins.2',
	'shape',
	'blocks',
];

/** enum bq_status */
export const STATUSES = [
	'ok',
	'bad-value',
	'bad-levels',
	'bad-level-dtype',
	'bad-block',
	'bad-zero',
	'bad-rules',
	'bad-layout',
	'bad-fused',
	'bad-shape',
	'empty',
	'ragged',
	'odd',
	'needs-kernel',
	'too-big',
	'bad-dtype',
	'bad-kernels',
	'bad-calibration',
	'bad-codebook',
	'needs-importance',
];

export const MAX_RANK = 5;
export const MAX_LEVELS = 3;
export const MAX_PLANES = 10;
export const MAX_PROBLEMS = 16;
export const MAX_CODEBOOK = 256;

/** 32-bit limbs of a sum of magnitudes. */
export const SUM_LIMBS = 11;

const dims = arrayOf('u64', MAX_RANK);

export const Level = struct({ dtype: 'u32', rank: 'u32', edge: arrayOf('u32', MAX_RANK) });

export const Scheme = struct({
	value: 'u32',
	narrow: 'u32',
	codebook: 'u32',
	nscales: 'u32',
	scale: arrayOf(Level, MAX_LEVELS),
	zero: 'u32',
	symmetric: 'u32',
	nmins: 'u32',
	min: arrayOf(Level, MAX_LEVELS),
	calibration: 'u32',
	calibration_argument: 'f64',
	rules: 'u32',
	layout: 'u32',
	pack_into: 'u32',
	pack_axis: 'u32',
	fused: 'u32',
	act_mode: 'u32',
	act: Level,
	act_scale: 'u32',
});

export const Plane = struct({
	role: 'u32',
	dtype: 'u32',
	rank: 'u32',
	step_nbytes: 'u32',
	item_nbytes: 'u64',
	nbytes: 'u64',
	dims,
});

export const Plan = struct({
	scheme: Scheme,
	input: 'u32',
	kernels: 'u32',
	passes: 'u32',
	nplanes: 'u32',
	rank: 'u32',
	first_axis: 'u32',
	unit_height: 'u32',
	unit_rows: 'u32',
	step_rows: 'u32',
	cols: 'u32',
	group: 'u32',
	cells_per_unit: 'u32',
	packed_axis: 'u32',
	line_nbytes: 'u32',
	workspace_nbytes: 'u32',
	tensor_level: 'u32',
	value_bits: 'u32',
	tables_nbytes: 'u32',
	takes_importance: 'u32',
	needs_importance: 'u32',
	ncodebook: 'u32',
	parameter_work: 'u32',
	encode_work: 'u32',
	decode_work: 'u32',
	result: 'u32',
	dims,
	nvalues: 'u64',
	nbytes: 'u64',
	nitems: 'u64',
	rows_per_item: 'u64',
	steps_per_item: 'u64',
	plane: arrayOf(Plane, MAX_PLANES),
	codebook: arrayOf('f32', MAX_CODEBOOK),
	codebook_end: arrayOf('f32', MAX_CODEBOOK),
	codebook_code: arrayOf('u8', MAX_CODEBOOK),
});

export const Band = struct({
	first_step: 'u64',
	nsteps: 'u64',
	value_offset: 'u64',
	nvalues: 'u64',
	cell_offset: arrayOf('u64', MAX_LEVELS),
	ncells: arrayOf('u64', MAX_LEVELS),
	plane_offset: arrayOf('u64', MAX_PLANES),
	plane_nbytes: arrayOf('u32', MAX_PLANES),
});

export const Problem = struct({ status: 'u32', field: 'u32' });

export const TensorRange = struct({
	lo: 'f32',
	hi: 'f32',
	scale: 'f32',
	min: 'f32',
	sum: arrayOf('u32', SUM_LIMBS),
	seen: 'u32',
});

export const Report = struct({
	fused_values: 'u64',
	generic_values: 'u64',
	overflow_blocks: 'u64',
	heavy_blocks: 'u64',
	nonfinite_values: 'u64',
	first_nonfinite: 'u64',
});

/** Bytes of one number of a dtype, as it stands in a plane or an array. */
/** @type {Record<string, number>} */
export const NBYTES = { f32: 4, f16: 2, bf16: 2, i64: 8, i32: 4 };
for (const name of DTYPES) NBYTES[name] ??= 1;
