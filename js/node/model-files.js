// model-files.js - models by path: opened, quantized and dequantized with their config.json.
// SPDX-License-Identifier: MIT

import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isWrittenByUs } from '../compressed-tensors/config-file.js';
import { CONTAINERS, containerOf, isModelFile } from '../containers.js';
import { given, path as readPath } from '../arguments.js';
import { BlockQuantError } from '../errors.js';
import { withImatrix } from '../imatrix/imatrix.js';
import { dequantizeModel } from '../model/dequantize.js';
import { openModel } from '../model/open.js';
import { checkOptions, DEQUANTIZE_OPTIONS, QUANTIZE_OPTIONS } from '../model/options.js';
import { plan } from '../model/plan.js';
import { quantizeModel } from '../model/quantize.js';
import { configPlace, findConfig, writeText } from './config-file.js';
import { asInput, FileTransaction, sameFile } from './file-sink.js';
import { fileSource } from './file-source.js';
import { statOrNull } from './stats.js';
import { systemCode, systemError } from './system-error.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('../model/types.js').Model} Model */

/**
 * @typedef {object} PathModel
 * @property {string[]} paths of all files that were opened
 * @property {boolean} fromDirectory whether the path given was a directory
 * @property {string | null} configPath where its config.json is, or would be: OUT.config.json beside OUT goes before config.json;
 *   null: its kind of file has none
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
	given('path', path, readPath);
	const fromDirectory = await isDirectory(path);
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
		const config = containerOf(model).hasConfig ? await findConfig(file) : { path: null, text: null };
		return {
			...model,
			paths: [file, ...sources.slice(1).map(({ name }) => join(directory, name ?? ''))],
			fromDirectory,
			configPath: config.path,
			config: config.text,
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}

/** The config is that of the input. @param {string} name */
const isNoConfig = (name) => name !== 'config';
const PATH_QUANTIZE_OPTIONS = [...QUANTIZE_OPTIONS.filter(isNoConfig), 'report'];
const PATH_DEQUANTIZE_OPTIONS = DEQUANTIZE_OPTIONS.filter(isNoConfig);

/**
 * @typedef {object} ReportOption
 * @property {string} [report] path of a JSON file that says how far the new weights are from the old (docs/gguf.md)
 */

/**
 * Quantizes a model by path. Every output file appears at the end, or none; inputs are not touched.
 * @param {string} input
 * @param {string} output a file; for a model of several files, a directory or the path of an index
 * @param {Omit<import('../model/quantize.js').QuantizeOptions, 'config'> & ReportOption} options
 * @returns {Promise<import('../model/quantize.js').QuantizeResult & Written>}
 */
export async function quantizeModelPath(input, output, options) {
	const given = await withImatrix(options);
	checkOptions(given, PATH_QUANTIZE_OPTIONS);
	const { report, ...rest } = given;
	const measure = rest.measure || report !== undefined;
	return convert(input, output, {
		inputs: given.imatrix?.path === undefined ? [] : [{ path: given.imatrix.path, role: 'imatrix' }],
		isOurs: isWrittenByUs,
		run: (model, sink) => quantizeModel(model, sink, { ...rest, measure, config: configOf(model, rest) }),
		report,
		reportOf: ({ plan: { target }, errors }) => ({ input, output, target, ...errors }),
	});
}

/** The config.json of a model; where it has none and readers of what is made need one, an empty one. @param {Model & PathModel} model @param {any} options */
function configOf(model, options) {
	if (model.config !== null) return model.config;
	return containerOf(model).needOfConfig(plan(model, options)).length > 0 ? '{}' : null;
}

/**
 * The way back.
 * @param {string} input
 * @param {string} output
 * @param {Omit<import('../model/dequantize.js').DequantizeOptions, 'config'>} [options]
 * @returns {Promise<import('../model/dequantize.js').DequantizeResult & Written>}
 */
export async function dequantizeModelPath(input, output, options = {}) {
	checkOptions(options, PATH_DEQUANTIZE_OPTIONS);
	// What we write here carries no mark: no config.json can be known to be ours.
	const isOurs = () => false;
	return convert(input, output, {
		isOurs,
		run: (model, sink) => dequantizeModel(model, sink, { ...options, config: model.config }),
	});
}

/**
 * @template {{ config: string | null, warnings: string[] }} Result
 * @typedef {object} Conversion
 * @property {import('./file-sink.js').Input[]} [inputs] more files that must not be written to
 * @property {(config: string, original: string | null) => boolean} isOurs whether a config.json at the output may be replaced
 * @property {(model: Model & PathModel, sink: Sink | DirectorySink) => Promise<Result>} run
 * @property {string} [report] path of one more file to write
 * @property {(result: Result) => object} [reportOf] what it says, as JSON
 */

/**
 * @template {{ config: string | null, warnings: string[] }} Result
 * @param {string} input
 * @param {string} output
 * @param {Conversion<Result>} conversion
 * @returns {Promise<Result & Written>}
 */
async function convert(input, output, { inputs = [], isOurs, run, report, reportOf }) {
	given('input', input, readPath);
	given('output', output, readPath);
	const model = await openModelPath(input);
	const config = model.configPath === null || model.config === null ? [] : [model.configPath];
	const transaction = new FileTransaction([...[...model.paths, ...config].map(asInput), ...inputs]);
	let created;
	try {
		const { directory, name } = await outputPlace(model, output);
		created = await makeDirectory(directory, output);
		/** @type {string[]} */
		const files = [];
		/** @param {string} file @returns {string} */
		const pathOf = (file) => join(directory, file === model.index?.name ? name : file);
		const names = model.index === null ? [name] : [...model.files, model.index].map((file) => file.name);
		for (const file of names) await transaction.check(pathOf(file));
		if (report !== undefined) await checkReport(transaction, report, names.map(pathOf));
		/** @param {string} file */
		const open = (file) => {
			files.push(pathOf(file));
			return transaction.open(pathOf(file));
		};
		const result = await run(model, model.index === null ? lazySink(() => open(name)) : { open });
		/** @param {string} config */
		const isOurConfig = (config) => isOurs(config, model.config);
		const place = await configPlace(model.configPath, files, result.config, isOurConfig);
		if (place.path !== null && !place.same) await writeText(transaction, place.path, result.config ?? '');
		if (report !== undefined && reportOf !== undefined)
			await writeText(transaction, report, `${JSON.stringify(reportOf(result), null, '\t')}\n`);
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
 * Refuses a report in the place of an input or an output, before there is any.
 * @param {FileTransaction} transaction
 * @param {string} report
 * @param {string[]} outputs
 */
async function checkReport(transaction, report, outputs) {
	const target = await transaction.check(report, 'report');
	for (const output of outputs) {
		if (target === (await transaction.check(output)) || (await sameFile(report, output)))
			throw new BlockQuantError('same-file', `the report ${report} is the output ${output}: name another file`);
	}
}

/**
 * A sink that is opened at its first write: what cannot be done at all leaves no trace, not even for a moment.
 * @param {() => Promise<Sink>} open
 * @returns {Sink}
 */
function lazySink(open) {
	/** @type {Promise<Sink> | undefined} */
	let opening;
	return {
		async write(bytes, offset) {
			opening ??= open();
			await (await opening).write(bytes, offset);
		},
		close: async () => (await opening)?.close?.(),
		abort: async () => (await opening)?.abort?.(),
	};
}

/**
 * @param {Model & PathModel} model
 * @param {string} output
 * @returns {Promise<{ directory: string, name: string }>} name: of the file, or of the index
 */
async function outputPlace(model, output) {
	const intoDirectory = /[/\\]$/.test(output) || (await isDirectory(output));
	const own = containerOf(model);
	const isIndex = own.isIndex(output);
	const isFile = own.isModelFile(output) || isIndex;
	if (!isFile && !intoDirectory && isModelFile(output)) {
		throw new BlockQuantError('bad-argument', `${output}: a ${model.format} model is written as ${model.format}`);
	}
	if (model.index === null) {
		const inside = intoDirectory || (model.fromDirectory && !isFile);
		if (inside) return { directory: output, name: model.name };
		return { directory: dirname(output), name: basename(output) };
	}
	if (intoDirectory || !isFile) return { directory: output, name: model.index.name };
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
		if (systemCode(cause) !== 'ENOENT') throw systemError(cause, `cannot write ${output}`);
		const parent = dirname(resolve(directory));
		throw new BlockQuantError('io', `cannot write ${output}: the folder ${parent} does not exist`, { cause });
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
async function isDirectory(path) {
	return (await statOrNull(path, `cannot open ${path}`))?.isDirectory() ?? false;
}
