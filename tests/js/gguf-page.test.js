// gguf-page.test.js - GGUF files on the demo page: what it offers and why not, downloads that are the command's files, and a real model
// that was quantized on the page and then answers in the browser, in wllama's llama.cpp.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DEMO_HEADERS, isOfDemo, serve } from '../../scripts/serve.mjs';
import { describeInBrowsers, newPage, skipReason, startBrowser } from './browser-support.js';
import { done, root } from './cli-support.js';
import { bytesOf, weights } from './files-support.js';
import { gguf, LLAMA, pair } from './gguf-support.js';
import { file } from './page-models.js';
import {
	assertNeverHeldUp,
	choose,
	commandOutput,
	downloadAll,
	folder,
	heldUpDuring,
	IDLE_WORKER,
	openOnPage,
	quantizeOnPage,
	text,
} from './page-support.js';
import { lacking, smolLM2 } from './real-models.js';

const TIMEOUT = { timeout: 240_000 };
const SLOW = { timeout: 900_000 };

const TENSORS = [
	['output.weight', 256, 8],
	['blk.0.attn_norm.weight', 256],
	['blk.0.ffn_down.weight', 512, 8],
	['blk.1.narrow.weight', 40, 3],
].map(([name, ...dims], seed) => ({
	name,
	dims,
	type: 0,
	data: bytesOf(
		weights(
			dims.reduce((product, edge) => product * edge),
			seed,
		),
	),
}));

/** @param {number} number @param {number} count of shards */
const split = (number, count) => [
	pair('split.no', 'u16', number),
	pair('split.count', 'u16', count),
	pair('split.tensors.count', 'i32', TENSORS.length),
];

/** What the command would make of a file, without making it. */
const dryRun = (path, scheme) =>
	JSON.parse(done('quantize', path, join(folder, 'never.gguf'), '--scheme', scheme, '--pure', '--dry-run', '--json'));

const texts = (page, selector) =>
	page.$$eval(selector, (elements) => elements.map(({ textContent }) => textContent.replace(/\s+/g, ' ').trim()));

/** The page in a browser of this suite. @param {'chromium' | 'firefox'} name */
function pageIn(name) {
	const suite = {};
	before(async () => {
		const allow = (path) => isOfDemo(path) || path === IDLE_WORKER;
		suite.server = await serve(root, { headers: DEMO_HEADERS, allow });
		suite.started = await startBrowser(name);
	}, TIMEOUT);
	after(async () => {
		await suite.started?.close();
		await suite.server?.close();
	}, TIMEOUT);

	/** Runs with the page open; no error may be on its console. @param {(page: import('puppeteer-core').Page) => Promise<void>} run */
	suite.onPage = async (run) => {
		const { page, complaints } = await newPage(suite.started.browser);
		try {
			await page.goto(`${suite.server.url}/web-demo/`);
			await run(page);
			assert.deepEqual(complaints, []);
		} finally {
			await page.close();
		}
	};
	return suite;
}

/** The page has no importance matrix. */
const IMPORTANT = ['iq1_m', 'iq1_s', 'iq2_s', 'iq2_xs', 'iq2_xxs', 'iq3_xxs'].map((type) => `ggml:${type}`);

describeInBrowsers('GGUF files on the page', 900_000, (name) => {
	const suite = pageIn(name);

	it('are offered the types of ggml, with sizes and reasons', TIMEOUT, () =>
		suite.onPage(async (page) => {
			const path = file(`small-${name}.gguf`, gguf({ pairs: LLAMA, tensors: TENSORS }));
			await openOnPage(page, { files: [path] });
			assert.match(await text(page, '#model-facts'), /^4 tensors · /);
			const offered = await page.$$eval('input[name="format"]', (inputs) => inputs.map(({ value }) => value));
			const all = JSON.parse(done('schemes', '--json')).schemes.map((scheme) => scheme.name);
			const refused = await texts(page, '#refused li');
			const names = refused.map((line) => line.split(' ')[0]);
			assert.deepEqual([...offered, ...names].sort(), [...all].sort());
			for (const line of refused.filter((each) => !each.startsWith('ggml:')))
				assert.match(line, /^(\w+:\w+) a GGUF file carries ggml types, and \1 is no type of ggml$/);
			// Types of ggml that have no other type for rows of 40, those that need importance.
			const own = refused.filter((each) => each.startsWith('ggml:'));
			const reason = /rows of 40 values are no whole blocks of (64|128)|needs an importance matrix/;
			for (const line of own) assert.match(line, reason);
			const important = own.filter((line) => line.includes('importance')).map((line) => line.split(' ')[0]);
			assert.deepEqual(important.sort(), IMPORTANT);
			assert.deepEqual(names.filter((each) => /^ggml:/.test(each)).sort(), [
				...IMPORTANT,
				...['ggml:nvfp4', 'ggml:q1_0'],
			]);
			for (const scheme of ['ggml:q8_0', 'ggml:q4_k', 'ggml:q6_k']) {
				await choose(page, scheme);
				await page.waitForFunction(
					(chip) => document.querySelector('#tensors .chip')?.textContent === chip,
					{},
					scheme,
				);
				const { totals, tensors } = dryRun(path, scheme);
				const shown = `${(totals.nbytesAfter / 1000).toFixed(1)} kB`;
				assert.ok((await text(page, '#forecast')).replaceAll('\u00a0', ' ').includes(`→ ${shown},`), shown);
				const format = await page.$eval(`input[value="${scheme}"]`, (input) => input.parentElement.textContent);
				assert.ok(format.replaceAll('\u00a0', ' ').includes(`${shown} of `), format);
				assert.deepEqual(
					await texts(page, '#tensors tbody tr .why'),
					tensors.map(({ reason }) => reason),
				);
			}
			await quantizeOnPage(page);
			assert.deepEqual(await texts(page, '#warnings li'), [
				'one tensor becomes F16 instead: the rows of 40 are no whole blocks of Q6_K, as in blk.1.narrow.weight',
			]);
			assert.deepEqual(await downloadAll(page, suite.started.downloads), commandOutput(path, 'q6_k'));
		}),
	);

	it('that are split become one', TIMEOUT, () =>
		suite.onPage(async (page) => {
			const shards = [TENSORS.slice(0, 2), TENSORS.slice(2)].map((tensors, i) => {
				const pairs = [...(i === 0 ? LLAMA : []), ...split(i, 2)];
				return file(`in-${name}-0000${i + 1}-of-00002.gguf`, gguf({ pairs, tensors }));
			});
			await (await page.$('#files')).uploadFile(shards[0]);
			await page.waitForSelector('body[aria-busy="false"] #error', { visible: true });
			assert.match(await text(page, '#error'), /is shard 1 of 2: the others are needed too/);
			await openOnPage(page, { files: [...shards].reverse() });
			assert.match(await text(page, '#model-facts'), / · 2 files$/);
			await choose(page, 'ggml:q5_0');
			await quantizeOnPage(page);
			const downloaded = await downloadAll(page, suite.started.downloads);
			assert.deepEqual(Object.keys(downloaded), [`in-${name}-q5_0.gguf`]);
			assert.deepEqual(downloaded, commandOutput(shards[0], 'q5_0'));
		}),
	);

	it('that are quantized already are refused, but for the type that they are', TIMEOUT, () =>
		suite.onPage(async (page) => {
			const source = file(`source-${name}.gguf`, gguf({ pairs: LLAMA, tensors: TENSORS.slice(0, 3) }));
			const path = join(folder, `twice-${name}.gguf`);
			done('quantize', source, path, '--scheme', 'q8_0', '--pure', '--json');
			await openOnPage(page, { files: [path] });
			assert.deepEqual(await page.$$eval('input[name="format"]', (inputs) => inputs.map(({ value }) => value)), [
				'ggml:q8_0',
			]);
			const lines = (await texts(page, '#refused li')).filter((line) => line.startsWith('ggml:'));
			assert.ok(lines.length >= 5);
			for (const line of lines)
				assert.match(
					line,
					/is Q8_0 already, and quantizing twice loses more than once: start from a float model$/,
				);
			assert.equal((await page.$$('#tensors .kept')).length, 3);
		}),
	);
});

/** What SmolLM2 goes on with. With its embedding in 4 bits it knows no capitals, but opposites. */
const ANSWERS = {
	q8_0: { prompt: 'The capital of France is', answer: /^\s*Paris\b/ },
	q4_0: { prompt: 'The opposite of hot is', answer: /^\s*cold\b/ },
};
const WLLAMA = '/node_modules/@wllama/wllama/esm/';
const noModel = skipReason('chromium') || lacking({ 'SmolLM2 in .cache/venv': smolLM2 });

if (noModel) it('SmolLM2 135M on the page in chromium', { skip: noModel });
else
	describe('SmolLM2 135M on the page in chromium', SLOW, () => {
		const suite = pageIn('chromium');
		const path = join(folder, 'smol.gguf');
		let plain;
		before(async () => {
			done('dequantize', smolLM2, path, '--dtype', 'f16', '--json');
			/* wllama makes its workers of Blobs, which the policy of our page forbids: a server without one, for it alone. */
			plain = await serve(root, { allow: (asked) => asked.startsWith(WLLAMA) });
		}, TIMEOUT);
		after(() => plain?.close());

		/** What wllama says to a prompt, given a file of this machine. */
		async function answerOf(model, prompt) {
			const { page } = await newPage(suite.started.browser);
			page.setDefaultTimeout(SLOW.timeout);
			try {
				/* Any address of that server will do: an empty page that may load its modules. */
				await page.goto(`${plain.url}${WLLAMA}index.js`);
				await page.setContent('<input type="file">');
				await (await page.$('input')).uploadFile(model);
				/* The answer is waited for on the page: one call into the browser would be given up after two minutes. */
				await page.evaluate(
					(wllama, prompt) => {
						const ask = async () => {
							const { Wllama } = await import(`${wllama}index.js`);
							const llama = new Wllama(
								{ default: `${wllama}wasm/wllama.wasm` },
								{ suppressNativeLog: true },
							);
							await llama.loadModel([...document.querySelector('input').files], {
								n_ctx: 256,
								n_threads: 1,
								n_gpu_layers: 0,
							});
							const { choices } = await llama.createCompletion({ prompt, max_tokens: 8, temperature: 0 });
							return {
								said: choices[0].text,
								threads: llama.getNumThreads(),
								isolated: crossOriginIsolated,
								metadata: llama.getModelMetadata().meta,
							};
						};
						ask().then(
							(answer) => (globalThis.answer = answer),
							(error) => (globalThis.answer = { error: String(error) }),
						);
					},
					WLLAMA,
					prompt,
				);
				const answer = await page.waitForFunction(() => globalThis.answer, { polling: 250 });
				return await answer.jsonValue();
			} finally {
				await page.close();
			}
		}

		for (const [scheme, { prompt, answer }] of Object.entries(ANSWERS))
			it(`quantized to ${scheme} is the command's file, and answers in wllama`, SLOW, async () => {
				await assertNeverHeldUp(async () => {
					let ms = Infinity;
					await suite.onPage(async (page) => {
						ms = await heldUpDuring(page, async () => {
							await openOnPage(page, { files: [path] });
							await choose(page, `ggml:${scheme}`);
							await quantizeOnPage(page);
							assert.match(await text(page, '#total-error'), /^\d\d\.\d\sdB$/);
							assert.deepEqual(
								await downloadAll(page, suite.started.downloads),
								commandOutput(path, scheme),
							);
						});
					});
					return ms;
				});
				const name = `smol-${scheme}.gguf`;
				const { said, error, threads, isolated, metadata } = await answerOf(
					join(suite.started.downloads, name),
					prompt,
				);
				assert.equal(error, undefined);
				assert.match(said, answer);
				assert.deepEqual({ threads, isolated }, { threads: 1, isolated: false });
				assert.equal(metadata['general.file_type'], scheme === 'q8_0' ? '7' : '2');
			});
	});
