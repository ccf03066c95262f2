// burn-arguments.test.js - what Burn's functions are given by mistake: each time one error that says what was expected.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { fromBurn, toBurn } from '../../js/index.js';
import { ready } from './support.js';

const { BlockLayout, BlockSize, QuantScheme, QuantizedBytes } = burn;
const scheme = new QuantScheme();
const parts = { codes: new Int8Array(4), scales: Float32Array.of(1) };

/** Each refused call, with its code and a word of its message. */
const refused = (calls) => {
	for (const [call, code, message] of calls)
		assert.throws(call, { name: 'BlockQuantError', code, message }, `${call}`);
};

test('null and things of another kind', async () => {
	await ready();
	refused([
		[() => fromBurn({}, null), 'bad-argument', /options/],
		[() => fromBurn({}, { rank: 2 }), 'bad-argument', /rank: unknown field; expected calibration/],
		[() => fromBurn(null), 'bad-scheme', /scheme: expected \{ value, .*\}; got null/],
		[() => fromBurn({ config_groups: {} }), 'bad-scheme', /a config of compressed-tensors is of a whole model/],
		[() => toBurn(null), 'bad-argument', /a name or an object/],
		[() => new QuantScheme(null), 'bad-scheme', /scheme: expected \{ value, .*\}; got null/],
		[() => new BlockSize('32'), 'bad-scheme', /edges from 1 to 255/],
		[() => new BlockSize([4]).toDims(-1), 'bad-argument', /rank/],
		[() => new BlockSize([4]).numBlocks([1.5]), 'bad-shape', /shape/],
		[() => new BlockLayout([4, 4], [4]), 'bad-argument', /a BlockSize/],
		[() => new BlockLayout(null, new BlockSize([4])), 'bad-shape', /shape/],
		[() => new BlockLayout([4, 4], new BlockSize([4])).blockOf(16), 'bad-argument', /0 to 15, got 16/],
		[() => new BlockLayout([4, 4], new BlockSize([4])).isWhole(-1), 'bad-argument', /0 to 3, got -1/],
		[() => scheme.permuteDims('ab'), 'bad-argument', /a list of each number/],
		[() => scheme.permuteDims([0, 0]), 'bad-argument', /a list of each number/],
		[
			() => fromBurn({ value: 'Q2F', mode: 'Lookup', table: [0, 1, 1, 2] }),
			'bad-scheme',
			/table: mode Lookup needs the 4 numbers that .*, each once/,
		],
		[() => scheme.permuteDims(Array.from({ length: 100_000 }, (_, i) => i)), 'bad-argument', /at most 64/],
		[() => scheme.permuteDims(null), 'bad-argument', /a list of each number/],
		[() => scheme.swapDims(1e10, 0, 1), 'bad-argument', /rank/],
		[() => scheme.swapDims(2, 0, null), 'bad-argument', /axes 0 and null/],
		[() => scheme.reshapePackingDim(Number.NaN), 'bad-argument', /rank/],
		[() => burn.globalScaleDtype(null), 'bad-argument', /a QuantScheme, got null/],
		[() => burn.globalScaleSize({}), 'bad-argument', /a QuantScheme/],
		[() => burn.quantizable({ value: 'Q8S' }), 'bad-argument', /a QuantScheme/],
		[() => burn.paramsShape([4], null), 'bad-argument', /a QuantScheme/],
		[() => burn.paramsShape(4, scheme), 'bad-shape', /a list of sizes/],
		[() => burn.scaleSize(null), 'bad-argument', /scale dtype/],
		[() => burn.scaleToDtype('1', 'F16'), 'bad-argument', /a number/],
		[() => burn.computeRange(scheme, [1, 2], [2]), 'bad-argument', /data: expected Float32Array/],
		[() => burn.computeRange(null, Float32Array.of(1), [1]), 'bad-argument', /a QuantScheme/],
		[() => burn.computeQParams(scheme, null), 'bad-argument', /range.min/],
		[() => burn.computeQParams(scheme, { min: Float32Array.of(1), max: [1] }), 'bad-argument', /range.max/],
		[
			() => burn.computeQParams(scheme, { min: Float32Array.of(1), max: new Float32Array(2) }),
			'bad-argument',
			/1 minima/,
		],
		[() => QuantizedBytes.of(null), 'bad-argument', /an object, got null/],
		[() => new QuantizedBytes([1], scheme, [1]), 'bad-argument', /bytes: expected Uint8Array/],
		[() => QuantizedBytes.write({}), 'bad-argument', /parts: expected an object, got undefined/],
		...[Number.NaN, -1, 1e6].map((bad) => [
			() =>
				QuantizedBytes.write(new QuantScheme({ tensor: 'F16' }), [4], {
					...parts,
					scales: Float32Array.of(bad),
				}),
			'bad-argument',
			new RegExp(`scales: ${bad === 1e6 ? 1000000 : bad} at index 0 is no scale of F16; expected 0 to 65504`),
		]),
		[() => QuantizedBytes.write({}, [4], parts), 'bad-argument', /a QuantScheme/],
		[
			() => QuantizedBytes.write(scheme, [4], { ...parts, codes: [0, 0, 0, 0] }),
			'bad-argument',
			/codes: expected Int8Array/,
		],
		[
			() => QuantizedBytes.write(scheme, [4], { ...parts, scales: null }),
			'bad-argument',
			/scales: expected Float32Array/,
		],
		[
			() => QuantizedBytes.write(scheme, [4], { ...parts, global: '1' }),
			'bad-argument',
			/global: expected a number or null/,
		],
	]);
});

test('sizes that are none', () => {
	for (const shape of [[-1], [2.5], [4, Number.NaN], ['4'], 4, null])
		refused([[() => burn.quantizedDataLen(scheme, shape), 'bad-shape', /shape: expected a list of sizes/]]);
	assert.equal(burn.quantizedDataLen(scheme, []), 8);
});

test('codes that would be cut', async () => {
	await ready();
	const write = (scheme, ...codes) =>
		QuantizedBytes.write(scheme, [codes.length], { ...parts, codes: Int8Array.from(codes) });
	for (const [value, low, high] of [
		['Q4S', -8, 7],
		['Q4F', -8, 7],
		['Q2F', -2, 1],
		['E2M1', 0, 15],
	]) {
		const own = new QuantScheme({ value });
		assert.deepEqual([...write(own, low, high).read().codes], [low, high]);
		const message = new RegExp(`at index 1 is no code of ${value}; expected ${low} to ${high}`);
		refused([
			[() => write(own, 0, low - 1), 'bad-argument', message],
			[() => write(own, 0, high + 1), 'bad-argument', message],
		]);
	}
	const lookup = new QuantScheme({ value: 'Q2F', mode: 'Lookup', table: [-1, 0, 1, 2] });
	assert.deepEqual([...write(lookup, 0, 3).read().codes], [0, 3]);
	refused([[() => write(lookup, -1), 'bad-argument', /is no code of Q2F; expected 0 to 3/]]);
	assert.deepEqual([...write(new QuantScheme({ value: 'E4M3' }), -128, 127).read().codes], [-128, 127]);
});

test('more values than words hold', () => {
	const words = burn.packI8sToU32s(Int8Array.of(1, -2, 3));
	assert.deepEqual([...burn.unpackU32sToI8s(words, 4)], [1, -2, 3, 0]);
	refused([
		[() => burn.unpackU32sToI8s(words, 5), 'bad-argument', /count: expected a whole number from 0 to 4, got 5/],
		[() => burn.unpackU32sToI8s(words, 17, 2), 'bad-argument', /0 to 16/],
		[() => burn.unpackU32sToI8s(words, 1.5), 'bad-argument', /count/],
		[() => burn.unpackU32sToI8s(words, 1, 3), 'bad-argument', /bits: expected 2, 4 or 8, got 3/],
		[() => burn.unpackU32sToI8s([1], 1), 'bad-argument', /words: expected Uint32Array/],
		[() => burn.packI8sToU32s('ab'), 'bad-argument', /values: expected Int8Array/],
	]);
});

test("the tables of names are nobody's to change", () => {
	for (const change of [
		() => burn.QUANT_VALUES.Q8F.range.fill(0),
		() => Object.assign(burn.QUANT_VALUES, { Q8F: null }),
		() => Object.assign(burn.SCALE_DTYPES.F32, { max: 0 }),
	])
		assert.throws(change, TypeError);
});
