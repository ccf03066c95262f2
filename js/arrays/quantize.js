// quantize.js - typed arrays in, quantized tensors out, and back.
// SPDX-License-Identifier: MIT

import { any, optional, optionsOf, policy } from '../arguments.js';
import { BlockQuantError, shown } from '../errors.js';
import { isSerial } from '../layouts.js';
import { presetOf, resolveScheme } from '../presets.js';
import { flag, isObject } from '../problems.js';
import { decodeJob } from './decode-job.js';
import { tensorJob } from './job.js';
import { MAX_BAND, planTensor } from './plan.js';
import { plainArray } from './typed.js';
import { checkCount, plainWeights, weightBytes, weightsDtype } from './weights.js';
import { checkShape, countOf } from '../shape.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @typedef {{ dtype: string, shape: number[], bytes: Uint8Array }} Plane dtype as safetensors names it */

/**
 * Plain data: it can be posted to a worker or stored in IndexedDB.
 * @typedef {object} QuantizedTensor
 * @property {string | Scheme} scheme qualified name of a preset, or the scheme object
 * @property {number[]} shape of the weights
 * @property {Uint8Array | null} bytes for formats with one serialised form (ggml: blocks, row after row; Burn: codes, scales), else null
 * @property {Record<string, Plane> | null} planes for planar formats, named as the format names its tensors, else null
 * @property {number} nbytes of everything stored
 * @property {number} bitsPerWeight
 * @property {string[]} warnings what overflow or nonfinite 'allow' let through
 */

/**
 * @typedef {object} QuantizeOptions
 * @property {string | Scheme} scheme a preset's name (case does not matter) or a scheme object
 * @property {number[]} shape row-major, such as [rows, cols]
 * @property {'f32' | 'f16' | 'bf16'} [dtype] of a Uint16Array
 * @property {Float32Array | 'ones'} [imatrix] one importance per column, none below 0: cols of them, or experts x cols for
 *   three axes and more; 'ones': all columns alike. A format without weighting (q8_0) ignores it, as ggml does; iq2_xxs, iq2_xs and
 *   iq1_s are not made without
 * @property {'minmax'} [calibration] how a range is chosen; presets that search do so by themselves
 * @property {{ min: Float32Array, max: Float32Array }} [ranges] over the innermost parameter grid, instead of measuring
 * @property {import('./parameters.js').Parameters} [parameters] scales, mins and zero points to use, by role (`scales.0`, `mins.0`, ...,
 *   `zeros`): the codes of every block in the level's dtype, zero points one a byte; or of the tensor-wide outer levels alone
 * @property {'error' | 'allow'} [overflow] a scale that its dtype cannot hold: refuse, or store what the reference stores
 * @property {'error' | 'allow'} [nonfinite] NaN and infinite weights: refuse, or store what the reference stores
 * @property {boolean} [correct] without the reference's faults that docs/schemes.md lists, such as arithmetic that is rounded
 *   at each step to the weights' dtype; not its bytes
 */

/** What is any here is looked at where it is used, with all that it goes with. */
export const QUANTIZE_FIELDS = {
	...{
		scheme: optional(any),
		shape: optional(any),
		dtype: optional(any),
		imatrix: optional(any),
		calibration: optional(any),
		ranges: optional(any),
	},
	...{ parameters: optional(any), overflow: optional(policy), nonfinite: optional(policy), correct: optional(flag) },
};

/** @param {Scheme} scheme @param {unknown} calibration */
function checkCalibration(scheme, calibration) {
	const own = scheme.calibration ?? 'minmax';
	if (calibration !== undefined && calibration !== own)
		throw new BlockQuantError(
			'bad-argument',
			`calibration: ${scheme.name ?? 'this scheme'} has ${shown(own)}, got ${shown(calibration)}`,
		);
}

/**
 * Everything that can be checked before the weights are looked at, and memory for the planes.
 * @param {import('./weights.js').Weights} given
 * @param {QuantizeOptions} options
 */
export function prepare(given, options) {
	optionsOf(QUANTIZE_FIELDS, options);
	const data = plainWeights(given);
	const scheme = resolveScheme(options.scheme);
	const dtype = weightsDtype(data, options.dtype);
	checkCalibration(scheme, options.calibration);
	checkCount(data, options.shape);
	const job = tensorJob({ ...options, scheme, dtype });
	return { data, count: data.length, scheme, dtype, job, stored: storageOf(job.planned) };
}

/**
 * All that quantize() does but how its result looks.
 * @param {import('./weights.js').Weights} given
 * @param {QuantizeOptions} options
 */
export function run(given, options) {
	const prepared = prepare(given, options);
	const { data, dtype, job, stored } = prepared;
	if (job.passes === 2)
		for (const band of job.bands(MAX_BAND))
			job.range(band, weightBytes(data, band.valueOffset, band.nvalues, dtype));
	for (const band of job.bands(MAX_BAND)) {
		const bytes = job.encode(band, weightBytes(data, band.valueOffset, band.nvalues, dtype));
		band.planes.forEach(({ offset }, p) => stored[p].set(bytes[p], offset));
	}
	return prepared;
}

/**
 * Quantizes an array of weights.
 * @param {import('./weights.js').Weights} data Float32Array, Float64Array (rounded to float32 first) or Uint16Array with
 *   dtype; of any byteOffset
 * @param {QuantizeOptions} options
 * @returns {QuantizedTensor}
 * @throws {BlockQuantError} unknown-scheme, bad-scheme, bad-shape, bad-argument, needs-importance, nonfinite, overflow,
 *   not-initialized
 */
export function quantize(data, options) {
	return tensorOf(run(data, options), options.shape);
}

/** @param {ReturnType<typeof prepare>} prepared when all is stored @param {number[]} shape @returns {QuantizedTensor} */
export function tensorOf({ scheme, job, stored, count }, shape) {
	return storedTensor({ scheme, planned: job.planned, stored, count, shape, warnings: job.finish().warnings });
}

/** Memory for every plane; one array where the layout is one. @param {ReturnType<typeof planTensor>} planned */
export function storageOf({ plan, planes }) {
	return isSerial(plan)
		? partsOf(planes, new Uint8Array(plan.nbytes))
		: planes.map(({ nbytes }) => new Uint8Array(nbytes));
}

/** JSON that stays as it is, whatever becomes of the caller's. @template T @param {T} json @returns {T} */
function frozenCopy(json) {
	if (Array.isArray(json)) return /** @type {any} */ (Object.freeze(json.map(frozenCopy)));
	if (!isObject(json)) return json;
	const fields = Object.entries(json).map(([key, value]) => [key, frozenCopy(value)]);
	return /** @type {any} */ (Object.freeze(Object.fromEntries(fields)));
}

/**
 * @param {{ scheme: Scheme, planned: ReturnType<typeof planTensor>, stored: Uint8Array[], count: number, shape: number[],
 *   warnings: string[] }} parts stored: of storageOf()
 * @returns {QuantizedTensor}
 */
export function storedTensor({ scheme, planned: { plan, planes }, stored, count, shape, warnings }) {
	const serial = isSerial(plan);
	const byName = planes.map(({ name, dtype, shape: dims }, p) => [name, { dtype, shape: dims, bytes: stored[p] }]);
	return {
		scheme: presetOf(scheme)?.name ?? frozenCopy(scheme),
		shape: [...shape],
		bytes: serial ? new Uint8Array(stored[0].buffer) : null,
		planes: serial ? null : Object.fromEntries(byName),
		nbytes: plan.nbytes,
		bitsPerWeight: (8 * plan.nbytes) / count,
		warnings,
	};
}

/** @param {ReturnType<typeof decodeJob>} job @param {number} count @param {Uint8Array[]} stored */
export function decodeAll(job, count, stored) {
	const values = new Float32Array(count);
	for (const band of job.bands(MAX_BAND)) {
		const bytes = band.planes.map(({ offset, nbytes }, p) => stored[p].subarray(offset, offset + nbytes));
		values.set(job.decode(band, bytes), band.valueOffset);
	}
	return values;
}

/**
 * The values that the format's own decoder gives, widened to float32.
 * @param {Pick<QuantizedTensor, 'scheme' | 'shape'> & Partial<QuantizedTensor>} quantized what quantize() returned, or
 *   { scheme, shape, bytes } or { scheme, shape, planes } from elsewhere
 * @returns {Float32Array}
 * @throws {BlockQuantError} unknown-scheme, bad-scheme, bad-shape (a plane of the wrong size too), not-initialized
 */
export function dequantize(quantized) {
	const { job, count, stored } = prepareDecode(quantized);
	return decodeAll(job, count, stored);
}

/** @param {Parameters<typeof dequantize>[0]} quantized */
export function prepareDecode(quantized) {
	if (!isObject(quantized))
		throw new BlockQuantError(
			'bad-argument',
			`expected { scheme, shape, bytes | planes }, got ${shown(quantized)}`,
		);
	const { shape, bytes, planes } = quantized;
	checkShape(shape);
	const hasBytes = bytes !== undefined && bytes !== null;
	if (!hasBytes && !isObject(planes))
		throw new BlockQuantError('bad-argument', 'expected bytes: a Uint8Array, or planes: an object');
	const scheme = resolveScheme(quantized.scheme);
	const given = hasBytes ? planesOfBytes(scheme, shape, bytes) : /** @type {Record<string, Plane>} */ (planes);
	const stored = Object.entries(given).map(([name, plane]) => checkPlane(name, plane));
	const infos = stored.map((plane) => ({ ...plane, nbytes: plane.bytes.length }));
	const job = decodeJob({ scheme, shape, planes: infos });
	const stray = stored.find(({ name }) => !job.planes.some((plane) => plane.name === name));
	if (stray)
		throw new BlockQuantError(
			'bad-shape',
			`plane ${stray.name} is none of this scheme's: ${job.planes.map(({ name }) => name).join(', ')}`,
		);
	const inOrder = job.planes.map(
		({ name }) => /** @type {Plane} */ (stored.find((plane) => plane.name === name)).bytes,
	);
	return { job, scheme, count: countOf(shape), stored: inOrder };
}

/** @param {string} name @param {unknown} plane @returns {Plane & { name: string }} */
function checkPlane(name, plane) {
	const { dtype, shape, bytes } = /** @type {any} */ (plane) ?? {};
	const plain = plainArray(bytes, ['Uint8Array']);
	if (typeof dtype !== 'string' || !Array.isArray(shape) || !plain)
		throw new BlockQuantError('bad-argument', `plane ${name}: expected { dtype, shape, bytes: Uint8Array }`);
	return { name, dtype, shape, bytes: plain };
}

/**
 * One array as planes, one after the other; the last takes the rest.
 * @param {{ nbytes: number }[]} planes
 * @param {Uint8Array} bytes
 */
function partsOf(planes, bytes) {
	let at = 0;
	return planes.map(({ nbytes }, p) => bytes.subarray(at, p < planes.length - 1 ? (at += nbytes) : undefined));
}

/**
 * What stands in the one array of a tensor. Shapes and dtypes follow from the scheme; only the number of bytes can be wrong.
 * @param {Scheme} scheme
 * @param {number[]} shape
 * @param {unknown} bytes
 * @returns {Record<string, Plane>}
 */
function planesOfBytes(scheme, shape, bytes) {
	const { plan, planes } = planTensor(scheme, shape, 'f32');
	const plain = plainArray(bytes, ['Uint8Array']);
	if (!plain) throw new BlockQuantError('bad-argument', 'bytes: expected a Uint8Array, not detached');
	if (!isSerial(plan))
		throw new BlockQuantError(
			'bad-argument',
			`bytes: this scheme is stored as planes: ${planes.map(({ name }) => name).join(', ')}`,
		);
	const parts = partsOf(planes, plain);
	return Object.fromEntries(
		planes.map(({ name, dtype, shape: dims }, p) => [name, { dtype, shape: dims, bytes: parts[p] }]),
	);
}

/**
 * The values of the reference's own fake quantizer, in the weights' dtype, widened to float32.
 * @param {import('./weights.js').Weights} data
 * @param {QuantizeOptions} options as for quantize()
 * @returns {Float32Array}
 */
export function fakeQuantize(data, options) {
	const { scheme, dtype, job, stored, count } = run(data, options);
	return decodeAll(decodeJob({ scheme, shape: options.shape, planes: job.planes, dtype, fake: true }), count, stored);
}
