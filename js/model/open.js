// open.js - a model from its file, or from its shards and their index.
// SPDX-License-Identifier: MIT

import { BlockQuantError, quoted } from '../errors.js';
import { sourceOf } from '../io/source.js';
import { MAX_INDEX_NBYTES, isIndexName, readIndex } from '../safetensors/index-file.js';
import { readHeader } from '../safetensors/read.js';

/** @typedef {import('../io/source.js').Source} Source */
/** @typedef {import('../io/source.js').SourceLike} SourceLike */
/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelFile} ModelFile */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/** What a file is called whose source has no name. */
const DEFAULT_NAME = 'model.safetensors';

/** First bytes of formats that people have at hand, and what to say about each. */
const OTHER_FORMATS = /** @type {const} */ ([
	['GGUF', 'GGUF files: not in this version'],
	['PK\x03\x04', 'a zip archive (a PyTorch .bin or .pt file?): convert it to safetensors first'],
	['\x80\x02}', 'a Python pickle: convert it to safetensors first'],
	['\x80\x02c', 'a Python pickle: convert it to safetensors first'],
	['\x80\x02\x8a', 'a PyTorch file: convert it to safetensors first'],
	['\x89HDF', 'an HDF5 file: convert it to safetensors first'],
	['version https://git-lfs', 'a Git LFS pointer: fetch the file itself with `git lfs pull`'],
	['<!DOCTYPE', 'a web page, no model: check the download'],
	['<html', 'a web page, no model: check the download'],
]);

/**
 * Opens a model. Headers are read and checked, weights are not read.
 * @param {SourceLike | SourceLike[]} input one file; or an index and the shards that it names
 * @returns {Promise<Model>}
 */
export async function openModel(input) {
	const sources = (Array.isArray(input) ? input : [input]).map((item) => sourceOf(item));
	const [first] = sources;
	if (first === undefined) throw new BlockQuantError('bad-argument', 'no file was given');
	const indexes = sources.filter((source) => isIndexName(source.name ?? ''));
	if (indexes.length > 1) throw new BlockQuantError('bad-argument', 'several index files were given');
	const index = indexes[0];
	if (index !== undefined) return openShards(index, sources);
	if (sources.length > 1) {
		throw new BlockQuantError(
			'bad-argument',
			'several files need their index: one must be named *.safetensors.index.json',
		);
	}
	const file = await openFile(first, first.name ?? DEFAULT_NAME);
	return modelOf([file], null, []);
}

/**
 * @param {Source} indexSource
 * @param {Source[]} sources
 */
async function openShards(indexSource, sources) {
	const indexName = indexSource.name ?? '';
	const index = await openIndex(indexSource);
	/** @type {ModelFile[]} */
	const files = [];
	for (const name of index.shards) {
		const shard = sources.find((source) => source.name === name);
		if (shard === undefined) {
			throw new BlockQuantError('io', `the shard ${quoted(name)} is missing`, { file: indexName });
		}
		files.push(await openFile(shard, name));
	}
	const stray = sources.find((source) => source !== indexSource && !index.shards.includes(source.name ?? ''));
	if (stray !== undefined) {
		throw new BlockQuantError('bad-argument', `${quoted(stray.name ?? '')} is no shard of ${indexName}`);
	}
	const warnings = checkIndex(index.weightMap, files, indexName);
	return modelOf(files, { ...index, name: indexName }, warnings);
}

/**
 * @param {Source} source of an index file
 */
export async function openIndex({ size, name: file, read }) {
	if (size > MAX_INDEX_NBYTES) throw new BlockQuantError('bad-file', `an index of ${size} bytes`, { file });
	return readIndex(await read(0, size), file);
}

/**
 * Index and shards must agree; a tensor that only the shards know is kept, with a warning.
 * @param {Map<string, string>} weightMap
 * @param {ModelFile[]} files
 * @param {string} file the index's name
 */
function checkIndex(weightMap, files, file) {
	/** @type {Map<string, string>} */
	const found = new Map();
	for (const { name: shard, header } of files) {
		for (const { name: tensor } of header.tensors) {
			const other = found.get(tensor);
			if (other !== undefined) {
				throw new BlockQuantError('bad-file', `is in ${other} and in ${shard}`, { file, tensor });
			}
			found.set(tensor, shard);
		}
	}
	for (const [tensor, shard] of weightMap) {
		if (found.get(tensor) !== shard) {
			throw new BlockQuantError('bad-file', `is not in ${shard}, as the index says`, { file, tensor });
		}
	}
	return [...found.keys()]
		.filter((tensor) => !weightMap.has(tensor))
		.map((tensor) => `${file}: tensor ${quoted(tensor)} is not in the index`);
}

/**
 * @param {Source} source
 * @param {string} name
 * @returns {Promise<ModelFile>}
 */
async function openFile(source, name) {
	try {
		return { name, source, header: await readHeader(source) };
	} catch (error) {
		if (!(error instanceof BlockQuantError)) throw error;
		if (error.code !== 'bad-file') throw error.withFile(name);
		// Only now: some of these beginnings are the lengths of good headers.
		const start = String.fromCharCode(...(await source.read(0, Math.min(source.size, 32))));
		const other = OTHER_FORMATS.find(([magic]) => start.startsWith(magic));
		if (other === undefined) throw error.withFile(name);
		throw new BlockQuantError('unsupported', other[1], { file: name });
	}
}

/**
 * @param {ModelFile[]} files
 * @param {Model['index']} index
 * @param {string[]} warnings
 * @returns {Model}
 */
function modelOf(files, index, warnings) {
	const tensors = files.flatMap((file) => file.header.tensors.map((entry) => tensorOf(file, entry)));
	const metadata = files.flatMap(({ header }) => [...(header.metadata ?? [])]);
	return {
		format: 'safetensors',
		metadata: Object.fromEntries(metadata),
		tensors,
		files,
		index,
		warnings,
	};
}

/**
 * @param {ModelFile} file
 * @param {import('../safetensors/read.js').TensorEntry} entry
 * @returns {ModelTensor}
 */
function tensorOf({ name: file, source, header }, { name, dtype, shape, nbytes, begin }) {
	return {
		name,
		dtype,
		shape,
		nbytes,
		file,
		async read(offset, length) {
			// Checked here again: what is read beyond a tensor would be written into the output.
			if (offset < 0 || length < 0 || offset + length > nbytes) {
				throw new BlockQuantError('internal', `read of bytes ${offset} to ${offset + length}`, {
					file,
					tensor: name,
				});
			}
			return source.read(header.dataStart + begin + offset, length);
		},
	};
}
