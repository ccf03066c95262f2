// config-file.js - the config.json beside a model: read, and placed where it overwrites nobody else's.
// SPDX-License-Identifier: MIT

import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isModelFile } from '../containers.js';
import { BlockQuantError } from '../errors.js';
import { sameFile } from './file-sink.js';
import { checkRegular, statOrNull } from './stats.js';
import { systemCode, systemError } from './system-error.js';

/** @typedef {import('./file-sink.js').FileTransaction} FileTransaction */

/**
 * The config.json of the model in a file: the one that has the file's name where there is one, because that is where ours goes
 * if the usual one is of another model.
 * @param {string} file
 * @returns {Promise<{ path: string, text: string | null }>} text: null if there is none
 */
export async function findConfig(file) {
	const path = configBeside(file);
	const text = await readOrNull(path);
	if (text !== null) return { path, text };
	const usual = usualConfig(file);
	return { path: usual, text: await readOrNull(usual) };
}

/** @param {string} file */
const usualConfig = (file) => join(dirname(file), 'config.json');

/** @param {string} file */
const configBeside = (file) => `${file}.config.json`;

/**
 * Where the new config.json goes. A usual one stays, and the new one gets the output's name, if it is the input's, of another
 * model, or may be: other model files are in the folder.
 * @param {string | null} inputConfig path of the input's, where its kind of file has one
 * @param {string[]} outputs the output files; the model is named by the last
 * @param {string | null} text
 * @param {(config: string) => boolean} isOurs
 * @returns {Promise<{ path: string | null, same: boolean, warnings: string[] }>}
 */
export async function configPlace(inputConfig, outputs, text, isOurs) {
	const output = outputs.at(-1) ?? '';
	const usual = usualConfig(output);
	const path = configBeside(output);
	const old = await readOrNull(path);
	if (text === null) {
		// Whoever opens the output would take what is there for its own.
		const stale = old === null ? [] : [`${path} is there already: it may not describe the new ${output}`];
		return { path: null, same: true, warnings: stale };
	}
	const isInput = inputConfig !== null && (await sameFile(usual, inputConfig));
	if (old !== null) {
		// It goes before the usual one when the output is opened, and is as much the output's as the file that is replaced.
		return { path, same: old === text, warnings: [] };
	}
	const existing = await readOrNull(usual);
	if (existing === null) return { path: usual, same: false, warnings: [] };
	if (existing === text && !isInput) return { path: usual, same: true, warnings: [] };
	if (!isInput && isOurs(existing) && !(await hasOthers(outputs))) {
		return { path: usual, same: false, warnings: [`${usual} described another output and is replaced`] };
	}
	const whose = isInput ? "the input's" : 'of another model';
	return { path, same: false, warnings: [`${usual} is ${whose} and stays; the new one is ${path}`] };
}

/**
 * Whether a folder holds model files that are not outputs.
 * @param {string[]} outputs of one folder
 */
async function hasOthers(outputs) {
	const own = outputs.map((file) => basename(file));
	const directory = dirname(outputs[0]);
	const names = await readdir(directory).catch((cause) => {
		throw systemError(cause, `cannot read ${directory}`);
	});
	return names.some((name) => isModelFile(name) && !own.includes(name));
}

/**
 * @param {FileTransaction} transaction
 * @param {string} path
 * @param {string} text
 */
export async function writeText(transaction, path, text) {
	const sink = await transaction.open(path);
	await sink.write(new TextEncoder().encode(text), 0);
	await sink.close?.();
}

/**
 * A text file; null if there is none.
 * @param {string} path
 */
export async function readOrNull(path) {
	const doing = `cannot read ${path}`;
	checkRegular(await statOrNull(path, doing), doing);
	let bytes;
	try {
		bytes = await readFile(path);
	} catch (cause) {
		if (systemCode(cause) === 'ENOENT') return null;
		throw systemError(cause, doing);
	}
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch (cause) {
		throw new BlockQuantError('bad-file', 'text is not UTF-8', { file: path, cause });
	}
}
