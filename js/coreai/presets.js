// presets.js - Core AI's named quantizer configs: weights alone, symmetric, the axis left to each module.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';

const CHANNEL = { type: 'per_channel' };

/** The spec of each preset's weights. @type {Record<string, any>} */
const WEIGHTS = {
	w8: { dtype: 'int8', granularity: CHANNEL },
	w4: { dtype: 'int4', granularity: CHANNEL },
	w4_per_block: { dtype: 'int4', granularity: { type: 'per_block', block_size: 32 } },
};

/**
 * A preset as JSON of a QuantizerConfig, to be read or changed.
 * @param {string} name w8, w4, w4_per_block
 * @returns {any}
 */
export function presetConfig(name) {
	if (!Object.keys(WEIGHTS).includes(name))
		throw new BlockQuantError(
			'unknown-scheme',
			`no preset ${shown(name)}; expected ${Object.keys(WEIGHTS).join(', ')}`,
		);
	const weight = structuredClone(WEIGHTS[name]);
	return { global_config: { op_input_spec: null, op_output_spec: null, op_state_spec: { weight } } };
}
