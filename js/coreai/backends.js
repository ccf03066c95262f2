// backends.js - what each backend of Core AI can store, as a table, and why it refuses a spec (coreai.md, sections 9 and A).
// SPDX-License-Identifier: MIT

import { given } from '../arguments.js';
import { BlockQuantError } from '../errors.js';
import { word } from '../problems.js';
import { DTYPES, E8M0 } from './dtypes.js';

/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {'weight' | 'activation'} Target */

const ALL = [...DTYPES.keys()];
const WITHOUT_SIX = ALL.filter((dtype) => DTYPES.get(dtype)?.bits !== 6);

/**
 * @typedef {object} Backend
 * @property {string[]} weight dtypes
 * @property {string[]} activation dtypes
 * @property {boolean} nested scales that are quantized in turn
 * @property {boolean} dynamic ranges made while the model runs
 * @property {boolean} minval
 * @property {boolean} powers integers under scales of e8m0
 * @property {boolean} blocks of activations
 * @property {number | null} fp4 the only block of fp4 weights, which have two axes; null: any
 */

/** @type {Record<string, Backend>} */
export const BACKENDS = {
	Torch: {
		...{ weight: ALL, activation: ALL, nested: true, dynamic: true },
		...{ minval: true, powers: true, blocks: true, fp4: null },
	},
	CoreAI: {
		...{ weight: WITHOUT_SIX, activation: WITHOUT_SIX.filter((dtype) => dtype !== 'float4_e2m1fn_x2') },
		...{ nested: false, dynamic: false, minval: true, powers: false, blocks: false, fp4: 32 },
	},
	CoreML: {
		...{ weight: ['int4', 'uint4', 'int8', 'uint8'], activation: ['int8', 'uint8'], nested: false },
		...{ dynamic: false, minval: false, powers: false, blocks: false, fp4: null },
	},
};

/** @param {Spec} spec @param {number | undefined} rank */
function isBlockOf({ granularity: { type, axis, block_size: size } }, rank = 2, block = 32) {
	if (rank !== 2 || type !== 'per_block') return false;
	if (Array.isArray(size)) return size.length === 2 && size[0] === 1 && size[1] === block;
	return size === block && (axis === null || axis === 1 || axis === -1);
}

/**
 * What a backend cannot store, in the order in which it is told: first what is the spec's own doing.
 * @type {{ field: string, broken: (spec: Spec, can: Backend, target: Target, rank?: number) => unknown, why: string }[]}
 */
const LIMITS = [
	{
		field: 'qparam_qspec',
		broken: (spec, can) => spec.qparam_qspec && !can.nested,
		why: 'stores no quantized scales',
	},
	{
		field: 'qparam_calculator_cls',
		broken: (spec, can) => spec.qparam_calculator_cls === 'dynamic' && !can.dynamic,
		why: 'stores ranges, and a dynamic calculator has none to store',
	},
	{ field: 'dtype', broken: (spec, can, target) => !can[target].includes(spec.dtype), why: 'has no such codes' },
	{
		field: 'scale_dtype',
		broken: (spec, can) => spec.scale_dtype === E8M0 && DTYPES.get(spec.dtype)?.integer && !can.powers,
		why: 'has no integers under scales of e8m0',
	},
	{
		field: 'qformulation',
		broken: (spec, can) => spec.qformulation === 'minval' && !can.minval,
		why: 'has no minval',
	},
	{
		field: 'granularity',
		broken: (spec, can, target) => target === 'activation' && spec.granularity.type === 'per_block' && !can.blocks,
		why: 'quantizes activations per tensor or per channel',
	},
	{
		field: 'granularity',
		broken: (spec, can, target, rank) =>
			target === 'weight' && spec.dtype === 'float4_e2m1fn_x2' && can.fp4 && !isBlockOf(spec, rank, can.fp4),
		why: 'stores fp4 of two axes in blocks of 32 along the last',
	},
];

/**
 * Refuses a spec that a backend cannot store.
 * @param {Spec} spec
 * @param {string} backend Torch, CoreAI or CoreML
 * @param {{ target?: Target, rank?: number, where?: string }} [options]
 * @throws {BlockQuantError} unsupported, with every reason
 */
export function checkBackend(spec, backend, { target = 'weight', rank, where = '' } = {}) {
	given('backend', backend, word(Object.keys(BACKENDS)));
	const can = BACKENDS[backend];
	const reasons = LIMITS.filter(({ broken }) => broken(spec, can, target, rank));
	if (reasons.length)
		throw new BlockQuantError(
			'unsupported',
			reasons.map(({ field, why }) => `${where && `${where}.`}${field}: ${backend} ${why}`).join('; '),
		);
}
