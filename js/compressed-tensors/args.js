// args.js - a scheme of ours as compressed-tensors' QuantizationArgs, in the form that 0.20.1 writes: keys that are null
// or inferred are left out.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';

import { valueName } from '../scheme.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @type {Record<string, string>} */
const SCALE_DTYPES = { f8e4m3: 'torch.float8_e4m3fn', e8m0: 'torch.uint8' };

/** @param {string} value */
function typeOf(value) {
	const int = /^i([1-8])$/.exec(value);
	if (int) return { num_bits: Number(int[1]), type: 'int' };
	if (value === 'f8e4m3') return { num_bits: 8, type: 'float' };
	if (value === 'f4e2m1') return { num_bits: 4, type: 'float' };
	if (value === 'f6e2m3') return { num_bits: 6, type: 'float' };
	throw new BlockQuantError('unsupported', `compressed-tensors has no values of ${value}`);
}

/** @param {import('../scheme.js').Block} block @param {string} row what a whole row is called @param {boolean} two under a tensor-wide scale */
function strategyOf(block, row, two) {
	if (block === 'tensor') return { group_size: null, strategy: 'tensor' };
	if (block === 'channel') return { group_size: null, strategy: row };
	if (typeof block === 'number') return { group_size: block, strategy: two ? 'tensor_group' : 'group' };
	if (block.length === 2 && block.every((edge) => edge > 0))
		return { group_size: null, strategy: 'block', block_structure: block };
	throw new BlockQuantError('unsupported', `compressed-tensors has no blocks of [${block.join(', ')}]`);
}

/** @param {string | undefined} scale */
const scaleDtype = (scale) => (scale && SCALE_DTYPES[scale] ? { scale_dtype: SCALE_DTYPES[scale] } : {});

/**
 * @param {Scheme} scheme
 * @returns {{ format: string, weights: any, input_activations: any }}
 * @throws {BlockQuantError} unsupported: what compressed-tensors cannot say
 */
export function schemeToArgs(scheme) {
	if (scheme.rules !== 'compressed-tensors' || !scheme.layout || scheme.layout === 'planes')
		throw new BlockQuantError(
			'unsupported',
			`${scheme.name ?? 'this scheme'} is not stored in a layout of compressed-tensors`,
		);
	const [inner, outer] = scheme.scales;
	if (inner === undefined)
		throw new BlockQuantError('bad-scheme', 'scheme.scales: expected one level or two, got none');
	const { activations } = scheme;
	const block = activations?.mode === 'local';
	return {
		format: scheme.layout,
		weights: {
			...typeOf(valueName(scheme)),
			symmetric: scheme.zero === undefined,
			...strategyOf(inner.block, 'channel', outer !== undefined),
			dynamic: false,
			...scaleDtype(inner.dtype),
		},
		input_activations: activations
			? {
					...typeOf(activations.value),
					symmetric: activations.symmetric ?? true,
					...strategyOf(activations.block, 'token', block),
					dynamic: activations.mode === 'dynamic' ? true : block ? 'local' : false,
					...scaleDtype(activations.scale),
				}
			: null,
	};
}
