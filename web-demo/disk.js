// disk.js - in the worker: output files in the browser's private file system, so that a large output is on the disk and not in
// memory; as a Blob where there is none (Firefox has none in private windows).
// SPDX-License-Identifier: MIT

import { BlockQuantError, blobSink } from './library.js';

/** @typedef {{ write: (bytes: Uint8Array, options: { at: number }) => number, flush: () => void, close: () => void }} SyncAccess
 *   FileSystemSyncAccessHandle, which workers alone have */

/**
 * A sink, and what became of it. `remove` may be called at any time after the last write.
 * @typedef {object} OutputFile
 * @property {(bytes: Uint8Array, offset: number) => void} write
 * @property {() => void} close
 * @property {() => void | Promise<void>} abort
 * @property {() => Promise<Blob>} blob
 * @property {() => Promise<void>} remove
 */

/** One folder for each tab; its name is that of a lock, too, which the tab holds as long as it lives. */
const PREFIX = 'blockquant-';

/** @type {Promise<FileSystemDirectoryHandle | null> | undefined} */
let folder;
let files = 0;

/** @returns {Promise<OutputFile>} */
export async function outputFile() {
	folder ??= ownFolder().catch(() => null);
	const own = await folder;
	if (own === null) return inMemory();
	const name = String(files++);
	const handle = await own.getFileHandle(name, { create: true });
	const remove = () => own.removeEntry(name).catch(() => {});
	const access = /** @type {SyncAccess} */ (await /** @type {any} */ (handle).createSyncAccessHandle());
	return {
		write(bytes, offset) {
			const written = access.write(bytes, { at: offset });
			if (written !== bytes.byteLength)
				throw new BlockQuantError('io', 'the browser gives no more room', { offset });
		},
		close() {
			access.flush();
			access.close();
		},
		abort() {
			access.close();
			return remove();
		},
		blob: () => handle.getFile(),
		remove,
	};
}

/** @returns {OutputFile} */
function inMemory() {
	const sink = blobSink();
	const abort = () => void sink.abort?.();
	return {
		write: (bytes, offset) => void sink.write(bytes, offset),
		close() {},
		abort,
		blob: async () => sink.blob(),
		remove: async () => abort(),
	};
}

/** The folder of this tab. Those of tabs that are gone go, too. */
async function ownFolder() {
	const root = await navigator.storage.getDirectory();
	const name = PREFIX + crypto.randomUUID();
	navigator.locks.request(name, () => new Promise(() => {}));
	const held = (await navigator.locks.query()).held ?? [];
	const alive = new Set([name, ...held.map((lock) => lock.name)]);
	for await (const other of root.keys())
		if (other.startsWith(PREFIX) && !alive.has(other))
			await root.removeEntry(other, { recursive: true }).catch(() => {});
	const own = await root.getDirectoryHandle(name, { create: true });
	// Now, so that a browser that has the folder and not the access is found out before anything is written.
	const probe = await own.getFileHandle('probe', { create: true });
	(await /** @type {any} */ (probe).createSyncAccessHandle()).close();
	await own.removeEntry('probe');
	return own;
}
