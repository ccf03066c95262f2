// session.js - in the worker: the model that is open, what a scheme would make of it, and the runs over it.
// SPDX-License-Identifier: MIT

import { sampleConfig, sampleFile, sampleTensors } from '../js/sample/model.js';
import { BlockQuantError, compareModels, openModel, plan, quantizeModel, schemes } from './library.js';
import { outputFiles, outputName, sortInput } from './files.js';

/** @typedef {Awaited<ReturnType<typeof openModel>>} Model */
/** @typedef {{ done: number, total: number, tensor: string }} Progress */
/** @typedef {(progress: Progress) => void} OnProgress */
/** @typedef {{ name: string, bitsPerWeight: number, description: string, nbytes: number | null, refusal: string,
 *   code: string }} Offer
 *   a scheme, and the size that it would give this model; or null and why it cannot */
/** @typedef {{ name: string, format: string, tensors: number, nbytes: number, files: number, hasConfig: boolean,
 *   warnings: string[], offers: Offer[] }} Opened */
/** @typedef {Omit<import('../js/model/plan.js').PlannedTensor, 'planes'>} TensorRow */
/** @typedef {{ tensors: TensorRow[], totals: import('../js/model/plan.js').Plan['totals'] }} Planned */
/** @typedef {Planned & { files: File[], nbytes: number, seconds: number, warnings: string[] }} Quantized */
/** @typedef {import('../js/model/compare.js').ModelComparison} Compared */

const SAMPLE = /** @type {const} */ ({ layers: 4, dtype: 'bf16' });
const SAMPLE_NAME = 'random.safetensors';

/** Workers that quantize, started for each run: between runs they hold no memory. */
const CORES = navigator.hardwareConcurrency;

export class Session {
	/** @type {{ model: Model, name: string, config: string | null } | null} */
	#input = null;
	/** @type {{ files: File[], config: string | null } | null} */
	#output = null;
	/** @type {AbortController | null} */
	#running = null;
	/** @type {ReturnType<typeof outputFiles>[]} outputs that take room */
	#kept = [];

	/** @param {File[]} given @returns {Promise<Opened>} */
	async open(given) {
		this.#input = this.#output = null;
		const { files, config } = sortInput(given);
		const model = await openModel(files.length === 1 ? files[0] : files);
		const name = files.length === 1 ? files[0].name : (model.index?.name ?? files[0].name);
		this.#input = { model, name, config: config === null ? null : await config.text() };
		return {
			name,
			format: model.format,
			tensors: model.tensors.length,
			nbytes: model.tensors.reduce((sum, { nbytes }) => sum + nbytes, 0),
			files: files.length,
			hasConfig: config !== null,
			warnings: model.warnings,
			offers: this.#offers(),
		};
	}

	/**
	 * A model with random weights: the file that `blockquant sample` writes.
	 * @param {number} seed
	 * @param {OnProgress} onProgress
	 */
	async sample(seed, onProgress) {
		const config = `${JSON.stringify(sampleConfig(SAMPLE.layers, SAMPLE.dtype), null, 2)}\n`;
		const total = sampleTensors(SAMPLE.layers, SAMPLE.dtype).reduce((sum, { nbytes }) => sum + nbytes, 0);
		const files = await this.#run(async (signal) => {
			/** @type {Blob[]} */
			const parts = [];
			let done = 0;
			for (const bytes of sampleFile({ seed, ...SAMPLE })) {
				parts.push(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]));
				done += bytes.byteLength;
				onProgress({ done: Math.min(done, total), total, tensor: SAMPLE_NAME });
				await nextTask();
				if (signal.aborted) throw new BlockQuantError('cancelled', 'cancelled');
			}
			return [new File(parts, SAMPLE_NAME), new File([config], 'config.json')];
		});
		return this.open(files);
	}

	/** @param {string} scheme @returns {Planned} */
	plan(scheme) {
		const { tensors, totals } = plan(this.#opened().model, this.#options(scheme));
		return { tensors: tensors.map(({ planes, ...row }) => row), totals };
	}

	/**
	 * @param {string} scheme
	 * @param {OnProgress} onProgress
	 * @returns {Promise<Quantized>}
	 */
	async quantize(scheme, onProgress) {
		const { model, name, config } = this.#opened();
		this.#output = null;
		await this.#makeRoom();
		const sink = outputFiles(outputName(name, scheme));
		const start = performance.now();
		const result = await this.#run((signal) =>
			quantizeModel(model, sink, { ...this.#options(scheme), workers: CORES, config, signal, onProgress }),
		);
		const seconds = (performance.now() - start) / 1000;
		const models = await sink.files();
		this.#kept.push(sink);
		const section =
			result.quantizationConfig && JSON.stringify({ quantization_config: result.quantizationConfig }, null, 2);
		this.#output = { files: models, config: result.config ?? section };
		const configFile =
			result.config !== null
				? [new File([result.config], 'config.json', { type: 'application/json' })]
				: section
					? [new File([section], 'quantization_config.json', { type: 'application/json' })]
					: [];
		const { tensors, totals } = result.plan;
		return {
			files: [...models, ...configFile],
			tensors: tensors.map(({ planes, ...row }) => row),
			totals,
			nbytes: result.nbytes,
			seconds,
			warnings: result.warnings,
		};
	}

	/**
	 * How far the output that quantize() made is from the input.
	 * @param {OnProgress} onProgress
	 * @returns {Promise<Compared>}
	 */
	async compare(onProgress) {
		const { model, config } = this.#opened();
		if (this.#output === null) throw new BlockQuantError('bad-argument', 'there is nothing to compare with yet');
		const { files, config: configB } = this.#output;
		const output = await openModel(files.length === 1 ? files[0] : files);
		return this.#run((signal) => compareModels(model, output, { configA: config, configB, signal, onProgress }));
	}

	/** Stops what runs, within one band. */
	cancel() {
		this.#running?.abort();
	}

	/** Removes outputs but the last, which may be on its way to the downloads still. */
	async #makeRoom() {
		for (const output of this.#kept.splice(0, this.#kept.length - 1)) await output.remove();
	}

	#opened() {
		if (this.#input === null) throw new BlockQuantError('bad-argument', 'no model is open');
		return this.#input;
	}

	/** @param {string} scheme */
	#options(scheme) {
		// A GGUF file gets the one type that was chosen, no recipe; other files do not know the word.
		return this.#opened().model.format === 'safetensors' ? { scheme } : { scheme, pure: true };
	}

	/** @returns {Offer[]} */
	#offers() {
		const { model } = this.#opened();
		return schemes().map(({ name, bitsPerWeight, description }) => {
			const offer = { name, bitsPerWeight, description };
			try {
				return { ...offer, nbytes: plan(model, this.#options(name)).totals.nbytesAfter, refusal: '', code: '' };
			} catch (error) {
				if (!(error instanceof BlockQuantError)) throw error;
				return {
					...offer,
					nbytes: null,
					refusal: error.message,
					code: error.code,
				};
			}
		});
	}

	/**
	 * @template T
	 * @param {(signal: AbortSignal) => Promise<T>} work
	 * @returns {Promise<T>}
	 */
	async #run(work) {
		const running = new AbortController();
		this.#running = running;
		try {
			return await work(running.signal);
		} finally {
			this.#running = null;
		}
	}
}

/** Lets a message in, such as a cancel. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));
