// coreai-observer.test.js - observers over batches: every sequence of golden/coreai step by step, switches, phases, schedules.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { quantize } from '../../js/arrays/quantize.js';
import { createObserver } from '../../js/observers/observer.js';
import { random, ready } from './support.js';

before(() => ready());

const INT8 = { value: 'i8', scales: [{ dtype: 'f32', block: 'tensor' }], rules: 'compressed-tensors' };
const BATCH = { shape: [1, 4] };
const batch = (...values) => Float32Array.from(values);

test('ranges are those of the blocks, over rows, bands and partial blocks alike', () => {
	const r = random(5);
	const data = Float32Array.from({ length: 6 * 10 }, () => r.normal());
	const scheme = { ...INT8, scales: [{ dtype: 'f32', block: [4, 3] }] };
	const observer = createObserver(scheme);
	observer.observe(data, { shape: [6, 10] });
	const { min, max } = observer.ranges;
	for (let row = 0; row < 2; row++)
		for (let column = 0; column < 4; column++) {
			const inside = data.filter(
				(_, i) => Math.floor(Math.floor(i / 10) / 4) === row && Math.floor((i % 10) / 3) === column,
			);
			assert.equal(min[4 * row + column], Math.min(0, ...inside));
			assert.equal(max[4 * row + column], Math.max(0, ...inside));
		}
});

test('calculators: the last, all, an average', () => {
	const batches = [batch(-1, 0, 1, 2), batch(-5, 0, 1, 1), batch(-1, 1, 4, 10)];
	const last = (options) => {
		const observer = createObserver(INT8, options);
		for (const each of batches) observer.observe(each, BATCH);
		const { min, max } = observer.ranges;
		return [min[0], max[0]];
	};
	assert.deepEqual(last({}), [-1, 10]);
	assert.deepEqual(last({ calculator: 'dynamic' }), [-1, 10]);
	assert.deepEqual(last({ calculator: 'global_minmax' }), [-5, 10]);
	assert.deepEqual(last({ calculator: 'moving_average', constant: 0.5 }), [-2, 5.75]);
	assert.deepEqual(last({ calculator: 'global_minmax', range: [null, 3] }), [-5, 3]);
	assert.deepEqual(last({ range: [-2, 3] }), [-2, 3]);
});

test('what an observer cannot take is refused', () => {
	const observer = createObserver(INT8, { calculator: 'moving_average' });
	assert.throws(() => observer.ranges, { code: 'bad-argument' });
	observer.set({ observing: false });
	assert.throws(() => observer.forward(batch(1, 2, 3, 4), BATCH), { code: 'bad-argument' });
	assert.throws(() => observer.observe(batch(1, Number.NaN, 3, 4), BATCH), { code: 'nonfinite' });
	assert.throws(() => observer.observe(batch(1, 2, 3), BATCH), { code: 'bad-shape' });
	assert.throws(() => observer.set({ exporting: 1 }), { code: 'bad-argument' });
	assert.throws(() => observer.set({ recording: true }), { code: 'bad-argument' });
	assert.throws(() => observer.step(), { code: 'bad-argument' });
	assert.throws(() => observer.enter('evaluation'), { code: 'bad-argument' });
	for (const options of [
		{ calculator: 'median' },
		{ calculator: 'moving_average', constant: 0 },
		{ range: [1, 2] },
		{ range: [0, 0] },
		{ range: [Number.NaN, 1] },
		{ calculator: 'dynamic', range: [-1, 1] },
		{ target: 'lut' },
		{ momentum: 1 },
		{ schedule: { enableObserver: -1 } },
		{ schedule: { enableObserver: 2, enableFakeQuantize: 1 } },
		{ schedule: { enableObserver: 2, enableFakeQuantize: 2, disableObserver: 2 } },
		{ schedule: { begin: 1 } },
	])
		assert.throws(() => createObserver(INT8, options), { code: 'bad-argument' }, JSON.stringify(options));
	const rows = createObserver(
		{ ...INT8, scales: [{ dtype: 'f32', block: 'channel' }] },
		{ calculator: 'global_minmax' },
	);
	rows.observe(batch(1, 2, 3, 4), { shape: [2, 2] });
	assert.throws(() => rows.observe(batch(1, 2, 3, 4), { shape: [4, 1] }), { code: 'bad-shape' });
	const half = { ...INT8, observer: { calculator: 'static', range: [null, 1] } };
	assert.throws(() => quantize(batch(1, 2, 3, 4), { ...BATCH, scheme: half }), { code: 'bad-argument' });
	const wrong = { ...INT8, observer: { calculator: 'static', window: 3 } };
	assert.throws(() => quantize(batch(1, 2, 3, 4), { ...BATCH, scheme: wrong }), { code: 'bad-scheme' });
});

const flags = ({ state: { observing, fakeQuantizing } }) =>
	`${observing ? 'on' : 'off'}/${fakeQuantizing ? 'on' : 'off'}`;

test('phases: calibration leaves activations as they are; afterwards what was measured is used', () => {
	for (const [target, calibration] of [
		['weight', 'on/on'],
		['activation', 'on/off'],
	]) {
		const observer = createObserver(INT8, { target });
		assert.equal(flags(observer), 'on/on');
		observer.enter('calibration');
		assert.equal(flags(observer), calibration);
		assert.throws(() => observer.enter('training'), { code: 'bad-argument' });
		observer.leave();
		assert.equal(flags(observer), 'off/on');
		observer.enter('training');
		assert.equal(flags(observer), 'on/on');
		observer.step();
		observer.leave();
		assert.deepEqual([flags(observer), observer.state.step], ['off/on', 1]);
	}
	const dynamic = createObserver(INT8, { calculator: 'dynamic' });
	dynamic.leave();
	assert.equal(flags(dynamic), 'on/on');
});

test('schedules: the two that coreai.md traces', () => {
	for (const [schedule, expected] of [
		[
			{ enableObserver: 0, enableFakeQuantize: 2, disableObserver: 5 },
			'on/off on/off on/on on/on on/on off/on off/on',
		],
		[
			{ enableObserver: 1, enableFakeQuantize: 2, disableObserver: 5 },
			'off/off on/off on/on on/on on/on off/on off/on',
		],
	]) {
		const observer = createObserver(INT8, { schedule });
		assert.throws(() => observer.set({ observing: true }), { code: 'bad-argument' });
		const seen = [];
		for (let t = 0; t < 7; t++) {
			// Steps go on where an earlier time of training ended.
			observer.enter('training');
			seen.push(flags(observer));
			observer.step();
			observer.leave();
			assert.equal(flags(observer), 'off/on');
		}
		assert.equal(seen.join(' '), expected);
	}
});
