// quantize.js - typed arrays in, quantized tensors out, and back.
// SPDX-License-Identifier: MIT

import { BlockQuantError } from '../errors.js';
import { presetOf, resolveScheme } from '../presets.js';
import { decodeJob } from './decode-job.js';
import { tensorJob } from './job.js';
import { MAX_BAND } from './plan.js';
import { checkCount, weightBytes, weightsDtype } from './weights.js';

/** @typedef {import('../scheme.js').Scheme} Scheme */

/** @typedef {{ dtype: string, shape: number[], bytes: Uint8Array }} Plane dtype as safetensors names it */

/**
 * Plain data: it can be posted to a worker or stored in IndexedDB.
 * @typedef {object} QuantizedTensor
 * @property {string | Scheme} scheme qualified name of a preset, or the scheme object
 * @property {number[]} shape of the weights
 * @property {Uint8Array | null} bytes for formats with one serialised form (ggml: blocks, row after row), else null
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
 * @property {Float32Array} [imatrix] one importance per column: cols of them, or experts x cols for three axes
 * @property {'minmax'} [calibration] how a range is chosen; presets that search do so by themselves
 * @property {{ min: Float32Array, max: Float32Array }} [ranges] over the innermost parameter grid, instead of measuring
 * @property {'error' | 'allow'} [overflow] a scale that its dtype cannot hold: refuse, or store what the reference stores
 * @property {'error' | 'allow'} [nonfinite] NaN and infinite weights: refuse, or store what the reference stores
 * @property {boolean} [correct] arithmetic in float32 where the reference's rounds each step to the weights' dtype
 */

const OPTIONS = ['scheme', 'shape', 'dtype', 'imatrix', 'calibration', 'ranges', 'overflow', 'nonfinite', 'correct'];

/** @param {unknown} options @returns {asserts options is QuantizeOptions} */
function checkOptions(options) {
	if (!options || typeof options !== 'object')
		throw new BlockQuantError('bad-argument', 'expected options { scheme, shape, ... }');
	for (const name of Object.keys(options))
		if (!OPTIONS.includes(name))
			throw new BlockQuantError('bad-argument', `unknown option ${name}; expected ${OPTIONS.join(', ')}`);
}

/** @param {Scheme} scheme @param {unknown} calibration */
function checkCalibration(scheme, calibration) {
	const own = scheme.calibration ?? 'minmax';
	if (calibration !== undefined && calibration !== own)
		throw new BlockQuantError(
			'bad-argument',
			`calibration: ${scheme.name ?? 'this scheme'} has ${own}, got ${JSON.stringify(calibration)}`,
		);
}

/**
 * Everything that can be checked before the weights are looked at, and memory for the planes.
 * @param {import('./weights.js').Weights} data
 * @param {QuantizeOptions} options
 */
export function prepare(data, options) {
	checkOptions(options);
	const scheme = resolveScheme(options.scheme);
	const dtype = weightsDtype(data, options.dtype);
	checkCalibration(scheme, options.calibration);
	checkCount(data, options.shape);
	const job = tensorJob({ ...options, scheme, dtype });
	return { scheme, dtype, job, stored: job.planes.map((plane) => new Uint8Array(plane.nbytes)) };
}

/**
 * @param {import('./weights.js').Weights} data
 * @param {QuantizeOptions} options
 */
function run(data, options) {
	const prepared = prepare(data, options);
	const { dtype, job, stored } = prepared;
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
 * @throws {BlockQuantError} unknown-scheme, bad-scheme, bad-shape, bad-argument, nonfinite, overflow, not-initialized
 */
export function quantize(data, options) {
	return tensorOf(run(data, options), options.shape);
}

/** @param {ReturnType<typeof prepare>} prepared when all is stored @param {number[]} shape @returns {QuantizedTensor} */
export function tensorOf({ scheme, job, stored }, shape) {
	const blocks = job.planes[0].role === 'blocks';
	const planes = job.planes.map((plane, p) => [
		plane.name,
		{ dtype: plane.dtype, shape: plane.shape, bytes: stored[p] },
	]);
	return {
		scheme: presetOf(scheme)?.name ?? scheme,
		shape: [...shape],
		bytes: blocks ? stored[0] : null,
		planes: blocks ? null : Object.fromEntries(planes),
		nbytes: job.nbytes,
		bitsPerWeight: (8 * job.nbytes) / countOf(shape),
		warnings: job.finish().warnings,
	};
}

/** @param {ReturnType<typeof decodeJob>} job @param {number} count @param {Uint8Array[]} stored */
function decodeAll(job, count, stored) {
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
	if (!quantized || typeof quantized !== 'object')
		throw new BlockQuantError('bad-argument', 'expected { scheme, shape, bytes | planes }');
	const { shape, bytes, planes } = quantized;
	if (!(bytes instanceof Uint8Array) && !(planes && typeof planes === 'object'))
		throw new BlockQuantError('bad-argument', 'expected bytes: a Uint8Array, or planes: an object');
	const given = bytes ? { blocks: { dtype: 'U8', shape: [], bytes } } : /** @type {Record<string, Plane>} */ (planes);
	const scheme = resolveScheme(quantized.scheme);
	const infos = Object.entries(given).map(([name, plane]) => ({
		name,
		dtype: plane.dtype,
		shape: plane.shape,
		nbytes: plane.bytes.byteLength,
	}));
	// The shape of blocks follows from that of the weights; only their number of bytes can be wrong.
	if (bytes) infos[0].shape = blocksShape(scheme, shape);
	const job = decodeJob({ scheme, shape, planes: infos });
	return { job, count: countOf(shape), stored: job.planes.map(({ name }) => given[name].bytes) };
}

/** @param {number[]} shape */
const countOf = (shape) => shape.reduce((product, dim) => product * dim, 1);

/** @param {Scheme} scheme @param {number[]} shape */
function blocksShape(scheme, shape) {
	return tensorJob({ scheme, shape, dtype: 'f32' }).planes[0].shape;
}

/**
 * The values of the reference's own fake quantizer, in the weights' dtype, widened to float32.
 * @param {import('./weights.js').Weights} data
 * @param {QuantizeOptions} options as for quantize()
 * @returns {Float32Array}
 */
export function fakeQuantize(data, options) {
	const { scheme, dtype, job, stored } = run(data, options);
	return decodeAll(
		decodeJob({ scheme, shape: options.shape, planes: job.planes, dtype, fake: true }),
		data.length,
		stored,
	);
}
