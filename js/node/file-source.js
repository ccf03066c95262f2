// file-source.js - a file on disk as a source.
// SPDX-License-Identifier: MIT

import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { BlockQuantError } from '../errors.js';
import { sourceOf } from '../io/source.js';
import { systemError } from './system-error.js';

/** @typedef {import('../io/source.js').Source} Source */

/** Node aborts the process when a read of 2^31 bytes or more is asked for (specs/web.md 2.8). */
const MAX_READ_NBYTES = 2 ** 30;

/**
 * Opens a regular file.
 * @param {string} path
 * @returns {Promise<Source & { close: () => Promise<void> }>}
 */
export async function fileSource(path) {
	const file = basename(path);
	try {
		const handle = await open(path, 'r');
		const stats = await handle.stat();
		if (!stats.isFile()) {
			await handle.close();
			throw new BlockQuantError('io', stats.isDirectory() ? 'is a directory' : 'is no regular file', {
				file: path,
			});
		}
		const source = sourceOf({
			size: stats.size,
			name: file,
			fresh: true,
			async read(offset, length) {
				const bytes = new Uint8Array(Math.min(length, MAX_READ_NBYTES));
				const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, offset);
				return bytes.subarray(0, bytesRead);
			},
		});
		return { ...source, close: () => handle.close() };
	} catch (cause) {
		throw systemError(cause, `cannot open ${path}`);
	}
}
