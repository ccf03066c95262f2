// to.js - a scheme of ours as the keyword arguments of Core AI's QuantizationSpec, or the reason why it has none.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { E8M0, dtypeOfValue } from './dtypes.js';
import { edgesOfBlock } from '../scheme.js';
import { mustReadBack } from '../scheme/stated.js';
import { fromCoreAI, readOptions } from './from.js';
import { edgesOf } from './granularity.js';
import { Problems } from '../problems.js';
import { resolveScheme } from '../presets.js';
import { nestedOfLevels } from './nested.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Level} Level */
/** @typedef {import('../scheme.js').Block} Block */

/** @param {string} field @param {string} reason @returns {never} */
function refuse(field, reason) {
	throw new BlockQuantError('unsupported', `Core AI cannot say scheme.${field}: ${reason}`);
}

/**
 * A tensor that the JSON is for. What a granularity says depends on its axes; the JSON says how many where it lists block
 * sizes.
 * @typedef {{ target: import('./from.js').Target, rank?: number }} Place
 */

/** The edges of a block on every axis. @param {Exclude<Block, 'tensor'>} block @param {number} rank */
function edgesOnAll(block, rank) {
	const axes = Array.isArray(block) ? block.length : 1;
	if (axes > rank) refuse('scales', `blocks of ${axes} axes are none of a tensor of ${rank}`);
	return edgesOfBlock(block, rank);
}

/** The shortest granularity that means these edges there. @param {number[]} edges @param {Place} place */
function granularityOf(edges, { target, rank = 2 }) {
	const sized = edges.flatMap((size, axis) => (size > 0 ? [{ type: 'per_block', axis, block_size: size }] : []));
	const short = [...edges.map((_, axis) => ({ type: 'per_channel', axis })), ...sized.reverse()].find(
		(each) => String(edgesOf(each, rank, target, new Problems())) === String(edges),
	);
	return short ?? { type: 'per_block', block_size: edges };
}

/** The granularity of parents on the grid of inner blocks. @param {Level[]} levels @param {number} rank @param {Place} place */
function nestedGranularity([inner, outer], rank, { target }) {
	if (outer.block === 'tensor' || inner.block === 'tensor') return { type: 'per_tensor' };
	const small = edgesOnAll(inner.block, rank);
	const cells = edgesOnAll(outer.block, rank).map((edge, i) =>
		edge === -1 || small[i] === -1 ? -1 : edge / small[i],
	);
	if (!cells.every(Number.isInteger))
		refuse('scales[1].block', `${shown(outer.block)} is not made of whole blocks of ${shown(inner.block)}`);
	return granularityOf(cells, { target, rank });
}

/** @param {Scheme} scheme @param {Place} place */
function scalesOf({ scales, observer }, place) {
	const [inner, outer, more] = scales;
	const rank = place.rank ?? Math.max(2, ...scales.map(({ block }) => (Array.isArray(block) ? block.length : 1)));
	const granularity =
		inner.block === 'tensor' ? { type: 'per_tensor' } : granularityOf(edgesOnAll(inner.block, rank), place);
	if (more) refuse('scales', 'one spec inside another is the most: two levels');
	if (outer) {
		const nested = nestedOfLevels(inner.dtype, outer.dtype);
		if (!nested) refuse('scales', `no nested spec has codes of ${inner.dtype} under parents of ${outer.dtype}`);
		return { granularity, qparam_qspec: { ...nested, granularity: nestedGranularity(scales, rank, place) } };
	}
	if (inner.dtype === 'e8m0') return { granularity, scale_dtype: E8M0 };
	const fixed = observer?.range?.every((end) => end !== null);
	if (inner.dtype !== 'input' && !(fixed && inner.dtype === 'f32'))
		refuse('scales[0].dtype', `a scale has the dtype of the weights, or e8m0; got ${inner.dtype}`);
	return { granularity };
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
 * @param {Pick<import('./from.js').From, 'target' | 'rank'>} [options] which fromCoreAI() has to be given then, too
 * @returns {any}
 * @throws {BlockQuantError} unsupported, with the reason; unknown-scheme
 */
export function toCoreAI(nameOrScheme, options = {}) {
	const { target, rank } = readOptions(options, ['target', 'rank']);
	const place = { target, rank };
	const scheme = resolveScheme(nameOrScheme);
	const { value, rules = 'plain', layout = 'planes', calibration = 'minmax', mins, activations, observer } = scheme;
	if (rules !== 'coreai') refuse('rules', `it calculates by its own, not by ${shown(rules)}`);
	if (layout !== 'planes') refuse('layout', `it keeps codes and parameters apart; got ${shown(layout)}`);
	if (calibration !== 'minmax') refuse('calibration', `its ranges are minima and maxima, got ${shown(calibration)}`);
	if (activations) refuse('activations', 'a spec is for weights or for activations');
	if (mins && JSON.stringify(mins) !== JSON.stringify(scheme.scales))
		refuse('mins', 'minval is stored as the scales are');
	if (typeof value !== 'string') refuse('value', 'it has no tables of values');
	const { dtype, narrow } = dtypeOfValue(value);
	if (!dtype) refuse('value', `it has no dtype ${value}`);
	const qscheme = qschemeOf(scheme, narrow);
	const json = {
		dtype,
		...(qscheme !== 'symmetric' && { qscheme }),
		...(mins && { qformulation: 'minval' }),
		...scalesOf(scheme, place),
		...((observer || place.target === 'activation') && { qparam_calculator_cls: observer?.calculator ?? 'static' }),
		...(observer?.constant !== undefined && { averaging_constant: observer.constant }),
		...(observer?.range && { float_range: observer.range }),
	};
	mustReadBack('Core AI', scheme, () => fromCoreAI(json, place));
	return json;
}
