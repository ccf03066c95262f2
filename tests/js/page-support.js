// page-support.js - what the tests of the demo page share: driving it, what the command makes of the same model, and how long the
// page's thread was held up.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { done, run, sha256, temporaryFolder } from './cli-support.js';
import { lacking, miniLM } from './real-models.js';

const folder = temporaryFolder();
const SEED = 7;

/** Models that the page is given: its files, or a seed; and the path of the same model for the command. */
export const sources = {
	'all-MiniLM-L6-v2': {
		skip: lacking({ 'all-MiniLM-L6-v2 in .cache/venv': miniLM }),
		files: miniLM && [miniLM, join(dirname(miniLM), 'config.json')],
		path: () => miniLM,
	},
	'random weights': {
		skip: false,
		seed: SEED,
		path() {
			const path = join(folder, 'random.safetensors');
			if (!existsSync(path)) done('sample', path, '--seed', String(SEED));
			return path;
		},
	},
};

/** What the command writes: sha256 by the name that the page gives the file. @type {Map<string, Record<string, string>>} */
const made = new Map();
export function commandOutput(path, scheme) {
	const key = `${path} ${scheme}`;
	const known = made.get(key);
	if (known) return known;
	const out = join(folder, `out-${made.size}`);
	mkdirSync(out);
	const extension = extname(path);
	const name = `${basename(path, extension).replace(/-00001-of-\d{5}$/, '')}-${scheme}${extension}`;
	const { status, stderr } = run(
		...['quantize', path, join(out, name), '--scheme', scheme],
		...(extension === '.gguf' ? ['--pure'] : []),
	);
	assert.equal(status, 0, stderr);
	const output = Object.fromEntries(readdirSync(out).map((file) => [file, sha256(join(out, file))]));
	rmSync(out, { recursive: true });
	made.set(key, output);
	return output;
}

/** Gives the page a model, and waits until it is open. */
export async function openOnPage(page, { files, seed }) {
	if (files) await (await page.$('#files')).uploadFile(...files);
	else {
		await page.$eval('#seed', (field, value) => (field.value = value), String(seed));
		await page.click('#sample');
	}
	await page.waitForSelector('body[aria-busy="false"] #quantize', { visible: true, timeout: 60_000 });
}

export async function choose(page, scheme) {
	const input = `input[value="${scheme}"]`;
	await page.$eval(input, (element) => element.closest('details')?.setAttribute('open', ''));
	await page.click(input);
	await page.waitForSelector(`${input}:checked`);
}

/** Quantizes, and waits until the error is measured, too. */
export async function quantizeOnPage(page) {
	await page.click('#quantize');
	await page.waitForSelector('body[aria-busy="false"] #kinds', { visible: true, timeout: 120_000 });
}

/**
 * Downloads everything that the page offers; sha256 by name.
 * @param {string} downloads the browser's folder
 */
export async function downloadAll(page, downloads) {
	rmSync(downloads, { recursive: true, force: true });
	mkdirSync(downloads);
	const offered = await page.$$eval('#downloads a', (links) => links.map(({ download }) => download));
	for (const [i, name] of offered.entries()) {
		await (await page.$$('#downloads a'))[i].click();
		await complete(downloads, name);
	}
	return Object.fromEntries(readdirSync(downloads).map((name) => [name, sha256(join(downloads, name))]));
}

/** Waits until a download is whole: it has its name, nothing of it is under another, and it grows no more. */
async function complete(downloads, name) {
	const path = join(downloads, name);
	const parts = () => readdirSync(downloads).filter((file) => /\.(part|crdownload)$/.test(file));
	let size = -1;
	for (let wait = 0; wait < 600; wait++) {
		await new Promise((resolve) => setTimeout(resolve, 50));
		if (!existsSync(path) || parts().length > 0) continue;
		const now = statSync(path).size;
		if (now > 0 && now === size) return;
		size = now;
	}
	throw new Error(`${name} was not downloaded: ${readdirSync(downloads)}`);
}

/** No task of the page's thread may be longer, in ms. */
const LONGEST_TASK = 100;
export const IDLE_WORKER = '/tests/js/idle-worker.js';

/**
 * How many ms the page's thread was held up at worst, by our code, while something was done. Chromium reports tasks of 50 ms and more
 * by itself; elsewhere we look for gaps between frames, which come every 17 ms while nothing is in the way. Both are times of the
 * clock: on a busy machine a thread waits for a processor, too. So what an idle worker of the same page waited is taken off.
 * @param {() => Promise<void>} run
 */
export async function heldUpDuring(page, run) {
	await page.evaluate((idle) => {
		const watch = { worst: 0, idle: new Worker(idle) };
		globalThis.watch = watch;
		const note = (ms) => (watch.worst = Math.max(watch.worst, ms));
		if (PerformanceObserver.supportedEntryTypes.includes('longtask')) {
			new PerformanceObserver((list) => {
				for (const { duration } of list.getEntries()) note(duration);
			}).observe({ type: 'longtask' });
			return;
		}
		let last = performance.now();
		const frame = (now) => {
			note(now - last);
			last = now;
			requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	}, IDLE_WORKER);
	await run();
	return page.evaluate(
		() =>
			new Promise((resolve) => {
				const { worst, idle } = globalThis.watch;
				idle.addEventListener('message', ({ data }) => resolve(worst - data));
				idle.postMessage('tell');
			}),
	);
}

/**
 * A task that our code makes too long is so every time; one that only a busy machine made long is not: the best of three counts.
 * @param {() => Promise<number>} measure in ms
 */
export async function assertNeverHeldUp(measure) {
	const longest = [];
	while (longest.length < 3 && !longest.some((ms) => ms <= LONGEST_TASK)) longest.push(await measure());
	assert.ok(Math.min(...longest) <= LONGEST_TASK, `the page was held up for ${longest} ms`);
}

export const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
export { folder };
