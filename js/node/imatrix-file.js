// imatrix-file.js - an importance matrix by path.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { readImatrix } from '../imatrix/imatrix.js';
import { fileSource } from './file-source.js';

/**
 * @param {string} path
 * @returns {Promise<Required<import('../imatrix/imatrix.js').Imatrix>>} its name is the path, which no output
 *   may have
 */
export async function readImatrixPath(path) {
	if (typeof path !== 'string')
		throw new BlockQuantError('bad-argument', `path: expected a string, got ${shown(path)}`);
	const source = await fileSource(path);
	try {
		return { ...(await readImatrix(source)), name: path, path };
	} finally {
		await source.close();
	}
}
