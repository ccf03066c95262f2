// to.js - a scheme of ours as compressed-tensors' QuantizationScheme, in the form that 0.20.1 writes: keys that are null or
// inferred are left out.
// SPDX-License-Identifier: MIT

import { optionsOf } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { resolveScheme } from '../presets.js';
import { list, text } from '../problems.js';
import { NARROW, shortBlock, valueName } from '../scheme.js';
import { mustReadBack } from '../scheme/stated.js';
import { inferModuleFormat } from './format.js';
import { fromCompressedTensors } from './from.js';
import { completeScheme } from './quantization-scheme.js';
import { ATTN_HEAD, SCALE_DTYPES } from './tables.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../scheme.js').Block} Block */

/**
 * @typedef {{ targets: string[], weights: Record<string, any>, input_activations: Record<string, any> | null,
 *   output_activations: null, format: string }} Said a QuantizationScheme
 */

const LINEAR = ['Linear'];
const OPTIONS = { targets: { default: LINEAR, read: list(text) } };

/** Its own arithmetic. */
const RULES = 'compressed-tensors';

/** @param {string} message @returns {never} */
function refuse(message) {
	throw new BlockQuantError('unsupported', `compressed-tensors cannot say this scheme: ${message}`);
}

/** @param {string} field @param {string} value */
function typeOf(field, value) {
	const int = /^i([1-8])$/.exec(value);
	if (int) return { num_bits: Number(int[1]), type: 'int' };
	if (value === 'f8e4m3') return { num_bits: 8, type: 'float' };
	if (value === 'f4e2m1') return { num_bits: 4, type: 'float' };
	if (value === 'f6e2m3') return { num_bits: 6, type: 'float' };
	return refuse(`${field}: it has no values of ${value}`);
}

/** @param {string} field @param {Block} said @param {string} row what a whole row is called @param {boolean} two under a tensor-wide scale */
function strategyOf(field, said, row, two) {
	const block = shortBlock(said);
	if (typeof block === 'number') return { group_size: block, strategy: two ? 'tensor_group' : 'group' };
	if (two) refuse(`${field}: a tensor-wide scale is over groups only, got blocks of ${shown(block)}`);
	if (block === 'tensor') return { group_size: null, strategy: 'tensor' };
	if (block === 'channel') return { group_size: null, strategy: row };
	if (block.length === 2 && block.every((edge) => edge > 0) && row === 'channel')
		return { group_size: null, strategy: 'block', block_structure: [...block] };
	if (String(block) === String(ATTN_HEAD)) return { group_size: null, strategy: 'attn_head' };
	return refuse(`${field}: it has no blocks of [${block.join(', ')}]`);
}

/** @param {string} field @param {string | undefined} scale @param {string} values */
function scaleDtype(field, scale, values) {
	if (scale === undefined || scale === values) return {};
	return SCALE_DTYPES[scale]
		? { scale_dtype: SCALE_DTYPES[scale] }
		: refuse(`${field}: it has no scales of ${scale}`);
}

/** @param {Scheme} scheme */
function weightsOf(scheme) {
	const { scales, zero, mins } = scheme;
	// Codes without the lowest are read as any, unless it is the package that is to make them.
	const value = scheme.rules === RULES ? valueName(scheme) : valueName(scheme).replace(NARROW, '');
	const [inner, outer] = scales;
	if (inner === undefined)
		throw new BlockQuantError('bad-scheme', 'scheme.scales: expected one level or two, got none');
	if (mins) refuse('mins: it has zero points only');
	if (scales.length > 2) refuse('scales: it has one level or two');
	if (outer && (outer.block !== 'tensor' || outer.dtype !== 'f32'))
		refuse('scales[1]: it has an outer scale of f32 for the whole tensor only');
	if (zero !== undefined && zero !== value) refuse(`zero: it has zero points of ${value}, not ${zero}`);
	return {
		...typeOf('value', value),
		symmetric: zero === undefined,
		...strategyOf('scales[0].block', inner.block, 'channel', outer !== undefined),
		dynamic: false,
		...scaleDtype('scales[0].dtype', inner.dtype, 'input'),
	};
}

/** @param {import('../scheme.js').Activations} activations */
function inputsOf({ mode, value, block, scale, symmetric }) {
	const local = mode === 'local';
	return {
		...typeOf('activations.value', value),
		symmetric: symmetric !== false,
		...strategyOf('activations.block', block, 'token', local),
		dynamic: local ? 'local' : mode === 'dynamic',
		...scaleDtype('activations.scale', scale, 'input'),
	};
}

/**
 * How a file of compressed-tensors says what is stored in it, whoever's arithmetic made the codes, of whatever range.
 * @param {Scheme} scheme
 * @param {string[]} [targets] which modules
 * @returns {Said}
 * @throws {BlockQuantError} unsupported: what such a file cannot hold, by its field
 */
export function storedScheme(scheme, targets = LINEAR) {
	const { rules = 'plain', layout = 'planes', scales, activations } = scheme;
	if (scales?.length > 1 && rules !== RULES)
		refuse(`scales[1]: such a file divides scales by its outer one, as the rules ${RULES} do, not ${rules}`);
	const weights = weightsOf(scheme);
	const inputs = activations ? inputsOf(activations) : null;
	const format = layout === 'planes' ? formatOf(weights, inputs) : layout;
	return { targets, weights, input_activations: inputs, output_activations: null, format };
}

/** @param {Record<string, any>} weights @param {Record<string, any> | null} inputs */
const formatOf = (weights, inputs) => inferModuleFormat(completeScheme({ weights, input_activations: inputs }));

/**
 * The QuantizationScheme that says what a scheme does, with `format`: where it is stored.
 * @param {string | Scheme} nameOrScheme
 * @param {{ targets?: string[] }} [options] which modules; default: `['Linear']`
 * @returns {Said}
 * @throws {BlockQuantError} unsupported: what compressed-tensors cannot say, by its field
 */
export function toCompressedTensors(nameOrScheme, options = {}) {
	const { targets } = optionsOf(OPTIONS, options);
	const scheme = resolveScheme(nameOrScheme, { container: 'safetensors' });
	const { rules, layout, symmetric, calibration = 'minmax', name = 'this scheme' } = scheme;
	if (rules !== RULES || !layout || layout === 'planes')
		throw new BlockQuantError('unsupported', `${name} is not stored in a layout of compressed-tensors`);
	if (calibration !== 'minmax') refuse(`calibration: it takes the range of a block, not ${shown(calibration)}`);
	if (symmetric) refuse('symmetric: a zero point is for a range that is not');
	const said = storedScheme(scheme, targets);
	mustReadBack('compressed-tensors', scheme, () => fromCompressedTensors(said));
	return said;
}
