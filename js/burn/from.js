// from.js - Burn's QuantScheme as a scheme of ours.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { BlockQuantError, shown } from '../errors.js';
import { asPreset } from '../presets.js';
import { QuantScheme } from './quant-scheme.js';
import { globalScaleDtype } from './sizes.js';
import { CALIBRATIONS, LAYOUT, PACKINGS, QUANT_VALUES, RULES, SCALE_DTYPES } from './tables.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @param {QuantScheme} scheme @returns {Scheme['scales']} */
function scalesOf({ block, tensorScale }) {
	/** @type {Scheme['scales']} */
	const scales = [];
	if (block) {
		const { edges } = block.size;
		const single = edges.length < 2;
		scales.push({ dtype: SCALE_DTYPES[block.dtype].dtype, block: single ? (edges[0] ?? 1) : [...edges] });
	}
	if (tensorScale) scales.push({ dtype: SCALE_DTYPES[tensorScale].dtype, block: 'tensor' });
	return scales;
}

/**
 * The scheme that a QuantScheme describes: Burn's arithmetic, stored as Burn's serialised tensors.
 * @param {import('./quant-scheme.js').QuantSchemeFields | QuantScheme} json as serde writes it; a block's size may be a list.
 *   Under mode Lookup the numbers that codes stand for are in its field `table`
 * @param {object} [options]
 * @param {'MinMax' | 'AbsMean'} [options.calibration] how ranges are chosen, which a QuantScheme does not say
 * @returns {Scheme} a preset's scheme where one says the same
 * @throws {BlockQuantError} bad-scheme: all that is wrong, each with its field
 */
export function fromBurn(json, { calibration = 'MinMax', ...rest } = {}) {
	theCore();
	for (const name of Object.keys(rest))
		throw new BlockQuantError('bad-argument', `unknown option ${name}; expected calibration`);
	const scheme = json instanceof QuantScheme ? json : new QuantScheme(json);
	if (!Object.hasOwn(CALIBRATIONS, calibration))
		throw new BlockQuantError('bad-argument', `calibration: expected MinMax or AbsMean, got ${shown(calibration)}`);
	const outer = globalScaleDtype(scheme);
	if (outer !== null && outer !== 'F32')
		throw new BlockQuantError(
			'bad-scheme',
			`tensor: above block scales it is stored as F32 alone, which no reader of Burn's would find in ${outer}`,
		);
	const { table, store, value } = scheme;
	return asPreset({
		value: table ? /** @type {any} */ ({ codebook: [...table] }) : QUANT_VALUES[value].dtype,
		scales: scalesOf(scheme),
		...(calibration !== 'MinMax' && { calibration: CALIBRATIONS[calibration] }),
		rules: RULES,
		layout: LAYOUT,
		...(store.kind !== 'Native' && {
			packing: { into: PACKINGS[store.kind], ...(store.dim && { axis: store.dim }) },
		}),
	});
}
