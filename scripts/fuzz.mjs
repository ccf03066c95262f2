// fuzz.mjs - decodes random bytes of every format for some minutes, with sanitizers: `npm run fuzz -- MINUTES [FIRST_ROUND]`.
// SPDX-License-Identifier: MIT
//
// tests/c/fuzz_decode.c is what runs; `npm test` runs its first rounds. A failure says its round: `npm run fuzz -- 0.01 ROUND`
// shows it again.
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'build/sanitize');
const [minutes = '10', round = '0', ...more] = process.argv.slice(2);
if (!(Number(minutes) > 0) || !/^\d+$/.test(round) || more.length > 0) {
	console.error('usage: npm run fuzz -- MINUTES [FIRST_ROUND]');
	process.exit(2);
}

run(
	'cmake',
	'-S',
	root,
	'-B',
	folder,
	'-DCMAKE_BUILD_TYPE=Release',
	'-DCMAKE_C_COMPILER=clang',
	'-DBLOCKQUANT_SANITIZE=ON',
);
run('cmake', '--build', folder, '--target', 'fuzz_decode', '--parallel');
run(join(folder, 'fuzz_decode'), '.', minutes, round);

/** @param {string[]} command */
function run(...[command, ...args]) {
	const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
	if (status === 0) return;
	if (error) console.error(`fuzz: cannot run ${command}: ${error.message}`);
	process.exit(1);
}
