// rewrite.js - a model file written anew: some tensors replaced, all others copied byte for byte.
// SPDX-License-Identifier: MIT

import { BlockQuantError, messageOf } from '../errors.js';
import { close, guarded, saying } from '../io/guarded.js';
import { alignmentOf } from '../safetensors/dtypes.js';
import { writeIndex } from '../safetensors/index-file.js';
import { layoutSafetensors } from '../safetensors/write.js';
import { checkCancelled, pieces, readAhead } from './bands.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('../safetensors/write.js').OutputTensor} OutputTensor */
/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelFile} ModelFile */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/**
 * What happens to one tensor: the tensors that stand in its place, and how their bytes are made.
 * @typedef {object} Step
 * @property {OutputTensor[]} outputs
 * @property {(write: StepWriter) => Promise<void>} run writes each output byte once
 */

/**
 * @callback StepWriter
 * @param {number} output index into the step's outputs
 * @param {Uint8Array} bytes
 * @param {number} offset in that output
 * @returns {Promise<void>}
 */

/**
 * @typedef {object} Progress
 * @property {string} tensor that is being worked on
 * @property {string} file that it is in
 * @property {number} done input bytes that are finished
 * @property {number} total input bytes of the model
 */

/**
 * @typedef {object} RewriteOptions
 * @property {(tensor: ModelTensor, rawName: string) => Step | null} step null: copy it; rawName: the
 *   name as the input's header spells it
 * @property {AbortSignal} [signal]
 * @property {(progress: Progress) => void} [onProgress]
 */

/**
 * Writes the model and closes the sink. If anything fails, to abort it is the caller's business.
 * @param {Model} model
 * @param {Sink | DirectorySink} sink a DirectorySink if the model has an index
 * @param {RewriteOptions} options
 * @returns {Promise<number>} bytes written
 */
export async function rewriteModel(model, sink, options) {
	const total = model.tensors.reduce((sum, { nbytes }) => sum + nbytes, 0);
	let done = 0;
	/** @param {ModelTensor} tensor @param {number} nbytes */
	const advance = ({ name, file }, nbytes) => {
		done += nbytes;
		options.onProgress?.({ tensor: name, file, done, total });
	};
	if (model.index === null) {
		if (!('write' in sink)) throw new BlockQuantError('bad-argument', 'a sink has a write method');
		return closing(sink, writeFile(layoutOf(model, options)[0], sink, options, advance));
	}
	if (!('open' in sink)) {
		throw new BlockQuantError('bad-argument', 'a model of several files needs a sink { open(name) -> sink }');
	}
	return closing(sink, writeShards(model, sink, options, advance));
}

/** @typedef {{ file: ModelFile, steps: { tensor: ModelTensor, step: Step }[],
 *   layout: import('../safetensors/write.js').SafetensorsLayout }} FilePlan */
/** @typedef {(tensor: ModelTensor, nbytes: number) => void} Advance */

/**
 * Every header is made before the first byte is written.
 * @param {Model} model
 * @param {RewriteOptions} options
 * @returns {FilePlan[]}
 */
function layoutOf(model, options) {
	const tensors = new Map(model.tensors.map((tensor) => [tensor.name, tensor]));
	return model.files.map((file) => {
		const steps = file.header.tensors.flatMap(({ name, rawName, begin }) => {
			const tensor = tensors.get(name);
			if (tensor === undefined) return [];
			const step = options.step(tensor, rawName) ?? copyStep(tensor, rawName, options.signal);
			// Data stay in the input's order, which need not be the header's.
			const outputs = step.outputs.map((output) => ({ ...output, rank: begin }));
			return [{ tensor, step: { ...step, outputs } }];
		});
		const outputs = steps.flatMap(({ step }) => step.outputs);
		// Readers of a file whose data are misaligned anyway do not care.
		const keepOrder = !isAligned(file);
		return { file, steps, layout: layoutSafetensors(outputs, file.header.rawMetadata, { keepOrder }) };
	});
}

/** @param {ModelFile} file */
function isAligned({ header: { tensors, dataStart } }) {
	return tensors.every(({ begin, dtype }) => (dataStart + begin) % alignmentOf(dtype) === 0);
}

/**
 * @param {ModelTensor} tensor
 * @param {string} rawName
 * @param {AbortSignal | undefined} signal
 * @returns {Step}
 */
function copyStep(tensor, rawName, signal) {
	const { name, dtype, shape, nbytes } = tensor;
	return {
		outputs: [{ name, rawName, dtype, shape, nbytes }],
		async run(write) {
			const reads = readAhead(pieces(nbytes), ({ offset, length }) => tensor.read(offset, length), signal);
			for await (const { item, bytes } of reads) await write(0, bytes, item.offset);
		},
	};
}

/**
 * @param {FilePlan | undefined} filePlan
 * @param {Sink} sink
 * @param {RewriteOptions} options
 * @param {Advance} advance
 */
async function writeFile(filePlan, sink, { signal }, advance) {
	if (filePlan === undefined) throw new BlockQuantError('internal', 'a model without a file');
	const { steps, layout } = filePlan;
	await writeTo(sink, layout.header, 0);
	let first = 0;
	for (const { tensor, step } of steps) {
		checkCancelled(signal);
		const starts = layout.offsets.slice(first, first + step.outputs.length);
		first += step.outputs.length;
		const nbytesOut = step.outputs.reduce((sum, { nbytes }) => sum + nbytes, 0);
		let told = 0;
		let written = 0;
		advance(tensor, 0);
		await step.run(async (output, bytes, offset) => {
			const start = starts[output];
			const room = step.outputs[output]?.nbytes ?? 0;
			if (start === undefined || offset < 0 || offset + bytes.byteLength > room) {
				throw new BlockQuantError('internal', 'a write outside of its tensor', {
					tensor: tensor.name,
				});
			}
			checkCancelled(signal);
			await writeTo(sink, bytes, start + offset);
			written += bytes.byteLength;
			const share = Math.floor((written / nbytesOut) * tensor.nbytes);
			advance(tensor, share - told);
			told = share;
		});
		if (written !== nbytesOut) {
			throw new BlockQuantError('internal', `${written} of ${nbytesOut} bytes were written`, {
				tensor: tensor.name,
			});
		}
		advance(tensor, tensor.nbytes - told);
	}
	return layout.nbytes;
}

/**
 * @param {Model} model
 * @param {DirectorySink} directory
 * @param {RewriteOptions} options
 * @param {Advance} advance
 */
async function writeShards(model, directory, options, advance) {
	/** @type {Map<string, string>} */
	const weightMap = new Map();
	let totalSize = 0;
	let nbytes = 0;
	for (const filePlan of layoutOf(model, options)) {
		const outputs = filePlan.steps.flatMap(({ step }) => step.outputs);
		// A shard whose tensors all went into another one is not written: nothing would name it.
		if (outputs.length === 0) continue;
		for (const output of outputs) {
			weightMap.set(output.name, filePlan.file.name);
			totalSize += output.nbytes;
		}
		const sink = await saying(`cannot write ${filePlan.file.name}`, () => directory.open(filePlan.file.name));
		nbytes += await guarded(sink, () => closing(sink, writeFile(filePlan, sink, options, advance)));
	}
	const text = writeIndex(weightMap, totalSize, model.index?.metadata);
	const name = model.index?.name ?? 'model.safetensors.index.json';
	const sink = await saying(`cannot write ${name}`, () => directory.open(name));
	const bytes = new TextEncoder().encode(text);
	await guarded(sink, () => closing(sink, writeTo(sink, bytes, 0)));
	return nbytes + bytes.byteLength;
}

/**
 * @template T
 * @param {Sink | DirectorySink} sink
 * @param {Promise<T>} work
 */
async function closing(sink, work) {
	const result = await work;
	await close(sink);
	return result;
}

/**
 * @param {Sink} sink
 * @param {Uint8Array} bytes
 * @param {number} offset
 */
async function writeTo(sink, bytes, offset) {
	if (bytes.byteLength === 0) return;
	try {
		await sink.write(bytes, offset);
	} catch (cause) {
		if (cause instanceof BlockQuantError) throw cause;
		throw new BlockQuantError('io', `cannot write: ${messageOf(cause)}`, { offset, cause });
	}
}
