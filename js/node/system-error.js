// system-error.js - what the operating system refused, in words.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf } from '../errors.js';

/** @type {Record<string, string>} */
const WORDS = {
	ENOENT: 'no such file or directory',
	EACCES: 'permission denied',
	EPERM: 'not permitted',
	EROFS: 'the file system is read-only',
	ENOSPC: 'no space left on the device',
	EDQUOT: 'the disk quota is used up',
	EFBIG: 'the file is larger than the system allows',
	EISDIR: 'is a directory',
	ENOTDIR: 'a part of the path is no directory',
	EMFILE: 'too many open files',
	EIO: 'the device reports an error',
	ENAMETOOLONG: 'the name is too long',
	ELOOP: 'too many symbolic links',
};

/**
 * The system's error code, such as ENOENT; undefined for other errors.
 * @param {unknown} error
 * @returns {string | undefined}
 */
export function systemCode(error) {
	return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/**
 * @param {unknown} cause
 * @param {string} doing such as "cannot write out.safetensors"
 * @param {number} [offset]
 */
export function systemError(cause, doing, offset) {
	if (cause instanceof BlockQuantError) return cause;
	const code = systemCode(cause);
	const why = (code && WORDS[code]) ?? messageOf(cause);
	return new BlockQuantError('io', `${doing}: ${why}${code ? ` (${code})` : ''}`, { offset, cause });
}
