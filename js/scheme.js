// scheme.js - a scheme as JSON and as the core's struct. docs/schemes.md is the language.
// SPDX-License-Identifier: MIT

import { ACTIVATIONS, CALIBRATIONS, DTYPES, LAYOUTS, MAX_LEVELS, MAX_RANK, RULES } from './core/abi.js';
import { BlockQuantError, quoted, shown } from './errors.js';

/**
 * Which values share a parameter: the whole `'tensor'`; a `'channel'` (one row); groups of n along the last axis; or edges
 * aligned to the last axes, -1 for a whole axis.
 * @typedef {'tensor' | 'channel' | number | number[]} Block
 */

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
 * @property {string} value dtype of a code: `i1`..`i8`, `u1`..`u8`, `i8-narrow` (without the lowest code), `f8e4m3`, `f8e5m2`, `f4e2m1`, `f6e2m3`
 * @property {Level[]} scales inner to outer
 * @property {string} [zero] dtype of a zero point beside the innermost scale
 * @property {Level[]} [mins] inner to outer, with the scales' blocks: what is subtracted after scaling
 * @property {string} [calibration] `minmax` (default) or `search`
 * @property {string} rules whose arithmetic
 * @property {string} [layout] where the bits go; default `planes`
 * @property {Activations} [activations]
 */

const FIELDS = ['name', 'value', 'scales', 'zero', 'mins', 'calibration', 'rules', 'layout', 'activations'];
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

/**
 * The struct of a scheme object, without a fused kernel: the core goes through its stages.
 * @param {Scheme} scheme
 */
export function structOfScheme(scheme) {
	for (const field of Object.keys(scheme))
		if (!FIELDS.includes(field)) refuse(field, `unknown field; expected ${FIELDS.join(', ')}`);
	if (typeof scheme.value !== 'string') refuse('value', 'expected the dtype of a code, such as i4');
	const narrow = scheme.value.endsWith(NARROW);
	const scale = levelStructs('scales', scheme.scales);
	const min = levelStructs('mins', scheme.mins ?? []);
	const { activations } = scheme;
	return {
		value: indexOf('value', DTYPES, narrow ? scheme.value.slice(0, -NARROW.length) : scheme.value),
		narrow: narrow ? 1 : 0,
		nscales: scale.length,
		scale,
		zero: scheme.zero === undefined ? 0 : indexOf('zero', DTYPES, scheme.zero),
		nmins: min.length,
		min,
		calibration: indexOf('calibration', CALIBRATIONS, scheme.calibration ?? 'minmax'),
		rules: indexOf('rules', RULES, scheme.rules),
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
	if (struct.calibration) scheme.calibration = CALIBRATIONS[struct.calibration];
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
