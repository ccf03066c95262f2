// file-sink.js - files written under temporary names and renamed together when all are complete.
// SPDX-License-Identifier: MIT

import { lstat, open, readlink, realpath, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { given, optional, optionsOf, path as readPath } from '../arguments.js';
import { BlockQuantError } from '../errors.js';
import { list } from '../problems.js';
import { renameAll } from './rename-all.js';
import { removeStale, temporaryFor } from './stale.js';
import { checkRegular, statOrNull } from './stats.js';
import { systemCode, systemError } from './system-error.js';
import { unwatch, watch } from './temporaries.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {{ path: string, target: string, temporary: string, handle: import('node:fs/promises').FileHandle | null }} Pending */
/** @typedef {{ path: string, role: string }} Input role: the argument or option that names it, for errors */

/** @param {string} path @returns {Input} */
export const asInput = (path) => ({ path, role: 'input' });

/** Output files that appear together, or not at all. */
export class FileTransaction {
	/** @type {Pending[]} */
	#pending = [];
	/** @type {Input[]} */
	#inputs;

	/** @param {Input[]} [inputs] files that must not be written to, under whatever name */
	constructor(inputs = []) {
		this.#inputs = inputs;
	}

	/**
	 * Begins a file. Its sink's `close` makes the bytes safe on disk, `commit` gives it its name.
	 * @param {string} path
	 * @returns {Promise<Sink>}
	 */
	async open(path) {
		const target = await this.check(path);
		await removeStale(dirname(target));
		const temporary = temporaryFor(target);
		/** @type {Pending} */
		const pending = { path, target, temporary, handle: null };
		try {
			watch(temporary);
			// 'wx': never follows a link and never takes over a file that is there.
			pending.handle = await open(temporary, 'wx');
			this.#pending.push(pending);
		} catch (cause) {
			unwatch(temporary);
			throw systemError(cause, `cannot write ${path}`);
		}
		return {
			write: (bytes, offset) => writeAll(pending, bytes, offset),
			close: () => finish(pending),
			abort: () => discard(pending),
		};
	}

	/** Gives all files their names, or none: then every file that was there is as it was. */
	async commit() {
		try {
			for (const pending of this.#pending) await finish(pending);
			renameAll(this.#pending);
		} catch (error) {
			await this.abort();
			throw error;
		}
		for (const { temporary } of this.#pending) unwatch(temporary);
		for (const directory of new Set(this.#pending.map(({ target }) => dirname(target)))) {
			await syncDirectory(directory);
		}
		this.#pending = [];
	}

	/** Removes what was written so far. */
	async abort() {
		for (const pending of this.#pending) await discard(pending);
		this.#pending = [];
	}

	/**
	 * Refuses a path that cannot take an output; gives where it leads.
	 * @param {string} path
	 * @param {string} [role] what errors call it
	 */
	async check(path, role = 'output') {
		const doing = `cannot write ${path}`;
		checkRegular(await statOrNull(path, doing), doing);
		for (const input of this.#inputs) {
			if (await sameFile(input.path, path)) {
				const what = `the ${role} ${path} is the ${input.role} ${input.path}`;
				throw new BlockQuantError('same-file', `${what}: name another file`);
			}
		}
		const target = await targetOf(path);
		if ((await statOrNull(dirname(target), doing)) === null) {
			throw new BlockQuantError('io', `${doing}: the folder ${dirname(target)} does not exist`);
		}
		if (this.#pending.some((pending) => pending.target === target)) {
			throw new BlockQuantError('bad-argument', `two outputs would have the name ${path}`);
		}
		return target;
	}
}

/**
 * One file that gets its name when it is closed.
 * @param {string} path
 * @param {{ inputs?: string[] }} [options] inputs: files that must not be written to
 * @returns {Promise<Sink>}
 */
export async function fileSink(path, options = {}) {
	given('path', path, readPath);
	const { inputs } = optionsOf({ inputs: optional(list(readPath)) }, options);
	const transaction = new FileTransaction(inputs?.map(asInput));
	const sink = await transaction.open(path);
	return {
		write: sink.write,
		close: () => transaction.commit(),
		abort: () => transaction.abort(),
	};
}

/**
 * Whether two paths lead to one file: through symbolic links, hard links or another spelling.
 * @param {string} a
 * @param {string} b
 */
export async function sameFile(a, b) {
	if (resolve(a) === resolve(b)) return true;
	const [left, right] = [await statOrNull(a, `cannot look at ${a}`), await statOrNull(b, `cannot look at ${b}`)];
	return left !== null && right !== null && left.dev === right.dev && left.ino === right.ino;
}

/**
 * The file behind a symbolic link, there or not, so that the link stays one.
 * @param {string} path
 * @returns {Promise<string>}
 */
async function targetOf(path) {
	try {
		return await realpath(path);
	} catch (cause) {
		if (systemCode(cause) !== 'ENOENT') throw systemError(cause, `cannot write ${path}`);
	}
	try {
		if (!(await lstat(path)).isSymbolicLink()) return resolve(path);
		// Where it leads nothing is yet. Links that lead in a circle do not come here: that is another error.
		return await targetOf(resolve(await realpath(dirname(path)), await readlink(path)));
	} catch (cause) {
		if (systemCode(cause) === 'ENOENT') return resolve(path);
		throw systemError(cause, `cannot write ${path}`);
	}
}

/**
 * @param {Pending} pending
 * @param {Uint8Array} bytes
 * @param {number} offset
 */
async function writeAll({ handle, path }, bytes, offset) {
	if (handle === null) throw new BlockQuantError('internal', `${path} is closed already`);
	try {
		for (let done = 0; done < bytes.byteLength; ) {
			const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, offset + done);
			done += bytesWritten;
		}
	} catch (cause) {
		throw systemError(cause, `cannot write ${path}`, offset);
	}
}

/** @param {Pending} pending */
async function finish(pending) {
	const { handle, path } = pending;
	if (handle === null) return;
	pending.handle = null;
	try {
		await handle.sync();
	} catch (cause) {
		await handle.close().catch(() => {});
		throw systemError(cause, `cannot write ${path}`);
	}
	try {
		await handle.close();
	} catch (cause) {
		throw systemError(cause, `cannot write ${path}`);
	}
}

/** @param {Pending} pending */
async function discard(pending) {
	await pending.handle?.close().catch(() => {});
	pending.handle = null;
	await unlink(pending.temporary).catch(() => {});
	unwatch(pending.temporary);
}

/**
 * Makes the new names themselves safe; not every system can.
 * @param {string} directory
 */
async function syncDirectory(directory) {
	try {
		const handle = await open(directory, 'r');
		await handle.sync().finally(() => handle.close());
	} catch {
		// Windows and some network file systems refuse: the files' bytes are safe all the same.
	}
}
