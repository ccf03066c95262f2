// stats.js - what is at a path, asked before it is opened: to open a pipe waits for its other end, perhaps for ever.
// SPDX-License-Identifier: MIT

import { stat } from 'node:fs/promises';
import { BlockQuantError } from '../errors.js';
import { systemCode, systemError } from './system-error.js';

/** @typedef {import('node:fs').BigIntStats} BigIntStats */

/**
 * Links are followed; null if nothing is there.
 * @param {string} path
 * @param {string} doing such as "cannot open model.safetensors"
 * @returns {Promise<BigIntStats | null>}
 */
export async function statOrNull(path, doing) {
	try {
		return await stat(path, { bigint: true });
	} catch (cause) {
		if (systemCode(cause) === 'ENOENT') return null;
		throw systemError(cause, doing);
	}
}

/**
 * Refuses directories, pipes, sockets and devices.
 * @param {{ isFile(): boolean, isDirectory(): boolean } | null} stats
 * @param {string} doing
 */
export function checkRegular(stats, doing) {
	if (stats === null || stats.isFile()) return;
	throw new BlockQuantError('io', `${doing}: ${stats.isDirectory() ? 'is a directory' : 'is no regular file'}`);
}
