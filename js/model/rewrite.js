// rewrite.js - a model file written anew: some tensors replaced, all others copied byte for byte.
// SPDX-License-Identifier: MIT

import { containerOf } from '../containers.js';
import { BlockQuantError } from '../errors.js';
import { close, guarded, saying } from '../io/guarded.js';
import { writerOf } from '../io/sink.js';
import { checkCancelled } from '../workers/cancel.js';
import { discard } from '../workers/discard.js';
import { eachInOrder, eachInPlace } from '../workers/order.js';
import { Pool } from '../workers/pool.js';
import { pieces } from './bands.js';

/** @typedef {import('../io/sink.js').Sink} Sink */
/** @typedef {import('../io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('./types.js').Model} Model */
/** @typedef {import('./types.js').OutputFile} OutputFile */
/** @typedef {import('./types.js').Step} Step */
/** @typedef {import('./types.js').ModelTensor} ModelTensor */

/**
 * @typedef {object} Progress
 * @property {string} tensor that is being worked on
 * @property {string} file that it is in
 * @property {number} done input bytes that are finished
 * @property {number} total input bytes of the model
 */

/**
 * @typedef {object} RewriteOptions
 * @property {(tensor: ModelTensor) => Step | null} step null: copy it
 * @property {any} [stamp] what the layout must say of the new model; default: what the old one said
 * @property {Pool} [pool] several tensors are run on it at once; default: one after the other, here
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

/** @typedef {(tensor: ModelTensor, nbytes: number) => void} Advance */

/**
 * Every header is made before the first byte is written.
 * @param {Model} model
 * @param {RewriteOptions} options
 */
function layoutOf(model, { step, stamp = null }) {
	return containerOf(model).layout(model, (tensor) => step(tensor) ?? copyStep(tensor), stamp);
}

/**
 * @param {ModelTensor} tensor
 * @returns {Step}
 */
function copyStep(tensor) {
	const { name, dtype, shape, nbytes } = tensor;
	return {
		outputs: [{ name, dtype, shape, nbytes }],
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
 * @param {OutputFile | undefined} file
 * @param {Sink} sink
 * @param {RewriteOptions} options
 * @param {Advance} advance
 */
async function writeFile(file, sink, { signal, pool = new Pool({ workers: 1 }) }, advance) {
	if (file === undefined) throw new BlockQuantError('internal', 'a model without a file');
	const put = writerOf(sink);
	await put(file.header, 0);
	for (const { offset, nbytes } of file.padding) await put(new Uint8Array(nbytes), offset);
	await eachInOrder(pool.window, file.parts, async ({ tensor, step, offsets }, order, stopped) => {
		checkCancelled(signal);
		const nbytesOut = step.outputs.reduce((sum, { nbytes }) => sum + nbytes, 0);
		let told = 0;
		let written = 0;
		advance(tensor, 0);
		/** @type {import('./types.js').StepWriter} */
		const write = async (output, bytes, offset) => {
			const start = offsets[output];
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
	return file.nbytes;
}

/**
 * @param {Model} model
 * @param {DirectorySink} directory
 * @param {RewriteOptions} options
 * @param {Advance} advance
 */
async function writeShards(model, directory, options, advance) {
	const files = layoutOf(model, options);
	let nbytes = 0;
	for (const file of files) {
		const sink = await saying(`cannot write ${file.name}`, () => directory.open(file.name));
		nbytes += await guarded(sink, () => closing(sink, writeFile(file, sink, options, advance)));
	}
	const index = containerOf(model).index(model, files);
	if (index === null) return nbytes;
	const sink = await saying(`cannot write ${index.name}`, () => directory.open(index.name));
	await guarded(sink, () => closing(sink, writerOf(sink)(index.bytes, 0)));
	return nbytes + index.bytes.byteLength;
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
