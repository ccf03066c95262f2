// repack.test.js - codes and parameters of every preset out of its layout and into it again.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dequantize, quantize, repack, schemes } from '../../js/index.js';
import { kernelRows, needsImatrix, random, ready } from './support.js';

for (const kernels of kernelRows)
	test(`${kernels}: every preset to planes and back`, async () => {
		await ready(kernels);
		const r = random(5);
		const shape = [3, 512];
		const data = Float32Array.from({ length: 3 * 512 }, () => r.normal());
		const unsupported = [];
		for (const { name, scheme } of schemes()) {
			const q = quantize(data, { scheme: name, shape, ...(needsImatrix(scheme) && { imatrix: 'ones' }) });
			const planar = repack(q);
			assert.equal(planar.planes.values.bytes.length, data.length, name);
			assert.deepEqual(dequantize(planar), dequantize(q), name);
			try {
				const { bytes, planes } = repack(planar, { layout: scheme.layout, packing: scheme.packing });
				assert.deepEqual([bytes, planes], [q.bytes, q.planes], name);
			} catch (error) {
				assert.equal(error.code, 'unsupported', `${name}: ${error.stack}`);
				unsupported.push(name);
			}
		}
		assert.deepEqual(unsupported, [
			...['iq3_s', 'iq3_xxs', 'iq2_s', 'iq2_xs', 'iq2_xxs', 'iq1_m', 'iq1_s', 'q1_0'].map(
				(type) => `ggml:${type}`,
			),
		]);
	});
