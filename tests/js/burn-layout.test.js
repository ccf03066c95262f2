// burn-layout.test.js - one array of codes, scales and a tensor-wide scale: every way of packing, along every axis, against
// a plain emulation of the bits; whole or in bands, by scalar and simd128 kernels.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dequantize, quantize } from '../../js/index.js';
import { tensorJob } from '../../js/arrays/job.js';
import { kernelRows, ready } from './support.js';

const LAYOUT = 'burn-quantized-bytes';
const BITS = { i8: 8, i4: 4, i2: 2, f8e4m3: 8, f4e2m1: 4 };

/** Something row-major with two axes exchanged: by an index for each place. */
function exchanged(shape, axis) {
	const last = shape.length - 1;
	const order = shape.map((_, k) => (k === axis ? last : k === last ? axis : k));
	const strides = shape.map((_, k) => shape.slice(k + 1).reduce((n, dim) => n * dim, 1));
	let indices = [0];
	for (const k of order)
		indices = indices.flatMap((at) => Array.from({ length: shape[k] }, (_, i) => at + i * strides[k]));
	return indices;
}

/** The bytes of some codes, line by line. */
function packed(codes, shape, value, { into, axis = 0 }) {
	const bits = BITS[value];
	const at = shape.length - 1 - axis;
	const order = exchanged(shape, at);
	const bytes = [];
	for (let line = 0; line < order.length; line += shape[at]) {
		const here = order.slice(line, line + shape[at]).map((i) => codes[i]);
		if (into === 'bytes') bytes.push(...here);
		else if (into === 'native' && value !== 'f4e2m1') bytes.push(...here.map((code) => code & (2 ** bits - 1)));
		else {
			const text = here
				.map((code) => (code & (2 ** bits - 1)).toString(2).padStart(bits, '0'))
				.reverse()
				.join('');
			const word = into === 'native' ? 8 : 32;
			const whole = text.padStart(Math.ceil(text.length / word) * word, '0');
			const line = [];
			for (let end = whole.length; end > 0; end -= 8) line.push(Number.parseInt(whole.slice(end - 8, end), 2));
			bytes.push(...line);
		}
	}
	return Uint8Array.from(bytes);
}

const shapes = [[5], [3, 5], [4, 7], [2, 3, 5], [3, 4, 2, 3], [2, 9, 5]];
const blocks = ['tensor', [1], [2, 2], [2, 1, 3], [3, 1, 1]];
const packings = [{ into: 'bytes' }];
for (const into of ['native', 'u32']) for (let axis = 0; axis < 4; axis++) packings.push({ into, axis });

for (const kernels of kernelRows)
	test(`${kernels}: bits, scales and values of every packing`, async () => {
		await ready(kernels);
		let tried = 0;
		for (const value of Object.keys(BITS))
			for (const shape of shapes)
				for (const block of blocks)
					for (const packing of packings) {
						if ((packing.axis ?? 0) >= shape.length || block.length > shape.length) continue;
						const count = shape.reduce((n, dim) => n * dim, 1);
						const data = Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1) * (1 + (i % 7)));
						const scheme = {
							...{ value, scales: [{ dtype: 'f16', block }], rules: 'compressed-tensors' },
							...{ layout: LAYOUT, packing },
						};
						const { packing: _, layout: __, ...plain } = scheme;
						const { planes } = quantize(data, { scheme: plain, shape });
						const grid = planes['scales.0'];
						const axis = shape.length - 1 - (packing.axis ?? 0);
						const halves = new Uint16Array(grid.bytes.buffer);
						const order = block === 'tensor' ? [0] : exchanged(grid.shape, axis);
						const expected = [
							packed(planes.values.bytes, shape, value, packing),
							new Uint8Array(Uint16Array.from(order, (i) => halves[i]).buffer),
						];
						const what = JSON.stringify({ scheme, shape });
						const q = quantize(data, { scheme, shape });
						assert.deepEqual(Buffer.from(q.bytes), Buffer.concat(expected), what);
						assert.equal(q.nbytes, q.bytes.length);
						assert.equal(q.planes, null);
						assert.deepEqual(dequantize(q), dequantize({ scheme: plain, shape, planes }), what);
						tried++;
						if (block === 'tensor') continue;
						// Steps one by one, last first.
						const job = tensorJob({ scheme, shape, dtype: 'f32' });
						const banded = job.planes.map(({ nbytes }) => new Uint8Array(nbytes));
						for (const band of [...job.bands(1)].reverse())
							job.encode(
								band,
								new Uint8Array(data.buffer, 4 * band.valueOffset, 4 * band.nvalues),
							).forEach((bytes, p) => banded[p].set(bytes, band.planes[p].offset));
						assert.deepEqual(Buffer.concat(banded), Buffer.from(q.bytes), `${what} in bands`);
					}
		assert.ok(tried > 500, `${tried}`);
	});

test('what the array cannot hold is refused by a rule', async () => {
	await ready();
	const data = Float32Array.from({ length: 64 }, (_, i) => i - 30);
	const base = { value: 'i4', scales: [{ dtype: 'f32', block: 8 }], rules: 'compressed-tensors', layout: LAYOUT };
	const refused = (change, message = /rule bad-layout/) =>
		assert.throws(() => quantize(data, { scheme: { ...base, ...change }, shape: [8, 8] }), {
			code: 'bad-scheme',
			message,
		});
	refused({ value: 'i3' });
	refused({ value: 'f6e2m3' });
	refused({ zero: 'i4' });
	refused({ scales: [{ dtype: 'input', block: 8 }] });
	refused({ packing: { into: 'u32', axis: 2 } });
	refused({ packing: { into: 'bytes', axis: 1 } });
	refused({ layout: 'planes', packing: { into: 'u32' } });
	refused({ packing: { into: 'words' } }, /packing.into: expected one of bytes, native, u32/);
	refused({ packing: { into: 'u32', axis: 7 } }, /packing.axis/);
	refused({ packing: { into: 'u32', dim: 0 } }, /packing.dim: unknown field/);
	refused({ packing: 'u32' }, /packing: expected/);
	const q = quantize(data, { scheme: base, shape: [8, 8] });
	for (const bytes of [q.bytes.subarray(1), Buffer.concat([q.bytes, q.bytes])])
		assert.throws(() => dequantize({ ...q, bytes }), { code: 'bad-shape' });
	const { layout: _, ...planar } = base;
	assert.throws(() => dequantize({ scheme: planar, shape: [8, 8], bytes: q.bytes }), { code: 'bad-argument' });
});
