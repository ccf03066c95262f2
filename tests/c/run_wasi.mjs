// run_wasi.mjs - runs a C test that was compiled to wasm: `node run_wasi.mjs TEST.wasm [ARGUMENT...]`.
// SPDX-License-Identifier: MIT
//
// Arguments that are folders can be read by the program, under the name that it gets (the golden data). The exit code is
// the program's.
import { readFile, stat } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [file, ...args] = process.argv.slice(2);
if (!file) {
	console.error('usage: node run_wasi.mjs TEST.wasm [ARGUMENT...]');
	process.exit(2);
}

const preopens = {};
for (const arg of args)
	if (
		await stat(arg).then(
			(found) => found.isDirectory(),
			() => false,
		)
	)
		preopens[arg] = arg;

const wasi = new WASI({ version: 'preview1', args: [file, ...args], env: process.env, preopens, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(file));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
