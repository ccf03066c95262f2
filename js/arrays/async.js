// async.js - the array functions on a pool of workers: the same bytes, and the caller's thread stays free.
// SPDX-License-Identifier: MIT

import { optional, optionsOf } from '../arguments.js';
import { BlockQuantError } from '../errors.js';
import { checkOptions, optionsNamed, POOL_OPTIONS } from '../model/options.js';
import { flag } from '../problems.js';
import { checkCancelled } from '../workers/cancel.js';
import { sharedPool, withPool } from '../workers/pool.js';
import { decodeTensor, encodeTensor } from '../workers/tensor.js';
import { prepare, prepareDecode, QUANTIZE_FIELDS, tensorOf } from './quantize.js';
import { weightBytes } from './weights.js';

/** @typedef {import('./quantize.js').QuantizedTensor} QuantizedTensor */

/**
 * @typedef {object} AsyncOptions
 * @property {number} [workers] started for this call alone; by default one pool of all cores, kept between calls
 * @property {import('../workers/pool.js').Pool} [pool] of createPool()
 * @property {AbortSignal} [signal] stops within one band of 8 MB
 * @property {(progress: { done: number, total: number }) => void} [onProgress] in values
 */

/**
 * @typedef {object} TransferOptions
 * @property {boolean} [transfer] the array is given away and detached, as postMessage does; it may save a copy
 */

/**
 * @template T
 * @param {AsyncOptions} options
 * @param {(pool: import('../workers/pool.js').Pool) => Promise<T>} use
 */
function onPool({ workers, pool }, use) {
	return withPool({ workers, pool: pool ?? (workers === undefined ? sharedPool() : undefined) }, use);
}

/** @param {AsyncOptions} options @param {number} total @returns {(band: { nvalues: number }) => void} */
function progressOf({ onProgress }, total) {
	let done = 0;
	onProgress?.({ done, total });
	return ({ nvalues }) => {
		done += nvalues;
		onProgress?.({ done, total });
	};
}

/**
 * The array itself, moved out of the caller's reach.
 * @param {import('./weights.js').Weights} data
 * @returns {import('./weights.js').Weights}
 */
function moved(data) {
	if (!(data.buffer instanceof ArrayBuffer))
		throw new BlockQuantError('bad-argument', 'transfer: shared memory cannot be given away');
	return structuredClone(data, { transfer: [data.buffer] });
}

/**
 * quantize() on a pool.
 * @param {import('./weights.js').Weights} data must not change meanwhile
 * @param {import('./quantize.js').QuantizeOptions & AsyncOptions & TransferOptions} options as for quantize(), and more
 * @returns {Promise<QuantizedTensor>} rejects as quantize() throws; and cancelled, worker-failed
 */
export async function quantizeAsync(data, options) {
	optionsOf({ ...QUANTIZE_FIELDS, ...optionsNamed(POOL_OPTIONS), transfer: optional(flag) }, options);
	const { workers, pool, signal, onProgress, transfer, ...rest } = options;
	checkCancelled(signal);
	const prepared = prepare(data, rest);
	const { dtype, job, stored, count: total } = prepared;
	const weights = transfer ? moved(prepared.data) : prepared.data;
	const whole = transfer === true && weights.byteLength === weights.buffer.byteLength;
	/** A band's bytes, to be given away: no view of the caller's array. @param {import('./plan.js').Band} band */
	const read = ({ valueOffset, nvalues }) => {
		const bytes = weightBytes(weights, valueOffset, nvalues, dtype);
		const own = bytes.buffer !== weights.buffer || (whole && nvalues === total && job.passes === 1);
		return own ? bytes : bytes.slice();
	};
	await onPool({ workers, pool }, (on) =>
		encodeTensor(
			{ pool: on, signal },
			job,
			{ read },
			(p, bytes, offset) => stored[p].set(bytes, offset),
			progressOf({ onProgress }, total),
		),
	);
	return tensorOf(prepared, rest.shape);
}

/**
 * dequantize() on a pool.
 * @param {Parameters<typeof import('./quantize.js').dequantize>[0]} quantized must not change meanwhile
 * @param {AsyncOptions} [options]
 * @returns {Promise<Float32Array>}
 */
export async function dequantizeAsync(quantized, options = {}) {
	checkOptions(options, POOL_OPTIONS);
	const { signal } = options;
	checkCancelled(signal);
	const { job, count, stored } = prepareDecode(quantized);
	const values = new Float32Array(count);
	const advance = progressOf(options, count);
	await onPool(options, (pool) =>
		decodeTensor(
			{ pool, signal },
			job,
			'f32',
			({ planes }) => planes.map(({ offset, nbytes }, p) => stored[p].slice(offset, offset + nbytes)),
			(bytes, band) => {
				values.set(new Float32Array(bytes.buffer, bytes.byteOffset, band.nvalues), band.valueOffset);
				advance(band);
			},
		),
	);
	return values;
}
