// parameters.js - parameters that the caller gives: codes of every level, checked, and the part of each that a band takes.
// SPDX-License-Identifier: MIT

import { DTYPES, NBYTES, ROLES } from '../core/abi.js';
import { BlockQuantError, shown } from '../errors.js';
import { plainArray } from './typed.js';

/** @typedef {import('./plan.js').Band} Band */

/** @typedef {Record<string, Uint8Array | Int8Array | Uint16Array | Float32Array>} Parameters codes by role: `scales.0`, `zeros`, `mins.0`, ... */

/** What a plan's levels are, by role. @param {any} plan */
function levelsOf({ scheme }) {
	const levels = new Map();
	for (let i = 0; i < scheme.nscales; i++) {
		levels.set(`scales.${i}`, { level: i, nbytes: NBYTES[DTYPES[scheme.scale[i].dtype]] });
		if (scheme.nmins) levels.set(`mins.${i}`, { level: i, nbytes: NBYTES[DTYPES[scheme.min[i].dtype]] });
	}
	if (scheme.zero) levels.set('zeros', { level: 0, nbytes: 1 });
	return levels;
}

/**
 * The parameters of a tensor, part by part.
 * @param {unknown} given
 * @param {any} plan struct bq_plan as an object
 * @param {Iterable<Band>} bands all of the tensor
 * @returns {(band: Band) => (Uint8Array | undefined)[]} the codes of a band, by enum bq_role
 */
export function parametersOf(given, plan, bands) {
	const levels = levelsOf(plan);
	if (!given || typeof given !== 'object')
		throw new BlockQuantError('bad-argument', `parameters: expected { ${[...levels.keys()].join(', ')} }`);
	for (const name of Object.keys(given))
		if (!levels.has(name))
			throw new BlockQuantError(
				'bad-argument',
				`parameters: this scheme has no ${shown(name)}; expected ${[...levels.keys()].join(', ')}`,
			);
	const cells = [0, 0, 0];
	for (const { struct } of bands)
		struct.ncells.forEach((count, i) => {
			cells[i] = struct.cell_offset[i] + count;
		});
	const arrays = ROLES.map((role) => {
		const level = levels.get(role);
		return (
			level && {
				...level,
				codes: codesOf(role, /** @type {any} */ (given)[role], cells[level.level] * level.nbytes),
			}
		);
	});
	return ({ struct }) =>
		arrays.map((array) => {
			if (!array) return undefined;
			const begin = struct.cell_offset[array.level] * array.nbytes;
			// A copy: a subarray would be posted with all of its buffer.
			return array.codes.slice(begin, begin + struct.ncells[array.level] * array.nbytes);
		});
}

/** @param {string} role @param {unknown} array @param {number} nbytes */
function codesOf(role, array, nbytes) {
	const plain = plainArray(array, ['Uint8Array', 'Int8Array', 'Uint16Array', 'Float32Array']);
	if (!plain)
		throw new BlockQuantError(
			'bad-argument',
			`parameters['${role}']: expected a typed array of its codes, got ${shown(array)}`,
		);
	if (plain.byteLength !== nbytes)
		throw new BlockQuantError(
			'bad-argument',
			`parameters['${role}']: expected ${nbytes} bytes, got ${plain.byteLength}`,
		);
	return new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
}
