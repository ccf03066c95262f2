// workers-support.js - workers' programs for tests: late ones and broken ones, as data: URLs.
// SPDX-License-Identifier: MIT

/** A program as an address. @param {string} text */
export const program = (text) => `data:text/javascript,${encodeURIComponent(text)}`;

const entry = JSON.stringify(new URL('../../js/entry/worker.js', import.meta.url).href);

/** The real worker, whose answers come up to so many ms late: two of them do not keep their order. @param {number} most */
export const delayed = (most) =>
	program(`
		import { parentPort } from 'node:worker_threads';
		const post = parentPort.postMessage.bind(parentPort);
		parentPort.postMessage = (...args) => void setTimeout(() => post(...args), Math.random() * ${most});
		await import(${entry});
	`);

/** The real worker, but for what \`body\` does with a message: it returns true to keep it. @param {string} body */
export const meddling = (body) =>
	program(`
		import { parentPort } from 'node:worker_threads';
		const on = parentPort.on.bind(parentPort);
		parentPort.on = (name, listener) => on(name, (message) => {
			if (!((message) => { ${body} })(message)) listener(message);
		});
		await import(${entry});
	`);
