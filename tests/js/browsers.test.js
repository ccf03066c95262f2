// browsers.test.js - the packed package in a page, in Chromium and in Firefox: as a module script, in workers, through Vite and
// esbuild, and under a Content-Security-Policy that allows wasm and no eval. Every byte is that of the same code in Node.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { serve } from '../../scripts/serve.mjs';
import { browserNames, describeInBrowsers, newPage, skipReason, startBrowser } from './browser-support.js';
import { packedProject } from './packed.js';
import { PAGES, userCode } from './user-code.js';

const TIMEOUT = { timeout: 120_000 };

const STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

/** What a server sends with every file; undefined: nothing. */
const POLICIES = {
	'no policy': undefined,
	"script-src 'self' 'wasm-unsafe-eval'": STRICT,
};

/** Where the page serves blockquant/worker. */
const WORKER = '/node_modules/blockquant/dist/worker.mjs';

/** What pooled() of the user's code finds: every byte as without workers, and an abort that stops at once and breaks nothing. */
const POOLED = {
	...{ q4_k: true, 'q4_k back': true, nvfp4a16: true, 'nvfp4a16 back': true },
	...{ abort: 'cancelled', later: 0, afterwards: true },
};

let project;
let expected;

before(async () => {
	if (browserNames.every(skipReason)) return;
	project = packedProject();
	const write = (name, text) => {
		mkdirSync(join(project, name, '..'), { recursive: true });
		writeFileSync(join(project, name), text);
	};
	for (const [name, text] of Object.entries(PAGES)) write(name, text);
	write('user.mjs', userCode('blockquant'));
	write('plain/user.js', userCode('/node_modules/blockquant/dist/index.mjs'));
	for (const bundled of ['vite', 'esbuild']) write(`${bundled}/user.js`, userCode('blockquant'));
	({ results: expected } = await import(pathToFileURL(join(project, 'user.mjs')).href));
	expected = await expected();
	await vite({
		root: join(project, 'vite'),
		configFile: false,
		logLevel: 'error',
		base: './',
		build: { outDir: '../vite-out' },
	});
	await esbuild({
		absWorkingDir: project,
		entryPoints: ['esbuild/page.js', 'esbuild/side.js'],
		outdir: 'esbuild-out',
		bundle: true,
		format: 'iife',
		logLevel: 'error',
	});
}, TIMEOUT);
after(() => project && rmSync(project, { recursive: true, force: true }));

/** The pages, and what each calls its results. */
const USES = {
	'/plain/script.html': 'a module script',
	'/plain/worker.html': 'a module worker',
	'/plain/slim.html': './slim with ./core.wasm fetched',
	'/plain/answers.html': './worker, which answers messages',
	'/vite-out/': 'Vite, page and worker',
	'/esbuild-out/page.html': 'esbuild, page and worker',
};

describeInBrowsers('the package', 600_000, (name) => {
	let started;
	before(async () => {
		started = await startBrowser(name);
	}, TIMEOUT);
	after(() => started?.close(), TIMEOUT);

	/**
	 * What a page of the project leaves in `globalThis.outcome`, or what is evaluated on it then.
	 * @param {(argument: any) => any} [run]
	 */
	async function outcomeOf(path, policy, run = () => globalThis.outcome, argument = undefined) {
		const headers = policy === undefined ? {} : { 'content-security-policy': policy };
		const server = await serve(project, { headers });
		const { page, complaints } = await newPage(started.browser);
		try {
			await page.goto(server.url + path);
			await page.evaluate(() => globalThis.outcome);
			const outcome = await page.evaluate(run, argument);
			return { outcome, complaints };
		} finally {
			await page.close();
			await server.close();
		}
	}

	const pooled = (path, policy, workerUrl) =>
		outcomeOf(path, policy, (url) => globalThis.pooled(url ?? undefined), workerUrl);
	const failing = (path, policy, workerUrl) => outcomeOf(path, policy, (url) => globalThis.failing(url), workerUrl);

	for (const [policy, header] of Object.entries(POLICIES))
		for (const [path, use] of Object.entries(USES))
			it(`gives Node's bytes in ${use}, under ${policy}`, TIMEOUT, async () => {
				const { outcome, complaints } = await outcomeOf(path, header);
				assert.ok(outcome, complaints.join('\n'));
				for (const [side, results] of Object.entries(outcome)) {
					for (const [key, value] of Object.entries(results))
						assert.equal(value, expected[key], `${side}: ${key}`);
					assert.ok(Object.keys(results).length > 0);
				}
				assert.deepEqual(complaints, []);
			});

	for (const path of ['/plain/script.html', '/vite-out/', '/esbuild-out/page.html']) {
		const use = USES[path];
		for (const policy of [undefined, `${STRICT}; worker-src 'self' blob:`])
			it(`quantizes on two workers in ${use}, under ${policy ?? 'no policy'}`, TIMEOUT, async () => {
				const { outcome, complaints } = await pooled(path, policy);
				assert.deepEqual(outcome, { ...POOLED, started: 2, warnings: [] });
				assert.deepEqual(complaints, []);
			});

		it(
			`quantizes on workers that the page serves in ${use}, where Blob workers are forbidden`,
			TIMEOUT,
			async () => {
				const { outcome } = await pooled(path, STRICT, WORKER);
				assert.deepEqual(outcome, { ...POOLED, started: 2, warnings: [] });
			},
		);

		it(`quantizes without workers in ${use}, and says so, where Blob workers are forbidden`, TIMEOUT, async () => {
			const { outcome, complaints } = await pooled(path, STRICT);
			const { started: _, warnings, ...found } = outcome;
			assert.deepEqual(found, POOLED);
			assert.equal(warnings.length, 1);
			assert.match(warnings[0], /^no workers, the work is done without: .*worker/);
			assert.equal(complaints.filter((text) => text.startsWith('blockquant: no workers')).length, 1);
		});

		it(`refuses workers that do not start in ${use}, with the name of the tensor`, TIMEOUT, async () => {
			for (const url of ['/missing.js', '/broken.js', 'https://elsewhere.invalid/worker.mjs', 'data:text/css,x'])
				for (const policy of [undefined, STRICT]) {
					const { outcome } = await failing(path, policy, url);
					const { message, ...where } = outcome;
					assert.deepEqual(
						where,
						{ code: 'worker-failed', tensor: 'model.layers.0.mlp.up_proj.weight' },
						url,
					);
					assert.doesNotMatch(message, /\n/);
				}
		});
	}

	it('says so where the policy forbids WebAssembly', TIMEOUT, async () => {
		const { outcome } = await outcomeOf('/plain/refused.html', "default-src 'self'; script-src 'self'");
		assert.equal(outcome.code, 'unsupported');
		assert.match(outcome.message, /^core\.wasm does not load here; /);
	});
});
