// page.test.js - the demo page in Chromium and in Firefox: its downloads are the command's files, it cancels, it says what is wrong,
// and its thread is never held up.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DEMO_HEADERS, isOfDemo, serve } from '../../scripts/serve.mjs';
import { describeInBrowsers, newPage, skipReason, startBrowser } from './browser-support.js';
import { done, root, safetensorsOf, sha256 } from './cli-support.js';
import { BAD, file, largeModel, manyTensors, values, WEIGHT } from './page-models.js';
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
	sources,
	text,
} from './page-support.js';

const TIMEOUT = { timeout: 240_000 };

const oneTensor = () => safetensorsOf({ [WEIGHT]: { shape: [128, 128], values: values(128 * 128) } });

/** In the page: names of the files in its private file system. */
async function filesOnDisk() {
	const names = [];
	for await (const folder of (await navigator.storage.getDirectory()).values())
		for await (const name of folder.keys()) names.push(name);
	return names;
}

describeInBrowsers('the page', 900_000, (name) => {
	let server;
	let started;
	/** How many of the library's workers were started, and whether they are served. */
	let workers = 0;
	let haveWorkers = true;
	before(async () => {
		server = await serve(root, {
			headers: DEMO_HEADERS,
			allow(path) {
				if (path === '/dist/worker.mjs') {
					workers++;
					return haveWorkers;
				}
				return isOfDemo(path) || path === IDLE_WORKER;
			},
		});
		started = await startBrowser(name);
	}, TIMEOUT);
	after(async () => {
		await started?.close();
		await server?.close();
	}, TIMEOUT);

	/** Runs with the page open; no error may be on its console, no request may go elsewhere. */
	async function onPage(run) {
		const { page, complaints } = await newPage(started.browser);
		const elsewhere = [];
		page.on('request', (request) => {
			if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(server.url))
				elsewhere.push(request.url());
		});
		try {
			await page.goto(`${server.url}/web-demo/`);
			await run(page);
			assert.deepEqual(complaints, []);
			assert.deepEqual(elsewhere, []);
		} finally {
			await page.close();
		}
	}

	/** Runs, and no task of the page's thread may be long. */
	const isNeverHeldUp = (run) =>
		assertNeverHeldUp(async () => {
			let ms = Infinity;
			await onPage(async (page) => {
				ms = await heldUpDuring(page, () => run(page));
			});
			return ms;
		});

	for (const [source, given] of Object.entries(sources))
		for (const scheme of ['w4a16', 'nvfp4a16'])
			it(`quantizes ${source} to ${scheme} as the command does`, { ...TIMEOUT, skip: given.skip }, () =>
				isNeverHeldUp(async (page) => {
					await openOnPage(page, given);
					await choose(page, `ct:${scheme}`);
					await quantizeOnPage(page);
					assert.match(await text(page, '#total-error'), /^\d\d\.\d\sdB$/);
					const errors = await page.$$eval('.quantized .sqnr', (cells) =>
						cells.map(({ textContent }) => textContent),
					);
					assert.ok(errors.length > 20);
					for (const error of errors) assert.match(error, /^\d\d\.\d\sdB$/);
					const downloaded = await downloadAll(page, started.downloads);
					assert.deepEqual(downloaded, commandOutput(given.path(), scheme));
				}),
			);

	it('quantizes on all cores', TIMEOUT, () =>
		onPage(async (page) => {
			const cores = await page.evaluate(() => navigator.hardwareConcurrency);
			await openOnPage(page, { files: [largeModel()] });
			await choose(page, 'ct:nvfp4a16');
			workers = 0;
			await quantizeOnPage(page);
			/* One core needs no worker but the page's own. */
			assert.equal(workers, cores === 1 ? 0 : cores);
		}),
	);

	it('says at which tensor a worker did not start, and works when it does', TIMEOUT, async (t) => {
		/* The browser's console says what was not found. */
		const { page } = await newPage(started.browser);
		try {
			await page.goto(`${server.url}/web-demo/`);
			if ((await page.evaluate(() => navigator.hardwareConcurrency)) === 1) return t.skip('one core, no workers');
			await openOnPage(page, { files: [file('one.safetensors', oneTensor())] });
			haveWorkers = false;
			await page.click('#quantize');
			await page.waitForSelector('body[aria-busy="false"] #error', { visible: true, timeout: 20_000 });
			assert.match(
				await text(page, '#error'),
				/^tensor "model\.layers\.0\.mlp\.up_proj\.weight": a worker failed: /,
			);
			assert.equal(await page.$('#downloads a'), null);
			haveWorkers = true;
			await quantizeOnPage(page);
		} finally {
			haveWorkers = true;
			await page.close();
		}
	});

	it('quantizes shards as the command does', TIMEOUT, () =>
		onPage(async (page) => {
			const shards = { 'a.safetensors': 'model.layers.0', 'b.safetensors': 'model.layers.1' };
			const weightMap = {};
			const inputs = join(folder, `shards-${name}`);
			mkdirSync(inputs);
			for (const [shard, prefix] of Object.entries(shards)) {
				const weight = `${prefix}.mlp.up_proj.weight`;
				weightMap[weight] = shard;
				const bytes = safetensorsOf({ [weight]: { shape: [256, 256], values: values(65536) } });
				writeFileSync(join(inputs, shard), bytes);
			}
			const index = join(inputs, 'model.safetensors.index.json');
			writeFileSync(index, JSON.stringify({ metadata: {}, weight_map: weightMap }));
			writeFileSync(join(inputs, 'tokenizer.json'), '{}');
			const paths = [...Object.keys(shards), 'tokenizer.json'].map((shard) => join(inputs, shard));
			await openOnPage(page, { files: [index, ...paths] });
			await choose(page, 'ct:nvfp4a16');
			await quantizeOnPage(page);
			const downloaded = await downloadAll(page, started.downloads);
			const outputs = join(folder, `shards-${name}-out`);
			done('quantize', index, `${outputs}/`, '--scheme', 'nvfp4a16');
			for (const output of [...Object.keys(shards), 'model.safetensors.index.json'])
				assert.equal(downloaded[output], sha256(join(outputs, output)), output);
			/* There was no config.json: the section is offered by itself. */
			assert.deepEqual(Object.keys(downloaded).length, 4);
			const section = JSON.parse(readFileSync(join(started.downloads, 'quantization_config.json'), 'utf8'));
			assert.equal(section.quantization_config.quant_method, 'compressed-tensors');
		}),
	);

	it('takes files that are dropped on it', TIMEOUT, () =>
		onPage(async (page) => {
			const model = oneTensor();
			await page.evaluate((base64) => {
				const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
				const dataTransfer = new DataTransfer();
				dataTransfer.items.add(new File([bytes], 'dropped.safetensors'));
				dataTransfer.items.add(new File(['{}'], 'config.json'));
				document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
			}, Buffer.from(model).toString('base64'));
			await page.waitForSelector('body[aria-busy="false"] #quantize', { visible: true });
			assert.equal(await text(page, '#model-name'), 'dropped.safetensors');
			assert.match(await text(page, '#model-facts'), /config\.json$/);
		}),
	);

	it('cancels, leaves nothing to download, and goes on working', TIMEOUT, () =>
		onPage(async (page) => {
			await openOnPage(page, { files: [largeModel()] });
			await choose(page, 'ct:nvfp4a16');
			const ms = await page.evaluate(
				() =>
					new Promise((resolve) => {
						const facts = document.getElementById('progress-facts');
						new MutationObserver((_, observer) => {
							if (!facts.textContent.includes('%')) return;
							observer.disconnect();
							const clicked = performance.now();
							document.getElementById('cancel').click();
							new MutationObserver(() => resolve(performance.now() - clicked)).observe(
								document.getElementById('error'),
								{ attributes: true },
							);
						}).observe(facts, { childList: true, characterData: true, subtree: true });
						document.getElementById('quantize').click();
					}),
			);
			await page.waitForSelector('body[aria-busy="false"]');
			assert.equal(await text(page, '#error'), 'Cancelled. Nothing was written.');
			assert.ok(ms < 3000, `it took ${ms} ms to stop`);
			assert.equal(await page.$('#downloads a'), null);
			assert.ok(await page.$eval('#results', ({ hidden }) => hidden));
			assert.deepEqual(await page.evaluate(filesOnDisk), []);
			await page.click('#change');
			await openOnPage(page, sources['random weights']);
			await quantizeOnPage(page);
			assert.equal((await page.$$('#downloads a')).length, 2);
			assert.equal((await page.evaluate(filesOnDisk)).length, 1);
		}),
	);

	it('says in one line what is wrong with a file', TIMEOUT, () =>
		onPage(async (page) => {
			for (const [bad, [bytes, message]] of Object.entries(BAD)) {
				await (await page.$('#files')).uploadFile(file(bad, bytes));
				await page.waitForSelector('body[aria-busy="false"] #error', { visible: true });
				const said = await text(page, '#error');
				assert.match(said, message, bad);
				assert.doesNotMatch(said, /\n/);
				assert.ok(await page.$eval('#drop', ({ hidden }) => !hidden), 'another can be chosen');
			}
			const nan = safetensorsOf({
				[WEIGHT]: { shape: [128, 128], values: values(128 * 128).fill(NaN, 5, 6) },
			});
			await openOnPage(page, { files: [file('nan.safetensors', nan)] });
			assert.ok(await page.$eval('#error', ({ hidden }) => hidden), 'an old error goes');
			await page.click('#quantize');
			await page.waitForSelector('body[aria-busy="false"] #error', { visible: true });
			assert.match(await text(page, '#error'), /up_proj\.weight.*(NaN|finite)/i);
			assert.equal(await page.$('#downloads a'), null);
		}),
	);

	it('shows thousands of tensors without holding up the page', TIMEOUT, async () => {
		const path = file('many.safetensors', manyTensors(5000));
		await isNeverHeldUp(async (page) => {
			await openOnPage(page, { files: [path] });
			await quantizeOnPage(page);
			assert.equal(await text(page, '#tensors-count'), '5000');
			await page.click('#more');
			await page.type('#filter', '.4321.');
			assert.equal((await page.$$('#tensors tbody tr')).length, 1);
		});
	});
});

describe('the page in a firefox that gives it no disk, as in private windows', () => {
	it('keeps the output in memory', { ...TIMEOUT, skip: skipReason('firefox') }, async () => {
		const started = await startBrowser('firefox', { 'dom.fs.enabled': false });
		const server = await serve(root, { headers: DEMO_HEADERS, allow: isOfDemo });
		try {
			const { page, complaints } = await newPage(started.browser);
			await page.goto(`${server.url}/web-demo/`);
			assert.equal(await page.evaluate(() => typeof navigator.storage?.getDirectory), 'undefined');
			const given = sources['random weights'];
			await openOnPage(page, given);
			await choose(page, 'ct:w4a16');
			await quantizeOnPage(page);
			assert.deepEqual(await downloadAll(page, started.downloads), commandOutput(given.path(), 'w4a16'));
			assert.deepEqual(complaints, []);
		} finally {
			await server.close();
			await started.close();
		}
	});
});
