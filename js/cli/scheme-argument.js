// scheme-argument.js - the value of --scheme: a preset's name or a file of JSON.
// SPDX-License-Identifier: MIT

import { readFile } from 'node:fs/promises';
import { fromCompressedTensors } from '../compressed-tensors/from.js';
import { BlockQuantError, messageOf } from '../errors.js';
import { systemError } from '../node/system-error.js';
import { presets, resolveScheme } from '../presets.js';
import { structOfScheme } from '../scheme.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @param {string} argument */
const isPath = (argument) => /\.json$|[/\\]/i.test(argument);

/**
 * @param {string} argument
 * @returns {Promise<Scheme>}
 */
export async function schemeOfArgument(argument) {
	if (!isPath(argument)) return resolveScheme(argument, { container: 'safetensors' });
	const json = await readJson(argument);
	try {
		return schemeOfJson(json);
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withFile(argument) : error;
	}
}

/**
 * A scheme in our language, what `schemes NAME --json` printed, or compressed-tensors' QuantizationScheme or
 * QuantizationArgs.
 * @param {any} json
 * @returns {Scheme}
 */
function schemeOfJson(json) {
	if (json === null || typeof json !== 'object' || Array.isArray(json)) {
		throw new BlockQuantError('bad-scheme', 'expected a JSON object');
	}
	if ('weights' in json || 'num_bits' in json) return fromCompressedTensors(json);
	const scheme = json.scheme !== null && typeof json.scheme === 'object' ? json.scheme : json;
	structOfScheme(scheme);
	if (scheme.name === undefined) return scheme;
	const preset = presets().get(scheme.name)?.scheme;
	if (preset === undefined || canonical(preset) !== canonical(scheme)) {
		throw new BlockQuantError(
			'bad-scheme',
			'name: only a preset has a name, and this is none as it stands: leave the name out',
		);
	}
	return preset;
}

/** @param {unknown} value */
function canonical(value) {
	/** @type {(key: string, value: any) => any} */
	const sorted = (_, item) =>
		item !== null && typeof item === 'object' && !Array.isArray(item)
			? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
			: item;
	return JSON.stringify(value, sorted);
}

/** @param {string} path */
async function readJson(path) {
	let text;
	try {
		text = await readFile(path, 'utf8');
	} catch (cause) {
		throw systemError(cause, `cannot read ${path}`);
	}
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw new BlockQuantError('bad-file', `is no JSON: ${messageOf(cause)}`, { file: path, cause });
	}
}
