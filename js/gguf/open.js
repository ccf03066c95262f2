// open.js - a model from one GGUF file, or from all its shards.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { whatElse } from '../io/other-formats.js';
import { modelTensor } from '../model/tensor.js';
import { oddities } from './odd.js';
import { metadataOf, typeText } from './pairs.js';
import { MAGIC, readHeader } from './read.js';
import { checkShards, inOrder, lostKeys, shardsOf, wholeName } from './split.js';

/** @typedef {import('../io/source.js').Source} Source */
/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('./split.js').GgufFile} GgufFile */

/** What a file is called whose source has no name. */
const DEFAULT_NAME = 'model.gguf';

/** @param {Source} source */
export async function isGguf(source) {
	return source.name?.endsWith('.gguf') || hasMagic(source);
}

/** @param {Source} source */
export async function hasMagic(source) {
	const start = await source.read(0, Math.min(source.size, MAGIC.length));
	return String.fromCharCode(...start) === MAGIC;
}

/**
 * The other files that a model needs, by the name of one.
 * @param {Source} source
 */
export async function companions({ name = '' }) {
	return (shardsOf(name) ?? []).filter((shard) => shard !== name);
}

/**
 * @param {Source[]} sources
 * @returns {Promise<Model>}
 */
export async function openGguf(sources) {
	/** @type {GgufFile[]} */
	const opened = [];
	for (const source of sources) opened.push(await openFile(source));
	const files = inOrder(opened);
	checkShards(files);
	const [{ name, header }] = files;
	return {
		format: 'gguf',
		name: wholeName(name),
		metadata: metadataOf(header.bytes, header.pairs),
		metadataTypes: Object.fromEntries(header.pairs.map((pair) => [pair.key, typeText(header.bytes, pair)])),
		tensors: files.flatMap(tensorsOf),
		files,
		index: null,
		warnings: [...lostKeys(files), ...files.flatMap(trailing)],
		odd: oddities(files),
	};
}

/** @param {Source} source */
async function openFile(source) {
	const name = source.name ?? DEFAULT_NAME;
	try {
		return { name, source, header: await readHeader(source) };
	} catch (error) {
		if (!(error instanceof BlockQuantError)) throw error;
		if (error.code !== 'bad-file') throw error.withFile(name);
		const other = error.offset === 0 ? await whatElse(source) : null;
		if (other === null) throw error.withFile(name);
		throw new BlockQuantError('unsupported', other, { file: name });
	}
}

/** @param {GgufFile} file */
function tensorsOf({ name: file, source, header }) {
	return header.tensors.map(({ name, type, shape, nbytes, begin }) =>
		modelTensor({ name, dtype: type.name, shape, nbytes, file }, source, header.dataStart + begin),
	);
}

/** @param {GgufFile} file */
function trailing({ name, source, header: { end, tensors } }) {
	const nbytes = tensors.length === 0 ? 0 : source.size - end;
	return nbytes > 0 ? [`${name}: ${nbytes} bytes after the last tensor's data are not copied`] : [];
}
