// open.js - a model from its safetensors file, or from its shards and their index.
// SPDX-License-Identifier: MIT

import { BlockQuantError, quoted } from '../errors.js';
import { whatElse } from '../io/other-formats.js';
import { modelTensor } from '../model/tensor.js';
import { alignmentOf } from './dtypes.js';
import { isIndexName, MAX_INDEX_NBYTES, readIndex } from './index-file.js';
import { readHeader } from './read.js';

/** @typedef {import('../io/source.js').Source} Source */
/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('./read.js').SafetensorsHeader} SafetensorsHeader */
/** @typedef {{ name: string, source: Source, header: SafetensorsHeader }} SafetensorsFile */
/** @typedef {import('./index-file.js').SafetensorsIndex & { name: string }} NamedIndex */

/** What a file is called whose source has no name. */
const DEFAULT_NAME = 'model.safetensors';

/**
 * @param {Source[]} sources
 * @returns {Promise<Model>}
 */
export async function openSafetensors(sources) {
	const [first] = sources;
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
	/** @type {SafetensorsFile[]} */
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
async function openIndex({ size, name: file, read }) {
	if (size > MAX_INDEX_NBYTES) throw new BlockQuantError('bad-file', `an index of ${size} bytes`, { file });
	return readIndex(await read(0, size), file);
}

/**
 * The shards of an index; nothing for other files.
 * @param {Source} source
 */
export async function companions(source) {
	return isIndexName(source.name ?? '') ? (await openIndex(source)).shards : [];
}

/**
 * Index and shards must agree; a tensor that only the shards know is kept, with a warning.
 * @param {Map<string, string>} weightMap
 * @param {SafetensorsFile[]} files
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
 * @returns {Promise<SafetensorsFile>}
 */
async function openFile(source, name) {
	try {
		return { name, source, header: await readHeader(source) };
	} catch (error) {
		if (!(error instanceof BlockQuantError)) throw error;
		if (error.code !== 'bad-file') throw error.withFile(name);
		const other = await whatElse(source);
		if (other === null) throw error.withFile(name);
		throw new BlockQuantError('unsupported', other, { file: name });
	}
}

/**
 * @param {SafetensorsFile[]} files
 * @param {NamedIndex | null} index
 * @param {string[]} warnings
 * @returns {Model}
 */
function modelOf(files, index, warnings) {
	const metadata = files.flatMap(({ header }) => [...(header.metadata ?? [])]);
	return {
		format: 'safetensors',
		name: files[0]?.name ?? DEFAULT_NAME,
		metadata: Object.fromEntries(metadata),
		metadataTypes: Object.fromEntries(metadata.map(([key]) => [key, 'str'])),
		tensors: files.flatMap(({ name: file, source, header: { tensors, dataStart } }) =>
			tensors.map(({ name, dtype, shape, nbytes, begin }) =>
				modelTensor({ name, dtype, shape, nbytes, file }, source, dataStart + begin),
			),
		),
		files,
		index,
		warnings,
		odd: files.filter((file) => !isAligned(file)).map(({ name }) => `${name}: data lie at odd addresses`),
	};
}

/** @param {SafetensorsFile} file */
export function isAligned({ header: { tensors, dataStart } }) {
	return tensors.every(({ begin, dtype }) => (dataStart + begin) % alignmentOf(dtype) === 0);
}
