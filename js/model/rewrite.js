// rewrite.js - a model file written anew: some tensors replaced, all others copied byte for byte.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { writerOf } from '../io/sink.js';
import { alignmentOf } from '../safetensors/dtypes.js';
import { writeIndex } from '../safetensors/index-file.js';
import { layoutSafetensors } from '../safetensors/write.js';
import { checkCancelled } from '../workers/cancel.js';
import { discard } from '../workers/discard.js';
import { eachInOrder, eachInPlace } from '../workers/order.js';
import { Pool } from '../workers/pool.js';
import { pieces } from './bands.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('../safetensors/write.js').OutputTensor} OutputTensor */
/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').ModelFile} ModelFile */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */
/** @typedef {import('../workers/order.js').Run} Run */

/**
 * What happens to one tensor: the tensors that stand in its place, and how their bytes are made.
 * @typedef {object} Step
 * @property {OutputTensor[]} outputs
 * @property {(write: StepWriter, run: Run) => Promise<void>} run writes each output byte once, in any order
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
 * @property {Pool} [pool] several tensors are run on it at once; default: one after the other, here
 * @property {AbortSignal} [signal]
 * @property {(progress: Progress) => void} [onProgress]
 */

/**
 * Writes the model; closes the sink, or aborts it when anything fails.
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
		return guarded(sink, () => writeFile(layoutOf(model, options)[0], sink, options, advance));
	}
	if (!('open' in sink)) {
		throw new BlockQuantError('bad-argument', 'a model of several files needs a sink { open(name) -> sink }');
	}
	return guarded(sink, () => writeShards(model, sink, options, advance));
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
			const step = options.step(tensor, rawName) ?? copyStep(tensor, rawName);
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
 * @returns {Step}
 */
function copyStep(tensor, rawName) {
	const { name, dtype, shape, nbytes } = tensor;
	return {
		outputs: [{ name, rawName, dtype, shape, nbytes }],
		run: (write, run) =>
			eachInPlace(run, pieces(nbytes), async ({ offset, length }) => {
				checkCancelled(run.signal);
				const bytes = await tensor.read(offset, length);
				await write(0, bytes, offset);
				discard([bytes]);
			}),
	};
}

/**
 * @param {FilePlan | undefined} filePlan
 * @param {Sink} sink
 * @param {RewriteOptions} options
 * @param {Advance} advance
 */
async function writeFile(filePlan, sink, { signal, pool = new Pool({ workers: 1 }) }, advance) {
	if (filePlan === undefined) throw new BlockQuantError('internal', 'a model without a file');
	const { layout } = filePlan;
	const put = writerOf(sink);
	await put(layout.header, 0);
	let first = 0;
	const steps = filePlan.steps.map((one) => {
		const starts = layout.offsets.slice(first, first + one.step.outputs.length);
		first += starts.length;
		return { ...one, starts };
	});
	await eachInOrder(pool.window, steps, async ({ tensor, step, starts }, order, stopped) => {
		checkCancelled(signal);
		const nbytesOut = step.outputs.reduce((sum, { nbytes }) => sum + nbytes, 0);
		let told = 0;
		let written = 0;
		advance(tensor, 0);
		/** @type {StepWriter} */
		const write = async (output, bytes, offset) => {
			const start = starts[output];
			const room = step.outputs[output]?.nbytes ?? 0;
			if (start === undefined || offset < 0 || offset + bytes.byteLength > room) {
				throw new BlockQuantError('internal', 'a write outside of its tensor', {
					tensor: tensor.name,
				});
			}
			checkCancelled(signal);
			await put(bytes, start + offset);
			written += bytes.byteLength;
			const share = Math.floor((written / nbytesOut) * tensor.nbytes);
			advance(tensor, share - told);
			told = share;
		};
		await step.run(write, { pool, signal, order, stopped });
		if (written !== nbytesOut && !stopped()) {
			throw new BlockQuantError('internal', `${written} of ${nbytesOut} bytes were written`, {
				tensor: tensor.name,
			});
		}
		advance(tensor, tensor.nbytes - told);
	});
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
		const sink = await directory.open(filePlan.file.name);
		nbytes += await guarded(sink, () => writeFile(filePlan, sink, options, advance));
	}
	const text = writeIndex(weightMap, totalSize, model.index?.metadata);
	const sink = await directory.open(model.index?.name ?? 'model.safetensors.index.json');
	return guarded(sink, async () => {
		const bytes = new TextEncoder().encode(text);
		await writerOf(sink)(bytes, 0);
		return nbytes + bytes.byteLength;
	});
}

/**
 * @param {{ close?(): unknown, abort?(): unknown }} sink
 * @param {() => Promise<number>} work
 */
async function guarded(sink, work) {
	try {
		const result = await work();
		await sink.close?.();
		return result;
	} catch (error) {
		try {
			await sink.abort?.();
		} catch {
			// What went wrong first is what the caller must hear.
		}
		throw error;
	}
}
