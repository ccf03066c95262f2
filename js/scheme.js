// scheme.js - a scheme as JSON and as the core's struct. docs/schemes.md is the language.
// SPDX-License-Identifier: MIT

import { ACTIVATIONS, CALIBRATIONS, DTYPES, LAYOUTS, MAX_CODEBOOK, MAX_LEVELS, MAX_RANK, RULES } from './core/abi.js';
import { BlockQuantError, quoted, shown } from './errors.js';

/**
 * Which values share a parameter: the whole `'tensor'`; a `'channel'` (one row); groups of n along the last axis; or edges
 * aligned to the last axes, -1 for a whole axis.
 * @typedef {'tensor' | 'channel' | number | number[]} Block
 */

/** @typedef {string | { percentile: number } | { mse: number }} Calibration `minmax`, `absmean`, `percentile`, `mse` (0.8) or `search` */

/** @typedef {{ dtype: string, block: Block }} Level dtype `'input'`: that of the weights */

/**
 * @typedef {object} Activations what the runtime does with activations; carried for config.json, not used here
 * @property {'dynamic' | 'local' | 'static'} mode
 * @property {string} value
 * @property {Block} block
 * @property {string} [scale] dtype of their scales, if it is not the activations' own
 * @property {false} [symmetric]
 */

/**
 * @typedef {object} Scheme
 * @property {string} [name] qualified name, on presets only
 * @property {string | { codebook: readonly number[] }} value dtype of a code: `i1`..`i8`, `u1`..`u8`, `i8-narrow` (without the lowest code), `f8e4m3`, `f8e5m2`, `f4e2m1`, `f6e2m3`, `nf4`, `iq4_nl`, or a table of the values that codes stand for
 * @property {Level[]} scales inner to outer
 * @property {string} [zero] dtype of a zero point beside the innermost scale
 * @property {boolean} [symmetric] with a zero point or mins: a block's range is [-A, A]
 * @property {Level[]} [mins] inner to outer, with the scales' blocks: what is subtracted after scaling
 * @property {Calibration} [calibration] how the range of a block is chosen; default `minmax`
 * @property {string} [rules] whose arithmetic; default `plain`
 * @property {string} [layout] where the bits go; default `planes`
 * @property {Activations} [activations]
 */

const FIELDS = [
	...['name', 'value', 'scales', 'zero', 'symmetric', 'mins', 'calibration', 'rules', 'layout', 'activations'],
];

/** Calibrations with an argument, and what it is by default. @type {Record<string, number | undefined>} */
const ARGUMENTS = { percentile: undefined, mse: 0.8 };
const NARROW = '-narrow';

/** @param {string} field @param {string} message @returns {never} */
function refuse(field, message) {
	throw new BlockQuantError('bad-scheme', `scheme.${field}: ${message}`);
}

/** @param {string} field @param {string[]} names @param {unknown} name */
function indexOf(field, names, name) {
	const index = names.indexOf(/** @type {string} */ (name));
	if (index < 0) refuse(field, `expected one of ${names.join(', ')}; got ${shown(name)}`);
	return index;
}

/** @param {string} field @param {unknown} block @returns {number[]} edges, 0 for a whole axis */
function edgesOf(field, block) {
	if (block === 'tensor') return [];
	if (block === 'channel') return [0];
	const edges = Array.isArray(block) ? block : [block];
	const legal = edges.every((edge) => Number.isInteger(edge) && (edge === -1 || (edge >= 1 && edge < 2 ** 31)));
	if (!legal || edges.length < 1 || edges.length > MAX_RANK)
		refuse(
			field,
			`expected 'tensor', 'channel', a group size or 1 to ${MAX_RANK} edges (-1: the whole axis); got ${shown(block)}`,
		);
	return edges.map((edge) => (edge === -1 ? 0 : edge));
}

/** @param {{ rank: number, edge: number[] }} level @returns {Block} */
function blockOf({ rank, edge }) {
	if (!rank) return 'tensor';
	if (rank === 1) return edge[0] || 'channel';
	return edge.slice(0, rank).map((length) => length || -1);
}

/** @param {string} field @param {unknown} level */
function levelStruct(field, level) {
	if (!level || typeof level !== 'object') refuse(field, 'expected { dtype, block }');
	const { dtype, block, ...rest } = /** @type {any} */ (level);
	for (const unknown of Object.keys(rest)) refuse(field, `unknown field ${quoted(unknown)}; expected dtype, block`);
	const edge = edgesOf(`${field}.block`, block);
	return { dtype: indexOf(`${field}.dtype`, DTYPES, dtype), rank: edge.length, edge };
}

/** @param {string} field @param {unknown} levels */
function levelStructs(field, levels) {
	if (!Array.isArray(levels) || levels.length > MAX_LEVELS)
		refuse(field, `expected a list of at most ${MAX_LEVELS} levels`);
	return levels.map((level, i) => levelStruct(`${field}[${i}]`, level));
}

/** What a scheme's values are called, in a few words. @param {Pick<Scheme, 'value'>} scheme */
export const valueName = ({ value }) => (typeof value === 'string' ? value : `codebook of ${value.codebook.length}`);

/** The one field of an object, if it has that one. @param {unknown} value @param {string[]} names */
function onlyField(value, names) {
	if (!value || typeof value !== 'object') return undefined;
	const [[name, argument] = [], ...rest] = Object.entries(value);
	return rest.length === 0 && names.includes(name ?? '')
		? { name: /** @type {string} */ (name), argument }
		: undefined;
}

/** @param {unknown} value @returns {{ value: number, narrow: number, codebook: number, table?: Float32Array }} */
function valueStruct(value) {
	const codebook = onlyField(value, ['codebook'])?.argument;
	if (codebook !== undefined) {
		if (!Array.isArray(codebook) || codebook.length < 2 || codebook.length > MAX_CODEBOOK)
			refuse('value.codebook', `expected a list of 2 to ${MAX_CODEBOOK} numbers`);
		const wrong = codebook.find((entry) => typeof entry !== 'number' || !Number.isFinite(Math.fround(entry)));
		if (wrong !== undefined) refuse('value.codebook', `expected finite numbers; got ${shown(wrong)}`);
		return {
			value: DTYPES.indexOf('codebook'),
			narrow: 0,
			codebook: codebook.length,
			table: Float32Array.from(codebook),
		};
	}
	if (typeof value !== 'string') refuse('value', 'expected the dtype of a code, such as i4, or { codebook: [...] }');
	const narrow = value.endsWith(NARROW);
	const dtype = narrow ? value.slice(0, -NARROW.length) : value;
	const names = DTYPES.filter((name) => name !== 'codebook');
	indexOf('value', names, dtype);
	return { value: DTYPES.indexOf(dtype), narrow: narrow ? 1 : 0, codebook: 0 };
}

/** @param {unknown} calibration */
function calibrationStruct(calibration) {
	const given = onlyField(calibration, Object.keys(ARGUMENTS));
	const name = given?.name ?? calibration;
	const index = indexOf('calibration', CALIBRATIONS, name);
	const argument = given ? given.argument : (ARGUMENTS[/** @type {string} */ (name)] ?? 0);
	if (typeof argument !== 'number' || !Number.isFinite(argument))
		refuse(`calibration.${name}`, `expected a number; got ${shown(argument)}`);
	return { calibration: index, calibration_argument: argument };
}

/**
 * The struct of a scheme object, without a fused kernel: the core goes through its stages.
 * @param {Scheme} scheme
 */
export function structOfScheme(scheme) {
	for (const field of Object.keys(scheme))
		if (!FIELDS.includes(field)) refuse(field, `unknown field; expected ${FIELDS.join(', ')}`);
	const scale = levelStructs('scales', scheme.scales);
	const min = levelStructs('mins', scheme.mins ?? []);
	const { activations, symmetric = false, calibration = 'minmax', rules = 'plain' } = scheme;
	if (typeof symmetric !== 'boolean') refuse('symmetric', `expected true or false; got ${shown(symmetric)}`);
	return {
		...valueStruct(scheme.value),
		nscales: scale.length,
		scale,
		zero: scheme.zero === undefined ? 0 : indexOf('zero', DTYPES, scheme.zero),
		symmetric: symmetric ? 1 : 0,
		nmins: min.length,
		min,
		...calibrationStruct(calibration),
		rules: indexOf('rules', RULES, rules),
		layout: indexOf('layout', LAYOUTS, scheme.layout ?? 'planes'),
		fused: 0,
		act_mode: activations ? indexOf('activations.mode', ACTIVATIONS, activations.mode) : 0,
		act: activations
			? levelStruct('activations', { dtype: activations.value, block: activations.block })
			: { dtype: 0, rank: 0, edge: [] },
		act_scale: activations?.scale === undefined ? 0 : indexOf('activations.scale', DTYPES, activations.scale),
	};
}

/** @param {any} level */
const levelOf = (level) => Object.freeze({ dtype: DTYPES[level.dtype], block: blockOf(level) });

/** @param {any} struct @returns {Calibration} */
function calibrationOf({ calibration, calibration_argument: argument }) {
	const name = CALIBRATIONS[calibration];
	return name in ARGUMENTS ? /** @type {any} */ ({ [name]: argument }) : name;
}

/**
 * The scheme object of a struct.
 * @param {any} struct
 * @param {string} [name]
 * @returns {Readonly<Scheme>}
 */
export function schemeOfStruct(struct, name) {
	/** @type {Scheme} */
	const scheme = {
		value: DTYPES[struct.value] + (struct.narrow ? NARROW : ''),
		scales: struct.scale.slice(0, struct.nscales).map(levelOf),
		rules: RULES[struct.rules],
		layout: LAYOUTS[struct.layout],
	};
	if (name !== undefined) scheme.name = name;
	if (struct.zero) scheme.zero = DTYPES[struct.zero];
	if (struct.nmins) scheme.mins = struct.min.slice(0, struct.nmins).map(levelOf);
	if (struct.symmetric) scheme.symmetric = true;
	if (struct.calibration) scheme.calibration = calibrationOf(struct);
	if (struct.act_mode) {
		const { dtype, block } = levelOf(struct.act);
		const mode = /** @type {Activations['mode']} */ (ACTIVATIONS[struct.act_mode]);
		const scale = struct.act_scale ? { scale: DTYPES[struct.act_scale] } : {};
		scheme.activations = Object.freeze({ mode, value: dtype, block, ...scale });
	}
	Object.freeze(scheme.scales);
	if (scheme.mins) Object.freeze(scheme.mins);
	return Object.freeze(scheme);
}
