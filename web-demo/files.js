// files.js - in the worker: which of the chosen files are the model, and where the output goes.
// SPDX-License-Identifier: MIT

import { outputFile } from './disk.js';

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
 * The input's name with the scheme's in it, and its extension. Of GGUF shards, which become one file, without their number.
 * @param {string} input
 * @param {string} scheme
 */
export function outputName(input, scheme) {
	const dot = input.lastIndexOf('.');
	const [stem, extension] = dot > 0 ? [input.slice(0, dot), input.slice(dot)] : [input, ''];
	const whole = /\.gguf$/i.test(extension) ? stem.replace(/-\d{5}-of-\d{5}$/, '') : stem;
	return `${whole}-${scheme.slice(scheme.indexOf(':') + 1)}${extension}`;
}

/**
 * A sink for a model of one file or of several.
 * @param {string} name of the file, if it is one; several have names of their own
 */
export function outputFiles(name) {
	/** @type {Map<string, import('./disk.js').OutputFile>} */
	const outputs = new Map();
	/** @param {string} file */
	const open = async (file) => {
		const output = await outputFile();
		outputs.set(file, output);
		return output;
	};
	const remove = async () => {
		for (const output of outputs.values()) await output.remove();
		outputs.clear();
	};
	return {
		open,
		/** @param {Uint8Array} bytes @param {number} offset */
		write: async (bytes, offset) => (outputs.get(name) ?? (await open(name))).write(bytes, offset),
		close: () => outputs.get(name)?.close(),
		async abort() {
			await outputs.get(name)?.abort();
			await remove();
		},
		remove,
		files: () => Promise.all([...outputs].map(async ([file, output]) => new File([await output.blob()], file))),
	};
}
