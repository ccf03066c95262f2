// inspect.js - `blockquant inspect FILE`: what is in a model file, without reading its weights.
// SPDX-License-Identifier: MIT

import { init, openModelPath } from '../entry/node.js';
import { BlockQuantError } from '../errors.js';
import { quantizedModules } from '../model/weights.js';
import { valueName } from '../scheme.js';
import { printable, warn } from './errors.js';
import { bitsText, bytes, integer, printJson, printLines, shapeText } from './print.js';
import { metadataLines, shortMetadata } from './metadata.js';
import { table } from './table.js';
import { countOf } from '../shape.js';

/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('../model/module-job.js').QuantizedModule} QuantizedModule */

/**
 * @param {string} path
 * @param {{ json?: boolean, full?: boolean }} options full: arrays of any length in the JSON
 */
export async function inspectCommand(path, { json, full }) {
	await init();
	const model = await openModelPath(path);
	try {
		const { owners, warnings } = await ownersOf(model);
		warn(warnings);
		const description = describe(model, owners);
		if (json) {
			const metadata = full ? model.metadata : shortMetadata(model.metadata);
			printJson({ command: 'inspect', input: path, ...description, metadata, warnings });
		} else print(path, description);
	} finally {
		await model.close();
	}
}

/**
 * A file whose quantization this version cannot tell is still a file to look at.
 * @param {Awaited<ReturnType<typeof openModelPath>>} model
 */
async function ownersOf(model) {
	try {
		return { owners: await quantizedModules(model, model.config), warnings: model.warnings };
	} catch (error) {
		if (!(error instanceof BlockQuantError)) throw error;
		/** @type {Map<string, QuantizedModule>} */
		const none = new Map();
		return { owners: none, warnings: [...model.warnings, error.message] };
	}
}

/**
 * @param {Model} model
 * @param {Map<string, QuantizedModule>} owners
 */
function describe(model, owners) {
	const tensors = model.tensors.map(({ name, dtype, shape, nbytes, file }) => {
		const owner = owners.get(name);
		return {
			name,
			dtype,
			shape,
			nbytes,
			file,
			scheme: owner ? schemeText(owner) : null,
			weight: owner?.name ?? null,
		};
	});
	const weights = [...new Set(owners.values())].map((owner) => {
		const nbytes = owner.tensors.reduce((sum, tensor) => sum + tensor.nbytes, 0);
		const { name, shape } = owner;
		return { name, shape, scheme: schemeText(owner), nbytes, bitsPerWeight: (8 * nbytes) / countOf(shape) };
	});
	return {
		format: model.format,
		files: model.files.map(({ name, source }) => ({ name, nbytes: source.size })),
		metadata: model.metadata,
		metadataTypes: model.metadataTypes,
		odd: model.odd,
		totals: {
			tensors: tensors.length,
			nbytes: tensors.reduce((sum, { nbytes }) => sum + nbytes, 0),
			weights: weightCount(model, owners),
			dtypes: groups(tensors, ({ dtype }) => dtype),
			schemes: groups(weights, ({ scheme }) => scheme),
		},
		quantizedWeights: weights,
		tensors,
	};
}

/**
 * Values of the model as it is used: those of a quantized weight, not of its planes.
 * @param {Model} model
 * @param {Map<string, QuantizedModule>} owners
 */
function weightCount({ tensors }, owners) {
	const plain = tensors.filter(({ name }) => !owners.has(name));
	return [...plain, ...new Set(owners.values())].reduce((sum, { shape }) => sum + countOf(shape), 0);
}

/** @param {QuantizedModule} module */
function schemeText({ scheme }) {
	return scheme.name ?? `${valueName(scheme)}, ${scheme.layout}`;
}

/**
 * @template {{ nbytes: number }} T
 * @param {T[]} items
 * @param {(item: T) => string} keyOf
 */
function groups(items, keyOf) {
	/** @type {Map<string, { name: string, count: number, nbytes: number }>} */
	const found = new Map();
	for (const item of items) {
		const name = keyOf(item);
		const group = found.get(name) ?? { name, count: 0, nbytes: 0 };
		group.count++;
		group.nbytes += item.nbytes;
		found.set(name, group);
	}
	return [...found.values()].sort((a, b) => b.nbytes - a.nbytes);
}

/**
 * @param {string} path
 * @param {ReturnType<typeof describe>} description
 */
function print(path, { format, files, metadata, metadataTypes, odd, totals, quantizedWeights, tensors }) {
	const quantized = quantizedWeights.length > 0;
	const rows = tensors.map(({ name, dtype, shape, nbytes, scheme }) => [
		...[name, dtype, shapeText(shape), integer(nbytes)],
		...(quantized ? [scheme ?? ''] : []),
	]);
	const count = files.length === 1 ? 'one file' : `${files.length} files`;
	printLines(
		...(rows.length === 0
			? []
			: [table(['tensor', 'dtype', 'shape', '>bytes', ...(quantized ? ['part of'] : [])], rows), '']),
		`${printable(path)}: ${format}, ${count}, ${totals.tensors} tensors, ${bytes(totals.nbytes)}`,
		`  ${integer(totals.weights)} weights, ${bitsText(totals.nbytes, totals.weights)} bits per weight`,
		...totals.dtypes.map(({ name, count, nbytes }) => `  ${name}: ${count} tensors, ${bytes(nbytes)}`),
		...totals.schemes.map(({ name, count, nbytes }) => `  ${name}: ${count} quantized weights, ${bytes(nbytes)}`),
		...metadataLines(metadata, metadataTypes),
		...odd.map((text) => `  odd: ${printable(text)}`),
	);
}
