// scheme.js - what a scheme says, as JSON; and the JSON of the core's struct. docs/schemes.md is the language.
// SPDX-License-Identifier: MIT

import { ACTIVATIONS, CALIBRATIONS, DTYPES, LAYOUTS, PACK_INTO, RULES } from './core/abi.js';

/**
 * Which values share a parameter: the whole `'tensor'`; a `'channel'` (one row); groups of n along the last axis; or edges
 * aligned to the last axes, -1 for a whole axis.
 * @typedef {'tensor' | 'channel' | number | number[]} Block
 */

/** @typedef {string | { percentile: number } | { mse: number }} Calibration `minmax`, `absmean`, `percentile`, `mse` (0.8) or `search` */

/** @typedef {{ dtype: string, block: Block }} Level dtype `'input'`: that of the weights */

/**
 * @typedef {object} Packing what codes are packed into, in a layout that leaves it open
 * @property {'bytes' | 'native' | 'u32'} into one a byte; as a device's own type would hold them (two 4-bit floats a byte, of
 *   all else one, its other bits 0); 32-bit words
 * @property {number} [axis] along which, counted from the last; default 0. It is stored in the place of the last one
 */

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
 * @property {Packing} [packing]
 * @property {Activations} [activations]
 * @property {import('./observers/calculators.js').ObserverField} [observer] how ranges of many batches become one; for createObserver()
 */

/** Calibrations with an argument, and what it is by default. @type {Record<string, number | undefined>} */
export const ARGUMENTS = { percentile: undefined, mse: 0.8 };

/** Ends the dtype of a signed integer without its lowest code. */
export const NARROW = '-narrow';

/**
 * The shortest way to say a block: edges of 1 in front are understood.
 * @param {number[]} edges one for each axis of the tensor, -1 for a whole one
 * @returns {Block}
 */
export function blockOfEdges(edges) {
	const first = edges.findIndex((edge) => edge !== 1);
	const said = first < 0 ? edges.slice(-1) : edges.slice(first);
	if (said.length > 1) return said;
	return said[0] === -1 ? (edges.length > 1 ? 'channel' : 'tensor') : said[0];
}

/**
 * The way back: the edges of a block along each axis, -1 for a whole one.
 * @param {Block} block of no more axes than the tensor
 * @param {number} rank of the tensor
 * @returns {number[]}
 */
export function edgesOfBlock(block, rank) {
	if (block === 'tensor') return new Array(rank).fill(-1);
	const edges = block === 'channel' ? [-1] : [block].flat();
	return [...new Array(rank - edges.length).fill(1), ...edges];
}

/** What a scheme's values are called, in a few words. @param {Pick<Scheme, 'value'>} scheme */
export const valueName = ({ value }) => (typeof value === 'string' ? value : `codebook of ${value.codebook.length}`);

/** A block as it is said shortest: -1 is `channel`, one edge a number. @param {Block} block @returns {Block} */
export function shortBlock(block) {
	if (typeof block === 'string') return block;
	const edges = [block].flat();
	if (edges.length > 1) return edges;
	return edges.length === 0 ? 'tensor' : edges[0] === -1 ? 'channel' : edges[0];
}

/** @param {{ rank: number, edge: number[] }} level @returns {Block} */
const blockOf = ({ rank, edge }) => shortBlock(edge.slice(0, rank).map((length) => length || -1));

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
		value: struct.codebook
			? Object.freeze({ codebook: Object.freeze([...struct.table]) })
			: DTYPES[struct.value] + (struct.narrow ? NARROW : ''),
		scales: struct.scale.slice(0, struct.nscales).map(levelOf),
		rules: RULES[struct.rules],
		layout: LAYOUTS[struct.layout],
	};
	if (name !== undefined) scheme.name = name;
	if (struct.zero) scheme.zero = DTYPES[struct.zero];
	if (struct.nmins) scheme.mins = struct.min.slice(0, struct.nmins).map(levelOf);
	if (struct.symmetric) scheme.symmetric = true;
	if (struct.calibration) scheme.calibration = calibrationOf(struct);
	if (struct.pack_into) {
		const into = /** @type {Packing['into']} */ (PACK_INTO[struct.pack_into]);
		scheme.packing = Object.freeze({ into, ...(struct.pack_axis && { axis: struct.pack_axis }) });
	}
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
