// workers.test.js - arrays and files on pools of workers: the same bytes, errors and reports as without, whatever their number.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { dequantizeAsync, quantizeAsync } from '../../js/arrays/async.js';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { memoryDirectory, memorySink } from '../../js/io/sink.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { schemes } from '../../js/presets.js';
import { writeIndex } from '../../js/safetensors/index-file.js';
import { createPool } from '../../js/workers/pool.js';
import { bytesOf, f32, llama, safetensors } from './files-support.js';
import { needsImatrix, ready, root } from './support.js';
import { delayed } from './workers-support.js';

/** Pools of 1, 2 and 3; and one of 2 whose workers answer late, each message by another time. */
const pools = [];
before(async () => {
	await ready();
	for (const workers of [1, 2, 3]) pools.push(createPool({ workers }));
	pools.push(createPool({ workers: 2, workerUrl: delayed(20) }));
});
after(() => Promise.all(pools.map((pool) => pool.close())));

/** Two and a half bands of 8 MB. */
const shape = [1280, 4096];
const data = (() => {
	let state = 1;
	return Float32Array.from({ length: shape[0] * shape[1] }, () => {
		state = (Math.imul(state, 1664525) + 1013904223) | 0;
		return state / 2 ** 36;
	});
})();
const small = data.subarray(5, 5 + 4 * 256);
const bits16 = Uint16Array.from({ length: 8 * 256 }, (_, i) => 0x3c00 + ((i * 37) & 1023));

/** Schemes that no preset has: ranges of whole tensors, so two passes. */
const made = [
	{ value: 'i8-narrow', scales: [{ dtype: 'f32', block: 'tensor' }], rules: 'compressed-tensors' },
	{ value: 'u4', scales: [{ dtype: 'f16', block: 'tensor' }], zero: 'u4', rules: 'compressed-tensors' },
];

test('arrays: every preset, one pass or two, has the same bytes from any number of workers', async () => {
	for (const scheme of [...schemes().map(({ name }) => name), ...made]) {
		const imatrix = needsImatrix({ name: scheme }) ? 'ones' : undefined;
		const expected = quantize(data, { scheme, shape, imatrix });
		const values = dequantize(expected);
		for (const pool of pools) {
			const what = `${scheme.name ?? JSON.stringify(scheme)} on ${pool.size}`;
			const found = await quantizeAsync(data, { scheme, shape, imatrix, pool });
			assert.ok(same(found, expected), what);
			assert.ok(bytesEqual(await dequantizeAsync(found, { pool }), values), `${what}, decoded`);
		}
	}
});

/** As deepEqual, without its slow walk over large arrays. */
function bytesEqual(a, b) {
	return (
		Buffer.compare(
			Buffer.from(a.buffer, a.byteOffset, a.byteLength),
			Buffer.from(b.buffer, b.byteOffset, b.byteLength),
		) === 0
	);
}
function same(a, b) {
	const plain = (tensor) =>
		JSON.stringify(tensor, (_, value) => (ArrayBuffer.isView(value) ? Buffer.from(value.buffer).length : value));
	const arrays = (tensor) => (tensor.bytes ? [tensor.bytes] : Object.values(tensor.planes).map(({ bytes }) => bytes));
	return plain(a) === plain(b) && arrays(a).every((array, i) => bytesEqual(array, arrays(b)[i]));
}

test('arrays: every option and kind of array goes the same way', async () => {
	const imatrix = Float32Array.from({ length: 512 }, (_, i) => 1 + (i % 7));
	const ends = (sign) => Float32Array.from({ length: 8 }, (_, i) => sign * (0.01 + i / 100));
	const nan = small.slice();
	nan[7] = Number.NaN;
	const cases = [
		[small, { scheme: 'q4_k', shape: [2, 2, 256], imatrix }],
		[small, { scheme: 'w4a16', shape: [4, 256], ranges: { min: ends(-1), max: ends(1) } }],
		[small, { scheme: 'w4a16_asym', shape: [4, 256], correct: true }],
		[Float64Array.from(small, (x) => x + 1e-12), { scheme: 'nvfp4a16', shape: [4, 256] }],
		[bits16, { scheme: 'fp8_dynamic', shape: [8, 256], dtype: 'bf16' }],
		[bits16, { scheme: 'nvfp4a16', shape: [8, 256], dtype: 'f16' }],
		[nan, { scheme: 'nvfp4a16', shape: [4, 256], nonfinite: 'allow', overflow: 'allow' }],
	];
	for (const [array, options] of cases)
		for (const pool of pools)
			assert.deepEqual(await quantizeAsync(array, { ...options, pool }), quantize(array, options));
	// Without a pool: that of all cores, or workers for one call.
	const options = { scheme: 'q8_0', shape: [4, 256] };
	assert.deepEqual(await quantizeAsync(small, options), quantize(small, options));
	assert.deepEqual(await quantizeAsync(small, { ...options, workers: 2 }), quantize(small, options));
});

test('arrays: the input stays the caller’s, unless it is given away', async () => {
	for (const pool of pools)
		for (const length of [4 * 256, data.length]) {
			const options = { scheme: 'nvfp4a16', shape: [length / 256, 256], pool };
			const own = data.slice(0, length);
			const kept = await quantizeAsync(own, options);
			assert.equal(own.length, length);
			const given = await quantizeAsync(own, { ...options, transfer: true });
			assert.equal(own.length, 0);
			assert.ok(same(given, kept));
			const { bytes } = kept.planes.weight_packed;
			await dequantizeAsync(kept, { pool });
			assert.ok(bytes.length > 0);
		}
	const shared = new Float32Array(new SharedArrayBuffer(4096));
	await assert.rejects(quantizeAsync(shared, { scheme: 'q8_0', shape: [1024], transfer: true }), {
		code: 'bad-argument',
	});
	assert.equal((await quantizeAsync(shared, { scheme: 'q8_0', shape: [1024] })).nbytes, 1088);
});

test('arrays: a subclass, a part of a larger importance and options of a wrong kind', async () => {
	class Hiding extends Float32Array {
		subarray() {
			return new Float32Array(0);
		}
	}
	const options = { scheme: 'q4_k', shape: [4, 256] };
	const imatrix = Float32Array.from({ length: 2048 }, (_, i) => 1 + (i % 5)).subarray(3, 259);
	const quantized = quantize(small, options);
	for (const pool of pools) {
		assert.deepEqual(await quantizeAsync(new Hiding(small), { ...options, pool }), quantized);
		assert.deepEqual(
			await quantizeAsync(small, { ...options, imatrix, pool }),
			quantize(small, { ...options, imatrix }),
		);
	}
	const wrong = [{ pool: {} }, { workers: 1.5 }, { workers: '2' }, { signal: {} }, { onProgress: 1 }];
	for (const more of wrong) {
		await assert.rejects(quantizeAsync(small, { ...options, ...more }), { code: 'bad-argument' });
		await assert.rejects(dequantizeAsync(quantized, more), { code: 'bad-argument' });
	}
	for (const none of [null, 5, { scheme: 'q4_k' }])
		await assert.rejects(dequantizeAsync(quantized, none), { code: 'bad-argument' });
	for (const none of [undefined, null, 5, { ...options, banana: 1 }])
		await assert.rejects(quantizeAsync(small, none), { name: 'BlockQuantError' });
});

test('arrays and files: a plane with another shape is refused, values too large are counted, on any pool', async () => {
	const scheme = 'w4a16';
	const quantized = quantize(small, { scheme, shape: [4, 256] });
	quantized.planes.weight_shape.bytes[0]++;
	const message = /the shape stored is \[5, 256\]; expected \[4, 256\]/;
	for (const pool of pools)
		await assert.rejects(dequantizeAsync(quantized, { pool }), { code: 'bad-shape', message });
	const large = data.map((x, i) => (i % 1_000_000 === 0 ? 2e5 : x));
	const sink = memorySink();
	const model = await openModel(safetensors([f32('x.weight', shape, large)]));
	await quantizeModel(model, sink, { scheme: 'w8a16' });
	const found = [];
	for (const pool of pools) {
		const { warnings } = await dequantizeModel(await openModel(sink.bytes()), memorySink(), { dtype: 'f16', pool });
		found.push(warnings.filter((text) => text.includes('are infinite')));
	}
	assert.match(found[0][0], /^tensor "x.weight": \d+ value\(s\) are infinite: f16 holds none so large$/);
	for (const texts of found) assert.deepEqual(texts, found[0]);
	const wrong = { code: 'bad-argument', message: /^pool: expected a pool/ };
	await assert.rejects(quantizeModel(model, memorySink(), { scheme, pool: 2 }), wrong);
	await assert.rejects(dequantizeModel(model, memorySink(), { pool: 2 }), wrong);
});

test('arrays: errors are those of quantize(), the first in order', async () => {
	const bad = data.slice();
	for (const at of [5_000_000, 2_500_000, 2_500_001]) bad[at] = Number.NaN;
	for (const scheme of ['w4a16', 'nvfp4a16', 'q4_0']) {
		let expected;
		assert.throws(
			() => quantize(bad, { scheme, shape }),
			(error) => Boolean((expected = error)),
		);
		assert.match(expected.message, /2500000 and 1 more/);
		for (const pool of pools)
			await assert.rejects(quantizeAsync(bad, { scheme, shape, pool }), {
				code: 'nonfinite',
				message: expected.message,
			});
	}
	await assert.rejects(quantizeAsync(small, { scheme: 'q9', shape: [4, 256] }), { code: 'unknown-scheme' });
	await assert.rejects(quantizeAsync(small), { code: 'bad-argument' });
	await assert.rejects(quantizeAsync(small, { scheme: 'q8_0', shape: [4, 256], worker: 2 }), {
		code: 'bad-argument',
	});
	await assert.rejects(dequantizeAsync(), { code: 'bad-argument' });
});

test('arrays: progress in values to the end, and an abort stops within a band', async () => {
	for (const pool of pools) {
		/** @type {number[]} */
		const seen = [];
		const onProgress = ({ done, total }) => {
			assert.equal(total, data.length);
			seen.push(done);
		};
		await quantizeAsync(data, { scheme: 'nvfp4a16', shape, pool, onProgress });
		assert.deepEqual(
			seen,
			seen.toSorted((a, b) => a - b),
		);
		assert.deepEqual([seen[0], seen.at(-1)], [0, data.length]);
		const controller = new AbortController();
		const stop = ({ done }) => done > 0 && controller.abort(new Error('enough'));
		const quantizing = quantizeAsync(data, {
			scheme: 'q4_k',
			shape,
			pool,
			signal: controller.signal,
			onProgress: stop,
		});
		await assert.rejects(quantizing, { code: 'cancelled', cause: new Error('enough') });
		const signal = AbortSignal.abort();
		await assert.rejects(quantizeAsync(data, { scheme: 'q4_k', shape, pool, signal }), { code: 'cancelled' });
		// The pool is as good as before.
		assert.equal((await quantizeAsync(small, { scheme: 'q8_0', shape: [4, 256], pool })).nbytes, 1088);
	}
});

/** A small layer, a tensor of several bands, and more small ones after it. */
const model = () => {
	const tensors = [f32('a.weight', [8, 256], data.slice(0, 2048)), f32('big.weight', shape, data)];
	for (let i = 0; i < 30; i++) tensors.push(f32(`later.${i}.weight`, [16, 256], data.slice(i, i + 4096)));
	tensors.push(f32('embed_tokens.weight', [1024, 4096], data.subarray(0, 1024 * 4096)));
	return safetensors(tensors);
};

/** One run to a file in memory. */
async function toFile(run, input, options) {
	const sink = memorySink();
	const result = await run(await openModel(input), sink, options);
	return { ...result, bytes: Buffer.from(sink.bytes()) };
}

test('files: the same bytes, report and progress from any number of workers, both ways', async () => {
	for (const [input, scheme] of [
		[model(), 'nvfp4a16'],
		[model(), 'w4a16_asym'],
		[llama(1), 'fp8_dynamic'],
	]) {
		const expected = await toFile(quantizeModel, input, { scheme });
		const back = await toFile(dequantizeModel, expected.bytes, { dtype: 'f16' });
		for (const pool of pools) {
			/** @type {{ done: number, total: number }[]} */
			const seen = [];
			const onProgress = (progress) => void seen.push(progress);
			assert.deepEqual(await toFile(quantizeModel, input, { scheme, pool, onProgress }), expected);
			assert.ok(seen.every(({ done }, i) => done >= (seen[i - 1]?.done ?? 0)));
			assert.equal(seen.at(-1).done, seen[0].total);
			assert.deepEqual(await toFile(dequantizeModel, expected.bytes, { dtype: 'f16', pool }), back);
		}
	}
	const expected = await toFile(quantizeModel, llama(1), { scheme: 'w8a16' });
	assert.deepEqual(await toFile(quantizeModel, llama(1), { scheme: 'w8a16', workers: 3 }), expected);
});

test('files: a model of several shards', async () => {
	const named = (name, bytes) => Object.assign(new Blob([bytes]), { name });
	const shard = (i) =>
		safetensors([f32(`${i}.weight`, [64, 256], data.slice(i, i + 16384)), f32(`${i}.bias`, [4], data.slice(0, 4))]);
	const names = [1, 2].flatMap((i) => [`${i}.weight`, `${i}.bias`]);
	const index = writeIndex(new Map(names.map((name) => [name, `${name[0]}.safetensors`])), 0, undefined);
	const run = async (options) => {
		const directory = memoryDirectory();
		const sources = [
			named('m.safetensors.index.json', index),
			named('1.safetensors', shard(1)),
			named('2.safetensors', shard(2)),
		];
		await quantizeModel(await openModel(sources), directory, { scheme: 'nvfp4a16', ...options });
		return [...directory.files].map(([name, sink]) => [name, Buffer.from(sink.bytes())]);
	};
	const expected = await run({});
	assert.equal(expected.length, 3);
	for (const pool of pools) assert.deepEqual(await run({ pool }), expected);
});

test('files: the error is that of the first tensor in order, and nothing is written after it', async () => {
	const bad = (count, ...at) =>
		Float32Array.from({ length: count }, (_, i) => (at.includes(i) ? Number.NaN : data[i]));
	const large = Float32Array.from({ length: 256 }, (_, i) => (i % 2 ? 3e38 : -3e38));
	const input = safetensors([
		f32('a.weight', [8, 256], data.slice(0, 2048)),
		f32('b.weight', shape, bad(data.length, data.length - 1)),
		f32('c.weight', [4, 256], bad(1024, 3, 4)),
		f32('d.weight', [1, 256], large),
		f32('e.weight', [1, 256], bad(256, 0)),
	]);
	for (const [exclude, code, tensor, message] of [
		[[], 'nonfinite', 'b.weight', /index 5242879;/],
		[[/^b/], 'nonfinite', 'c.weight', /index 3 and 1 more/],
		[[/^[bc]/], 'overflow', 'd.weight', /2 block/],
	])
		for (const pool of pools) {
			const calls = [];
			const sink = {
				write: () => void calls.push('write'),
				close: () => void calls.push('close'),
				abort: () => void calls.push('abort'),
			};
			const options = { scheme: 'w4a16_asym', exclude, pool };
			await assert.rejects(quantizeModel(await openModel(input), sink, options), { code, tensor, message });
			assert.deepEqual([calls.filter((call) => call !== 'write'), calls.at(-1)], [['abort'], 'abort']);
		}
});

test('files: bands in memory are bounded, also where writing is slow', async () => {
	const bytes = safetensors([f32('x.weight', [8192, 4096], new Float32Array(8192 * 4096))]);
	for (const workers of [1, 2]) {
		let [inMemory, most] = [0, 0];
		const source = {
			size: bytes.length,
			fresh: true,
			async read(offset, length) {
				if (length > 1e6) most = Math.max(most, (inMemory += length));
				return bytes.slice(offset, offset + length);
			},
		};
		const sink = {
			async write(part) {
				await new Promise((resolve) => setTimeout(resolve, 5));
				if (part.length > 1e6) inMemory -= 8 * 2 ** 20;
			},
		};
		await quantizeModel(await openModel(source), sink, { scheme: 'w8a16', workers });
		assert.equal(inMemory, 0);
		assert.ok(most <= (2 * workers + 1) * 8 * 2 ** 20, `${most} bytes at once with ${workers}`);
		assert.ok(most >= 2 * workers * 8 * 2 ** 20, `only ${most} bytes at once with ${workers}`);
	}
});

test('files: a source that keeps what it gives keeps it', async () => {
	const whole = safetensors([f32('x.weight', [4, 256], small)]);
	const weights = whole.slice(-4096);
	const kept = {
		size: whole.length,
		read: async (offset, length) => (length === 4096 ? weights : whole.slice(offset, offset + length)),
	};
	for (let i = 0; i < 2; i++)
		await quantizeModel(await openModel(kept), memorySink(), { scheme: 'nvfp4a16', workers: 2 });
	assert.deepEqual(weights, bytesOf(small));
});

test('files: an abort stops within a band and leaves nothing', async () => {
	const input = model();
	for (const pool of pools) {
		const sink = memorySink();
		const controller = new AbortController();
		let after = 0;
		const onProgress = ({ done }) => {
			if (controller.signal.aborted) after++;
			else if (done > 1e7) controller.abort();
		};
		const options = { scheme: 'nvfp4a16', pool, signal: controller.signal, onProgress };
		await assert.rejects(quantizeModel(await openModel(input), sink, options), { code: 'cancelled' });
		assert.equal(sink.bytes().length, 0);
		assert.ok(after <= 2 * pool.gate.places, `${after} steps after the abort`);
	}
});

test('the Node entry finds its worker, among the sources too', async () => {
	const entry = await import('../../js/entry/node.js');
	await entry.init({ wasm: readFileSync(join(root, 'build/wasm/core.wasm')) });
	const options = { scheme: 'q4_k', shape: [4, 256] };
	assert.deepEqual(await entry.quantizeAsync(small, { ...options, workers: 2 }), entry.quantize(small, options));
	const dist = await import('../../dist/node.mjs');
	await dist.init();
	assert.deepEqual(await dist.quantizeAsync(small, { ...options, workers: 2 }), entry.quantize(small, options));
});
