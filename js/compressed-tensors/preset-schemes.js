// preset-schemes.js - the named schemes of compressed-tensors 0.18 to 0.20.1: those of the core's table, in its words.
// SPDX-License-Identifier: MIT

import { BlockQuantError, quoted, shown } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { presets } from '../presets.js';
import { quantizationScheme } from './quantization-scheme.js';
import { toCompressedTensors } from './to.js';

/** Quantizes nothing, and so is no scheme of ours. */
const NOTHING = 'UNQUANTIZED';
const FAMILY = 'ct:';

/** What a calibrating tool is told to do where inputs are not wholly dynamic. */
const STATIC_OBSERVER = 'static_minmax';

const names = () => [
	NOTHING,
	...[...presets().keys()]
		.filter((name) => name.startsWith(FAMILY))
		.map((name) => name.slice(FAMILY.length).toUpperCase()),
];

/**
 * Whether a name is that of a preset; case does not matter, spaces do.
 * @param {string} name
 * @throws {BlockQuantError} not-initialized
 */
export const isPresetScheme = (name) => typeof name === 'string' && names().includes(name.toUpperCase());

/**
 * A preset as QuantizationScheme, complete, without a format: that is inferred.
 * @param {string} name case does not matter
 * @param {string[]} targets names, `re:` patterns or classes of modules
 * @returns {import('./quantization-scheme.js').QuantizationScheme}
 * @throws {BlockQuantError} unknown-scheme, which lists all names; bad-scheme for targets; not-initialized
 */
export const presetNameToScheme = (name, targets) => quantizationScheme(presetJson(name, targets));

/**
 * The same with no more fields than the preset says.
 * @param {string} name @param {unknown} targets
 * @returns {Record<string, any>}
 */
export function presetJson(name, targets) {
	if (!isPresetScheme(name)) {
		const said = typeof name === 'string' ? quoted(name) : shown(name);
		const known = names();
		throw new BlockQuantError(
			'unknown-scheme',
			`no preset ${said}; expected one of ${known.join(', ')}${didYouMean(name, known, (one) => [one.toLowerCase()])}`,
		);
	}
	const wanted = name.toUpperCase();
	if (wanted === NOTHING) return { targets };
	const preset = /** @type {import('../presets.js').Preset} */ (presets().get(FAMILY + wanted.toLowerCase()));
	const { weights, input_activations: inputs } = toCompressedTensors(preset.scheme);
	return { targets, weights: withZeros(weights), input_activations: inputs && withZeros(withObserver(inputs)) };
}

/** Presets give zero points, even those that are never stored, the dtype of their scales. @param {Record<string, unknown>} args */
const withZeros = (args) => (args.scale_dtype ? { ...args, zp_dtype: args.scale_dtype } : args);

/** @param {Record<string, unknown>} args */
const withObserver = (args) => (args.dynamic === true ? args : { ...args, observer: STATIC_OBSERVER });
