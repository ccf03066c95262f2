// mutate.mjs - one line of the core changed at a time: does a test see it? `npm run mutate`.
// SPDX-License-Identifier: MIT
//
// Works in a copy, build/mutate. Each mutant is built natively and given to CTest; one that CTest lets pass is built as
// wasm too and given to the tests of bytes in tests/js. Exit 1 if a mutant survives both. Words as arguments
// choose mutants by their file: `npm run mutate -- q4_k encode.c`. The list: mutants.mjs.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutants } from './mutants.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const copy = join(root, 'build/mutate');
const jobs = String(availableParallelism());
const words = process.argv.slice(2);
const chosen = mutants.filter(({ file }) => !words.length || words.some((word) => file.includes(word)));
if (!chosen.length) fail(`mutate: no mutant's file has ${words.join(' or ')} in its name`, 2);
const began = Date.now();

copyRepository();
for (const mutation of chosen) mutated(mutation);
build(['cmake'], 'native', ['-DCMAKE_C_COMPILER=gcc', '-DCMAKE_BUILD_TYPE=Release', '-DBLOCKQUANT_WERROR=OFF']);
for (const tests of [ctest, javascript]) {
	const failed = tests();
	if (failed) fail(`mutate: without a mutation, these fail already: ${failed}`);
}

const rows = chosen.map((mutation) => {
	const path = join(copy, mutation.file);
	const original = readFileSync(path, 'utf8');
	writeFileSync(path, mutated(mutation));
	build([], 'native');
	const killers = ctest() || javascript();
	writeFileSync(path, original);
	const row = [killers || 'SURVIVED', mutation.file, `${mutation.from}  ->  ${mutation.to}`, mutation.why];
	console.log(row.join(' | '));
	return row;
});
const survivors = rows.filter(([killers]) => killers === 'SURVIVED').length;
console.log(`\nmutate: ${rows.length} mutants, ${survivors} survived, ${((Date.now() - began) / 1000).toFixed(0)} s`);
process.exitCode = survivors ? 1 : 0;

/** What the native and wasm builds and the tests read. Times are new, so that nothing of an earlier mutant stays built. */
function copyRepository() {
	mkdirSync(join(copy, 'build'), { recursive: true });
	for (const name of ['include', 'src', 'tests', 'js', 'docs', 'CMakeLists.txt', 'package.json', 'LICENSE']) {
		rmSync(join(copy, name), { recursive: true, force: true });
		cpSync(join(root, name), join(copy, name), { recursive: true });
	}
	link(join(root, 'node_modules'), join(copy, 'node_modules'));
	/* Golden data that is not in the repository, if it is beside it. */
	link(resolve(root, '../shared'), resolve(copy, '../shared'));
	/* builds.test.js wants two native builds; here both are the mutant. */
	link(join(copy, 'build/native'), join(copy, 'build/sanitize'));
}

function link(target, path) {
	rmSync(path, { recursive: true, force: true });
	symlinkSync(target, path);
}

/** The text of the mutation's file with it. */
function mutated({ file, from, to }) {
	const parts = readFileSync(join(copy, file), 'utf8').split(from);
	if (parts.length !== 2) fail(`mutate: ${file} has ${parts.length - 1} of: ${from}`);
	return parts.join(to);
}

/** Configures, if there is a command for that, and builds. A mutant that does not compile is a mistake in the list. */
function build(configure, folder, options = [], target = 'all') {
	const at = `build/${folder}`;
	if (configure.length) must([...configure, '-S', '.', '-B', at, ...options]);
	must(['cmake', '--build', at, '--parallel', jobs, '--target', target]);
}

/** The names of the tests that fail: of the quick ones, or else of ggml's. */
function ctest() {
	return ctestOf('-E') || ctestOf('-R');
}

function ctestOf(which) {
	const { status, stdout } = run([
		'ctest',
		'--test-dir',
		'build/native',
		which,
		'ggml',
		'-j',
		jobs,
		'--timeout',
		'120',
	]);
	if (status === 0) return '';
	return [...stdout.matchAll(/^\s*\d+ - (\w+) \(/gm)].map(([, name]) => name).join(' ') || 'ctest';
}

/** Files of tests that need the wasm build. */
function javascript() {
	const configured = existsSync(join(copy, 'build/wasm/CMakeCache.txt'));
	build(
		configured ? [] : ['emcmake', 'cmake'],
		'wasm',
		['-DCMAKE_BUILD_TYPE=Release', '-DBLOCKQUANT_WERROR=OFF'],
		'core',
	);
	const names = [
		'golden',
		'builds',
		'burn-golden',
		'coreai-golden',
		'calibrations',
		'codebooks',
		'equivalences',
		'ct-numeric',
		'ct-model',
		'huge-weights',
		'scheme-rules',
	];
	const files = names.map((name) => `tests/js/${name}.test.js`);
	const { status, stdout } = run([process.execPath, '--test', '--test-reporter=tap', ...files]);
	if (status === 0) return '';
	const failed = [...stdout.matchAll(/^not ok \d+ - (.+)$/gm)].map(
		([, name]) => `js: ${name.replace(`${copy}/`, '')}`,
	);
	return failed.join(', ') || 'node --test';
}

function must(command) {
	const { status, stdout, stderr } = run(command);
	if (status !== 0) fail(`${stdout}${stderr}\nmutate: ${command.join(' ')} ended with ${status}`);
}

function run([command, ...args]) {
	const options = { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 28 };
	const { error, ...result } = spawnSync(command, args, options);
	if (error) fail(`mutate: ${command}: ${error.message}`);
	return result;
}

function fail(message, code = 1) {
	console.error(message);
	process.exit(code);
}
