// burn-bytes.test.js - QuantizedBytes written and read: every row that the release answered, and what is refused.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { dequantize, fromBurn, quantize } from '../../js/index.js';
import { burnFunctions, quantScheme } from './burn-support.js';
import { kernelRows, ready } from './support.js';

const { of } = burnFunctions('0.23.0-pre.1');
const hex = (bytes) => Buffer.from(bytes).toString('hex');

/** Codes 0, 1, 2, ... under scales 1, 2, 3, ... */
const counted = (shape, scheme) => {
	const [codes, scales] = [shape, burn.paramsShape(shape, scheme)].map((dims) => dims.reduce((n, dim) => n * dim, 1));
	return {
		codes: Int8Array.from({ length: codes }, (_, i) => i),
		scales: Float32Array.from({ length: scales }, (_, i) => i + 1),
	};
};

for (const kernels of kernelRows)
	test(`${kernels}: codes and scales to bytes and back`, async () => {
		await ready(kernels);
		for (const { in: given, out } of of('QuantizedBytes::new')) {
			const parts = {
				codes: Int8Array.from(given.codes),
				scales: Float32Array.from(given.scales),
				global: given.global,
			};
			const scheme = quantScheme(given.scheme);
			const written = burn.QuantizedBytes.write(scheme, given.shape, parts);
			assert.equal(hex(written.bytes), out.bytes, JSON.stringify(given));
			const read = written.read();
			assert.deepEqual([...read.scales], out.read_back.scales, JSON.stringify(given));
			assert.equal(read.global, out.read_back.global);
			assert.equal(out.read_back.codes_same, true);
			assert.deepEqual(read.codes, parts.codes, JSON.stringify(given));
			const { scales, global } = written.params();
			const end = written.bytes.length;
			assert.equal((scales.offsetStart - scales.offsetEnd) / burn.scaleSize(scales.dtype), given.scales.length);
			assert.equal(global !== null, given.global !== null);
			assert.ok(scales.offsetStart <= end && scales.offsetEnd === (global?.offsetStart ?? 0));
		}
	});

test('0.22.1 has the same codes and parameters: the codes one a byte, whatever the store, and no axes exchanged', async () => {
	await ready();
	const old = burnFunctions('0.22.1');
	/** What 0.22.1 stores: its scales are in our order where no axes are exchanged. */
	const stored = ({ store, ...fields }, shape, parts) => {
		const scheme = quantScheme({ ...fields, store: { ...store, ...(store.kind !== 'Native' && { dim: 0 }) } });
		const written = burn.QuantizedBytes.write(scheme, shape, parts);
		const bytes = hex(parts.codes) + hex(written.bytes.slice(-written.params().scales.offsetStart));
		return { bytes, ...written.read() };
	};
	const exchange = 'assertion `left == right` failed: Packing must be on innermost dimension';
	// It reads its own bytes back only as words of whole bytes, packed along the last axis: we read all, and the same.
	const unread = {
		[exchange]: 35,
		'not implemented: Not yet supported': 73,
		'cast_slice>OutputSliceWouldHaveSlop': 10,
	};
	const panics = Object.fromEntries(Object.keys(unread).map((start) => [start, 0]));
	const rows = old.of('QuantizedBytes::new');
	for (const { in: given, out } of rows) {
		const { codes, scales, global } = given;
		const parts = { codes: Int8Array.from(codes), scales: Float32Array.from(scales), global };
		const found = stored(given.scheme, given.shape, parts);
		const what = JSON.stringify(given);
		assert.equal(found.bytes, out.bytes, what);
		assert.deepEqual(found.codes, parts.codes, what);
		const { panic, codes_same: same, ...back } = out.read_back;
		if (panic) {
			panics[Object.keys(unread).find((start) => panic.startsWith(start))]++;
			continue;
		}
		assert.deepEqual({ scales: [...found.scales], global: found.global }, back, what);
		// Codes of less than a byte lie one a byte, and it unpacks them.
		assert.equal(same, given.scheme.value.startsWith('Q8'), what);
	}
	assert.equal(rows.length, 125);
	assert.deepEqual(panics, unread);
	const orders = old.of('scale_order');
	const exchanged = orders.filter(({ out }) => out.panic);
	for (const { out } of exchanged) assert.ok(out.panic.startsWith(exchange));
	assert.deepEqual([orders.length, exchanged.length], [11, 9]);
	for (const {
		in: { shape, block, value },
		out,
	} of orders.filter((row) => !exchanged.includes(row))) {
		const fields = { value, store: { kind: 'PackedU32' }, block: { size: block, dtype: 'F32' } };
		const { bytes, scales } = stored(fields, shape, counted(shape, quantScheme({ value, block: fields.block })));
		assert.equal(bytes, out.bytes);
		assert.deepEqual([[...scales], [...scales]], [out.stored_scales, out.decoded_scales]);
	}
});

test('scales follow the axes that are exchanged', async () => {
	await ready();
	for (const {
		in: { shape, block, packing_dim: dim, value },
		out,
	} of of('scale_order')) {
		const scheme = quantScheme({ value, store: { kind: 'PackedU32', dim }, block: { size: block, dtype: 'F32' } });
		const written = burn.QuantizedBytes.write(scheme, shape, counted(shape, scheme));
		assert.equal(hex(written.bytes), out.bytes);
		assert.deepEqual([...written.read().scales], out.decoded_scales);
	}
});

test('what quantize() makes is read, and what is written is decoded', async () => {
	await ready();
	const scheme = burn.QuantScheme.nvfp4();
	const data = Float32Array.from({ length: 96 }, (_, i) => Math.sin(i));
	const q = quantize(data, { scheme: fromBurn(scheme), shape: [3, 32] });
	assert.equal(q.scheme, 'burn:nvfp4');
	const bytes = burn.QuantizedBytes.of(q);
	assert.deepEqual(bytes.scheme, scheme);
	const again = burn.QuantizedBytes.write(scheme, [3, 32], bytes.read());
	assert.deepEqual(again.bytes, q.bytes);
	assert.deepEqual(dequantize({ ...q, bytes: again.bytes }), dequantize(q));
});

test('counts that do not fit are refused', async () => {
	await ready();
	const scheme = quantScheme({ value: 'Q8S', tensor: 'F32', block: { size: [4], dtype: 'UE4M3' } });
	const parts = { codes: new Int8Array(8), scales: Float32Array.of(0.5, 0.125), global: 3 };
	const write = (change) => () => burn.QuantizedBytes.write(scheme, [8], { ...parts, ...change });
	assert.equal(write({})().bytes.length, 14);
	for (const change of [{ codes: new Int8Array(7) }, { scales: Float32Array.of(1) }, { global: null }])
		assert.throws(write(change), { code: 'bad-argument', message: /of this scheme has \d+ / });
	const single = quantScheme({ value: 'Q8S' });
	assert.throws(() => burn.QuantizedBytes.write(single, [8], { ...parts, scales: Float32Array.of(1) }), {
		code: 'bad-argument',
		message: /0 tensor-wide/,
	});
	assert.throws(() => new burn.QuantizedBytes(new Uint8Array(13), scheme, [8]), {
		code: 'bad-shape',
		message: /takes 14 bytes, got 13/,
	});
});
