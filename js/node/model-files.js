// model-files.js - models by path: opened, quantized and dequantized with their config.json.
// SPDX-License-Identifier: MIT

import { mkdir, readdir, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CONTAINERS, containerOf } from '../containers.js';
import { BlockQuantError } from '../errors.js';
import { dequantizeModel } from '../model/dequantize.js';
import { openModel } from '../model/open.js';
import { quantizeModel } from '../model/quantize.js';
import { configPlace, isQuantized, readOrNull, writeText } from './config-file.js';
import { FileTransaction } from './file-sink.js';
import { fileSource } from './file-source.js';
import { systemCode, systemError } from './system-error.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('../model/types.js').Model} Model */

/**
 * @typedef {object} PathModel
 * @property {string[]} paths of all files that were opened
 * @property {boolean} fromDirectory whether the path given was a directory
 * @property {string | null} configPath where its config.json is, or would be; null: its kind has none
 * @property {string | null} config the text of that file
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} Written
 * @property {string[]} files paths of all files written
 * @property {string | null} configPath
 */

/**
 * Opens a model: its file, an index, one of the shards of a GGUF model, or a directory that holds one of these.
 * @param {string} path
 * @returns {Promise<Model & PathModel>}
 */
export async function openModelPath(path) {
	const fromDirectory = (await statOrNull(path))?.isDirectory() ?? false;
	const file = fromDirectory ? await findModel(path) : path;
	const directory = dirname(file);
	const first = await fileSource(file);
	const sources = [first];
	const close = async () => {
		for (const source of sources) await source.close();
	};
	try {
		for (const container of Object.values(CONTAINERS)) {
			const others = await container.companions(first);
			for (const name of others) sources.push(await fileSource(join(directory, name)));
		}
		const model = await openModel(sources);
		const { configName } = containerOf(model);
		const configPath = configName === null ? null : join(directory, configName);
		return {
			...model,
			paths: [file, ...sources.slice(1).map(({ name }) => join(directory, name ?? ''))],
			fromDirectory,
			configPath,
			config: configPath === null ? null : await readOrNull(configPath),
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

/**
 * Quantizes a model by path. Every output file appears at the end, or none; inputs are not touched.
 * @param {string} input
 * @param {string} output a file; for a model of several files, a directory or the path of an index
 * @param {Omit<import('../model/quantize.js').QuantizeOptions, 'config'>} options
 * @returns {Promise<import('../model/quantize.js').QuantizeResult & Written>}
 */
export async function quantizeModelPath(input, output, options) {
	return convert(input, output, isQuantized, (model, sink) =>
		quantizeModel(model, sink, { ...options, config: model.config }),
	);
}

/**
 * The way back.
 * @param {string} input
 * @param {string} output
 * @param {Omit<import('../model/dequantize.js').DequantizeOptions, 'config'>} [options]
 * @returns {Promise<import('../model/dequantize.js').DequantizeResult & Written>}
 */
export async function dequantizeModelPath(input, output, options) {
	// What we write here carries no mark: no config.json can be known to be ours.
	const isOurs = () => false;
	return convert(input, output, isOurs, (model, sink) =>
		dequantizeModel(model, sink, { ...options, config: model.config }),
	);
}

/**
 * @template {{ config: string | null, warnings: string[] }} Result
 * @param {string} input
 * @param {string} output
 * @param {(config: string) => boolean} isOurs whether a config.json at the output may be replaced
 * @param {(model: Model & PathModel, sink: Sink | DirectorySink) => Promise<Result>} run
 * @returns {Promise<Result & Written>}
 */
async function convert(input, output, isOurs, run) {
	const model = await openModelPath(input);
	const transaction = new FileTransaction([
		...model.paths,
		...(model.configPath === null || model.config === null ? [] : [model.configPath]),
	]);
	let created;
	try {
		const { directory, name } = await outputPlace(model, output);
		created = await makeDirectory(directory, output);
		/** @type {string[]} */
		const files = [];
		/** @param {string} file */
		const open = async (file) => {
			const path = join(directory, file === model.index?.name ? name : file);
			files.push(path);
			return transaction.open(path);
		};
		if (model.index !== null) {
			for (const file of [...model.files.map((one) => one.name), name])
				await transaction.check(join(directory, file));
		}
		const result = await run(model, model.index === null ? await open(name) : { open });
		const place = await configPlace(model.configPath ?? '', join(directory, name), result.config, isOurs);
		if (place.path !== null && !place.same) await writeText(transaction, place.path, result.config ?? '');
		await transaction.commit();
		return {
			...result,
			warnings: [...result.warnings, ...place.warnings],
			files: place.path === null ? files : [...files, place.path],
			configPath: place.path,
		};
	} catch (error) {
		await transaction.abort();
		if (created) await rmdir(created).catch(() => {});
		throw error;
	} finally {
		await model.close();
	}
}

/**
 * @param {Model & PathModel} model
 * @param {string} output
 * @returns {Promise<{ directory: string, name: string }>} name: of the file, or of the index
 */
async function outputPlace(model, output) {
	const isDirectory = /[/\\]$/.test(output) || ((await statOrNull(output))?.isDirectory() ?? false);
	const own = containerOf(model);
	const isIndex = own.isIndex(output);
	const isFile = own.isModelFile(output) || isIndex;
	if (!isFile && !isDirectory && Object.values(CONTAINERS).some((other) => other.isModelFile(output))) {
		throw new BlockQuantError('bad-argument', `${output}: a ${model.format} model is written as ${model.format}`);
	}
	if (model.index === null) {
		const inside = isDirectory || (model.fromDirectory && !isFile);
		if (inside) return { directory: output, name: model.name };
		return { directory: dirname(output), name: basename(output) };
	}
	if (isDirectory || !isFile) return { directory: output, name: model.index.name };
	if (isIndex) return { directory: dirname(output), name: basename(output) };
	throw new BlockQuantError('bad-argument', `${output}: a model of several files needs a directory as its output`);
}

/**
 * Makes the directory that the user named as the output; the ones above it must be there.
 * @param {string} directory
 * @param {string} output
 * @returns {Promise<string | null>} the directory, if it was not there before
 */
async function makeDirectory(directory, output) {
	if (directory !== output) return null;
	try {
		await mkdir(directory);
		return directory;
	} catch (cause) {
		if (systemCode(cause) === 'EEXIST') return null;
		throw systemError(cause, `cannot write ${output}`);
	}
}

/**
 * The model file of a directory.
 * @param {string} directory
 */
async function findModel(directory) {
	const names = await readdir(directory).catch((cause) => {
		throw systemError(cause, `cannot read ${directory}`);
	});
	const files = Object.values(CONTAINERS).flatMap((container) => container.mainFiles(names));
	const [only] = files;
	if (files.length === 1 && only !== undefined) return join(directory, only);
	const what = files.length === 0 ? 'no model file' : `${files.length} models`;
	throw new BlockQuantError('bad-argument', `${directory} holds ${what}: name the model's file`);
}

/** @param {string} path */
async function statOrNull(path) {
	try {
		return await stat(path);
	} catch (cause) {
		if (systemCode(cause) === 'ENOENT') return null;
		throw systemError(cause, `cannot open ${path}`);
	}
}
