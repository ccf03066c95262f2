// options.js - what callers hand to the functions of js/model and to those that use a pool, checked before anything is done.
// SPDX-License-Identifier: MIT

import { BlockQuantError, shown } from '../errors.js';
import { isImatrix } from '../imatrix/imatrix.js';

const RUN_OPTIONS = ['workers', 'pool', 'signal', 'onProgress', 'config'];

/** plan() takes all of quantizeModel()'s, so that the same object serves both. */
export const QUANTIZE_OPTIONS = [
	...['scheme', 'include', 'exclude', 'pure', 'allowRequantize', 'imatrix', 'missingImportance'],
	...['correct', 'nonfinite', 'overflow', 'measure'],
	...RUN_OPTIONS,
];
export const DEQUANTIZE_OPTIONS = ['dtype', ...RUN_OPTIONS];
/** What the array functions on a pool take besides those of their namesakes. */
export const POOL_OPTIONS = ['workers', 'pool', 'signal', 'onProgress'];
/** createPool()'s. */
export const NEW_POOL_OPTIONS = ['workers', 'workerUrl', 'startTimeout'];
export const COMPARE_OPTIONS = ['configA', 'configB', 'signal', 'onProgress'];

/** @param {unknown} value */
const isFunction = (value) => typeof value === 'function';

/** @param {unknown} value */
const isBoolean = (value) => typeof value === 'boolean';

/** @param {unknown} value */
const isConfig = (value) => value === null || typeof value === 'string' || value instanceof Uint8Array;

/** From another realm, too. @param {unknown} value */
const isPattern = (value) => typeof value === 'string' || Object.prototype.toString.call(value) === '[object RegExp]';

/** @param {unknown} value */
const arePatterns = (value) => (Array.isArray(value) ? value.every(isPattern) : isPattern(value));

/** @param {any} value */
const isSignal = (value) => typeof value?.aborted === 'boolean';

/** @param {any} value */
const isPool = (value) => typeof value?.run === 'function' && typeof value.gate?.enter === 'function';

/** The most threads that anybody can want. */
export const MAX_WORKERS = 1024;

/** @param {unknown} value */
const isWorkers = (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_WORKERS;

/** @param {unknown} value */
const isAddress = (value) => typeof value === 'string' || Object.prototype.toString.call(value) === '[object URL]';

/** What setTimeout() can wait. @param {unknown} value */
const isDelay = (value) => typeof value === 'number' && value > 0 && value < 2 ** 31;

/** What an option must be, where it is given. @type {Record<string, [(value: unknown) => boolean, string]>} */
const KINDS = {
	include: [arePatterns, 'strings or regular expressions'],
	exclude: [arePatterns, 'strings or regular expressions'],
	imatrix: [isImatrix, 'what readImatrix() gives'],
	missingImportance: [(value) => value === 'error' || value === 'ones', "'error' or 'ones'"],
	report: [(value) => typeof value === 'string', 'the path of a file'],
	measure: [isBoolean, 'true or false'],
	correct: [isBoolean, 'true or false'],
	pure: [isBoolean, 'true or false'],
	allowRequantize: [isBoolean, 'true or false'],
	workers: [isWorkers, `a whole number from 1 to ${MAX_WORKERS}`],
	workerUrl: [isAddress, 'a string or a URL'],
	startTimeout: [isDelay, 'milliseconds'],
	pool: [isPool, 'a pool, as createPool() gives it'],
	signal: [isSignal, 'an AbortSignal'],
	onProgress: [isFunction, 'a function'],
	config: [isConfig, 'the text of a config.json, or null'],
	configA: [isConfig, 'the text of a config.json, or null'],
	configB: [isConfig, 'the text of a config.json, or null'],
};

/**
 * @param {unknown} options
 * @param {string[]} names of those that there are
 * @returns {asserts options is object}
 */
export function checkOptions(options, names) {
	if (typeof options !== 'object' || options === null)
		throw new BlockQuantError('bad-argument', `expected options { ${names[0]}, ... }, got ${shown(options)}`);
	for (const name of Object.keys(options)) {
		if (!names.includes(name))
			throw new BlockQuantError('bad-argument', `unknown option ${shown(name)}; expected ${names.join(', ')}`);
		const value = Reflect.get(options, name);
		const [isRight, expected] = KINDS[name] ?? [];
		if (value !== undefined && isRight && !isRight(value))
			throw new BlockQuantError('bad-argument', `${name}: expected ${expected}, got ${shown(value)}`);
	}
}

/** @param {any} model */
export function checkModel(model) {
	if (!Array.isArray(model?.tensors) || !Array.isArray(model?.files))
		throw new BlockQuantError('bad-argument', `expected a model, as openModel() gives it, got ${shown(model)}`);
}
