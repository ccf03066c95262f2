// stale.js - temporary names that say who made the file, and the removal of files whose maker is gone: SIGKILL and a power cut leave them.
// SPDX-License-Identifier: MIT

import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { systemCode } from './system-error.js';

/** Letters of the name that a temporary name repeats: systems allow some 255 bytes in all. */
const MAX_STEM = 40;

/** Not `.tmp.old`, which may be the only copy of what was there before (rename-all.js). */
const NAME = /^\..*\.([\da-f]{8})-(\d+)-[\da-f]{8}\.tmp$/;

/**
 * Where the numbers of processes mean what they mean here: a folder may be shared with other machines, and with containers of
 * this one, whose processes we cannot see.
 */
function placeOfProcesses() {
	let namespace = '';
	try {
		namespace = readlinkSync('/proc/self/ns/pid');
	} catch {
		// Not Linux: the machine has one set of numbers.
	}
	return createHash('sha256').update(`${hostname()} ${namespace}`).digest('hex').slice(0, 8);
}

/**
 * A new name beside the target, hidden.
 * @param {string} target
 */
export function temporaryFor(target) {
	const maker = `${placeOfProcesses()}-${process.pid}`;
	const name = `.${basename(target).slice(0, MAX_STEM)}.${maker}-${randomBytes(4).toString('hex')}.tmp`;
	return join(dirname(target), name);
}

/**
 * Removes the temporary files of a folder whose process, of this place, does not run any more. A number that another process has
 * by now keeps the file: rather one too many than one that is being written.
 * @param {string} directory
 */
export async function removeStale(directory) {
	// What cannot be listed or removed stays: it is only in the way of the room that it takes.
	const names = await readdir(directory).catch(() => []);
	const here = placeOfProcesses();
	for (const name of names) {
		const [, place, pid] = NAME.exec(name) ?? [];
		if (place === here && !isRunning(Number(pid))) await unlink(join(directory, name)).catch(() => {});
	}
}

/** @param {number} pid */
function isRunning(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// Any other refusal is no proof that it is gone: it may be another user's.
		return systemCode(error) !== 'ESRCH';
	}
}
