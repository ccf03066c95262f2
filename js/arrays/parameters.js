// parameters.js - scales, mins and zero points that are given for every block of a tensor instead of being made.
// SPDX-License-Identifier: MIT

import { DTYPES, NBYTES, ROLES } from '../core/abi.js';
import { theCore } from '../core/init.js';
import { BlockQuantError, shown } from '../errors.js';
import { isObject } from '../problems.js';
import { plainArray } from './typed.js';

/** Codes in the level's dtype, or their bytes; by role: `scales.0`, `mins.0`, ..., `zeros`. @typedef {Record<string, ArrayBufferView>} Parameters */

const ARRAYS = /** @type {const} */ (['Uint8Array', 'Int8Array', 'Uint16Array', 'Float32Array']);

/** @typedef {{ role: string, dtype: string, level: number, width: number, cells: number, tensorWide: boolean }} Kind of parameters that a scheme has */

/** Blocks of a level in the whole tensor. @param {any} plan @param {any} level */
function cellsOf({ rank, dims }, level) {
	if (!level.rank) return 1;
	return dims
		.slice(0, rank)
		.reduce((/** @type {number} */ cells, /** @type {number} */ dim, /** @type {number} */ axis) => {
			const edge = level.edge[axis - (rank - level.rank)] ?? 1;
			return edge === 0 ? cells : cells * Math.ceil(dim / edge);
		}, 1);
}

/** @param {any} plan @returns {Kind[]} */
function kindsOf(plan) {
	const { scale, nscales, min, nmins, zero } = plan.scheme;
	/** @param {string} name @param {any[]} levels */
	const kinds = (name, levels) =>
		levels.map(({ dtype, ...grid }, level) => ({
			role: `${name}.${level}`,
			dtype: DTYPES[dtype],
			level,
			width: NBYTES[DTYPES[dtype]],
			cells: cellsOf(plan, grid),
			tensorWide: !grid.rank,
		}));
	const all = [...kinds('scales', scale.slice(0, nscales)), ...kinds('mins', min.slice(0, nmins))];
	return zero ? [...all, { ...all[0], role: 'zeros', dtype: DTYPES[zero], width: 1 }] : all;
}

/** Parameters that are given: all, or those of the tensor-wide levels around the innermost. */
export class GivenParameters {
	/** @type {(Kind & { bytes: Uint8Array })[]} */
	#given;

	/** @param {unknown} parameters @param {any} plan struct bq_plan as an object @param {'error' | 'allow'} [nonfinite] */
	constructor(parameters, plan, nonfinite) {
		if (!isObject(parameters))
			throw new BlockQuantError(
				'bad-argument',
				`parameters: expected an object of arrays by role, got ${shown(parameters)}`,
			);
		const kinds = kindsOf(plan);
		const names = Object.keys(parameters);
		const unknown = names.find((name) => !kinds.some(({ role }) => role === name));
		const wanted = names.includes('scales.0')
			? kinds
			: kinds.filter(({ level, tensorWide }) => level > 0 && tensorWide);
		const missing = wanted.find(({ role }) => !names.includes(role));
		if (unknown !== undefined || missing || names.length === 0 || names.length !== wanted.length)
			throw new BlockQuantError(
				'bad-argument',
				`parameters: expected ${kinds.map(({ role }) => role).join(', ')}, or the tensor-wide outer ones; got ${names.join(', ') || 'none'}`,
			);
		this.#given = wanted.map((kind) => ({ ...kind, bytes: bytesOf(kind, parameters[kind.role]) }));
		if (nonfinite !== 'allow') for (const each of this.#given) checkFinite(each);
	}

	/** Whether those of the blocks are given, not the tensor-wide ones alone. */
	get ofBlocks() {
		return this.#given.some(({ role }) => role === 'scales.0');
	}

	/** The bytes of a band's blocks by role. @param {import('../core/types.js').BandStruct} band @returns {(Uint8Array | undefined)[]} */
	ofBand({ cell_offset: first, ncells }) {
		return ROLES.map((role) => {
			const given = this.#given.find((each) => each.role === role);
			if (!given) return undefined;
			const { level, width, bytes, tensorWide } = given;
			// A copy: a part of a larger array would be posted with all of its buffer.
			return tensorWide
				? bytes.slice()
				: bytes.slice(first[level] * width, (first[level] + ncells[level]) * width);
		});
	}
}

/** @param {Kind & { bytes: Uint8Array }} given */
function checkFinite({ role, dtype, cells, bytes }) {
	// Integers are always finite.
	const wide = dtype === 'f32' ? bytes : theCore().convert(dtype, 'f32', cells, bytes, 4 * cells);
	if (!wide) return;
	const numbers = new Float32Array(wide.slice().buffer);
	const at = numbers.findIndex((number) => !Number.isFinite(number));
	if (at >= 0)
		throw new BlockQuantError(
			'bad-argument',
			`parameters.${role}: ${numbers[at]} at index ${at}; expected finite numbers`,
		);
}

/** @param {Kind} kind @param {unknown} array */
function bytesOf({ role, width, cells }, array) {
	const plain = plainArray(array, [...ARRAYS]);
	if (!plain)
		throw new BlockQuantError('bad-argument', `parameters.${role}: expected a typed array, got ${shown(array)}`);
	if (plain.byteLength === cells * width) return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
	throw new BlockQuantError(
		'bad-argument',
		`parameters.${role}: expected ${cells * width} bytes (${cells} of ${width}), got ${plain.byteLength}`,
	);
}
