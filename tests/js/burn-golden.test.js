// burn-golden.test.js - what Burn 0.23 on Flex, and 0.22.1, makes of a tensor, said in the scheme language: codes, scales, the global
// scale and the decoded values, in both kernel rows and in small bands.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { theCore } from '../../js/core/init.js';
import { burnTensors } from './burn-support.js';
import { bytesOf, kernelRows, numbers, ready, sha256, throughCore } from './support.js';

/** Stored scales as float32. */
function widened(dtype, bytes) {
	const core = theCore();
	const count = bytes.length / { f32: 4, f16: 2, bf16: 2 }[dtype] || bytes.length;
	return numbers(dtype === 'f32' ? bytes : core.convert(dtype, 'f32', count, bytes, 4 * count), 'f32');
}

const sameFloats = (got, expected, what) =>
	assert.ok(got.length === expected.length && got.every((x, i) => Object.is(x, expected[i])), what);

for (const kernels of kernelRows)
	test(`${kernels}: every tensor`, async () => {
		await ready(kernels);
		let compared = 0;
		const cases = burnTensors();
		for (const [i, each] of cases.entries()) {
			const { scheme, dtype } = each.core;
			const got = throughCore({ ...each.core, bandBytes: i % 2 ? 8e6 : 100 });
			// What its way of rounding makes of quotients beyond 2^31 is no part of these rows.
			if (scheme.rules !== 'burn' && got.report.warnings.length) continue;
			const planes = Object.fromEntries(got.infos.map(({ name }, p) => [name, got.stored[p]]));
			const what = `${i} ${each.group} ${each.input} ${each.method} ${dtype} ${JSON.stringify(scheme)}`;
			sameFloats(widened(scheme.scales[0].dtype, planes['scales.0']), each.scales, `${what}: scales`);
			if (each.global !== null)
				sameFloats(numbers(planes['scales.1'], 'f32'), Float32Array.of(each.global), `${what}: global`);
			assert.ok(Buffer.compare(planes.values, each.codes) === 0, `${what}: codes`);
			if (each.dequantized) sameFloats(got.values, each.dequantized, `${what}: values`);
			else assert.equal(sha256(bytesOf(got.values)), each.dequantized_sha256, `${what}: values`);
			compared++;
		}
		assert.deepEqual([cases.length, compared], [3120, 2941]);
	});
