// open.js - a model from its file or files.
// SPDX-License-Identifier: MIT

import { CONTAINERS } from '../containers.js';
import { BlockQuantError, shown } from '../errors.js';
import { sourceOf } from '../io/source.js';

/** @typedef {import('../io/source.js').SourceLike} SourceLike */
/** @typedef {import('./types.js').Model} Model */

/**
 * Opens a model. Headers are read and checked, weights are not read.
 * @param {SourceLike | SourceLike[]} input one file; an index and the shards that it names; or all shards of a split file
 * @returns {Promise<Model>}
 */
export async function openModel(input) {
	const sources = (Array.isArray(input) ? input : [input]).map((item) => sourceOf(item));
	const [first] = sources;
	if (first === undefined) throw new BlockQuantError('bad-argument', 'no file was given');
	const containers = Object.values(CONTAINERS);
	for (const container of containers) if (await container.recognise(first)) return container.open(sources);
	throw new BlockQuantError('unsupported', 'no kind of model file that is known', { file: first.name });
}

/** @param {any} model @throws {BlockQuantError} bad-argument: none that openModel() gave */
export function checkModel(model) {
	if (
		!Array.isArray(model?.tensors) ||
		!Array.isArray(model?.files) ||
		!Object.keys(CONTAINERS).includes(model.format)
	)
		throw new BlockQuantError('bad-argument', `expected a model, as openModel() gives it, got ${shown(model)}`);
}
