// init.js - loads core.wasm once for the module that imports it.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { KERNELS } from './abi.js';
import { Core } from './core.js';

/** @typedef {import('../workers/start.js').WorkerPlace} WorkerPlace */

/**
 * @typedef {object} InitOptions
 * @property {BufferSource | WebAssembly.Module | Response | Promise<Response> | URL | string} [wasm] core.wasm as bytes, a
 *   compiled module, a response or an address to fetch; by default the one inside the entry
 * @property {'scalar' | 'simd128'} [kernels] which kernels to use (for tests; both give the same bytes)
 * @property {string | URL} [workerUrl] of blockquant/worker, where the app serves it; default: the entry's own
 */

const OPTIONS = ['wasm', 'kernels', 'workerUrl'];
/** Kinds of a workerUrl. */
const ADDRESSES = ['[object Undefined]', '[object String]', '[object URL]'];

/** @type {Core | undefined} */
let core;
/** @type {WebAssembly.Module | undefined} */
let compiled;
/** @type {WorkerPlace | undefined} */
let workerPlace;
/** @type {Promise<void> | undefined} */
let loading;

/** The loaded core. */
export function theCore() {
	if (!core) throw new BlockQuantError('not-initialized', 'call and await init() first');
	return core;
}

/** The compiled module, to be posted to workers. */
export function theModule() {
	theCore();
	return /** @type {WebAssembly.Module} */ (compiled);
}

/** The kernels in use. */
export const theKernels = () => KERNELS[theCore().kernels];

/** Where workers find their program; undefined: nowhere. */
export const theWorkerPlace = () => workerPlace;

/**
 * @param {unknown} wasm
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(wasm) {
	let source = await wasm;
	if (source instanceof WebAssembly.Module) return source;
	if (typeof source === 'string' || source instanceof URL) source = await fetch(source);
	if (typeof Response === 'function' && source instanceof Response) {
		if (!source.ok) throw new BlockQuantError('io', `core.wasm: HTTP ${source.status} from ${source.url}`);
		source = await source.arrayBuffer();
	}
	if (!(source instanceof ArrayBuffer) && !ArrayBuffer.isView(source))
		throw new BlockQuantError(
			'bad-argument',
			'options.wasm: expected bytes, a WebAssembly.Module, a Response or a URL',
		);
	return WebAssembly.compile(/** @type {BufferSource} */ (source));
}

/**
 * @param {InitOptions} options
 * @param {() => unknown} inside the wasm of the entry
 */
async function load(options, inside) {
	try {
		const { wasm = inside(), kernels = 'simd128' } = options;
		if (wasm === undefined)
			throw new BlockQuantError(
				'bad-argument',
				'options.wasm: this entry has no wasm inside, so it must be given',
			);
		compiled = await compile(wasm);
		const instance = await WebAssembly.instantiate(compiled, {});
		core = new Core(instance, kernels);
	} catch (cause) {
		if (cause instanceof BlockQuantError) throw cause;
		const detail = cause instanceof Error ? cause.message : String(cause);
		throw new BlockQuantError(
			'unsupported',
			`core.wasm does not load here; WebAssembly with SIMD is needed: ${detail}`,
			{ cause },
		);
	}
}

/**
 * An init() for an entry point. Idempotent: the first call's options hold, unless a later call asks for other kernels or
 * wasm; a failed call can be tried again.
 * @param {() => unknown} inside the wasm of the entry: bytes, a module, or undefined
 * @param {() => WorkerPlace | undefined} [worker] the program of its workers
 */
export function makeInit(inside, worker) {
	/** @param {InitOptions} [options] @returns {Promise<void>} */
	return function init(options = {}) {
		// By hand: what reads other functions' options would be in the worker's program, too.
		const isObject = typeof options === 'object' && options !== null && !(Symbol.iterator in options);
		const stray = isObject && Object.keys(options).find((name) => !OPTIONS.includes(name));
		if (!isObject || stray || !ADDRESSES.includes(Object.prototype.toString.call(options.workerUrl)))
			return Promise.reject(
				new BlockQuantError(
					'bad-argument',
					`init: expected options { ${OPTIONS.map((name) => `${name}?`).join(', ')} }${stray ? `, got ${stray}` : ''}`,
				),
			);
		if (options.workerUrl !== undefined) workerPlace = { url: options.workerUrl };
		workerPlace ??= worker?.();
		if (loading && options.wasm === undefined && options.kernels === undefined) return loading;
		const attempt = load(options, inside);
		loading = attempt;
		attempt.catch(() => {
			if (loading === attempt) loading = undefined;
		});
		return attempt;
	};
}
