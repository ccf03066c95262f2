// failures.test.js - what goes wrong while a model is written: one error each, and nothing kept.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { memorySink } from '../../js/io/sink.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { bytesOf, f32, llama, noise, quantized, safetensors, stored, weights } from './files-support.js';
import { ready } from './support.js';

before(() => ready());

test('NaN and infinite weights: refused with tensor and index, or allowed', async () => {
	for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
		const values = weights(512, 1);
		values[300] = value;
		const bytes = safetensors([f32('x.weight', [4, 128], values)]);
		let aborted = 0;
		const sink = { ...memorySink(), abort: () => void aborted++ };
		await assert.rejects(quantizeModel(await openModel(bytes), sink, { scheme: 'w4a16' }), (error) => {
			assert.ok(error instanceof BlockQuantError);
			return error.code === 'nonfinite' && error.tensor === 'x.weight' && /300/.test(error.message);
		});
		assert.equal(aborted, 1);
		const { warnings } = await quantized(bytes, { scheme: 'w4a16', nonfinite: 'allow', overflow: 'allow' });
		assert.match(warnings[0], /x\.weight.*1 NaN or infinite/);
	}
});

test('scales beyond f16: refused with the tensor, or allowed with a warning', async () => {
	const values = Uint16Array.from({ length: 512 }, (_, i) => (i % 2 ? 0xfbff : 0x7bff));
	const bytes = safetensors([{ name: 'x.weight', dtype: 'F16', shape: [4, 128], data: bytesOf(values) }]);
	await assert.rejects(quantized(bytes, { scheme: 'w4a16_asym' }), {
		code: 'overflow',
		tensor: 'x.weight',
		message: /f16/,
	});
	const { warnings } = await quantized(bytes, { scheme: 'w4a16_asym', overflow: 'allow' });
	assert.match(warnings[0], /tensor "x.weight": 4 block/);
});

test('cancelled: within a band, and nothing is kept', async () => {
	const input = llama(1);
	const sink = memorySink();
	const controller = new AbortController();
	const seen = [];
	const running = quantizeModel(await openModel(input), sink, {
		scheme: 'w4a16',
		signal: controller.signal,
		onProgress: (progress) => {
			seen.push(progress);
			if (seen.length === 6) controller.abort();
		},
	});
	await assert.rejects(running, { code: 'cancelled' });
	assert.ok(seen.length < 12);
	assert.equal(sink.bytes().length, 0);
});

test('progress: input bytes, never back, to the end', async () => {
	/** @type {{ done: number, total: number }[]} */
	const seen = [];
	const { plan: planned } = await quantized(llama(1), {
		scheme: 'nvfp4a16',
		onProgress: (progress) => seen.push(progress),
	});
	assert.ok(seen.every(({ done }, i) => done >= (seen[i - 1]?.done ?? 0)));
	assert.equal(seen.at(-1)?.done, planned.totals.nbytesBefore);
	assert.ok(seen.every(({ total }) => total === planned.totals.nbytesBefore));
});

test('a sink that fails: one io error, and the sink is aborted', async () => {
	let aborted = 0;
	let room = 1000;
	const sink = {
		write(/** @type {Uint8Array} */ bytes) {
			room -= bytes.length;
			if (room < 0) throw new Error('full');
		},
		abort: () => void aborted++,
	};
	await assert.rejects(quantizeModel(await openModel(llama(1)), sink, { scheme: 'w4a16' }), {
		code: 'io',
		message: /cannot write: full/,
	});
	assert.equal(aborted, 1);
});

test('what is not quantized cannot be dequantized', async () => {
	await assert.rejects(dequantizeModel(await openModel(llama(1)), memorySink()), { code: 'nothing-to-do' });
	const lone = await openModel(
		safetensors([{ name: 'x.weight_scale', dtype: 'F32', shape: [1], data: noise(4, 1) }]),
	);
	await assert.rejects(dequantizeModel(lone, memorySink()), { code: 'unsupported', tensor: 'x.weight' });
});

test('planes that do not fit one another are refused before anything is decoded', async () => {
	const { model } = await quantized(llama(1), { scheme: 'w4a16' });
	const tensors = await Promise.all(
		model.tensors.map(async ({ name, dtype, shape }) => ({ name, dtype, shape, data: await stored(model, name) })),
	);
	const q = 'model.layers.0.self_attn.q_proj.weight';
	/** @param {string} plane @param {(tensor: typeof tensors[number]) => typeof tensors[number]} change */
	const changed = async (plane, change) =>
		openModel(safetensors(tensors.map((one) => (one.name === `${q}_${plane}` ? change(one) : one))));
	const cases = [
		await changed('shape', (one) => ({ ...one, data: one.data.slice().fill(255) })),
		await changed('shape', (one) => ({
			...one,
			data: Uint8Array.from(one.data, (byte, i) => (i === 0 ? byte + 1 : byte)),
		})),
		await changed('shape', (one) => ({
			...one,
			data: Uint8Array.from(one.data, (byte, i) => (i === 5 ? 1 : byte)),
		})),
		await changed('scale', ({ data, ...one }) => ({ ...one, shape: [2], data: data.slice(0, 4) })),
		await changed('packed', ({ data, ...one }) => ({ ...one, shape: [1, data.length / 4], data })),
		await changed('packed', ({ data, ...one }) => ({
			...one,
			shape: [one.shape[0] / 2, one.shape[1]],
			data: data.slice(0, data.length / 2),
		})),
	];
	for (const one of cases) {
		let writes = 0;
		const sink = { write: () => void writes++ };
		await assert.rejects(
			dequantizeModel(one, sink),
			(error) => error instanceof BlockQuantError && error.tensor === q,
		);
		assert.equal(writes, 0);
	}
});

test('dequantized values that the dtype cannot hold: written as infinities, with a warning', async () => {
	const values = weights(512, 1);
	values.forEach((value, i) => {
		values[i] = i % 128 === 5 ? 70_000 * Math.sign(value || 1) : value;
	});
	const { model } = await quantized(safetensors([f32('x.weight', [4, 128], values)]), { scheme: 'w8a16' });
	const sink = memorySink();
	const { warnings } = await dequantizeModel(model, sink, { dtype: 'f16' });
	assert.deepEqual(warnings, ['tensor "x.weight": 4 value(s) are infinite: f16 holds none so large']);
	const back = new Uint16Array((await stored(await openModel(sink.bytes()), 'x.weight')).slice().buffer);
	assert.equal(back.filter((word) => (word & 0x7fff) === 0x7c00).length, 4);
	for (const dtype of /** @type {const} */ (['bf16', 'f32']))
		assert.deepEqual((await dequantizeModel(model, memorySink(), { dtype })).warnings, []);
});
