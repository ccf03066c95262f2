// to.js - a scheme of ours as the keyword arguments of Core AI's QuantizationSpec, or the reason why it has none.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { E8M0, dtypeOfValue } from './dtypes.js';
import { mustReadBack } from '../scheme/stated.js';
import { fromCoreAI } from './from.js';
import { resolveScheme } from '../presets.js';
import { NARROW } from '../scheme.js';
import { nestedOfLevels } from './nested.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Level} Level */
/** @typedef {import('../scheme.js').Block} Block */

/** @param {string} field @param {string} reason @returns {never} */
function refuse(field, reason) {
	throw new BlockQuantError('unsupported', `Core AI cannot say scheme.${field}: ${reason}`);
}

/** The same granularity for tensors of two axes, or of as many as a list of edges has. @param {Block} block */
function granularityOf(block) {
	if (block === 'tensor') return { type: 'per_tensor' };
	if (block === 'channel') return { type: 'per_channel', axis: 0 };
	if (typeof block === 'number') return { type: 'per_block', axis: -1, block_size: block };
	const own = block.filter((edge) => edge !== -1);
	if (own.length === 1 && own[0] === 1) return { type: 'per_channel', axis: block.indexOf(1) };
	if (block.length === 2 && block[1] === 1 && block[0] > 1)
		return { type: 'per_block', axis: 0, block_size: block[0] };
	return { type: 'per_block', block_size: block };
}

/** @param {Block} block @param {number} rank */
function edgesOf(block, rank) {
	const edges = block === 'channel' ? [-1] : Array.isArray(block) ? block : [block];
	return [...Array(rank - edges.length).fill(1), ...edges];
}

/** The granularity of parents on the grid of inner blocks. @param {Level} inner @param {Level} outer */
function nestedGranularity(inner, outer) {
	if (outer.block === 'tensor' || inner.block === 'tensor') return granularityOf('tensor');
	const rank = Math.max(2, ...[inner, outer].map(({ block }) => (Array.isArray(block) ? block.length : 1)));
	const small = edgesOf(inner.block, rank);
	const cells = edgesOf(outer.block, rank).map((edge, i) => (edge === -1 || small[i] === -1 ? -1 : edge / small[i]));
	if (!cells.every(Number.isInteger))
		refuse('scales[1].block', `${shown(outer.block)} is not made of whole blocks of ${shown(inner.block)}`);
	const first = cells.findIndex((edge) => edge !== 1);
	return granularityOf(
		rank > 2 ? cells : first < 0 ? 1 : first === 0 ? cells : cells[1] === -1 ? 'channel' : cells[1],
	);
}

/** @param {Scheme} scheme */
function scalesOf({ scales, observer }) {
	const [inner, outer, more] = scales;
	if (more) refuse('scales', 'one spec inside another is the most: two levels');
	if (outer) {
		const nested = nestedOfLevels(inner.dtype, outer.dtype);
		if (!nested) refuse('scales', `no nested spec has codes of ${inner.dtype} under parents of ${outer.dtype}`);
		return { qparam_qspec: { ...nested, granularity: nestedGranularity(inner, outer) } };
	}
	if (inner.dtype === 'e8m0') return { scale_dtype: E8M0 };
	const fixed = observer?.range?.every((end) => end !== null);
	if (inner.dtype !== 'input' && !(fixed && inner.dtype === 'f32'))
		refuse('scales[0].dtype', `a scale has the dtype of the weights, or e8m0; got ${inner.dtype}`);
	return {};
}

/** @param {Scheme} scheme @param {boolean} narrow */
function qschemeOf({ value, zero, mins, symmetric }, narrow) {
	if (narrow) return 'symmetric_with_clipping';
	if (zero === undefined && !mins) return 'symmetric';
	if (zero !== undefined && zero !== value)
		refuse('zero', `a zero point has the values' dtype ${value}, got ${zero}`);
	return symmetric ? 'symmetric' : 'asymmetric';
}

/**
 * The QuantizationSpec that says the same, with only the fields that differ from its defaults.
 * @param {string | Scheme} nameOrScheme
 * @returns {any}
 * @throws {BlockQuantError} unsupported, with the reason; unknown-scheme
 */
export function toCoreAI(nameOrScheme) {
	const scheme = resolveScheme(nameOrScheme);
	const { value, rules = 'plain', layout = 'planes', calibration = 'minmax', mins, activations, observer } = scheme;
	if (rules !== 'coreai') refuse('rules', `it calculates by its own, not by ${shown(rules)}`);
	if (layout !== 'planes') refuse('layout', `it keeps codes and parameters apart; got ${shown(layout)}`);
	if (calibration !== 'minmax') refuse('calibration', `its ranges are minima and maxima, got ${shown(calibration)}`);
	if (activations) refuse('activations', 'a spec is for weights or for activations');
	if (mins && JSON.stringify(mins) !== JSON.stringify(scheme.scales))
		refuse('mins', 'minval is stored as the scales are');
	if (typeof value !== 'string') refuse('value', 'it has no tables of values');
	const narrow = value.endsWith(NARROW);
	const dtype = dtypeOfValue(narrow ? value.slice(0, -NARROW.length) : value);
	if (!dtype) refuse('value', `it has no dtype ${value}`);
	const qscheme = qschemeOf(scheme, narrow);
	const json = {
		dtype,
		...(qscheme !== 'symmetric' && { qscheme }),
		...(mins && { qformulation: 'minval' }),
		granularity: granularityOf(scheme.scales[0].block),
		...scalesOf(scheme),
		...(observer && { qparam_calculator_cls: observer.calculator }),
		...(observer?.constant !== undefined && { averaging_constant: observer.constant }),
		...(observer?.range && { float_range: observer.range }),
	};
	mustReadBack('Core AI', scheme, () => fromCoreAI(json));
	return json;
}
