// split.js - a model in several GGUF files: which belong together, in which order, and whether all are there.
// SPDX-License-Identifier: MIT

import { BlockQuantError, quoted } from '../errors.js';
import { I32, TYPE_NAMES, U16, valueOf } from './pairs.js';

/** @typedef {import('./read.js').GgufHeader} GgufHeader */
/** @typedef {{ name: string, source: import('../io/source.js').Source, header: GgufHeader }} GgufFile */

/** What a splitter adds; a model in one file has none of these. */
export const SPLIT_KEYS = ['split.no', 'split.count', 'split.tensors.count'];

/** The name of a shard, as llama.cpp writes it. */
const SHARD = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/s;

/**
 * The names of all shards, if this is the name of one.
 * @param {string} name
 * @returns {string[] | null}
 */
export function shardsOf(name) {
	const [, prefix, number, count] = SHARD.exec(name) ?? [];
	if (prefix === undefined || Number(number) < 1 || Number(number) > Number(count)) return null;
	return Array.from(
		{ length: Number(count) },
		(_, i) => `${prefix}-${String(i + 1).padStart(5, '0')}-of-${count}.gguf`,
	);
}

/**
 * The name of the whole model.
 * @param {string} name of a file
 */
export function wholeName(name) {
	return name.replace(SHARD, '$1.gguf');
}

/**
 * @param {GgufFile} file
 * @param {string} key
 * @param {number} type
 * @returns {number | undefined}
 */
function splitValue({ name: file, header }, key, type) {
	const pair = header.pairs.find((one) => one.key === key);
	if (pair === undefined) return undefined;
	if (pair.type !== type) {
		const message = `${key} must be of type ${TYPE_NAMES[type]}, not ${TYPE_NAMES[pair.type]}`;
		throw new BlockQuantError('bad-file', message, { file, offset: pair.value });
	}
	return Number(valueOf(header.bytes, pair));
}

/**
 * The files in the order that they say, whatever the order in which they were given.
 * @param {GgufFile[]} files
 */
export function inOrder(files) {
	const shards = files.map((file) => ({
		file,
		no: splitValue(file, 'split.no', U16) ?? 0,
		count: splitValue(file, 'split.count', U16) ?? 0,
	}));
	const [first] = shards;
	/** @param {string} message @param {typeof first} shard @returns {never} */
	const fail = (message, shard) => {
		throw new BlockQuantError('bad-file', message, { file: shard.file.name });
	};
	if (files.length === 1) {
		const { no, count } = first;
		if (count > 1) {
			const usual = `${'NAME'}-${String(no + 1).padStart(5, '0')}-of-${String(count).padStart(5, '0')}.gguf`;
			fail(`is shard ${no + 1} of ${count}: the others are needed too, named as in ${usual}`, first);
		}
		if (no !== 0) fail(`split.no is ${no} in a model of one file`, first);
		return files;
	}
	shards.sort((a, b) => a.no - b.no);
	for (const [i, shard] of shards.entries()) {
		if (shard.count !== files.length) {
			const said = shard.count > 1 ? `one of ${shard.count} shards` : 'no shard of a split model';
			fail(`is ${said}, but ${files.length} files were given`, shard);
		}
		if (shard.no !== i) {
			const other = shards[i - 1]?.no === shard.no ? `as ${shards[i - 1].file.name} is` : `and ${i} is missing`;
			fail(`is shard number ${shard.no} (split.no), ${other}`, shard);
		}
	}
	return shards.map(({ file }) => file);
}

/**
 * Names must differ across shards, and the first knows how many tensors there are.
 * @param {GgufFile[]} files in order
 */
export function checkShards(files) {
	/** @type {Map<string, string>} */
	const found = new Map();
	for (const { name: file, header } of files) {
		for (const { name: tensor } of header.tensors) {
			const other = found.get(tensor);
			if (other !== undefined) throw new BlockQuantError('bad-file', `is in ${other} too`, { file, tensor });
			found.set(tensor, file);
		}
	}
	const expected = splitValue(files[0], 'split.tensors.count', I32);
	if (expected !== undefined && expected !== found.size) {
		throw new BlockQuantError('bad-file', `${found.size} tensors, but split.tensors.count says ${expected}`, {
			file: files[0].name,
		});
	}
}

/**
 * What is in a later shard's metadata, which only the first shard's are for.
 * @param {GgufFile[]} files
 */
export function lostKeys(files) {
	return files
		.slice(1)
		.flatMap(({ name, header }) =>
			header.pairs
				.filter(({ key }) => !SPLIT_KEYS.includes(key))
				.map(({ key }) => `${name}: the metadata key ${quoted(key)} of a shard after the first is not copied`),
		);
}
