// layouts.js - what each layout calls its planes, and what safetensors calls their dtypes.
// SPDX-License-Identifier: MIT

import { DTYPES, LAYOUTS, ROLES } from './core/abi.js';

const PARAMETERS = { 'scales.0': 'weight_scale', 'scales.1': 'weight_global_scale', zeros: 'weight_zero_point' };
const WHOLE = { ...PARAMETERS, values: 'weight' };
const PACKED = { ...PARAMETERS, values: 'weight_packed', shape: 'weight_shape' };

/** Names by role, where they are not the roles' own. @type {Record<string, Record<string, string>>} */
const NAMES = {
	'pack-quantized': PACKED,
	'int-quantized': WHOLE,
	'float-quantized': WHOLE,
	'naive-quantized': WHOLE,
	'mxfp8-quantized': WHOLE,
	'nvfp4-pack-quantized': PACKED,
	'mxfp4-pack-quantized': PACKED,
	'mxfp6-pack-quantized': PACKED,
};

/** Layouts whose planes stand in one array, one after the other. */
const SERIAL = ['burn-quantized-bytes'];

/** Whether what is stored is one array. @param {any} plan struct bq_plan as an object */
export const isSerial = ({ scheme, plane }) =>
	SERIAL.includes(LAYOUTS[scheme.layout]) || ROLES[plane[0].role] === 'blocks';

/** E8M0 exponents are stored as U8 by those who write them, one code of 4 bits or fewer takes a byte. @type {Record<string, string>} */
const FILE_DTYPES = {
	f32: 'F32',
	f16: 'F16',
	bf16: 'BF16',
	f8e4m3: 'F8_E4M3',
	f8e5m2: 'F8_E5M2',
	i64: 'I64',
	i32: 'I32',
};
for (const dtype of DTYPES) FILE_DTYPES[dtype] ??= /^i\d$/.test(dtype) ? 'I8' : 'U8';

/** @typedef {{ name: string, role: string, dtype: string, shape: number[], nbytes: number }} PlaneInfo */

/**
 * The planes of a plan, as files name them.
 * @param {any} plan struct bq_plan as an object
 * @returns {PlaneInfo[]}
 */
export function planesOf(plan) {
	const names = NAMES[LAYOUTS[plan.scheme.layout]] ?? {};
	return plan.plane.slice(0, plan.nplanes).map((/** @type {any} */ plane) => {
		const role = ROLES[plane.role];
		return {
			name: names[role] ?? role,
			role,
			dtype: FILE_DTYPES[DTYPES[plane.dtype]],
			shape: plane.dims.slice(0, plane.rank),
			nbytes: plane.nbytes,
		};
	});
}

/** The dtype of weights by its name in files. @type {Record<string, 'f32' | 'f16' | 'bf16'>} */
export const WEIGHT_DTYPES = { F32: 'f32', F16: 'f16', BF16: 'bf16' };
