// user-code.js - a user's project for the tests in browsers: pages that quantize and leave hex in `globalThis.outcome`.
// SPDX-License-Identifier: MIT

/**
 * A module that exports results(), to be run in Node and in pages: arrays through every kind of format, and a model file.
 * @param {string} blockquant what it imports
 */
export const userCode = (blockquant) => `
import { compare, dequantize, init, memorySink, openModel, quantize, quantizeModel } from '${blockquant}';

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

const both = (worker) => `import { results } from './user.js';
${FIRST_MESSAGE}
globalThis.outcome = (async () => ({ page: await results(), worker: await firstMessage(${worker}) }))();
`;

const MODULE_WORKER = "new Worker(new URL('./side.js', import.meta.url), { type: 'module' })";
const DIST = '/node_modules/blockquant/dist';

/** Files of the project. */
export const PAGES = {
	'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
	'plain/script.html': page('script.js'),
	'plain/script.js': `import { results } from './user.js';
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
	'plain/refused.html': page('refused.js'),
	'plain/refused.js': `import { init } from '${DIST}/index.mjs';
globalThis.outcome = init().then(() => ({}), ({ code, message }) => ({ code, message }));
`,
	'vite/index.html': page('./main.js'),
	'vite/main.js': `import wasm from 'blockquant/core.wasm?url';
import { init, quantize } from 'blockquant/slim';
import { hexOf, results, weights } from './user.js';
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
