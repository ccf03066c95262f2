// target.js - what a scheme means for a safetensors model: compressed-tensors' planes for each weight.
// SPDX-License-Identifier: MIT

import { quantizationArgs } from '../compressed-tensors/quantization-args.js';
import { storedScheme } from '../compressed-tensors/to.js';
import { BlockQuantError } from '../errors.js';
import { moduleOf, parameterName } from '../model/names.js';
import { presets, resolveScheme } from '../presets.js';
import { structOfScheme } from '../scheme/read.js';
import { misread } from './read-back.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */
/** @typedef {import('../model/types.js').Target} Target */

/**
 * Whether a name means something in any file, or in none.
 * @param {string} name
 */
export function isPresetName(name) {
	const wanted = name.toLowerCase();
	return [...presets().keys()].some((known) => known === wanted || known.endsWith(`:${wanted}`));
}

/**
 * @param {import('../model/types.js').Model} _
 * @param {import('../model/types.js').TargetOptions} options
 * @returns {Target}
 */
export function safetensorsTarget(_, { scheme: given, ...others }) {
	const { pure, allowRequantize, imatrix, missingImportance } = others;
	for (const [name, value] of Object.entries({ pure, allowRequantize, imatrix, missingImportance })) {
		if (value) throw new BlockQuantError('bad-argument', `${name} is for GGUF files`);
	}
	const scheme = schemeForFile(given);
	/** Shapes and dtypes whose planes were looked at: a model has few, and many tensors of each. @type {Set<string>} */
	const known = new Set();
	return {
		name: scheme.name ?? resolveScheme(given, { container: 'safetensors' }).name ?? 'a custom scheme',
		scheme,
		mayCopy: false,
		choose: () => ({ scheme }),
		outputs({ name, shape: whole, dtype: input }, planes) {
			checkGroups(scheme, whole);
			const kind = `${input} ${whole}`;
			if (!known.has(kind)) checkReadBack(scheme, whole, planes);
			known.add(kind);
			return planes.map(({ name: plane, dtype, shape, nbytes }) => ({
				name: parameterName(moduleOf(name) ?? '', plane),
				dtype,
				shape,
				nbytes,
			}));
		},
		stamp: null,
	};
}

/**
 * A safetensors file carries compressed-tensors' layouts, made from weights alone: the one that fits, where a scheme names none.
 * @param {string | Scheme} given
 * @returns {Scheme}
 */
function schemeForFile(given) {
	const scheme = resolveScheme(given, { container: 'safetensors' });
	// Whatever is no scheme at all is refused here, in its own words.
	structOfScheme(scheme);
	const name = scheme.name ?? 'this scheme';
	let args;
	try {
		args = storedScheme(scheme);
	} catch (error) {
		if (!(error instanceof BlockQuantError) || error.code === 'bad-scheme') throw error;
		throw new BlockQuantError(
			'unsupported',
			`a safetensors file carries compressed-tensors layouts, and ${name} is none: ${error.detail}`,
			{ cause: error },
		);
	}
	const { weights, input_activations: inputs } = args;
	if (inputs && inputs.dynamic !== true) {
		throw new BlockQuantError(
			'unsupported',
			`${name} has static activation scales, which need calibration data; ` +
				`for a file of weights use ${weightOnly(weights)}`,
		);
	}
	if (args.format === scheme.layout) return scheme;
	const { name: _, ...rest } = scheme;
	return { ...rest, layout: args.format };
}

/** Readers of these files know whole groups only. @param {Scheme} scheme @param {number[]} shape */
function checkGroups({ scales: [{ block }] }, shape) {
	const cols = shape[shape.length - 1];
	if (typeof block === 'number' && cols % block !== 0)
		throw new BlockQuantError('bad-shape', `rows of ${cols} values are no whole groups of ${block}`);
}

/**
 * What readers would take for another scheme is not written.
 * @param {Scheme} scheme
 * @param {number[]} shape
 * @param {import('./read-back.js').Planes} planes
 */
function checkReadBack(scheme, shape, planes) {
	const why = misread(scheme, shape, planes, [quantizationArgs(storedScheme(scheme).weights)]);
	if (why !== null)
		throw new BlockQuantError(
			'unsupported',
			`${scheme.name ?? 'this scheme'} in a compressed-tensors file: ${why}`,
		);
}

/**
 * The preset of the same weights that needs no calibration.
 * @param {{ type?: unknown, num_bits?: unknown, group_size?: unknown }} weights
 */
function weightOnly({ type, num_bits: bits, group_size: group }) {
	if (type === 'float' && bits === 4) return group === 16 ? 'nvfp4a16' : 'mxfp4a16';
	if (type === 'float') return 'fp8_dynamic';
	return `w${bits}a16`;
}
