// files.js - in the worker: which of the chosen files are the model, and where the output goes.
// SPDX-License-Identifier: MIT

import { blobSink } from './library.js';

const MODEL_FILE = /\.(safetensors|gguf|index\.json)$/i;

/**
 * A model's folder holds more than the model: config.json is used, tokenizers and the like are passed over.
 * @param {File[]} given
 * @returns {{ files: File[], config: File | null }}
 */
export function sortInput(given) {
	if (given.length < 2) return { files: given, config: null };
	const config = given.find(({ name }) => name === 'config.json') ?? null;
	const models = given.filter(({ name }) => MODEL_FILE.test(name));
	return { files: models.length > 0 ? models : given, config };
}

/**
 * The input's name with the scheme's in it, and its extension.
 * @param {string} input
 * @param {string} scheme
 */
export function outputName(input, scheme) {
	const dot = input.lastIndexOf('.');
	const [stem, extension] = dot > 0 ? [input.slice(0, dot), input.slice(dot)] : [input, ''];
	return `${stem}-${scheme.slice(scheme.indexOf(':') + 1)}${extension}`;
}

/**
 * A sink for a model of one file or of several. Parts become Blobs at once, which the browser may keep on disk.
 * @param {string} name of the file, if it is one; several have names of their own
 */
export function outputFiles(name) {
	/** @type {Map<string, ReturnType<typeof blobSink>>} */
	const sinks = new Map();
	/** @param {string} file */
	const open = (file) => {
		const sink = blobSink();
		sinks.set(file, sink);
		return sink;
	};
	return {
		open,
		/** @param {Uint8Array} bytes @param {number} offset */
		write: (bytes, offset) => (sinks.get(name) ?? open(name)).write(bytes, offset),
		abort: () => sinks.clear(),
		files: () =>
			[...sinks].map(([file, sink]) => new File([sink.blob()], file, { type: 'application/octet-stream' })),
	};
}
