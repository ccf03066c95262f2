// config-file.js - the config.json beside a model: read, and placed where it overwrites nobody else's.
// SPDX-License-Identifier: MIT

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readQuantizationConfig } from '../compressed-tensors/config.js';
import { BlockQuantError } from '../errors.js';
import { sameFile } from './file-sink.js';
import { systemCode, systemError } from './system-error.js';

/** @typedef {import('./file-sink.js').FileTransaction} FileTransaction */

/**
 * Where the new config.json goes. One that is not ours stays: the new one then stands beside it.
 * @param {string} inputConfig path of the input's
 * @param {string} outputFile
 * @param {string | null} text
 * @param {(config: string) => boolean} isOurs
 * @returns {Promise<{ path: string | null, same: boolean, warnings: string[] }>}
 */
export async function configPlace(inputConfig, outputFile, text, isOurs) {
	if (text === null) return { path: null, same: true, warnings: [] };
	const usual = join(dirname(outputFile), 'config.json');
	const existing = await readOrNull(usual);
	if (existing === null) return { path: usual, same: false, warnings: [] };
	const isInput = await sameFile(usual, inputConfig);
	if (existing === text && !isInput) return { path: usual, same: true, warnings: [] };
	if (!isInput && isOurs(existing)) {
		const warning = `${usual} described another output and is replaced`;
		return { path: usual, same: false, warnings: [warning] };
	}
	const path = `${outputFile}.config.json`;
	const warning = `${usual} is ${isInput ? "the input's" : 'of another model'} and stays; the new one is ${path}`;
	return { path, same: false, warnings: [warning] };
}

/** @param {string} text of a config.json */
export function isQuantized(text) {
	try {
		return readQuantizationConfig(text)?.quant_method === 'compressed-tensors';
	} catch (error) {
		// No config.json that we can read is ours.
		if (error instanceof BlockQuantError) return false;
		throw error;
	}
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
	let bytes;
	try {
		bytes = await readFile(path);
	} catch (cause) {
		if (systemCode(cause) === 'ENOENT') return null;
		throw systemError(cause, `cannot read ${path}`);
	}
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch (cause) {
		throw new BlockQuantError('bad-file', 'text is not UTF-8', { file: path, cause });
	}
}
