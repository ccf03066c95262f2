// file-source.js - a file on disk as a source.
// SPDX-License-Identifier: MIT

import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { sourceOf } from '../io/source.js';
import { checkRegular, statOrNull } from './stats.js';
import { systemError } from './system-error.js';

/** @typedef {import('../io/source.js').Source} Source */

/** Node aborts the process when a read of 2^31 bytes or more is asked for. */
const MAX_READ_NBYTES = 2 ** 30;

/**
 * Opens a regular file.
 * @param {string} path
 * @returns {Promise<Source & { close: () => Promise<void> }>}
 */
export async function fileSource(path) {
	const doing = `cannot open ${path}`;
	checkRegular(await statOrNull(path, doing), doing);
	try {
		const handle = await open(path, 'r');
		const { size } = await handle.stat();
		const source = sourceOf({
			size,
			name: basename(path),
			fresh: true,
			async read(offset, length) {
				const bytes = new Uint8Array(Math.min(length, MAX_READ_NBYTES));
				const { bytesRead } = await handle.read(bytes, 0, bytes.byteLength, offset);
				return bytes.subarray(0, bytesRead);
			},
		});
		return { ...source, close: () => handle.close() };
	} catch (cause) {
		throw systemError(cause, doing);
	}
}
