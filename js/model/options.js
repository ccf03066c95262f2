// options.js - what callers hand to the functions of js/model and to those that use a pool, checked before anything is done.
// SPDX-License-Identifier: MIT

import { address, any, kind, optional, optionsOf, path, policy } from '../arguments.js';
import { isImatrix } from '../imatrix/imatrix.js';
import { flag, word } from '../problems.js';

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

/** What setTimeout() can wait. @param {unknown} value */
const isDelay = (value) => typeof value === 'number' && value > 0 && value < 2 ** 31;

const patterns = kind(arePatterns, 'strings or regular expressions');
const config = kind(isConfig, 'the text of a config.json, or null');

/** What an option must be, where it is given. @type {Record<string, import('../problems.js').Reader<any>>} */
const KINDS = {
	include: patterns,
	exclude: patterns,
	imatrix: kind(isImatrix, 'what readImatrix() gives'),
	missingImportance: word(['error', 'ones']),
	report: path,
	measure: flag,
	correct: flag,
	nonfinite: policy,
	overflow: policy,
	pure: flag,
	allowRequantize: flag,
	workers: kind(isWorkers, `a whole number from 1 to ${MAX_WORKERS}`),
	workerUrl: address,
	startTimeout: kind(isDelay, 'milliseconds'),
	pool: kind(isPool, 'a pool, as createPool() gives it'),
	signal: kind(isSignal, 'an AbortSignal'),
	onProgress: kind(isFunction, 'a function'),
	config,
	configA: config,
	configB: config,
};

/** @param {string[]} names of options @returns {Record<string, import('../problems.js').Field>} */
export const optionsNamed = (names) => Object.fromEntries(names.map((name) => [name, optional(KINDS[name] ?? any)]));

/** @param {unknown} options @param {string[]} names of those that there are @returns {asserts options is object} */
export function checkOptions(options, names) {
	optionsOf(optionsNamed(names), options);
}
