// burn-schemes.test.js - Burn's vocabulary in and out: what it can say and what not, and every mistake named.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import { fromBurn, quantize, schemes, toBurn } from '../../js/index.js';
import { makeScheme } from '../../js/scheme/object.js';
import { random, ready } from './support.js';

before(() => ready());

test('every preset becomes a QuantScheme that makes its bytes, or there is a reason', () => {
	const r = random(7);
	const data = Float32Array.from({ length: 4 * 512 }, () => r.normal());
	const said = [];
	for (const { name, scheme } of schemes()) {
		let json;
		try {
			json = toBurn(name);
		} catch (error) {
			assert.equal(error.code, 'unsupported', name);
			assert.match(error.message, /^Burn|: Burn/, name);
			continue;
		}
		const calibration = scheme.calibration === 'absmean' ? 'AbsMean' : 'MinMax';
		const back = fromBurn(JSON.parse(JSON.stringify(json)), { calibration });
		assert.equal(back, scheme);
		const { name: _, ...unnamed } = back;
		assert.deepEqual(
			quantize(data, { scheme: unnamed, shape: [4, 512] }).bytes,
			quantize(data, { scheme: name, shape: [4, 512] }).bytes,
			name,
		);
		said.push(name);
	}
	assert.deepEqual(
		said,
		schemes().flatMap(({ name }) => (name.startsWith('burn:') ? [name] : [])),
	);
});

test("upstream's own presets have their names", () => {
	assert.equal(fromBurn(burn.QuantScheme.nvfp4()).name, 'burn:nvfp4');
	assert.equal(fromBurn(new burn.QuantScheme()).name, 'burn:q8f');
	assert.equal(fromBurn({ value: 'Q2S' }, { calibration: 'AbsMean' }).name, 'burn:q2s');
});

test('JSON of Burn is told from others by its fields', () => {
	const json = {
		value: 'Q4F',
		store: { PackedU32: 0 },
		mode: 'Symmetric',
		tensor: null,
		block: { size: [32], dtype: 'F16' },
	};
	assert.equal(makeScheme(json).name, 'burn:q4f_block32');
	assert.equal(makeScheme({ value: 'E4M3', store: 'Native' }).name, 'burn:e4m3');
});

test('everything that is wrong is said at once, with its field', () => {
	const refused = (json, ...messages) => {
		const { code, message } = (() => {
			try {
				return fromBurn(json);
			} catch (error) {
				return error;
			}
		})();
		assert.equal(code, 'bad-scheme', JSON.stringify(json));
		for (const each of messages) assert.match(message, each);
		assert.equal(message.split('; ').filter((part) => /^\w[\w.]*: /.test(part)).length, messages.length, message);
	};
	refused(
		{ value: 'q4s', store: 'native', mode: 'Affine', tensor: 'F8', block: { size: [0], dtype: 'ue8m0' }, scale: 1 },
		/value: expected one of .*did you mean Q4S/,
		/store: expected "Native" or \{ "PackedNative": axis from the last \}/,
		/mode: expected one of Symmetric, Lookup; got "Affine"/,
		/tensor: expected one of F32, F16, BF16, UE8M0, UE4M3; got "F8"/,
		/block.size: expected a list of edges from 1 to 255, got \[0\]/,
		/block.dtype: .*did you mean UE8M0/,
		/scale: unknown field/,
	);
	refused(
		{ value: 'Q8S', block: { size: [32], dtype: 'F32', edge: 1 } },
		/block.edge: unknown field; expected size, dtype/,
	);
	for (const size of [
		{ storage: [32, 1, 1, 1, 1], len: 6 },
		{ storage: [32], len: 1 },
		{ storage: [32, 2, 1, 1, 1], len: 1 },
		32,
	])
		refused({ block: { size, dtype: 'F32' } }, /block.size(.len|.storage)?: expected/);
	refused(
		{ block: { size: { storage: [32, 1, 1, 1, 1], len: 1, cap: 5 }, dtype: 'F32' } },
		/block.size.cap: unknown field; expected storage, len/,
	);
	refused({ block: [32] }, /block: expected \{ size, dtype \}; got \[32\]/);
	for (const store of [{ PackedU32: -1 }, { PackedU32: 0, PackedNative: 0 }, { Native: 0 }, {}, null, 'PackedU32'])
		refused({ store }, /store: expected/);
	refused({ table: [1, 2, 3, 4], value: 'Q2F' }, /table: mode Symmetric has none/);
	refused({ mode: 'Lookup', value: 'Q2F', table: [1, 2, 3] }, /table: mode Lookup needs the 4 numbers/);
	refused({ tensor: 'F16', block: { size: [32], dtype: 'UE4M3' } }, /tensor: above block scales it is stored as F32/);
	refused([], /scheme: expected \{ value, store, .*\}; got \[\]/);
	assert.throws(() => fromBurn({}, { calibration: 'Mean' }), {
		code: 'bad-argument',
		message: /expected one of MinMax, AbsMean/,
	});
});

test('what Burn cannot say has its reason', () => {
	const base = { value: 'i8', scales: [{ dtype: 'f32', block: 32 }], rules: 'burn', layout: 'burn-quantized-bytes' };
	const cases = [
		[{ value: 'i3' }, /value: Burn has no values of "i3"/],
		[{ scales: [{ dtype: 'f8e4m3', block: 32 }] }, /scales\[0\].dtype: Burn has no scales of f8e4m3/],
		[{ scales: [{ dtype: 'f32', block: 'channel' }] }, /scales\[0\].block: Burn's has other edges/],
		[{ scales: [{ dtype: 'f32', block: 256 }] }, /scales\[0\].block/],
		[
			{
				scales: [
					{ dtype: 'f16', block: 32 },
					{ dtype: 'f32', block: 64 },
				],
			},
			/scales: Burn has blocks, a whole tensor/,
		],
		[{ layout: 'planes' }, /own arithmetic and layout/],
		[{ rules: 'plain' }, /own arithmetic and layout/],
		[{ zero: 'i8' }, /says nothing of a zero point/],
		[{ mins: base.scales }, /says nothing of mins/],
		[{ calibration: { percentile: 99 } }, /calibration: Burn has minmax and absmean/],
	];
	for (const [change, message] of cases)
		assert.throws(() => toBurn({ ...base, ...change }), { code: 'unsupported', message });
	assert.throws(() => toBurn('w4a16'), { code: 'unsupported' });
});

test('a block in front of ones is the same; all ones are blocks of one value', () => {
	const of = (size) => fromBurn({ block: { size, dtype: 'F32' } });
	assert.deepEqual(of([1, 32]), of([32]));
	assert.equal(of([1, 1]).scales[0].block, 1);
	assert.deepEqual(toBurn(of([])).block.size, { storage: [1, 1, 1, 1, 1], len: 0 });
	assert.deepEqual(of([4, 8]).scales[0].block, [4, 8]);
});
