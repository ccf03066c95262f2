// burn-tensors.test.js - every tensor that Burn 0.23 quantized (Flex): its bytes, codes, scales and decoded values from each
// row of kernels.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { dequantize, fromBurn, quantize, toBurn } from '../../js/index.js';
import { burnCases, serde } from './burn-support.js';
import { asDtype, bytesOf, kernelRows, ready, sha256 } from './support.js';

const cases = burnCases(
	'flex-0.23.0-pre.1',
	({ group, method, panic }) => group !== 'refused' && method !== 'flex_direct' && !panic,
);

const ALLOW = { nonfinite: 'allow', overflow: 'allow' };

/** Burn's order of adding magnitudes depends on the machine: the recorded mean is given. */
const rangesOf = ({ method, range }) => (method === 'AbsMean' ? { ranges: { min: range.min, max: range.max } } : {});

/** The weights in the dtype that they had. */
function weightsOf({ data, float_dtype: dtype }) {
	if (dtype === 'F16' || dtype === 'BF16')
		return { data: asDtype(data, dtype.toLowerCase()), dtype: dtype.toLowerCase() };
	return { data: dtype === 'F64' ? Float64Array.from(data) : data };
}

/** Bits of floats, NaN always the same. */
const bits = (array) => bytesOf(array.map((x) => (Number.isNaN(x) ? Number.NaN : x)));

function check(each) {
	const { what, shape, scheme: given } = each;
	const scheme = fromBurn(serde(given));
	const { data, ...dtype } = weightsOf(each);
	const q = quantize(data, { scheme, shape, ...dtype, ...ALLOW, ...rangesOf(each) });
	assert.deepEqual(Buffer.from(q.bytes), each.bytes, `${what}: bytes`);
	const { codes, scales, global } = burn.QuantizedBytes.of(q).read();
	assert.deepEqual(bytesOf(codes), each.codes, `${what}: codes`);
	assert.deepEqual(bits(scales), bits(each.scales), `${what}: scales`);
	assert.equal(global, each.global, `${what}: tensor-wide scale`);
	const values = dequantize(q);
	if (each.dequantized) assert.deepEqual(bits(values), bits(each.dequantized), `${what}: values`);
	else if (each.dequantized_sha256) assert.equal(sha256(bits(values)), each.dequantized_sha256, `${what}: values`);
}

for (const kernels of kernelRows)
	test(`${kernels}: ${cases.length} tensors of Burn 0.23`, async () => {
		await ready(kernels);
		for (const each of cases) check(each);
		assert.ok(cases.length > 2000, `${cases.length}`);
	});

test('a mean of magnitudes is that of Burn to its last bits', async () => {
	await ready();
	let tried = 0;
	for (const each of cases.filter(({ method }) => method === 'AbsMean')) {
		const scheme = new burn.QuantScheme(serde(each.scheme));
		const { max } = burn.computeRange(scheme, each.data, each.shape, 'AbsMean');
		max.forEach((mean, b) => {
			const recorded = each.range.max[b];
			assert.ok(Math.abs(mean - recorded) <= 2 ** -21 * recorded, `${each.what}: ${mean} for ${recorded}`);
		});
		tried++;
	}
	assert.ok(tried > 100, `${tried}`);
});

test('schemes come back as they went', async () => {
	await ready();
	for (const { scheme: given } of cases) {
		const scheme = fromBurn(serde(given));
		assert.deepEqual(fromBurn(toBurn(scheme)), scheme);
		const back = toBurn(scheme);
		// No level at all is an F32 one for the tensor.
		const tensor = given.tensor ?? (given.block ? null : 'F32');
		assert.deepEqual(new burn.QuantScheme(back), new burn.QuantScheme({ ...serde(given), tensor }));
	}
});
