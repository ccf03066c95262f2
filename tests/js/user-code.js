// user-code.js - a user's project for the tests in browsers: pages that quantize and leave hex in `globalThis.outcome`.
// SPDX-License-Identifier: MIT

/**
 * A module that exports results(), to be run in Node and in pages: arrays through every kind of format, and a model file.
 * @param {string} blockquant what it imports
 */
export const userCode = (blockquant) => `
import {
	compare, createPool, dequantize, dequantizeAsync, init, memorySink, openModel, quantize, quantizeAsync, quantizeModel,
} from '${blockquant}';

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/* A linear congruential generator: the same on every machine. */
export function weights(count) {
	let state = 1;
	return Float32Array.from({ length: count }, () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return (state - 2 ** 31) / 2 ** 34;
	});
}

export function hexOf({ bytes, planes }) {
	if (bytes) return hex(bytes);
	return Object.entries(planes).map(([name, plane]) => name + ' ' + hex(plane.bytes)).join(' ');
}

function modelFile() {
	const data = weights(128 * 256);
	const header = JSON.stringify({
		'model.layers.0.mlp.up_proj.weight': { dtype: 'F32', shape: [128, 256], data_offsets: [0, data.byteLength] },
	});
	const text = new TextEncoder().encode(header.padEnd(Math.ceil(header.length / 8) * 8));
	const length = new BigUint64Array([BigInt(text.length)]);
	return new File([length, text, data], 'model.safetensors');
}

export async function results() {
	await init();
	const data = weights(64 * 256);
	const found = {};
	for (const scheme of ['q8_0', 'q4_0', 'q4_k', 'w4a16', 'fp8_dynamic', 'nvfp4a16', 'mxfp4a16']) {
		const quantized = quantize(data, { scheme, shape: [64, 256] });
		found[scheme] = hexOf(quantized);
		found[scheme + ' error'] = String(compare(data, dequantize(quantized)).sqnrDb);
	}
	const sink = memorySink();
	await quantizeModel(await openModel(modelFile()), sink, { scheme: 'nvfp4a16' });
	found.model = hex(sink.bytes());
	return found;
}

const same = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);
const arrays = ({ bytes, planes }) => (bytes ? [bytes] : Object.values(planes).map((plane) => plane.bytes));

/* Three bands on a pool of two: whether the bytes are those of quantize(), who worked, and how an abort ends. */
export async function pooled(workerUrl) {
	await init();
	const { Worker } = globalThis;
	let started = 0;
	globalThis.Worker = class extends Worker {
		constructor(...args) {
			super(...args);
			started++;
		}
	};
	const pool = createPool({ workers: 2, workerUrl });
	try {
		const shape = [1280, 4096];
		const data = weights(1280 * 4096);
		const found = {};
		for (const scheme of ['q4_k', 'nvfp4a16']) {
			const here = quantize(data, { scheme, shape });
			const there = await quantizeAsync(data, { scheme, shape, pool });
			found[scheme] = arrays(here).every((bytes, i) => same(bytes, arrays(there)[i]));
			found[scheme + ' back'] = same(dequantize(here), await dequantizeAsync(there, { pool }));
		}
		const controller = new AbortController();
		let later = 0;
		const onProgress = ({ done }) => {
			if (controller.signal.aborted) later++;
			else if (done > 0) controller.abort();
		};
		const { signal } = controller;
		found.abort = await quantizeAsync(data, { scheme: 'q4_k', shape, pool, signal, onProgress }).then(
			() => 'not at all',
			({ code }) => code,
		);
		found.later = later;
		const small = { scheme: 'q4_k', shape: [64, 256] };
		const part = weights(64 * 256);
		found.afterwards = same((await quantizeAsync(part, { ...small, pool })).bytes, quantize(part, small).bytes);
		return { ...found, started, warnings: pool.warnings };
	} finally {
		await pool.close();
		globalThis.Worker = Worker;
	}
}

/* How a model fails on a pool whose workers do not start. */
export async function failing(workerUrl) {
	await init();
	const pool = createPool({ workers: 2, workerUrl });
	try {
		await quantizeModel(await openModel(modelFile()), memorySink(), { scheme: 'nvfp4a16', pool });
		return 'not at all';
	} catch ({ code, tensor, message }) {
		return { code, tensor, message };
	} finally {
		await pool.close();
	}
}
`;

const page = (script, type = 'module') => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>user</title><link rel="icon" href="/icon.svg"></head>
<body><script type="${type}" src="${script}"></script></body></html>
`;

/** Replaced by esbuild and Vite, or run as it is: the other side of a worker. */
const SIDE = `import { results } from './user.js';
results().then((found) => postMessage(found), (error) => postMessage({ error: String(error) }));
`;

/** The first message of a worker; a worker that fails to start rejects. */
const FIRST_MESSAGE = `const firstMessage = (worker) => new Promise((resolve, reject) => {
	worker.onmessage = ({ data }) => resolve(data);
	worker.onerror = (event) => reject(new Error('the worker failed: ' + event.message));
});
`;

/** For the tests to call. */
const LATER = 'Object.assign(globalThis, { pooled, failing });';

const both = (worker) => `import { failing, pooled, results } from './user.js';
${LATER}
${FIRST_MESSAGE}
globalThis.outcome = (async () => ({ page: await results(), worker: await firstMessage(${worker}) }))();
`;

const MODULE_WORKER = "new Worker(new URL('./side.js', import.meta.url), { type: 'module' })";
const DIST = '/node_modules/blockquant/dist';

/** Files of the project. */
export const PAGES = {
	'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
	'plain/script.html': page('script.js'),
	'plain/script.js': `import { failing, pooled, results } from './user.js';
${LATER}
globalThis.outcome = results().then((found) => ({ page: found }));
`,
	'plain/worker.html': page('worker.js'),
	'plain/worker.js': `${FIRST_MESSAGE}
globalThis.outcome = firstMessage(${MODULE_WORKER}).then((found) => ({ worker: found }));
`,
	'plain/side.js': SIDE,
	'plain/slim.html': page('slim.js'),
	'plain/slim.js': `import { init, quantize } from '${DIST}/slim.mjs';
import { hexOf, weights } from './user.js';
globalThis.outcome = init({ wasm: '${DIST}/core.wasm' }).then(() => ({
	page: { q4_k: hexOf(quantize(weights(64 * 256), { scheme: 'q4_k', shape: [64, 256] })) },
}));
`,
	'plain/answers.html': page('answers.js'),
	'plain/answers.js': `import { hexOf, weights } from './user.js';
const worker = new Worker('${DIST}/worker.mjs', { type: 'module' });
let last = 0;
const call = (name, ...args) => new Promise((resolve, reject) => {
	const id = ++last;
	worker.addEventListener('message', ({ data }) => {
		if (data.id === id) data.error ? reject(new Error(data.error.message)) : resolve(data.result);
	});
	worker.onerror = (event) => reject(new Error('the worker failed: ' + event.message));
	worker.postMessage({ id, call: name, args });
});
globalThis.outcome = (async () => {
	const wasm = await WebAssembly.compile(await (await fetch('${DIST}/core.wasm')).arrayBuffer());
	await call('init', { wasm });
	const quantized = await call('quantize', weights(64 * 256), { scheme: 'nvfp4a16', shape: [64, 256] });
	return { worker: { nvfp4a16: hexOf(quantized) } };
})();
`,
	'broken.js': 'const =',
	'plain/refused.html': page('refused.js'),
	'plain/refused.js': `import { init } from '${DIST}/index.mjs';
globalThis.outcome = init().then(() => ({}), ({ code, message }) => ({ code, message }));
`,
	'vite/index.html': page('./main.js'),
	'vite/main.js': `import wasm from 'blockquant/core.wasm?url';
import { init, quantize } from 'blockquant/slim';
import { failing, hexOf, pooled, results, weights } from './user.js';
${LATER}
${FIRST_MESSAGE}
async function slim() {
	await init({ wasm: new URL(wasm, location.href) });
	return { q4_0: hexOf(quantize(weights(64 * 256), { scheme: 'q4_0', shape: [64, 256] })) };
}
globalThis.outcome = (async () => ({
	page: await results(),
	worker: await firstMessage(${MODULE_WORKER}),
	slim: await slim(),
}))();
`,
	'vite/side.js': SIDE,
	'esbuild/page.js': both("new Worker('side.js')"),
	'esbuild/side.js': SIDE,
	'esbuild-out/page.html': page('page.js', 'text/javascript'),
};
