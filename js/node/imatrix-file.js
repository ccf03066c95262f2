// imatrix-file.js - an importance matrix by path.
// SPDX-License-Identifier: MIT

import { given, path as readPath } from '../arguments.js';
import { readImatrix } from '../imatrix/imatrix.js';
import { fileSource } from './file-source.js';

/**
 * @param {string} path
 * @returns {Promise<Required<import('../imatrix/imatrix.js').Imatrix>>} its name is the path, which no output
 *   may have
 */
export async function readImatrixPath(path) {
	given('path', path, readPath);
	const source = await fileSource(path);
	try {
		return { ...(await readImatrix(source)), name: path, path };
	} finally {
		await source.close();
	}
}
