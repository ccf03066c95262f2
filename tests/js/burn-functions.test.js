// burn-functions.test.js - Burn's vocabulary against what its releases answered: every row of golden/burn/functions.json.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { fromBurn, quantize } from '../../js/index.js';
import { burnFunctions, quantScheme } from './burn-support.js';
import { ready } from './support.js';

await ready();

const { rows, of, seen } = burnFunctions('0.23.0-pre.1');
const old = burnFunctions('0.22.1');
const bits = (x) => new Uint32Array(Float32Array.of(x).buffer)[0].toString(16).padStart(8, '0');
const float = (hex) => new Float32Array(Uint32Array.of(Number.parseInt(hex, 16)).buffer)[0];
/** Burn drops the last edges of a block with more axes than the tensor, or than five: we refuse it. */
const axesOf = (edges) => edges.slice(edges.findIndex((edge) => edge !== 1)).length;
const lossy = (edges, rank) => axesOf(edges) > rank && edges.some((edge) => edge !== 1);

test('values and scale dtypes, in order', () => {
	for (const { in: name, out } of of('value')) {
		const { bits: size, nativePacking, range, isSymmetric } = burn.QUANT_VALUES[name];
		assert.deepEqual(
			{ size_bits: size, native_packing: nativePacking, range, is_symmetric: isSymmetric },
			out,
			name,
		);
	}
	for (const { out } of of('value_order')) assert.deepEqual(Object.keys(burn.QUANT_VALUES), out);
	for (const { in: name, out } of of('scale_dtype')) {
		assert.equal(burn.scaleSize(name), out.scale_size);
		assert.equal(bits(burn.SCALE_DTYPES[name].max), out.max_representable);
	}
	for (const { out } of of('QPARAM_ALIGN')) assert.equal(burn.QPARAM_ALIGN, out);
	assert.throws(() => burn.scaleSize('UE8m0'), { code: 'bad-argument', message: /UE8M0/ });
});

test('scales round upwards; negative ones, which a debug build of Burn refuses too, are refused', () => {
	for (const {
		in: [hex, dtype],
		out,
	} of of('scale_to_dtype')) {
		if (float(hex) < 0) assert.throws(() => burn.scaleToDtype(float(hex), dtype), { code: 'bad-argument' });
		else assert.equal(bits(burn.scaleToDtype(float(hex), dtype)), out, `${hex} to ${dtype}`);
	}
});

test('what follows from a scheme, and its serde form', () => {
	for (const { in: given, out } of of('scheme')) {
		const scheme = quantScheme(given);
		const found = {
			size_bits_value: scheme.sizeBitsValue,
			size_bits_stored: scheme.sizeBitsStored,
			num_quants: scheme.numQuants,
			native_packing: scheme.nativePacking,
			packing_dim: scheme.packingDim,
			num_levels: scheme.numLevels,
			tensor_scale: scheme.tensorScale,
			scale_dtype: scheme.scaleDtype,
			global_scale_dtype: burn.globalScaleDtype(scheme),
			global_scale_size: burn.globalScaleSize(scheme),
			quantizable: burn.quantizable(scheme),
			serde_json: JSON.parse(JSON.stringify(scheme)),
		};
		// Burn's DType::size is 0 for all that PackedNative holds but E2M1, although each takes a byte: no function of ours.
		const { dtype_size: _, ...expected } = out;
		assert.deepEqual(found, expected, JSON.stringify(given));
		assert.deepEqual(new burn.QuantScheme(out.serde_json), scheme);
	}
	for (const { out } of of('nvfp4')) assert.deepEqual(burn.QuantScheme.nvfp4(), quantScheme(out));
	assert.deepEqual(new burn.QuantScheme(), quantScheme({ store: { kind: 'PackedU32', dim: 0 } }));
});

test('lengths of serialised tensors', () => {
	for (const {
		in: [given, shape],
		out,
		params_shape: grid,
	} of of('quantized_data_len')) {
		const scheme = quantScheme(given);
		if (lossy(given.block?.size ?? [], shape.length)) {
			assert.throws(() => burn.quantizedDataLen(scheme, shape), { code: 'bad-shape' });
			continue;
		}
		assert.deepEqual(burn.paramsShape(shape, scheme), grid);
		if (out.panic) assert.throws(() => burn.quantizedDataLen(scheme, shape), { code: 'bad-shape' });
		else assert.equal(burn.quantizedDataLen(scheme, shape), out, JSON.stringify([given, shape]));
	}
	assert.throws(() => burn.quantizedDataLen(new burn.QuantScheme(), [2 ** 27, 2 ** 27]), { code: 'bad-shape' });
});

test('block sizes are canonical; more than five axes are refused, where Burn drops the last', () => {
	for (const { in: edges, out } of of('BlockSize')) {
		if (lossy(edges, 5)) {
			assert.throws(() => new burn.BlockSize(edges), { code: 'bad-scheme', message: /at most 5 axes/ });
			continue;
		}
		const size = new burn.BlockSize(edges);
		assert.deepEqual(size.edges, out.canonical);
		assert.equal(size.numElements, out.num_elements);
		out.to_dim_vec.forEach((dims, rank) => {
			if (rank < size.edges.length) assert.throws(() => size.toDims(rank), { code: 'bad-shape' });
			else assert.deepEqual(size.toDims(rank), dims);
		});
	}
	for (const {
		in: [edges, shape],
		out,
	} of of('num_blocks')) {
		const blocks = () => new burn.BlockSize(edges).numBlocks(shape);
		if (lossy(edges, shape.length)) assert.throws(blocks, { code: /bad-s(hape|cheme)/ });
		else assert.deepEqual(blocks(), out);
	}
	for (const edges of [[0], [256], [1.5], ['4'], 4, null])
		assert.throws(() => new burn.BlockSize(edges), { code: 'bad-scheme', message: /edges from 1 to 255/ });
});

test('the block of every element, whole or partial', () => {
	for (const {
		in: [shape, edges],
		out,
	} of of('BlockLayout')) {
		const layout = new burn.BlockLayout(shape, new burn.BlockSize(edges));
		assert.equal(layout.numBlocks, out.num_blocks);
		assert.equal(layout.divides, out.divides);
		assert.deepEqual(
			out.block_of.map((_, element) => layout.blockOf(element)),
			out.block_of,
		);
		const size = new burn.BlockSize(edges).numElements;
		for (let block = 0; block < layout.numBlocks; block++)
			assert.equal(layout.isWhole(block), out.block_of.filter((each) => each === block).length === size);
	}
});

test('a scheme follows the axes of its tensor', () => {
	const blocks = (size) => quantScheme({ block: { size, dtype: 'F32' } });
	for (const {
		in: [size, rank, a, b],
		out,
	} of of('swap_block_dims')) {
		if (lossy(size, rank)) assert.throws(() => blocks(size).swapDims(rank, a, b), { code: 'bad-shape' });
		else assert.deepEqual(blocks(size).swapDims(rank, a, b).block.size.edges, out);
	}
	for (const {
		in: [size, axes],
		out,
	} of of('permute_block_dims')) {
		if (lossy(size, axes.length)) assert.throws(() => blocks(size).permuteDims(axes), { code: 'bad-shape' });
		else assert.deepEqual(blocks(size).permuteDims(axes).block.size.edges, out);
	}
	const packed = (dim) => quantScheme({ store: { kind: 'PackedU32', dim } });
	for (const {
		in: [dim, rank, a, b],
		out,
	} of of('swap_dims.packing_dim')) {
		if (out.panic) assert.throws(() => packed(dim).swapDims(rank, a, b), { code: 'bad-shape' });
		else assert.equal(packed(dim).swapDims(rank, a, b).packingDim, out);
	}
	for (const {
		in: [dim, axes],
		out,
	} of of('permute_dims.packing_dim')) {
		if (out.panic) assert.throws(() => packed(dim).permuteDims(axes), { code: 'bad-shape' });
		else assert.equal(packed(dim).permuteDims(axes).packingDim, out, `${dim} ${axes}`);
	}
	for (const {
		in: [dim, rank],
		out,
	} of of('reshape_packing_dim'))
		assert.equal(packed(dim).reshapePackingDim(rank).packingDim, out);
	for (const axes of [[0, 0], [1], [0, 2]])
		assert.throws(() => packed(0).permuteDims(axes), { code: 'bad-argument', message: /axes/ });
	assert.throws(() => packed(0).swapDims(2, 0, 2), { code: 'bad-argument' });
});

test('what 0.22.1 answered of axes and lengths', () => {
	// Its packing dimension is counted from the last axis, and so are the axes that it exchanges.
	const swaps = old.of('swap_packing_dim');
	for (const {
		in: [dim, a, b],
		out,
	} of swaps)
		assert.equal(quantScheme({ store: { kind: 'PackedU32', dim } }).swapDims(3, 2 - a, 2 - b).packingDim, out);
	// All are packed along an axis that the tensor has not.
	const lengths = old.of('quantized_data_len');
	for (const {
		in: [given, shape],
		out,
		params_shape: grid,
	} of lengths) {
		assert.match(out.panic, /index out of bounds/);
		const scheme = quantScheme(given);
		assert.throws(() => burn.quantizedDataLen(scheme, shape), { code: 'bad-shape' });
		assert.deepEqual(burn.paramsShape(shape, scheme), grid);
	}
	assert.deepEqual([swaps.length, lengths.length], [27, 72]);
});

test('four integers of 8 bits in a word', () => {
	for (const { in: values, out } of old.of('pack_i8s_to_u32s')) {
		const words = burn.packI8sToU32s(Int8Array.from(values));
		assert.deepEqual([...words], out);
		assert.deepEqual([...burn.unpackU32sToI8s(words, values.length)], values);
	}
	const words = Uint32Array.of(0xfedcba98, 0x76543210);
	assert.deepEqual([...burn.unpackU32sToI8s(words, 16, 4)], [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7]);
	assert.deepEqual([...burn.unpackU32sToI8s(Uint32Array.of(3598), 6, 2)], [-2, -1, 0, 0, -2, -1]);
});

test('no function of the release is left out', () => {
	const elsewhere = ['QuantizedBytes::new', 'scale_order']; // burn-bytes.test.js
	assert.deepEqual([...new Set(rows.map(({ fn }) => fn))].sort(), [...seen, ...elsewhere].sort());
	assert.deepEqual([...new Set(old.rows.map(({ fn }) => fn))].sort(), [...old.seen, ...elsewhere].sort());
});

test('the scale of a table is that which quantize() stores', async () => {
	await ready();
	const scheme = new burn.QuantScheme({ value: 'Q2F', mode: 'Lookup', table: [-10, 0, 1, 2] });
	const data = Float32Array.of(-10, 10, 3, 4);
	const { scales } = burn.computeQParams(scheme, burn.computeRange(scheme, data, [4]));
	const stored = burn.QuantizedBytes.of(quantize(data, { scheme: fromBurn(scheme), shape: [4] }));
	assert.deepEqual([...scales], [...stored.read().scales]);
});
