// quantized-bytes.js - Burn's QuantizedBytes: [codes][block scales][tensor-wide scale] in one array, written and read.
// SPDX-License-Identifier: MIT

import { given, kind } from '../arguments.js';
import { planTensor } from '../arrays/plan.js';
import { repack } from '../arrays/repack.js';
import { theCore } from '../core/init.js';
import { BlockQuantError } from '../errors.js';
import { resolveScheme } from '../presets.js';
import { arrayOf } from './check.js';
import { fromBurn } from './from.js';
import { QuantScheme } from './quant-scheme.js';
import { globalScaleDtype, globalScaleSize, paramsShape, quantizedDataLen, scaleSize } from './sizes.js';
import { QUANT_VALUES, SCALE_DTYPES } from './tables.js';
import { toBurn } from './to.js';
import { countOf } from '../shape.js';

/** @typedef {import('../arrays/quantize.js').QuantizedTensor} QuantizedTensor */

/**
 * Where one level of scales lies.
 * @typedef {object} QParamTensor
 * @property {number} offsetStart of its first byte, counted back from the end of the array
 * @property {number} offsetEnd of the byte after its last, counted back from the end
 * @property {{ shape: number[], strides: number[] }} metadata of its grid
 * @property {string} dtype of SCALE_DTYPES
 */

/** A tensor without axes has one value. @param {readonly number[]} shape */
const axesOf = (shape) => (shape.length ? [...shape] : [1]);

/** Numbers of float32 as bytes of a scale's dtype. @param {string} name of SCALE_DTYPES @param {Float32Array} scales */
function encoded(name, scales) {
	const { dtype, nbytes } = SCALE_DTYPES[name];
	return /** @type {Uint8Array} */ (theCore().convert('f32', dtype, scales.length, scales, scales.length * nbytes));
}

/** And back. @param {string} name @param {Uint8Array} bytes */
function decoded(name, bytes) {
	const { dtype, nbytes } = SCALE_DTYPES[name];
	const count = bytes.length / nbytes;
	const floats = /** @type {Uint8Array} */ (theCore().convert(dtype, 'f32', count, bytes, 4 * count));
	return new Float32Array(floats.buffer, floats.byteOffset, count);
}

/** The scheme of the same codes and scales, each an array of its own. @param {QuantScheme} scheme */
function planarOf(scheme) {
	const { name: _, layout: __, packing: ___, ...said } = fromBurn(scheme);
	return said;
}

const readParts = kind((parts) => parts && typeof parts === 'object', 'an object');
const readGlobal = kind((global) => global === null || typeof global === 'number', 'a number or null');

/** Refuses codes that would be cut. Those of floats, and indices of a table, are bits without a sign. @param {Int8Array} codes @param {QuantScheme} scheme */
function checkCodes(codes, { value, table }) {
	const { bits, isFloat } = QUANT_VALUES[value];
	const count = 2 ** bits;
	const low = isFloat || table ? 0 : -count / 2;
	const at = bits < 8 ? codes.findIndex((code) => code < low || code >= low + count) : -1;
	if (at >= 0)
		throw new BlockQuantError(
			'bad-argument',
			`codes: ${codes[at]} at index ${at} is no code of ${value}; expected ${low} to ${low + count - 1}`,
		);
}

/** Refuses what the dtype would make infinite, NaN or another sign of. @param {string} name @param {string} dtype @param {ArrayLike<number>} scales */
function checkScales(name, dtype, scales) {
	const { max } = SCALE_DTYPES[dtype];
	const at = Array.prototype.findIndex.call(scales, (scale) => !(scale >= 0 && scale <= max));
	if (at >= 0)
		throw new BlockQuantError(
			'bad-argument',
			`${name}: ${scales[at]} at index ${at} is no scale of ${dtype}; expected 0 to ${max}`,
		);
}

export class QuantizedBytes {
	/**
	 * @param {Uint8Array} bytes
	 * @param {QuantScheme} scheme
	 * @param {readonly number[]} shape
	 * @throws {BlockQuantError} bad-shape: another number of bytes than the scheme says, or a shape that it cannot take
	 */
	constructor(bytes, scheme, shape) {
		const expected = quantizedDataLen(scheme, shape);
		const plain = arrayOf('bytes', bytes, 'Uint8Array');
		if (plain.length !== expected)
			throw new BlockQuantError(
				'bad-shape',
				`a tensor [${shape.join(', ')}] of ${scheme.value} in ${scheme.store.kind} takes ${expected} bytes, got ${plain.length}`,
			);
		this.bytes = plain;
		this.scheme = scheme;
		this.shape = Object.freeze([...shape]);
		Object.freeze(this);
	}

	/** What quantize() made under a scheme that Burn can say. @param {QuantizedTensor} quantized */
	static of(quantized) {
		const { scheme, shape, bytes } = given('quantized', quantized, readParts);
		const said = new QuantScheme(toBurn(resolveScheme(scheme)));
		return new QuantizedBytes(bytes, said, shape);
	}

	/**
	 * Serialises codes and scales.
	 * @param {QuantScheme} scheme
	 * @param {readonly number[]} shape
	 * @param {{ codes: Int8Array, scales: Float32Array, global?: number | null }} parts row-major; codes: the bits, where values
	 *   are floats; scales: over the grid of blocks, to the nearest number of their dtype; global: the tensor-wide scale above them
	 * @throws {BlockQuantError} bad-argument (a scale that its dtype does not hold, too), bad-shape
	 */
	static write(scheme, shape, parts) {
		const { global = null, ...arrays } = given('parts', parts, readParts);
		const codes = arrayOf('codes', arrays.codes, 'Int8Array');
		const scales = arrayOf('scales', arrays.scales, 'Float32Array');
		given('global', global, readGlobal);
		const outer = globalScaleDtype(scheme);
		const grid = paramsShape(shape, scheme);
		const counts = [
			{ what: 'code(s)', found: codes.length, expected: countOf(shape) },
			{ what: 'scale(s)', found: scales.length, expected: countOf(grid) },
			{ what: 'tensor-wide scale(s)', found: global === null ? 0 : 1, expected: outer ? 1 : 0 },
		];
		for (const { what, found, expected } of counts)
			if (found !== expected)
				throw new BlockQuantError(
					'bad-argument',
					`a tensor [${shape.join(', ')}] of this scheme has ${expected} ${what}, got ${found}`,
				);
		checkCodes(codes, scheme);
		checkScales('scales', scheme.scaleDtype, scales);
		if (outer) checkScales('global', outer, [Number(global)]);
		const stored = [
			new Uint8Array(codes.buffer, codes.byteOffset, codes.length),
			encoded(scheme.scaleDtype, scales),
			...(outer ? [encoded(outer, Float32Array.of(Number(global)))] : []),
		];
		const planar = { scheme: planarOf(scheme), shape: axesOf(shape) };
		const planes = planTensor(planar.scheme, planar.shape, 'f32').planes.map(({ name, ...plane }, p) => [
			name,
			{ ...plane, bytes: stored[p] },
		]);
		const { layout, packing } = fromBurn(scheme);
		const { bytes } = repack({ ...planar, planes: Object.fromEntries(planes) }, { layout, packing });
		return new QuantizedBytes(/** @type {Uint8Array} */ (bytes), scheme, shape);
	}

	/** @returns {{ codes: Int8Array, scales: Float32Array, global: number | null }} as write() takes them */
	read() {
		const { scheme, bytes, shape } = this;
		const { planes } = repack({ scheme: fromBurn(scheme), shape: axesOf(shape), bytes });
		const [values, scales, global] = Object.values(/** @type {NonNullable<typeof planes>} */ (planes));
		const outer = globalScaleDtype(scheme);
		return {
			codes: new Int8Array(values.bytes.buffer, values.bytes.byteOffset, values.bytes.length),
			scales: decoded(scheme.scaleDtype, scales.bytes),
			global: outer ? decoded(outer, global.bytes)[0] : null,
		};
	}

	/** Where the scales lie. @returns {{ scales: QParamTensor, global: QParamTensor | null }} */
	params() {
		const { scheme, shape } = this;
		const outer = globalScaleDtype(scheme);
		const end = globalScaleSize(scheme);
		const grid = paramsShape(shape, scheme);
		const strides = grid.map((_, axis) => countOf(grid.slice(axis + 1)));
		const nbytes = countOf(grid) * scaleSize(scheme.scaleDtype);
		return {
			scales: {
				...{ offsetStart: nbytes + end, offsetEnd: end },
				...{ metadata: { shape: grid, strides }, dtype: scheme.scaleDtype },
			},
			global: outer
				? { offsetStart: end, offsetEnd: 0, metadata: { shape: [1], strides: [1] }, dtype: outer }
				: null,
		};
	}
}
