// repack.test.js - codes and parameters of every preset out of its layout and into it again.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dequantize, quantize, repack, schemes } from '../../js/index.js';
import { kernelRows, random, ready } from './support.js';

for (const kernels of kernelRows)
	test(`${kernels}: every preset to planes and back`, async () => {
		await ready(kernels);
		const r = random(5);
		const shape = [3, 512];
		const data = Float32Array.from({ length: 3 * 512 }, () => r.normal());
		const unsupported = [];
		for (const { name, scheme } of schemes()) {
			const q = quantize(data, { scheme: name, shape });
			const planar = repack(q);
			assert.equal(planar.planes.values.bytes.length, data.length, name);
			assert.deepEqual(dequantize(planar), dequantize(q), name);
			try {
				const { bytes, planes } = repack(planar, scheme);
				assert.deepEqual([bytes, planes], [q.bytes, q.planes], name);
			} catch (error) {
				assert.equal(error.code, 'unsupported', `${name}: ${error.stack}`);
				unsupported.push(name);
			}
		}
		assert.deepEqual(unsupported, ['ggml:q1_0']);
	});
