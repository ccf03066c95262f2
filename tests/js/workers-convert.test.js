// workers-convert.test.js - plain conversions and the decoding half of requantizing on a pool: the bytes, errors and counts of the
// caller's thread, which does none of it.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { dequantize, quantize } from '../../js/arrays/quantize.js';
import { Core } from '../../js/core/core.js';
import { memorySink } from '../../js/io/sink.js';
import { dequantizeModel } from '../../js/model/dequantize.js';
import { openModel } from '../../js/model/open.js';
import { quantizeModel } from '../../js/model/quantize.js';
import { createPool } from '../../js/workers/pool.js';
import { bytesOf, weights } from './files-support.js';
import { gguf, LLAMA } from './gguf-support.js';
import { ready } from './support.js';
import { delayed } from './workers-support.js';

/** Two bands of 8 MB and a part of a third, rows that do not divide a band. */
const shape = [11, 384 * 1024 + 256];
const data = weights(shape[0] * shape[1], 3);

/** A file of every plain type and of one quantized type: the blocks of `q8`. */
let input;
let q8;
const pools = [];
before(async () => {
	await ready();
	for (const workers of [1, 2, 3]) pools.push(createPool({ workers }));
	pools.push(createPool({ workers: 2, workerUrl: delayed(20) }));
	q8 = quantize(data, { scheme: 'ggml:q8_0', shape });
	const dims = shape.toReversed();
	const bits = (seed) => bytesOf(Uint16Array.from(weights(512, seed), (x) => 0x3800 + Math.round(x * 1000)));
	input = gguf({
		pairs: LLAMA,
		tensors: [
			{ name: 'token_embd.weight', dims, type: 0, data: bytesOf(data) },
			{ name: 'blk.0.attn_q.weight', dims, type: 8, data: q8.bytes },
			{ name: 'blk.0.ffn_down.weight', dims: [256, 2], type: 1, data: bits(1) },
			{ name: 'blk.0.ffn_up.weight', dims: [256, 2], type: 30, data: bits(2) },
		],
	});
});
after(() => Promise.all(pools.map((pool) => pool.close())));

async function toFile(run, bytes, options) {
	const sink = memorySink();
	const { report, tensors, warnings } = await run(await openModel(bytes), sink, options);
	return { report, tensors, warnings, bytes: Buffer.from(sink.bytes()) };
}

async function tensorOf(bytes, name) {
	const { read, nbytes } = (await openModel(bytes)).tensors.find((tensor) => tensor.name === name);
	return read(0, nbytes);
}

test('converted to plain floats, or decoded and quantized again: the same from any number of workers', async () => {
	for (const scheme of ['F16', 'BF16', 'F32', 'Q4_0', 'Q6_K']) {
		const options = { scheme, pure: true, allowRequantize: true };
		const expected = await toFile(quantizeModel, input, options);
		for (const pool of pools)
			assert.deepEqual(
				await toFile(quantizeModel, input, { ...options, pool }),
				expected,
				`${scheme}, ${pool.size}`,
			);
		if (scheme === 'F32') {
			const decoded = await tensorOf(expected.bytes, 'blk.0.attn_q.weight');
			assert.equal(Buffer.compare(decoded, bytesOf(dequantize(q8))), 0);
		}
		if (scheme === 'Q4_0') {
			const again = quantize(dequantize(q8), { scheme: 'ggml:q4_0', shape });
			const { bytes } = expected;
			assert.equal(Buffer.compare(await tensorOf(bytes, 'blk.0.attn_q.weight'), again.bytes), 0);
		}
	}
});

test('the calling thread computes none of it', async () => {
	const calls = ['convert', 'range', 'encode', 'decode'].map((name) => mock.method(Core.prototype, name));
	const count = () => calls.reduce((sum, call) => sum + call.mock.callCount(), 0);
	try {
		for (const scheme of ['F16', 'Q4_0']) {
			const options = { scheme, pure: true, allowRequantize: true };
			await toFile(quantizeModel, input, { ...options, pool: pools[1] });
			await toFile(dequantizeModel, input, { dtype: 'f16', pool: pools[1] });
			assert.equal(count(), 0, scheme);
			await toFile(quantizeModel, input, options);
			assert.ok(count() > 0);
			for (const call of calls) call.mock.resetCalls();
		}
	} finally {
		for (const call of calls) call.mock.restore();
	}
});

/** One tensor of values, some of which are others. */
const withValues = (found) => {
	const values = data.slice();
	for (const [index, value] of Object.entries(found)) values[index] = value;
	return gguf({
		pairs: LLAMA,
		tensors: [{ name: 'x.weight', dims: shape.toReversed(), type: 0, data: bytesOf(values) }],
	});
};

test('what a dtype cannot hold: the first in order is the error, or all are counted', async () => {
	const last = data.length - 1;
	const bytes = withValues({ 7: -65520, 8: 65519, 2200000: Number.NaN, [last]: Number.POSITIVE_INFINITY });
	const allow = { nonfinite: 'allow', overflow: 'allow' };
	for (const pool of pools) {
		const options = { scheme: 'F16', pure: true, pool };
		const fails = (more, code, message) =>
			assert.rejects(toFile(quantizeModel, bytes, { ...options, ...more }), {
				code,
				message,
				tensor: 'x.weight',
			});
		await fails({}, 'overflow', /-65520 at index 7 is too large for f16/);
		await fails({ overflow: 'allow' }, 'nonfinite', /index 2200000;/);
		await fails({ nonfinite: 'allow' }, 'overflow', /index 7 /);
		const { report, warnings } = await toFile(quantizeModel, bytes, { ...options, ...allow });
		assert.deepEqual([report[0].nonfiniteValues, report[0].overflowBlocks], [2, 1]);
		assert.match(warnings.join(), /2 NaN or infinite.*1 weight\(s\) that f16 cannot hold/);
		await fails({ scheme: 'BF16' }, 'nonfinite', /index 2200000;/);
	}
	// In one piece, the one of the lower index, whichever rule it breaks.
	for (const [found, code] of [
		[{ 5: Number.NaN, 6: 1e6 }, 'nonfinite'],
		[{ 5: 1e6, 6: Number.NaN }, 'overflow'],
	])
		await assert.rejects(toFile(quantizeModel, withValues(found), { scheme: 'F16', pure: true }), {
			code,
			message: /index 5\b/,
		});
});

test('an abort stops a conversion within a band', async () => {
	for (const pool of pools) {
		const controller = new AbortController();
		const { signal } = controller;
		let after = 0;
		const onProgress = ({ done }) => {
			if (signal.aborted) after++;
			else if (done > 0) controller.abort();
		};
		const sink = memorySink();
		const options = { scheme: 'F16', pure: true, allowRequantize: true, pool, signal, onProgress };
		await assert.rejects(quantizeModel(await openModel(input), sink, options), { code: 'cancelled' });
		assert.ok(after <= 1, `${after} steps after the abort`);
		assert.equal(sink.bytes().length, 0);
	}
});
