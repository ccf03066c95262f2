// test.mjs - every test there is, each runner's own words, stop at the first that fails. `npm test`, after
// scripts/setup.sh --test.
//
// Names of steps as arguments run only those: `npm test -- native js`.
// BLOCKQUANT_NO_SKIP=1 (CI): a skipped test is a failure too.
// SPDX-License-Identifier: MIT
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const noSkip = Boolean(process.env.BLOCKQUANT_NO_SKIP) && process.env.BLOCKQUANT_NO_SKIP !== '0';
const jobs = String(availableParallelism());
const bin = (name) => join(root, 'node_modules/.bin', name);
const listed = (folder, pattern) =>
	readdirSync(join(root, folder))
		.filter((name) => pattern.test(name))
		.map((name) => join(folder, name))
		.sort();

const BROWSER_TESTS = /(browsers|page)\.test\.js$/;

/** README's start in C as a program: its statements in main(), its weights, and a check that blocks came out. */
function readmeProgram() {
	const [, snippet] = /```c\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
	const [include, ...statements] = snippet.split('\n');
	return `${include}
#include <stdio.h>
#include <stdlib.h>
static float weights[4096 * 4096];
int main(void)
{
	weights[5] = -8;
${statements.join('\n')}
	printf("README's start in C: status %d, %u bytes, first scale %02x%02x\\n", status, band.plane_nbytes[0],
		((unsigned char *)planes[0])[1], ((unsigned char *)planes[0])[0]);
	return status != BQ_OK || ((unsigned char *)planes[0])[1] != 0x3C; /* -8 / -8 = 1 */
}
`;
}

const steps = {
	/* The sources need no build system: this line is in the README. */
	async 'one-line'() {
		const out = join(root, 'build/one-line');
		rmSync(out, { recursive: true, force: true });
		mkdirSync(out, { recursive: true });
		writeFileSync(join(out, 'main.c'), readmeProgram());
		const sources = [...listed('src', /\.c$/), ...listed('src/scalar', /\.c$/)].map((file) => join(root, file));
		const include = [`-I${join(root, 'include')}`, `-I${join(root, 'src')}`];
		await run(
			'cc',
			['-std=c11', '-O2', '-ffp-contract=off', ...include, 'main.c', ...sources, '-lm', '-o', 'main'],
			{ cwd: out },
		);
		await run(join(out, 'main'), []);
	},
	async native() {
		await cmake('build/native', ['-DCMAKE_C_COMPILER=gcc']);
		await ctest('build/native');
	},
	async sanitize() {
		await cmake('build/sanitize', ['-DCMAKE_C_COMPILER=clang', '-DBLOCKQUANT_SANITIZE=ON']);
		await ctest('build/sanitize', { UBSAN_OPTIONS: 'print_stacktrace=1' });
	},
	async wasm() {
		await cmake('build/wasm', [], ['emcmake']);
		await ctest('build/wasm');
	},
	/* Runs tsc, too: strict types from JSDoc. */
	async dist() {
		await run(process.execPath, [join(root, 'scripts/build.mjs')]);
	},
	async lint() {
		await run(bin('biome'), ['ci', '--colors=off', '--error-on-warnings', '.']);
		await run(bin('tsc'), ['-p', 'web-demo', '--noEmit']);
	},
	async package() {
		await run(process.execPath, [join(root, 'scripts/check-package.mjs')]);
	},
	async js() {
		await nodeTest(listed('tests/js', /\.test\.js$/).filter((file) => !BROWSER_TESTS.test(file)));
	},
	/* One after the other: each starts two browsers, and measures how long a page's thread is held up. */
	async browsers() {
		const files = listed('tests/js', /\.test\.js$/).filter((file) => BROWSER_TESTS.test(file));
		await nodeTest(files, ['--test-concurrency=1', '--test-timeout=900000']);
	},
};

const chosen = process.argv.slice(2);
for (const name of chosen)
	if (!Object.hasOwn(steps, name)) {
		console.error(`test: no step ${name}: there are ${Object.keys(steps).join(' ')}`);
		process.exit(2);
	}

const summary = [];
for (const name of chosen.length ? chosen : Object.keys(steps)) {
	const start = Date.now();
	console.log(`\n==== ${name}`);
	try {
		await steps[name]();
	} catch (error) {
		console.error(`\ntest: ${name} failed: ${error.message}`);
		process.exit(1);
	}
	summary.push(`${name} ${((Date.now() - start) / 1000).toFixed(1)} s`);
}
console.log(`\ntest: ok: ${summary.join(', ')}`);

async function cmake(folder, options, wrapper = []) {
	const [command, ...args] = [...wrapper, 'cmake', '-S', '.', '-B', folder, '-DCMAKE_BUILD_TYPE=Release', ...options];
	await run(command, args, { quiet: true });
	await run('cmake', ['--build', folder, '--parallel', jobs]);
}

async function ctest(folder, env = {}) {
	const output = await run('ctest', ['--test-dir', folder, '--output-on-failure', '--no-tests=error', '-j', jobs], {
		env,
	});
	refuseSkips((output.match(/\*\*\*Skipped/g) ?? []).length, 'ctest');
}

async function nodeTest(files, options = []) {
	const output = await run(process.execPath, ['--test', '--test-reporter=spec', ...options, ...files]);
	refuseSkips(Number(/^[^\w]*skipped (\d+)$/m.exec(output)?.[1] ?? 0), 'node --test');
	if (!/^[^\w]*(pass|skipped) [1-9]/m.test(output)) throw new Error('node --test ran no test');
}

function refuseSkips(count, runner) {
	if (count > 0 && noSkip) throw new Error(`${runner} skipped ${count}, and BLOCKQUANT_NO_SKIP is set`);
}

/** Runs a command and shows what it says (quiet: only if it fails); resolves to its stdout, rejects if it fails. */
function run(command, args, { cwd = root, env = {}, quiet = false } = {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
		let output = '';
		let unseen = '';
		child.stdout.setEncoding('utf8').on('data', (text) => {
			output += text;
			if (quiet) unseen += text;
			else process.stdout.write(text);
		});
		child.stderr.setEncoding('utf8').on('data', (text) => {
			if (quiet) unseen += text;
			else process.stderr.write(text);
		});
		child.on('error', (error) =>
			reject(
				error.code === 'ENOENT'
					? new Error(`${command} is missing: scripts/setup.sh --test installs it`)
					: error,
			),
		);
		child.on('close', (code, signal) => {
			if (code === 0) return resolve(output);
			process.stderr.write(unseen);
			reject(new Error(`${command} ended with ${signal ?? code}`));
		});
	});
}
