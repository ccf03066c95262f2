// other-formats.js - files that people take for models, told by their first bytes, and what to say about each.
// SPDX-License-Identifier: MIT

const FORMATS = /** @type {const} */ ([
	['GGUF', 'a GGUF file among files of another kind: open it by itself'],
	['PK\x03\x04', 'a zip archive (a PyTorch .bin or .pt file?): convert it to safetensors first'],
	['\x80\x02}', 'a Python pickle: convert it to safetensors first'],
	['\x80\x02c', 'a Python pickle: convert it to safetensors first'],
	['\x80\x02\x8a', 'a PyTorch file: convert it to safetensors first'],
	['\x89HDF', 'an HDF5 file: convert it to safetensors first'],
	['ggjt', 'a ggml file from before GGUF: convert the model anew'],
	['tjgg', 'a ggml file from before GGUF: convert the model anew'],
	['lmgg', 'a ggml file from before GGUF: convert the model anew'],
	['version https://git-lfs', 'a Git LFS pointer: fetch the file itself with `git lfs pull`'],
	['<!DOCTYPE', 'a web page, no model: check the download'],
	['<html', 'a web page, no model: check the download'],
]);

/**
 * To be asked when a file is no model: some of these beginnings are those of good files.
 * @param {import('./source.js').Source} source
 * @returns {Promise<string | null>}
 */
export async function whatElse(source) {
	const start = String.fromCharCode(...(await source.read(0, Math.min(source.size, 32))));
	return FORMATS.find(([magic]) => start.startsWith(magic))?.[1] ?? null;
}
