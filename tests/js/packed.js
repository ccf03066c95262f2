// packed.js - the package as its users get it: packed by npm, unpacked into a project that has nothing else.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const pkg = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A new project; its folder, which the caller removes. */
export function packedProject() {
	for (const name of ['index.mjs', 'index.cjs', 'core.wasm', 'index.d.ts'])
		assert.ok(existsSync(join(root, 'dist', name)), `dist/${name} is missing: npm run build`);
	const project = mkdtempSync(join(tmpdir(), 'blockquant-package-'));
	execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], { cwd: root });
	const installed = join(project, 'node_modules/blockquant');
	mkdirSync(installed, { recursive: true });
	const tarball = join(project, `blockquant-${pkg.version}.tgz`);
	execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', installed]);
	writeFileSync(join(project, 'package.json'), '{ "name": "user", "private": true }\n');
	return project;
}

/** Puts the command's dependencies and its link beside the package, as `npm install` does; `npx blockquant` works then. @param {string} project */
export function installCommand(project) {
	const modules = join(project, 'node_modules');
	for (const name of Object.keys(pkg.dependencies))
		symlinkSync(join(root, 'node_modules', name), join(modules, name));
	mkdirSync(join(modules, '.bin'));
	symlinkSync(join('../blockquant', pkg.bin.blockquant), join(modules, '.bin/blockquant'));
}
