// from.js - Burn's QuantScheme as a scheme of ours.
// SPDX-License-Identifier: MIT

import { theCore } from '../core/init.js';
import { optionsOf } from '../arguments.js';
import { BlockQuantError } from '../errors.js';
import { asPreset } from '../presets.js';
import { readFields, tensorScaleOf } from './fields.js';
import { readCalibration } from './check.js';
import { CALIBRATIONS, LAYOUT, PACKINGS, QUANT_VALUES, RULES, SCALE_DTYPES } from './tables.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @param {import('./fields.js').Fields} fields @returns {Scheme['scales']} */
function scalesOf({ block, tensor }) {
	/** @type {Scheme['scales']} */
	const scales = [];
	if (block) {
		const { edges, dtype } = block;
		scales.push({ dtype: SCALE_DTYPES[dtype].dtype, block: edges.length < 2 ? (edges[0] ?? 1) : [...edges] });
	}
	const tensorScale = tensorScaleOf({ block, tensor });
	if (tensorScale) scales.push({ dtype: SCALE_DTYPES[tensorScale].dtype, block: 'tensor' });
	return scales;
}

const OPTIONS = { calibration: { default: 'MinMax', read: readCalibration } };

/**
 * The scheme that a QuantScheme describes: Burn's arithmetic, stored as Burn's serialised tensors.
 * @param {import('./fields.js').QuantSchemeFields | import('./quant-scheme.js').QuantScheme} json as serde writes it, or what
 *   writes itself so; a block's size may be a list. Under mode Lookup the numbers that codes stand for are in its field `table`
 * @param {object} [options]
 * @param {'MinMax' | 'AbsMean'} [options.calibration] how ranges are chosen, which a QuantScheme does not say
 * @returns {Scheme} a preset's scheme where one says the same
 * @throws {BlockQuantError} bad-scheme: all that is wrong, each with its field
 */
export function fromBurn(json, options = {}) {
	theCore();
	const { calibration } = optionsOf(OPTIONS, options);
	const { toJSON } = /** @type {any} */ (json ?? {});
	const fields = readFields(typeof toJSON === 'function' ? toJSON.call(json) : json);
	const { block, tensor, table, store, value } = fields;
	if (block && tensor !== null && tensor !== 'F32')
		throw new BlockQuantError(
			'bad-scheme',
			`tensor: above block scales it is stored as F32 alone, which no reader of Burn's would find in ${tensor}`,
		);
	return asPreset({
		value: table ? /** @type {any} */ ({ codebook: [...table] }) : QUANT_VALUES[value].dtype,
		scales: scalesOf(fields),
		...(calibration !== 'MinMax' && {
			calibration: CALIBRATIONS[/** @type {keyof typeof CALIBRATIONS} */ (calibration)],
		}),
		rules: RULES,
		layout: LAYOUT,
		...(store.kind !== 'Native' && {
			packing: { into: PACKINGS[store.kind], ...(store.dim && { axis: store.dim }) },
		}),
	});
}
