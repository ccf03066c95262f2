// layout.js - the safetensors files that a model becomes: as many as it came in, in their order.
// SPDX-License-Identifier: MIT

import { writeIndex } from './index-file.js';
import { isAligned } from './open.js';
import { layoutSafetensors } from './write.js';

/** @typedef {import('../model/types.js').Model} Model */
/** @typedef {import('../model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('../model/types.js').Step} Step */
/** @typedef {import('../model/types.js').OutputFile} OutputFile */
/** @typedef {import('./open.js').SafetensorsFile} SafetensorsFile */

/**
 * @param {Model} model
 * @param {(tensor: ModelTensor) => Step} stepOf
 * @returns {OutputFile[]}
 */
export function layoutModel(model, stepOf) {
	const tensors = new Map(model.tensors.map((tensor) => [tensor.name, tensor]));
	const files = model.files.map((file) => layoutFile(file, tensors, stepOf));
	// A shard whose tensors all went into another one is not written: nothing would name it.
	return model.index === null ? files : files.filter(({ parts }) => parts.some(({ offsets }) => offsets.length > 0));
}

/**
 * @param {SafetensorsFile} file
 * @param {Map<string, ModelTensor>} tensors
 * @param {(tensor: ModelTensor) => Step} stepOf
 * @returns {OutputFile}
 */
function layoutFile(file, tensors, stepOf) {
	const steps = file.header.tensors.flatMap((entry) => {
		const tensor = tensors.get(entry.name);
		return tensor === undefined ? [] : [{ entry, tensor, step: stepOf(tensor) }];
	});
	const outputs = steps.flatMap(({ entry, step }) =>
		// Data stay in the input's order, which need not be the header's.
		step.outputs.map((output) => ({ ...output, rawName: spelled(output.name, entry), rank: entry.begin })),
	);
	// Readers of a file whose data are misaligned anyway do not care.
	const layout = layoutSafetensors(outputs, file.header.rawMetadata, { keepOrder: !isAligned(file) });
	let first = 0;
	const parts = steps.map(({ tensor, step }) => {
		const offsets = layout.offsets.slice(first, first + step.outputs.length);
		first += step.outputs.length;
		return { tensor, step, offsets };
	});
	return { name: file.name, header: layout.header, parts, padding: [], nbytes: layout.nbytes };
}

/**
 * A name in JSON, spelled as the input spells the tensor's, or that of its module.
 * @param {string} output
 * @param {import('./read.js').TensorEntry} entry
 */
function spelled(output, { name, rawName }) {
	if (output === name) return rawName;
	if (!rawName.endsWith('weight')) return undefined;
	return rawName.slice(0, -'weight'.length) + output.slice(name.length - 'weight'.length);
}

/**
 * @param {Model} model
 * @param {OutputFile[]} files
 */
export function indexOf({ index }, files) {
	if (index === null) return null;
	/** @type {Map<string, string>} */
	const weightMap = new Map();
	let totalSize = 0;
	for (const { name: file, parts } of files) {
		for (const { name, nbytes } of parts.flatMap(({ step }) => step.outputs)) {
			weightMap.set(name, file);
			totalSize += nbytes;
		}
	}
	return { name: index.name, bytes: new TextEncoder().encode(writeIndex(weightMap, totalSize, index.metadata)) };
}
