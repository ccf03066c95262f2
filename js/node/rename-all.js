// rename-all.js - several files get their final names together, or all that was there stays.
// SPDX-License-Identifier: MIT

import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { BlockQuantError } from '../errors.js';
import { systemCode, systemError } from './system-error.js';

/** @typedef {{ path: string, target: string, temporary: string }} Renaming path: as the user named the target */
/** @typedef {{ target: string, backup: string | null, renamed: boolean }} Begun backup: of what was at the target */

/**
 * Renames each temporary file to its target. Synchronous: no signal's handler comes in between.
 * @param {Renaming[]} files
 */
export function renameAll(files) {
	for (const { path, target } of files) checkReplaceable(path, target);
	/** @type {Begun[]} */
	const begun = [];
	try {
		for (const file of files) {
			/** @type {Begun} */
			const one = { target: file.target, backup: null, renamed: false };
			begun.push(one);
			try {
				// One file alone is replaced as a whole or not at all: the system sees to that.
				if (files.length > 1) one.backup = keep(file);
				renameSync(file.temporary, file.target);
				one.renamed = true;
			} catch (cause) {
				throw systemError(cause, `cannot write ${file.path}`);
			}
		}
	} catch (error) {
		throw restore(begun, /** @type {BlockQuantError} */ (error));
	}
	for (const { backup } of begun) if (backup !== null) ignoring(() => unlinkSync(backup));
}

/**
 * Where something came to be since the output was begun.
 * @param {string} path
 * @param {string} target
 */
function checkReplaceable(path, target) {
	const stats = lstatSync(target, { throwIfNoEntry: false });
	if (stats === undefined || stats.isFile() || stats.isSymbolicLink()) return;
	const what = stats.isDirectory() ? 'is a directory' : 'is no regular file';
	throw new BlockQuantError('io', `cannot write ${path}: ${what}`);
}

/**
 * A second name for what is there.
 * @param {Renaming} file
 * @returns {string | null} null if nothing is there
 */
function keep({ target, temporary }) {
	const backup = `${temporary}.old`;
	try {
		linkSync(target, backup);
	} catch (cause) {
		if (systemCode(cause) === 'ENOENT') return null;
		// Not every file system has hard links. Without them the name is free for a moment.
		renameSync(target, backup);
	}
	return backup;
}

/**
 * Undoes what was done, the last first.
 * @param {Begun[]} begun
 * @param {BlockQuantError} error what went wrong
 * @returns {BlockQuantError}
 */
function restore(begun, error) {
	/** @type {string[]} */
	const lost = [];
	for (const { target, backup, renamed } of begun.reverse()) {
		try {
			if (backup === null) {
				if (renamed) unlinkSync(target);
				continue;
			}
			renameSync(backup, target);
			// From one name of a file to its other name, that did nothing.
			ignoring(() => unlinkSync(backup));
		} catch {
			lost.push(backup === null ? `${target} is left` : `what was ${target} is ${backup}`);
		}
	}
	if (lost.length === 0) return error;
	return new BlockQuantError(error.code, `${error.detail}; and it cannot be undone: ${lost.join(', ')}`, {
		cause: error,
	});
}

/** @param {() => void} act */
function ignoring(act) {
	try {
		act();
	} catch {
		// A second name that is left over harms nobody.
	}
}
