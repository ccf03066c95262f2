// coreai-golden.test.js - what coreai-opt makes of a tensor, said in the scheme language: scales, zero points, minimums,
// codes and fake-quantized values, nested ones too, in both kernel rows and in small bands.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { asDtype, bytesOf, goldenFolders, kernelRows, numbers, ready, sha256, throughCore } from './support.js';

const folder = goldenFolders.map((each) => join(each, 'coreai')).find(existsSync);
const skip = folder ? false : 'no golden/coreai here';
const index = skip ? { cases: [], composed_nested: [] } : JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
const data = skip ? null : readFileSync(join(folder, 'data.bin'));
const DTYPES = { F32: 'f32', F16: 'f16', BF16: 'bf16' };

/** An array of the set; bytes: null where only its hash was kept. */
function array(at) {
	const { dtype, shape, length, offset } = index.arrays[at];
	return { dtype, shape, bytes: offset === null ? null : data.subarray(offset, offset + length) };
}

function input(name) {
	const { dtype, shape, bytes } = array(index.inputs[name].array);
	return { shape, dtype: DTYPES[dtype], data: numbers(bytes, DTYPES[dtype]) };
}

const floats = (at) => numbers(array(at).bytes, 'f32');
/** Float32 values against an array of any float dtype: by value, since zeros have no sign there; else by hash. */
function sameFloats(got, at, what) {
	const { dtype, bytes } = array(at);
	const widened = { F32: (x) => x, F16: fromF16, BF16: fromBf16 }[dtype];
	if (bytes) sameValues(got, Float32Array.from(numbers(bytes, DTYPES[dtype]), widened), what);
	else sameBytes(bytesOf(asDtype(got, DTYPES[dtype])), at, what);
}

const VALUES = { float8_e4m3fn: 'f8e4m3', float8_e5m2: 'f8e5m2', float4_e2m1fn_x2: 'f4e2m1' };

/** A QuantizationSpec without its granularity. */
function schemeOf(spec, scales) {
	const { dtype, qscheme = 'symmetric', qformulation = 'zp' } = spec;
	const value = VALUES[dtype] ?? dtype.replace('uint', 'u').replace('int', 'i');
	const scheme = { value, scales, rules: 'coreai' };
	if (qscheme === 'symmetric_with_clipping' && value[0] === 'i') scheme.value += '-narrow';
	const symmetric = qscheme !== 'asymmetric';
	if (VALUES[dtype]) return scheme;
	if (qformulation === 'minval') scheme.mins = scales;
	else if (!symmetric || value[0] === 'u') scheme.zero = value;
	if (symmetric && (scheme.mins || scheme.zero)) scheme.symmetric = true;
	return scheme;
}

/** Bytes against an array, by its hash: of some that is all there is. */
const sameBytes = (got, at, what) => assert.equal(sha256(got), index.arrays[at].sha256, what);

const sameValues = (got, expected, what) =>
	assert.ok(got.length === expected.length && got.every((x, i) => x === expected[i]), what);

/** The least and the largest of each block, and 0, in the order of the grid. */
function rangesOf({ data: weights, shape, dtype }, block) {
	const grid = shape.map((dim, axis) => dim / block[axis]);
	const cells = grid.reduce((n, dim) => n * dim, 1);
	const range = { min: new Float32Array(cells), max: new Float32Array(cells) };
	const widened =
		dtype === 'f32'
			? weights
			: Float32Array.from(weights, (code) => (dtype === 'bf16' ? fromBf16(code) : fromF16(code)));
	widened.forEach((x, i) => {
		let cell = 0;
		for (let axis = 0, left = widened.length, at = i; axis < shape.length; axis++) {
			left /= shape[axis];
			cell = cell * grid[axis] + Math.floor(Math.floor(at / left) / block[axis]);
			at %= left;
		}
		range.min[cell] = Math.min(range.min[cell], x);
		range.max[cell] = Math.max(range.max[cell], x);
	});
	return range;
}

const word = new DataView(new ArrayBuffer(4));
function fromBf16(code) {
	word.setUint32(0, code * 65536);
	return word.getFloat32(0);
}
function fromF16(code) {
	const magnitude = code & 0x3ff;
	const exponent = (code >> 10) & 31;
	const value = exponent ? (1 + magnitude / 1024) * 2 ** (exponent - 15) : magnitude * 2 ** -24;
	return code & 0x8000 ? -value : value;
}

/** An end of float_range replaces that of every block; both: float32 bounds, whatever the tensor's dtype. */
function optionsOf({ spec, block }, tensor) {
	const [lo, hi] = spec.float_range ?? [null, null];
	if (lo === null && hi === null) return {};
	const ranges = rangesOf(tensor, block);
	if (lo !== null) ranges.min.fill(lo);
	if (hi !== null) ranges.max.fill(hi);
	return { ranges, ...(lo !== null && hi !== null && { correct: true }) };
}

/** The planes of a tensor by their names, and its fake-quantized values as bytes of its dtype. */
function run(scheme, tensor, more, bandBytes) {
	const { infos, stored, fake, report } = throughCore({ ...tensor, scheme, ...more, bandBytes });
	return { planes: Object.fromEntries(infos.map(({ name }, p) => [name, stored[p]])), fake, report };
}

for (const kernels of kernelRows)
	test(`${kernels}: ${index.cases.length} calibrations`, { skip }, async () => {
		await ready(kernels);
		let compared = 0;
		for (const each of index.cases) {
			if (each.fq_nonfinite) continue; // hi - lo overflows in float16: a scale that is refused
			const tensor = input(each.input);
			const wide = each.block.every((edge, axis) => edge === tensor.shape[axis]);
			const block = wide && tensor.shape.length === 2 ? 'tensor' : each.block;
			const dtype = each.spec.scale_dtype || /float4/.test(each.spec.dtype) ? 'e8m0' : 'f32';
			const scheme = schemeOf(each.spec, [{ dtype, block }]);
			if (scheme.mins) scheme.mins = [{ dtype: 'f32', block }];
			const got = run(scheme, tensor, optionsOf(each, tensor), compared % 2 ? 8e6 : 300);
			const what = `${each.id}: ${JSON.stringify(scheme)}`;
			const scale = floats(each.scale);
			if (dtype === 'f32') sameValues(numbers(got.planes['scales.0'], 'f32'), scale, `${what}: scales`);
			else
				sameValues(
					Float32Array.from(got.planes['scales.0'], (code) => 2 ** (code - 127)),
					scale,
					`${what}: scales`,
				);
			if (scheme.zero) {
				const { bytes } = array(each.zero_point);
				const expected = new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
				sameValues(got.planes.zeros.map(Number), Uint8Array.from(expected), `${what}: zero points`);
			}
			if (scheme.mins)
				sameValues(
					numbers(got.planes['mins.0'], 'f32').map((x) => -x),
					floats(each.minval),
					`${what}: minimums`,
				);
			sameBytes(got.planes.values, each.codes, `${what}: codes`);
			sameFloats(got.fake, each.fq, `${what}: fake-quantized values`);
			compared++;
		}
		assert.equal(compared, index.cases.length - 24);
	});

/** The blocks of a nested calibration, in weights: the parents' cover whole blocks of the children's. */
function nestedBlocks({ outer, nested }, shape) {
	const { block_size: size } = outer.granularity;
	const inner = outer.granularity.type === 'per_channel' ? [1, shape[1]] : [1, size];
	const { type, block_size: children } = nested.granularity;
	const parents = { per_tensor: 'tensor', per_channel: [1, shape[1]], per_block: [1, size * children] };
	return [inner, parents[type]];
}

for (const kernels of kernelRows)
	test(`${kernels}: ${index.composed_nested.length} nested calibrations`, { skip }, async () => {
		await ready(kernels);
		for (const [i, each] of index.composed_nested.entries()) {
			const tensor = input(each.input);
			const [inner, parents] = nestedBlocks(each, tensor.shape);
			const dtype = VALUES[each.nested.dtype] ?? each.nested.dtype.replace('uint', 'u').replace('int', 'i');
			const levels = [
				{ dtype, block: inner },
				{ dtype: 'f32', block: parents },
			];
			const scheme = schemeOf(each.outer, levels);
			const got = run(scheme, tensor, {}, i % 2 ? 8e6 : 300);
			const what = `${each.id}: ${JSON.stringify(scheme)}`;
			sameBytes(got.planes['scales.0'], each.scale_codes, `${what}: scales`);
			sameValues(numbers(got.planes['scales.1'], 'f32'), floats(each.scale_parent), `${what}: parents`);
			if (scheme.mins) {
				sameBytes(got.planes['mins.0'], each.minval_codes, `${what}: mins`);
				sameValues(
					numbers(got.planes['mins.1'], 'f32'),
					floats(each.minval_parent),
					`${what}: parents of mins`,
				);
			}
			if (scheme.zero) {
				const { bytes } = array(each.zero_point);
				const expected = new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
				sameValues(got.planes.zeros.map(Number), Uint8Array.from(expected), `${what}: zero points`);
			}
			sameBytes(got.planes.values, each.codes, `${what}: codes`);
			// Under a scale of 0 the reference gives minus a min of 0, and some of its arrays are kept as hashes only.
			const { 'scales.0': scaleCodes, 'mins.0': minCodes } = got.planes;
			const values = got.fake.map((x, at) => {
				const cell = Math.floor(at / inner[1]);
				return minCodes && x === 0 && !scaleCodes[cell] && !minCodes[cell] ? -0 : x;
			});
			sameFloats(values, each.fq_guarded, `${what}: values`);
		}
	});
