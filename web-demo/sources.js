// sources.js - on the page: files by the file chooser, by drag and drop, or a folder dropped.
// SPDX-License-Identifier: MIT

import { byId } from './dom.js';

/**
 * @param {object} handlers
 * @param {(files: File[]) => void} handlers.onFiles
 * @param {(seed: number) => void} handlers.onSample
 */
export function listenForSources({ onFiles, onSample }) {
	const input = /** @type {HTMLInputElement} */ (byId('files'));
	input.addEventListener('change', () => {
		const files = [...(input.files ?? [])];
		// So that choosing the same file again is a change.
		input.value = '';
		if (files.length > 0) onFiles(files);
	});
	byId('sample').addEventListener('click', () => {
		const seed = /** @type {HTMLInputElement} */ (byId('seed'));
		if (seed.reportValidity()) onSample(Math.trunc(seed.valueAsNumber || 0));
	});
	listenForDrops(onFiles);
}

/** Anywhere on the page: a file dropped beside the field would otherwise replace the page. @param {(files: File[]) => void} onFiles */
function listenForDrops(onFiles) {
	const field = byId('drop');
	let depth = 0;
	/** @param {number} change */
	const track = (change) => {
		depth = Math.max(0, depth + change);
		field.classList.toggle('over', depth > 0);
	};
	addEventListener('dragenter', () => track(+1));
	addEventListener('dragleave', () => track(-1));
	addEventListener('dragover', (event) => event.preventDefault());
	addEventListener('drop', async (event) => {
		event.preventDefault();
		track(-depth);
		if (field.hidden) return;
		const files = await filesOf(event.dataTransfer);
		if (files.length > 0) onFiles(files);
	});
}

/** @param {DataTransfer | null} transfer @returns {Promise<File[]>} */
async function filesOf(transfer) {
	if (transfer === null) return [];
	// Both lists are emptied when this event ends: take what is there before the first await.
	const files = [...transfer.files];
	const folders = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory);
	if (folders.length === 0) return files;
	const inside = await Promise.all(
		folders.map((folder) => filesInFolder(/** @type {FileSystemDirectoryEntry} */ (folder))),
	);
	return inside.flat();
}

/** The files of a folder, those of folders in it not. @param {FileSystemDirectoryEntry} folder @returns {Promise<File[]>} */
async function filesInFolder(folder) {
	const reader = folder.createReader();
	/** @type {FileSystemEntry[]} */
	const entries = [];
	for (;;) {
		/** @type {FileSystemEntry[]} */
		const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
		if (some.length === 0) break;
		entries.push(...some);
	}
	const files = /** @type {FileSystemFileEntry[]} */ (entries.filter((entry) => entry.isFile));
	return Promise.all(files.map((entry) => new Promise((resolve, reject) => entry.file(resolve, reject))));
}
