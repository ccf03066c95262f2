// scheme-argument.js - the value of --scheme: a preset's name or a file of JSON.
// SPDX-License-Identifier: MIT

import { readFile } from 'node:fs/promises';
import { isContainerScheme } from '../containers.js';
import { BlockQuantError, messageOf } from '../errors.js';
import { systemError } from '../node/system-error.js';
import { resolveScheme } from '../presets.js';
import { schemeOfJson } from '../vocabularies.js';
import { warn } from './errors.js';
import { jsonOfText } from '../json/read.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** Whether --scheme names a file. @param {string} argument */
export const isPath = (argument) => /\.json$|[/\\]/i.test(argument);

/**
 * @param {string} argument
 * @returns {Promise<string | Scheme>} a name that some kind of file knows
 */
export async function schemeOfArgument(argument) {
	if (isPath(argument)) return schemeOfFile(argument);
	return isContainerScheme(argument) ? argument : resolveScheme(argument);
}

/** The scheme in a file, in any vocabulary. @param {string} path @returns {Promise<Scheme>} */
export async function schemeOfFile(path) {
	const json = await readJson(path);
	if (namesModules(json))
		warn([
			`${path}: its targets are not looked at: the weights of linear layers are quantized, or what --include names`,
		]);
	try {
		return schemeOfJson(json);
	} catch (error) {
		throw error instanceof BlockQuantError ? error.withFile(path) : error;
	}
}

/** Whether a scheme of compressed-tensors is meant for some modules. @param {any} json */
const namesModules = (json) =>
	Array.isArray(json?.targets) && json.targets.some((/** @type {unknown} */ target) => target !== 'Linear');

/** A pipe will do: `--scheme <(some command)`. @param {string} path */
async function readJson(path) {
	let text;
	try {
		text = await readFile(path, 'utf8');
	} catch (cause) {
		throw systemError(cause, `cannot read ${path}`);
	}
	try {
		return jsonOfText(text);
	} catch (cause) {
		throw new BlockQuantError('bad-file', `is no JSON: ${messageOf(cause)}`, { file: path, cause });
	}
}
