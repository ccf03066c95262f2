// burn-golden.test.js - what Burn 0.23 on Flex, and 0.22.1, makes of a tensor, said in the scheme language: codes, scales, the global
// scale and the decoded values, in both kernel rows and in small bands.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { theCore } from '../../js/core/init.js';
import { asDtype, bytesOf, goldenFolders, kernelRows, numbers, ready, sha256, throughCore } from './support.js';

const folder = goldenFolders.map((each) => join(each, 'burn')).find(existsSync);
const skip = folder ? false : 'no golden/burn here';
const index = skip ? { inputs: [], cases: [] } : JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
const data = skip ? null : readFileSync(join(folder, 'data.bin'));
const region = ([offset, length]) => data.subarray(offset, offset + length);
const inputs = new Map(index.inputs.map((each) => [each.name, each]));

const VALUES = { Q8F: 'i8', Q8S: 'i8-narrow', Q4F: 'i4', Q4S: 'i4-narrow', Q2F: 'i2', Q2S: 'i2-narrow' };
const FLOATS = { E4M3: 'f8e4m3', E5M2: 'f8e5m2', E2M1: 'f4e2m1' };
const SCALES = { F32: 'f32', F16: 'f16', BF16: 'bf16', UE8M0: 'e8m0', UE4M3: 'ue4m3' };

/** The row of rules of each backend. */
const RULES = { 'flex-0.23.0-pre.1': 'burn', 'flex-0.22.1': 'burn-0.22', 'ndarray-0.22.1': 'burn-ndarray' };

function schemeOf({ value, tensor, block }, rules) {
	const whole = { dtype: SCALES[tensor ?? 'F32'], block: 'tensor' };
	const inner = block && { dtype: SCALES[block.dtype], block: block.size.length ? block.size : 1 };
	const scales = !inner ? [whole] : tensor ? [inner, whole] : [inner];
	return { value: VALUES[value] ?? FLOATS[value], scales, rules };
}

/** Stored scales as float32. */
function widened(dtype, bytes) {
	const core = theCore();
	const count = bytes.length / { f32: 4, f16: 2, bf16: 2 }[dtype] || bytes.length;
	return numbers(dtype === 'f32' ? bytes : core.convert(dtype, 'f32', count, bytes, 4 * count), 'f32');
}

/** What Burn itself gets through, and not by a way that the Tensor API does not reach; in dtypes that the core takes. */
const cases = index.cases.filter(
	(each) =>
		Object.hasOwn(RULES, each.backend) &&
		each.codes &&
		each.group !== 'refused' &&
		each.method !== 'flex_direct' &&
		each.float_dtype !== 'F64' &&
		// 0.22.1 rounds these to integers, whatever their format.
		(RULES[each.backend] === 'burn' || !FLOATS[index.schemes[each.scheme].value]),
);

const sameFloats = (got, expected, what) =>
	assert.ok(got.length === expected.length && got.every((x, i) => Object.is(x, expected[i])), what);

for (const kernels of kernelRows)
	test(`${kernels}: ${cases.length} tensors`, { skip }, async () => {
		await ready(kernels);
		for (const [i, each] of cases.entries()) {
			const { shape, data: at } = inputs.get(each.input);
			const scheme = schemeOf(index.schemes[each.scheme], RULES[each.backend]);
			const dtype = (each.float_dtype ?? 'F32').toLowerCase();
			const weights = asDtype(numbers(region(at), 'f32'), dtype);
			// The mean's order of summation is the machine's: what follows from it is tested.
			const ends =
				each.method === 'AbsMean' &&
				['min', 'max'].map((end) => [end, numbers(region(each.range[end]), 'f32')]);
			const got = throughCore({
				...{ data: weights, shape, dtype, scheme, bandBytes: i % 2 ? 8e6 : 100 },
				...(ends && { ranges: Object.fromEntries(ends) }),
			});
			// What its way of rounding makes of quotients beyond 2^31 is no part of these rows.
			if (scheme.rules !== 'burn' && got.report.warnings.length) continue;
			const planes = Object.fromEntries(got.infos.map(({ name }, p) => [name, got.stored[p]]));
			const what = `${i} ${each.group} ${each.input} ${each.method} ${dtype} ${JSON.stringify(scheme)}`;
			sameFloats(
				widened(scheme.scales[0].dtype, planes['scales.0']),
				numbers(region(each.scales), 'f32'),
				`${what}: scales`,
			);
			if (each.global) {
				const bits = Buffer.from(planes['scales.1']).readUInt32LE(0).toString(16).padStart(8, '0');
				assert.equal(bits, each.global, `${what}: global`);
			}
			assert.ok(Buffer.compare(planes.values, region(each.codes)) === 0, `${what}: codes`);
			if (each.dequantized) sameFloats(got.values, numbers(region(each.dequantized), 'f32'), `${what}: values`);
			else assert.equal(sha256(bytesOf(got.values)), each.dequantized_sha256, `${what}: values`);
		}
	});
